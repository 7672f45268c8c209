/* SPDX-License-Identifier: Apache-2.0 */
/* libparallax against services that are missing, forbidden, of another version, silent or hostile; and its arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <parallax/client.h>
#include <parallax/region.h>

#include "client/map.h"
#include "core/clock.h"
#include "tests/region_image.h"
#include "tests/system/peer.h"

#define NOBODY 65534
#define SLOTS REGION_IMAGE_SLOTS

static char directory[] = "/tmp/plx-client-XXXXXX";
static char path[64];

/* --- connecting -------------------------------------------------------------------------------------------------- */

/* An error, and nothing written where a client would have been. */
static void assert_refused(const char *socket_path, int error)
{
    struct plx_client *client = (struct plx_client *)&client;
    int code = plx_connect(socket_path, &client);
    if (code != error)
        fail_msg("%s: expected \"%s\", not \"%s\"", socket_path, plx_strerror(error), plx_strerror(code));
    assert_ptr_equal(client, &client);
}

/* A socket of this process at PATH: a service that the test plays itself, badly. */
static int listen_here(int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

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
    plx_disconnect(NULL);
}

/* --- bad services ------------------------------------------------------------------------------------------------ */

/* A memfd with these bytes; SEALS as a service would set them. */
static int make_memfd(const void *bytes, size_t count, int seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), count);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

struct bad_answer {
    const char *what;
    struct plx_message message;
    size_t bytes;       /* of the message; 0: say nothing and close */
    int descriptors[2]; /* -1: none */
    int expected;
};

/* Forks a service that gives every client this one answer; its pid. */
static pid_t serve_badly(const struct bad_answer *answer, int listener)
{
    pid_t child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        union {
            char bytes[CMSG_SPACE(2 * sizeof(int))];
            struct cmsghdr align;
        } control = {{0}};
        struct plx_message message = answer->message, hello;
        struct iovec part = {&message, answer->bytes};
        struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
        size_t count = (answer->descriptors[0] >= 0) + (answer->descriptors[1] >= 0);
        if (count) {
            packet.msg_control = control.bytes;
            packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
            struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
            *rights =
                (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(count * sizeof(int))};
            memcpy(CMSG_DATA(rights), answer->descriptors, count * sizeof(int));
        }
        recv(fd, &hello, sizeof hello, 0);
        if (answer->bytes)
            sendmsg(fd, &packet, MSG_NOSIGNAL);
        close(fd);
    }
}

static void bad_answers_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    struct plx_region_header *image = region_image_make(&bytes);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int good = make_memfd(image, bytes, seals), loose = make_memfd(image, bytes, 0), small = make_memfd(image, 16, seals);
    int cut = make_memfd(image, bytes - 8, seals);
    image->abi_version++;
    int other = make_memfd(image, bytes, seals);
    free(image);
    const struct plx_message welcome = {PLX_MESSAGE_MAGIC, PLX_ABI_VERSION, PLX_MESSAGE_WELCOME, 0, 1};
    struct plx_message newer = welcome, refused = welcome, version = welcome, nonsense = welcome, alien = welcome;
    newer.abi_version++;
    refused.type = version.type = nonsense.type = PLX_MESSAGE_REFUSED;
    refused.error = PLX_ERR_BUSY;
    version.error = PLX_ERR_VERSION;
    nonsense.error = 42;
    alien.magic = 0;
    const size_t whole = sizeof welcome;
    const struct bad_answer answers[] = {
        {"a good answer, to see that the others are bad", welcome, whole, {good, -1}, 0},
        {"two descriptors, of which one is taken", welcome, whole, {good, good}, 0},
        {"end of file", welcome, 0, {-1, -1}, PLX_ERR_NOT_FOUND},
        {"no descriptor", welcome, whole, {-1, -1}, PLX_ERR_FORMAT},
        {"half a message", welcome, whole / 2, {good, -1}, PLX_ERR_FORMAT},
        {"wrong magic", alien, whole, {good, -1}, PLX_ERR_FORMAT},
        {"a newer service", newer, whole, {good, -1}, PLX_ERR_VERSION},
        {"a newer region", welcome, whole, {other, -1}, PLX_ERR_VERSION},
        {"refused for its version", version, whole, {-1, -1}, PLX_ERR_VERSION},
        {"refused as one too many", refused, whole, {-1, -1}, PLX_ERR_BUSY},
        {"refused for nonsense", nonsense, whole, {-1, -1}, PLX_ERR_FORMAT},
        {"not a memfd", welcome, whole, {null, -1}, PLX_ERR_FORMAT},
        {"memory that can be cut off", welcome, whole, {loose, -1}, PLX_ERR_FORMAT},
        {"memory smaller than its header", welcome, whole, {small, -1}, PLX_ERR_FORMAT},
        {"memory smaller than it says", welcome, whole, {cut, -1}, PLX_ERR_FORMAT},
    };
    int listener = listen_here(SOCK_SEQPACKET), before = dup(0);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        pid_t service = serve_badly(&answers[i], listener);
        struct plx_client *client = NULL;
        int code = plx_connect(path, &client);
        if (code != answers[i].expected)
            fail_msg("%s: %s", answers[i].what, plx_strerror(code));
        plx_disconnect(client);
        kill(service, SIGKILL);
        waitpid(service, NULL, 0);
    }
    close(before);
    int after = dup(0);
    assert_int_equal(after, before); /* no descriptor was kept */
    int mine[] = {after, listener, good, loose, small, cut, other, null};
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        close(mine[i]);
    unlink(path);
}

