/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/publisher.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/log.h"
#include "core/base/clock.h"

#define CHECK_PERIOD_NS PLX_NS_PER_S /* between two checks of the files of socket and lock */

static void note(const char *sentence)
{
    plx_log(LOG_WARNING, "%s", sentence);
}

static int make_shm(const struct plx_config *config, uint32_t frame_bytes, struct plx_shm **ret_shm,
                    struct plx_error_message *message)
{
    const struct plx_shm_options options = {
        .epoch = (uint64_t)plx_now_ns(), /* increases with every memory; no client outlives a reboot */
        .slots = config->publish.slots,
        .frame_bytes = frame_bytes,
    };
    return plx_shm_create(&options, ret_shm, message);
}

/* The user who may give hints. NOT_FOUND. */
static int find_hint_user(const struct plx_config *config, uid_t *ret_user, struct plx_error_message *message)
{
    const char *name = config->motion.hint_user;
    const struct passwd *user = getpwnam(name);

    if (!user)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "motion.hint_user: there is no user \"%s\"; create it, or name another one",
                        name);
    *ret_user = user->pw_uid;
    return 0;
}

static int handle_clients(sd_event_source *source, int fd, uint32_t events, void *argument)
{
    struct plx_publisher *publisher = argument;

    (void)source;
    (void)fd;
    (void)events;
    plx_clients_handle(publisher->clients);
    return 0;
}

static int create_clients(struct plx_publisher *publisher, sd_event *event, const struct plx_clients_options *options,
                          struct plx_error_message *message)
{
    const int result = plx_clients_create(options, publisher->shm, &publisher->clients, message);

    if (result < 0)
        return result;
    publisher->reachability = PLX_REACHABILITY_NONE;
    if (sd_event_add_io(event, &publisher->socket, plx_clients_fd(publisher->clients), EPOLLIN, handle_clients, publisher) < 0)
        return plx_fail(message, PLX_ERR_NOMEM, "cannot watch the socket: out of memory or descriptors");
    return 0;
}

int plx_publisher_open(struct plx_publisher *publisher, sd_event *event, const struct plx_config *config, uint32_t frame_bytes,
                       struct plx_error_message *message)
{
    const bool hints = config->motion.hint_user[0] != '\0';
    struct plx_clients_options clients_options = {
        .socket_path = config->publish.socket,
        .group = config->publish.group,
        .max_clients = config->publish.max_clients,
        .note = note,
        .config = publisher->config,
        .hint = hints ? publisher->hint : NULL,
        .context = publisher->context,
    };

    int result = hints ? find_hint_user(config, &clients_options.hint_user, message) : 0;
    if (result == 0)
        result = make_shm(config, frame_bytes, &publisher->shm, message);
    if (result == 0)
        result = create_clients(publisher, event, &clients_options, message);
    if (result < 0) {
        plx_publisher_close(publisher);
        return result;
    }
    publisher->frame_bytes = frame_bytes;
    return 0;
}

int plx_publisher_prepare(struct plx_publisher *publisher, const struct plx_config *config, uint32_t frame_bytes,
                          struct plx_error_message *message)
{
    if (frame_bytes == publisher->frame_bytes)
        return 0;
    const int result = make_shm(config, frame_bytes, &publisher->next, message);
    if (result == 0)
        publisher->next_bytes = frame_bytes;
    return result;
}

void plx_publisher_discard(struct plx_publisher *publisher)
{
    plx_shm_destroy(publisher->next);
    publisher->next = NULL;
}

bool plx_publisher_promote(struct plx_publisher *publisher)
{
    struct plx_shm *old = publisher->shm;

    if (!publisher->next)
        return false;
    publisher->shm = publisher->next;
    publisher->next = NULL;
    publisher->frame_bytes = publisher->next_bytes;
    publisher->state = PLX_STATE_STARTING; /* the state of a new memory: all of it is published again */
    publisher->health = 0;
    publisher->reason = (struct plx_error_message){""};
    plx_shm_hand_over(old);
    plx_clients_set_shm(publisher->clients, publisher->shm);
    plx_shm_destroy(old);
    return true;
}

struct plx_shm *plx_publisher_engine_shm(const struct plx_publisher *publisher)
{
    return publisher->next ? publisher->next : publisher->shm;
}

