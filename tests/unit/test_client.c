/* SPDX-License-Identifier: Apache-2.0 */
/* libparallax connects and reads from a good service. A failure to connect has its own error. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "client/client.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/shm_image.h"
#include "tests/system/peer.h"
#include "tests/unit/client_socket.h"

#define NOBODY 65534
#define SLOTS REGION_IMAGE_SLOTS

static void missing_service_is_not_found(void **state)
{
    (void)state;
    char longer[300];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    assert_refused(path, PLX_ERR_NOT_FOUND);
    assert_refused("/no/such/directory/socket", PLX_ERR_NOT_FOUND);
    assert_refused(longer, PLX_ERR_RANGE);
    assert_refused("", PLX_ERR_RANGE);
    setenv("PARALLAX_SOCKET", longer, 1);
    assert_refused(NULL, PLX_ERR_RANGE);
    unsetenv("PARALLAX_SOCKET");
    close(listen_here(SOCK_SEQPACKET)); /* the file stays, nobody listens */
    assert_refused(path, PLX_ERR_NOT_FOUND);
    int fd = listen_here(SOCK_STREAM);
    assert_refused(path, PLX_ERR_FORMAT);
    close(fd);
    unlink(path);
}

static void forbidden_socket_is_permission(void **state)
{
    (void)state;
    int fd = listen_here(SOCK_SEQPACKET);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(chmod(directory, 0755), 0);
    pid_t child = fork(); /* as somebody who may not: root may everything */
    if (child == 0) {
        struct plx_client *client;
        if (geteuid() ? chmod(path, 0) : setuid(NOBODY))
            _exit(1);
        _exit(plx_connect(path, &client) == PLX_ERR_PERMISSION ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    close(fd);
    unlink(path);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct plx_view view = {0};
    size_t bytes;
    assert_int_equal(plx_connect(path, NULL), PLX_ERR_ARG);
    assert_int_equal(plx_next(NULL, 0, &view), PLX_ERR_ARG);
    assert_int_equal(plx_release(NULL, &view), PLX_ERR_ARG);
    assert_int_equal(plx_copy(NULL, 0, NULL, 0, &bytes), PLX_ERR_ARG);
    assert_int_equal(plx_fd(NULL), PLX_ERR_ARG);
    assert_int_equal(plx_state(NULL), PLX_ERR_ARG);
    assert_int_equal(plx_health(NULL), PLX_HEALTH_NO_FRAMES);
    assert_true(isnan(plx_disparity_px(NULL, 0, 0)));
    assert_true(isnan(plx_disparity_px(&view, 0, 0)));
    assert_true(plx_age_ns(NULL) == INT64_MAX);
    assert_int_equal(plx_last_header(NULL, NULL), PLX_ERR_ARG);
    assert_int_equal(plx_view_at(NULL, 1, &view), PLX_ERR_ARG);
    plx_disconnect(NULL);
}

static struct peer start_service(void)
{
    struct peer service = peer_service(path, 5, SLOTS, 4);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    return service;
}

static void a_service_that_starts_later_is_waited_for(void **state)
{
    (void)state;
    struct plx_client *client = NULL;
    assert_int_equal(plx_connect_wait(path, 0, &client), PLX_ERR_NOT_FOUND);
    const int64_t begin_ns = plx_now_ns();
    assert_int_equal(plx_connect_wait(path, 120, &client), PLX_ERR_NOT_FOUND);
    assert_true(plx_now_ns() - begin_ns >= 120 * PLX_NS_PER_MS);
    assert_int_equal(plx_connect_wait(path, 0, NULL), PLX_ERR_ARG);
    assert_int_equal(plx_connect_wait("", -1, &client), PLX_ERR_RANGE); /* waiting does not mend that */
    assert_null(client);

    const pid_t child = fork();
    struct plx_view view;
    if (child == 0) /* the service may have published nothing yet */
        _exit(plx_connect_wait(path, -1, &client) == 0 && plx_next(client, -1, &view) == 0 ? 0 : 1);
    usleep(100000);
    struct peer service = start_service();
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    peer_end(&service);

    assert_string_equal(plx_socket_path(path), path);
    unsetenv("PARALLAX_SOCKET");
    assert_string_equal(plx_socket_path(NULL), PLX_DEFAULT_SOCKET);
    setenv("PARALLAX_SOCKET", path, 1);
    assert_string_equal(plx_socket_path(NULL), path);
    unsetenv("PARALLAX_SOCKET");
}

/* The service has not noticed yet, and says that it runs. */
static void a_service_without_fresh_frames_does_not_look_well(void **state)
{
    (void)state;
    struct peer service = peer_service(path, 5, SLOTS, 4);
    struct plx_client *client;
    peer_ask(&service, "fresh 1\n");
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    usleep(20000);
    assert_int_equal(plx_connect(path, &client), 0);
    assert_int_equal(plx_state(client), PLX_STATE_DEGRADED);
    assert_int_equal(plx_health(client), PLX_HEALTH_NO_FRAMES);
    peer_ask(&service, "fresh 60000\n");
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_int_equal(plx_state(client), PLX_STATE_RUNNING);
    assert_int_equal(plx_health(client), 0);
    plx_disconnect(client);
    peer_end(&service);
}

static bool readable(int fd, int timeout_ms)
{
    return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, timeout_ms) == 1;
}

static void views_are_taken_one_at_a_time(void **state)
{
    (void)state;
    struct peer service = start_service();
    struct plx_client *client;
    struct plx_view view, other;
    assert_int_equal(plx_connect(path, &client), 0);
    assert_int_equal(plx_state(client), PLX_STATE_RUNNING);
    assert_int_equal(plx_health(client), 0);
    assert_int_equal(plx_next(client, patience_ms(), &view), 0);
    assert_int_equal(view.sequence, 1);
    assert_int_equal(view.frame->epoch, 5);
    assert_int_equal(plx_next(client, 0, &other), PLX_ERR_ARG);
    assert_int_equal(plx_release(client, &view), 0);
    assert_null(view.frame);
    assert_int_equal(plx_release(client, &view), PLX_ERR_ARG);

    int64_t begin = plx_now_ns();
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_TIMEOUT);
    assert_int_equal(plx_next(client, 100, &view), PLX_ERR_TIMEOUT);
    assert_true(plx_now_ns() - begin >= 100 * PLX_NS_PER_MS);
    plx_disconnect(client);
    peer_end(&service);
}