static void silent_service_is_a_timeout(void **state)
{
    (void)state;
    int fd = listen_here(SOCK_SEQPACKET);
    int64_t begin = plx_now_ns();
    assert_refused(path, PLX_ERR_TIMEOUT);
    double seconds = (double)(plx_now_ns() - begin) / 1e9;
    assert_true(seconds > 1.9 && seconds < 4);
    close(fd);
    unlink(path);
}

/* --- hostile memory ---------------------------------------------------------------------------------------------- */

static uint64_t random_word(unsigned *seed)
{
    static const uint64_t wicked[] = {0,  1,    2,         7,          8,         63,         64,
                                      65, 4096, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
    uint64_t random = (uint64_t)(unsigned)rand_r(seed) << 32 ^ (uint64_t)(unsigned)rand_r(seed) << 8 ^ (unsigned)rand_r(seed);
    return rand_r(seed) % 2 ? wicked[random % (sizeof wicked / sizeof wicked[0])] : random;
}

/* Spoils up to four places of header, slot table, or the frame's numbers: single bytes, or words that are likely to hurt. */
static void spoil(unsigned char *memory, const struct plx_region_header *good, unsigned *seed)
{
    size_t frame = good->frames_offset + good->frame_stride;
    for (int i = rand_r(seed) % 4; i >= 0; i--) {
        size_t span = rand_r(seed) % 2 ? good->frames_offset : offsetof(struct plx_frame, obstacle);
        size_t at = (span == good->frames_offset ? 0 : frame) + (unsigned)rand_r(seed) % (span - 8);
        uint64_t word = random_word(seed);
        size_t width = (size_t)1 << rand_r(seed) % 4; /* 1, 2, 4, 8 bytes */
        memcpy(memory + at / width * width, &word, width);
    }
}

static void hostile_memory_never_crashes(void **state)
{
    (void)state;
    enum { SEEDS = 200000 };
    const char *chosen = getenv("PLX_TEST_SEED");
    unsigned first = chosen ? (unsigned)atoi(chosen) : 1, valid = 0, empty = 0, damaged = 0;
    size_t bytes;
    struct plx_region_header *good = region_image_make(&bytes);
    unsigned char *memory = malloc(bytes);
    for (unsigned seed = first; seed < first + SEEDS; seed++) {
        unsigned state_of_seed = seed;
        memcpy(memory, good, bytes);
        spoil(memory, good, &state_of_seed);
        struct plx_map map;
        struct plx_view view = {0};
        int found = plx_map_check(memory, bytes, &map);
        if (!found)
            found = plx_map_look(&map, 0, &view);
        if (found == 1) {
            region_image_read(&view);
            assert_int_equal(view.sequence, plx_map_whole(&map, view.sequence) ? map.header->newest : 0);
        } else if (found != 0 && found != PLX_ERR_FORMAT && found != PLX_ERR_VERSION) {
            fail_msg("unexpected %d; PLX_TEST_SEED=%u", found, seed);
        }
        valid += found == 1;
        empty += found == 0;
        damaged += found < 0;
    }
    print_message("    of %d spoiled regions %u were still valid, %u empty, %u damaged\n", SEEDS, valid, empty, damaged);
    assert_true(valid > 0 && damaged > SEEDS / 10);
    free(memory);
    free(good);
}

/* The same through the whole library: a service that hands out spoiled memory and spoils it further while it is read. */
static void hostile_service_never_crashes(void **state)
{
    (void)state;
    const char *chosen = getenv("PLX_TEST_SEED");
    unsigned seed = chosen ? (unsigned)atoi(chosen) : 1;
    size_t bytes;
    struct plx_region_header *good = region_image_make(&bytes);
    int fd = make_memfd(good, bytes, F_SEAL_SHRINK | F_SEAL_GROW);
    unsigned char *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(shared != MAP_FAILED);
    const struct bad_answer answer = {
        "", {PLX_MESSAGE_MAGIC, PLX_ABI_VERSION, PLX_MESSAGE_WELCOME, 0, 1}, sizeof(struct plx_message), {fd, -1}, 0};
    int listener = listen_here(SOCK_SEQPACKET);
    pid_t service = serve_badly(&answer, listener);
    void *copy = malloc(bytes);
    for (int i = 0; i < 2000; i++) {
        struct plx_client *client;
        struct plx_view view;
        size_t got;
        memcpy(shared, good, bytes);
        if (i % 2)
            spoil(shared, good, &seed);
        if (plx_connect(path, &client))
            continue;
        spoil(shared, good, &seed);
        plx_state(client);
        plx_health(client);
        if (!plx_next(client, 0, &view)) {
            spoil(shared, good, &seed);
            region_image_read(&view);
            plx_release(client, &view);
        }
        spoil(shared, good, &seed);
        if (!plx_copy(client, 0, copy, bytes, &got))
            assert_true(got <= bytes);
        plx_disconnect(client);
    }
    kill(service, SIGKILL);
    waitpid(service, NULL, 0);
    free(copy);
    free(good);
    munmap(shared, bytes);
    close(fd);
    close(listener);
    unlink(path);
}

/* --- a good service ---------------------------------------------------------------------------------------------- */

static struct peer start_service(void)
{
    struct peer service = peer_service(path, 5, SLOTS, 4);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    return service;
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
    assert_int_equal(plx_next(client, 1000, &view), 0);
    assert_int_equal(view.sequence, 1);
    assert_int_equal(view.frame->epoch, 5);
    assert_int_equal(plx_next(client, 0, &other), PLX_ERR_ARG);
    assert_int_equal(plx_release(client, &view), 0);
    assert_null(view.frame);
    assert_int_equal(plx_release(client, &view), PLX_ERR_ARG);

    int64_t begin = plx_now_ns();
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_TIMEOUT);
    assert_int_equal(plx_next(client, 100, &view), PLX_ERR_TIMEOUT);
    double seconds = (double)(plx_now_ns() - begin) / 1e9;
    assert_true(seconds >= 0.1 && seconds < 5);
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
    assert_true(readable(fd, 2000)); /* the frame that was there before */
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(plx_release(client, &view), 0);
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_TIMEOUT);
    assert_false(readable(fd, 50));
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_true(readable(fd, 2000));
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(plx_release(client, &view), 0);

    uint64_t before = peer_ask(&service, "newest\n");
    peer_ask(&service, "go 1 1000000\n");
    while (peer_ask(&service, "newest\n") == before)
        usleep(1000);
    peer_ask(&service, "kill\n"); /* the engine: a frame and an end are there to be said */
    assert_true(readable(fd, 2000));
    assert_int_equal(plx_next(client, 0, &view), 0);
    assert_int_equal(plx_release(client, &view), 0);
    assert_true(readable(fd, 2000));
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_LOST);
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_LOST);
    assert_false(readable(fd, 50));

    peer_kill(&service);
    assert_true(readable(fd, 2000));
    assert_int_equal(plx_state(client), PLX_STATE_STOPPED);
    assert_int_equal(plx_health(client), PLX_HEALTH_NO_FRAMES);
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_LOST);
    assert_int_equal(plx_next(client, 100, &view), PLX_ERR_LOST);
    assert_true(readable(fd, 2000)); /* to try again */
    service = start_service();
    int code = PLX_ERR_LOST;
    for (int i = 0; i < 100 && code; i++) {
        assert_true(readable(fd, 2000));
        code = plx_next(client, 0, &view);
    }
    assert_int_equal(code, 0);
    assert_int_equal(plx_fd(client), fd);
    assert_int_equal(plx_release(client, &view), 0);
    plx_disconnect(client);
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