int plx_publisher_check(struct plx_publisher *publisher, const char *socket_path, int64_t now_ns,
                        struct plx_error_message *message)
{
    if (!publisher->clients)
        return 0;
    const uint64_t epoch = plx_shm_epoch(publisher->shm);
    const bool lost = plx_reachability_check(&publisher->reachability, socket_path, epoch, now_ns) == PLX_REACHABILITY_LOST;
    if (!lost && now_ns - publisher->checked_ns < CHECK_PERIOD_NS)
        return 0;
    publisher->checked_ns = now_ns;
    const int result = plx_clients_repair(publisher->clients, lost, message);
    if (result > 0)
        plx_log(LOG_WARNING,
                "%s: clients could not attach any more; the socket was created again, attached clients stay attached",
                socket_path);
    if (result >= 0 || result == PLX_ERR_BUSY) {
        publisher->repair_error = (struct plx_error_message){""};
        return result == PLX_ERR_BUSY ? result : 0;
    }
    if (strcmp(publisher->repair_error.text, message->text) != 0)
        plx_log(LOG_ERR, "clients cannot attach, and the socket cannot be created again; trying again: %s", message->text);
    publisher->repair_error = *message;
    return 0;
}

void plx_publisher_close(struct plx_publisher *publisher)
{
    plx_publisher_discard(publisher);
    sd_event_source_disable_unref(publisher->socket);
    if (publisher->clients)
        plx_reachability_close(&publisher->reachability);
    plx_clients_destroy(publisher->clients);
    plx_shm_destroy(publisher->shm);
    *publisher = (struct plx_publisher){
        .state = PLX_STATE_STARTING, .config = publisher->config, .hint = publisher->hint, .context = publisher->context};
}

void plx_publisher_close_in_child(struct plx_publisher *publisher)
{
    if (publisher->clients)
        plx_reachability_close(&publisher->reachability);
    plx_clients_close_in_child(publisher->clients);
    publisher->clients = NULL;
    if (!publisher->next)
        return;
    plx_shm_destroy(publisher->shm); /* else its memory would stay as long as this process */
    publisher->shm = publisher->next;
    publisher->next = NULL;
}

void plx_publisher_set_reason(struct plx_publisher *publisher, const char *reason)
{
    if (!publisher->shm || strcmp(reason, publisher->reason.text) == 0)
        return;
    plx_shm_set_reason(publisher->shm, reason);
    snprintf(publisher->reason.text, sizeof publisher->reason.text, "%s", reason);
}

bool plx_publisher_set_state(struct plx_publisher *publisher, enum plx_state state, uint32_t health)
{
    if (!publisher->shm || (state == publisher->state && health == publisher->health))
        return false;
    plx_shm_set_state(publisher->shm, state, health);
    plx_clients_notify(publisher->clients, plx_ring_newest(publisher->shm));
    publisher->state = state;
    publisher->health = health;
    return true;
}

/* --- the configuration -------------------------------------------------------------------------------------------- */

/* Writes TEXT into a sealed memfd; returns a read-only descriptor of it. */
static int seal_text(const char *text, size_t bytes)
{
    char path[32];
    int reader = -1;
    const int fd = memfd_create("parallax-config", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return PLX_ERR_NOMEM;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    /* A memfd has mode 0777 at first. With 0400 a client cannot even open it for writing; the seals stop writes too. */
    if (write(fd, text, bytes) == (ssize_t)bytes && fchmod(fd, 0400) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        reader = open(path, O_RDONLY | O_CLOEXEC);
    close(fd);
    return reader < 0 ? PLX_ERR_NOMEM : reader;
}

static int write_text(const struct plx_config *config)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return PLX_ERR_NOMEM;
    int result = plx_config_dump(config, out);
    if (fclose(out) != 0 || result < 0)
        result = PLX_ERR_NOMEM;
    if (result == 0)
        result = seal_text(text, bytes);
    free(text);
    return result;
}

int plx_config_text_fd(struct plx_config_text *text, const struct plx_config *config)
{
    if (text->fd > 0 && plx_config_equals(&text->config, config))
        return text->fd;
    plx_config_text_close(text);
    const int fd = write_text(config);
    if (fd < 0)
        return fd;
    text->fd = fd;
    text->config = *config;
    return fd;
}

void plx_config_text_close(struct plx_config_text *text)
{
    if (text->fd > 0)
        close(text->fd);
    text->fd = 0;
}
