/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/error.h>

#define ANSWER_US UINT64_C(60000000) /* a file of gigabytes takes its time */

void plx_web_snapshot_close(struct plx_web_snapshot *snapshot)
{
    snapshot->readable = sd_event_source_disable_unref(snapshot->readable);
    snapshot->limit = sd_event_source_disable_unref(snapshot->limit);
    if (snapshot->fd >= 0)
        close(snapshot->fd);
    snapshot->fd = -1;
}

static void answer(struct plx_web_snapshot *snapshot, const struct plx_recorder_answer *said)
{
    plx_web_snapshot_close(snapshot); /* first: the listener may ask again */
    snapshot->answered(snapshot->context, said);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *context)
{
    static struct plx_recorder_answer said; /* large */
    (void)source;
    (void)events;
    const ssize_t bytes = recv(fd, &said, sizeof said, MSG_TRUNC | MSG_DONTWAIT);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (bytes != (ssize_t)sizeof said || said.magic != PLX_RECORDER_MAGIC || said.version != PLX_RECORDER_VERSION ||
        !memchr(said.text, '\0', sizeof said.text))
        said = (struct plx_recorder_answer){.error = PLX_ERR_FORMAT,
                                            .text = "the flight recorder went away, or is another version"};
    plx_clean_text(said.text);
    answer(context, &said);
    return 0;
}

static int on_limit(sd_event_source *source, uint64_t now_us, void *context)
{
    static const struct plx_recorder_answer late = {.error = PLX_ERR_TIMEOUT, .text = "the flight recorder does not answer"};
    (void)source;
    (void)now_us;
    answer(context, &late);
    return 0;
}

int plx_web_snapshot_ask(struct plx_web_snapshot *snapshot, double seconds, struct plx_error_message *message)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct plx_recorder_request request = {
        .magic = PLX_RECORDER_MAGIC, .version = PLX_RECORDER_VERSION, .milliseconds = (uint32_t)(seconds * 1000)};
    if (snapshot->fd >= 0)
        return plx_fail(message, PLX_ERR_BUSY, "the flight recorder is still writing the last file");
    snprintf(address.sun_path, sizeof address.sun_path, "%s", snapshot->socket);
    snapshot->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (snapshot->fd < 0 || connect(snapshot->fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        send(snapshot->fd, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request) {
        const int error = errno;
        plx_web_snapshot_close(snapshot);
        return plx_fail(message, plx_error_of_errno(error),
                        "%s: no flight recorder answers there (%s); start parallax-recorder", snapshot->socket,
                        strerror(error));
    }
    if (sd_event_add_io(snapshot->event, &snapshot->readable, snapshot->fd, EPOLLIN, on_readable, snapshot) < 0 ||
        sd_event_add_time_relative(snapshot->event, &snapshot->limit, CLOCK_MONOTONIC, ANSWER_US, 0, on_limit, snapshot) < 0) {
        plx_web_snapshot_close(snapshot);
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    }
    return 0;
}