/* --- arithmetic -------------------------------------------------------------------------------------------------- */

static void points_are_triangulated(void **state)
{
    (void)state;
    uint16_t disparity[2][4] = {{16 * 10, 8, PLX_DISPARITY_INVALID, 0}, {16 * 20 + 4, 0, 0, 0}};
    struct plx_frame frame = {.calibration = {.fx = 500, .fy = 400, .cx = 1, .cy = 0.5, .cx_right = 1, .baseline_m = 0.12}};
    struct plx_view view = {.frame = &frame, .min_disparity = 2};
    view.plane[PLX_PLANE_DISPARITY] = disparity;
    view.layout[PLX_PLANE_DISPARITY] = (struct plx_plane){.pitch = 8, .width = 4, .height = 2, .element = 2};
    float point[3];
    assert_true(plx_disparity_px(&view, 0, 0) == 12.0f);
    assert_true(plx_disparity_px(&view, 1, 0) == 2.5f);
    assert_true(plx_disparity_px(&view, 0, 1) == 22.25f);
    assert_true(isnan(plx_disparity_px(&view, 2, 0)));
    assert_true(isnan(plx_disparity_px(&view, 4, 0)));
    assert_true(isnan(plx_disparity_px(&view, 0, 2)));
    assert_int_equal(plx_point(&view, 0, 0, point), 0);
    assert_true(fabs(point[2] - (500 * 0.12 / 12)) < 1e-6); /* z = f b / d */
    assert_true(fabsf(point[0] - ((0 - 1) * point[2] / 500)) < 1e-6f);
    assert_true(fabs(point[1] - ((0 - 0.5) * point[2] / 400)) < 1e-6);
    assert_int_equal(plx_point(&view, 2, 0, point), PLX_ERR_NOT_FOUND);

    frame.calibration.cx_right = -9; /* infinity lies at disparity cx - cx_right = 10 */
    assert_int_equal(plx_point(&view, 0, 0, point), 0);
    assert_true(fabs(point[2] - (500 * 0.12 / 2)) < 1e-5);
    assert_int_equal(plx_point(&view, 1, 0, point), PLX_ERR_NOT_FOUND); /* beyond it */
    view.min_disparity = 0;
    assert_int_equal(plx_point(&view, 0, 0, point), PLX_ERR_NOT_FOUND); /* at it */
}