static void copies_are_whole(void **state)
{
    (void)state;
    struct peer service = start_service();
    struct plx_client *client;
    struct plx_view view;
    size_t need = 0, bytes = 0;
    assert_int_equal(plx_connect(path, &client), 0);
    assert_int_equal(plx_copy(client, 1000, NULL, 0, &need), PLX_ERR_RANGE);
    assert_true(need > sizeof(struct plx_frame));
    struct plx_frame *frame = malloc(need);
    memset(frame, 0xA5, need);
    assert_int_equal(plx_copy(client, 0, frame, need - 1, &bytes), PLX_ERR_RANGE);
    assert_int_equal(plx_copy(client, 0, (char *)frame + 1, need, &bytes), PLX_ERR_ARG);
    assert_int_equal(plx_copy(client, 0, frame, need, &bytes), 0); /* it was not used up */
    assert_int_equal(bytes, need);
    assert_int_equal(plx_copy(client, 0, frame, need, &bytes), PLX_ERR_TIMEOUT);
    plx_disconnect(client);

    assert_int_equal(plx_connect(path, &client), 0);
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_memory_equal(view.frame, frame, need);
    assert_int_equal(plx_release(client, &view), 0);
    plx_disconnect(client);
    free(frame);
    peer_end(&service);
}

static void descriptor_polls_and_stays(void **state)
{
    (void)state;
    struct peer service = start_service();
    struct plx_client *client;
    struct plx_view view;
    assert_int_equal(plx_connect(path, &client), 0);
    int fd = plx_fd(client);
    assert_true(fd >= 0);
    assert_int_equal(plx_fd(client), fd);
    assert_true(readable(fd, patience_ms())); /* the frame that was there before */
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(plx_release(client, &view), 0);
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_TIMEOUT);
    assert_false(readable(fd, 50));
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_true(readable(fd, patience_ms()));
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(plx_release(client, &view), 0);

    uint64_t before = peer_ask(&service, "newest\n");
    peer_ask(&service, "go 1 1000000\n");
    while (peer_ask(&service, "newest\n") == before)
        usleep(1000);
    peer_ask(&service, "kill\n"); /* the engine: a frame and an end are there to be said */
    assert_true(readable(fd, patience_ms()));
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(plx_release(client, &view), 0);
    assert_true(readable(fd, patience_ms()));
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_LOST);
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_LOST);
    assert_false(readable(fd, 50));

    peer_kill(&service);
    assert_true(readable(fd, patience_ms()));
    assert_int_equal(plx_state(client), PLX_STATE_STOPPED);
    assert_int_equal(plx_health(client), PLX_HEALTH_NO_FRAMES);
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_LOST);
    assert_int_equal(plx_next(client, 100, &view), PLX_ERR_LOST);
    assert_true(readable(fd, patience_ms())); /* to try again */
    service = start_service();
    int result = PLX_ERR_LOST;
    for (int i = 0; i < 100 && result; i++) {
        assert_true(readable(fd, patience_ms()));
        result = plx_next(client, 0, &view);
    }
    assert_int_equal(result, 0);
    assert_int_equal(plx_fd(client), fd);
    assert_int_equal(plx_release(client, &view), 0);
    plx_disconnect(client);
    peer_end(&service);
}