static void age_is_never_negative_and_never_fresh_by_mistake(void **state)
{
    (void)state;
    struct plx_frame frame = {.capture[PLX_LEFT].capture_ns = plx_now_ns() - 5000};
    assert_true(plx_age_ns(&frame) >= 5000 && plx_age_ns(&frame) < 5000 + 10 * PLX_NS_PER_S);
    frame.capture[PLX_LEFT].capture_ns = plx_now_ns() + 100 * PLX_NS_PER_S;
    assert_int_equal(plx_age_ns(&frame), 0);
    frame.capture[PLX_LEFT].capture_ns = INT64_MIN;
    assert_true(plx_age_ns(&frame) == INT64_MAX);
    frame.capture[PLX_LEFT].capture_ns = 0; /* never filled in */
    assert_true(plx_age_ns(&frame) == INT64_MAX);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/socket", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_service_is_not_found),
        cmocka_unit_test(forbidden_socket_is_permission),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(bad_answers_are_refused),
        cmocka_unit_test(silent_service_is_a_timeout),
        cmocka_unit_test(hostile_memory_never_crashes),
        cmocka_unit_test(hostile_service_never_crashes),
        cmocka_unit_test(views_are_taken_one_at_a_time),
        cmocka_unit_test(copies_are_whole),
        cmocka_unit_test(descriptor_polls_and_stays),
        cmocka_unit_test(signal_ends_a_wait),
        cmocka_unit_test(points_are_triangulated),
        cmocka_unit_test(age_is_never_negative_and_never_fresh_by_mistake),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