static int lowest_free(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

/* Without a descriptor left, plx_fd fails and leaves nothing behind; with one again, it succeeds. */
static void a_descriptor_that_cannot_be_made_is_made_later(void **state)
{
    (void)state;
    struct peer service = start_service();
    struct plx_client *client;
    struct rlimit old;
    assert_int_equal(plx_connect(path, &client), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    const int free_fd = lowest_free();
    for (int left = 0; left < 2; left++) { /* it needs two */
        struct rlimit low = old;
        low.rlim_cur = (rlim_t)(free_fd + left);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
        const int result = plx_fd(client);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        assert_int_equal(result, PLX_ERR_NOMEM);
        assert_int_equal(lowest_free(), free_fd);
    }
    const int fd = plx_fd(client);
    assert_true(fd >= 0);
    assert_true(readable(fd, patience_ms()));
    plx_disconnect(client);
    assert_true(lowest_free() < free_fd);
    peer_end(&service);
}

/* A program without standard input, as a daemon may be. */
static void descriptor_zero_is_one_as_any(void **state)
{
    (void)state;
    struct peer service = start_service();
    struct plx_client *client;
    struct plx_view view;
    const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(plx_connect(path, &client), 0);
    close(STDIN_FILENO);
    assert_int_equal(plx_fd(client), 0);
    assert_int_equal(plx_fd(client), 0);
    assert_true(readable(0, patience_ms()));
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(plx_release(client, &view), 0);
    plx_disconnect(client);
    assert_int_equal(lowest_free(), 0);
    if (input >= 0) {
        dup2(input, STDIN_FILENO);
        close(input);
    }
    peer_end(&service);
}

static void on_signal(int number)
{
    (void)number;
}

static void signal_ends_a_wait(void **state)
{
    (void)state;
    struct peer service = start_service();
    struct plx_client *client;
    struct plx_view view;
    assert_int_equal(plx_connect(path, &client), 0);
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(plx_release(client, &view), 0);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL);
    ualarm(250000, 13000); /* again and again, for one may run between two slices of the wait */
    assert_int_equal(plx_next(client, -1, &view), PLX_ERR_TIMEOUT);
    ualarm(0, 0);
    plx_disconnect(client);
    peer_end(&service);
}

/* A frame can be seen again while the ring holds it, whatever plx_next has seen, and is no news. */
static void an_earlier_frame_is_viewed_again(void **state)
{
    (void)state;
    struct peer service = start_service();
    struct plx_client *client;
    struct plx_view view, other;
    assert_int_equal(plx_connect(path, &client), 0);
    for (uint64_t frame = 2; frame <= SLOTS + 2; frame++) {
        peer_ask(&service, "go 1 0\n");
        peer_ask(&service, "wait\n");
    }
    assert_int_equal(plx_view_at(client, 0, &view), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_view_at(client, 2, &view), PLX_ERR_NOT_FOUND); /* overwritten */
    assert_int_equal(plx_view_at(client, SLOTS + 3, &view), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_view_at(client, UINT64_MAX, &view), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_view_at(client, 3, NULL), PLX_ERR_ARG);
    for (uint64_t sequence = SLOTS + 2; sequence >= 3; sequence--) {
        assert_int_equal(plx_view_at(client, sequence, &view), 0);
        assert_int_equal(view.sequence, sequence);
        assert_int_equal(view.frame->sequence, sequence);
        assert_int_equal(plx_view_at(client, sequence, &other), PLX_ERR_ARG); /* one view at a time */
        assert_int_equal(plx_release(client, &view), 0);
    }
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(view.sequence, SLOTS + 2);
    assert_int_equal(plx_release(client, &view), 0);

    assert_int_equal(plx_view_at(client, 3, &view), 0);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_int_equal(plx_release(client, &view), PLX_ERR_OVERWRITTEN);
    plx_disconnect(client);
    peer_end(&service);
}

/* The service stops: its last frame is shown to nobody as news, and counts as missed when it goes on. */
static void an_old_frame_is_no_news(void **state)
{
    (void)state;
    struct peer service = peer_service(path, 6, SLOTS, 4);
    struct plx_client *early, *late;
    struct plx_view view;
    static struct plx_frame frame;
    static uint64_t copy[1 << 15];
    size_t bytes;
    assert_int_equal(plx_connect(path, &early), 0);
    assert_int_equal(plx_last_header(early, &frame), PLX_ERR_NOT_FOUND);
    peer_ask(&service, "fresh 300\n");
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    usleep(350000);
    assert_int_equal(plx_connect(path, &late), 0);
    int fd = plx_fd(late);
    assert_true(readable(fd, patience_ms())); /* the service tells of a frame; it turns out to be old */
    for (int round = 0; round < 2; round++) {
        assert_int_equal(plx_next(late, round * 100, &view), PLX_ERR_TIMEOUT);
        assert_int_equal(plx_copy(late, round * 100, copy, sizeof copy, &bytes), PLX_ERR_TIMEOUT);
        assert_int_equal(plx_next(early, round * 100, &view), PLX_ERR_TIMEOUT);
    }
    assert_false(readable(fd, 50));
    assert_int_equal(plx_last_header(late, &frame), 0); /* it can be asked for, and says that it is old */
    assert_int_equal(frame.sequence, 1);
    assert_int_equal(frame.obstacle_count, PLX_MAX_OBSTACLES);
    assert_false(plx_is_fresh(&frame));

    peer_ask(&service, "fresh 60000\n");
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_int_equal(plx_next(late, patience_ms(), &view), 0);
    assert_int_equal(view.sequence, 2);
    assert_int_equal(plx_release(late, &view), 0);
    assert_int_equal(plx_next(early, patience_ms(), &view), 0);
    assert_int_equal(plx_last_header(early, &frame), 0); /* beside a view, and it takes nothing away */
    assert_true(plx_is_fresh(&frame));
    assert_int_equal(plx_release(early, &view), 0);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_int_equal(plx_last_header(early, &frame), 0);
    assert_int_equal(plx_next(early, patience_ms(), &view), 0);
    assert_int_equal(view.sequence, 3);
    assert_int_equal(view.missed, 0);
    assert_int_equal(plx_release(early, &view), 0);

    peer_ask(&service, "fresh 1\n");
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    usleep(20000);
    assert_int_equal(plx_next(early, 0, &view), PLX_ERR_TIMEOUT);
    peer_ask(&service, "fresh 60000\n");
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_int_equal(plx_next(early, patience_ms(), &view), 0);
    assert_int_equal(view.missed, 1);
    assert_int_equal(plx_release(early, &view), 0);
    plx_disconnect(early);
    plx_disconnect(late);
    peer_end(&service);
}

/* A service that comes back with the memory that it had does not show the same frame twice. */
static void reattaching_goes_on_after_the_last_frame(void **state)
{
    (void)state;
    struct peer service = start_service();
    struct plx_client *client;
    struct plx_view view;
    assert_int_equal(plx_connect(path, &client), 0);
    assert_int_equal(plx_next(client, patience_ms(), &view), 0);
    assert_int_equal(plx_release(client, &view), 0);
    shutdown(client->socket, SHUT_RDWR); /* as if the service had dropped it */
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_LOST);
    assert_int_equal(plx_next(client, 500, &view), PLX_ERR_TIMEOUT);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_int_equal(plx_next(client, patience_ms(), &view), 0);
    assert_int_equal(view.sequence, 2);
    assert_int_equal(view.missed, 0);
    assert_int_equal(plx_release(client, &view), 0);
    plx_disconnect(client);
    peer_end(&service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_service_is_not_found),
        cmocka_unit_test(forbidden_socket_is_permission),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_service_that_starts_later_is_waited_for),
        cmocka_unit_test(a_service_without_fresh_frames_does_not_look_well),
        cmocka_unit_test(views_are_taken_one_at_a_time),
        cmocka_unit_test(copies_are_whole),
        cmocka_unit_test(descriptor_polls_and_stays),
        cmocka_unit_test(a_descriptor_that_cannot_be_made_is_made_later),
        cmocka_unit_test(descriptor_zero_is_one_as_any),
        cmocka_unit_test(signal_ends_a_wait),
        cmocka_unit_test(an_earlier_frame_is_viewed_again),
        cmocka_unit_test(an_old_frame_is_no_news),
        cmocka_unit_test(reattaching_goes_on_after_the_last_frame),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
