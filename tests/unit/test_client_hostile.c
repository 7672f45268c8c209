/* SPDX-License-Identifier: Apache-2.0 */
/* libparallax against services that answer badly, not at all, or with spoiled memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "client/map.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/shm_image.h"
#include "tests/system/peer.h"
#include "tests/unit/client_socket.h"

#define SERVICE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

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
    size_t bytes;       /* size of the message; 0: say nothing and close */
    int descriptors[2]; /* -1: none */
    int expected;
};

/* Hears the hello of the client FD, answers and hangs up. */
static void give_answer(const struct bad_answer *answer, int fd)
{
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

/* Forks a service that gives every client this one answer; its pid. */
static pid_t serve_badly(const struct bad_answer *answer, int listener)
{
    pid_t child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        give_answer(answer, accept(listener, NULL, NULL));
}

static void bad_answers_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    struct plx_shm_header *image = shm_image_make(&bytes);
    int seals = SERVICE_SEALS, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int good = make_memfd(image, bytes, seals), loose = make_memfd(image, bytes, 0), small = make_memfd(image, 16, seals);
    int cut = make_memfd(image, bytes - 8, seals), sparse = make_memfd(image, bytes, seals & ~F_SEAL_FUTURE_WRITE);
    int read_only = make_memfd(image, bytes, (seals & ~F_SEAL_FUTURE_WRITE) | F_SEAL_WRITE);
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
        {"memory that nobody can write", welcome, whole, {read_only, -1}, 0},
        {"memory with room for holes", welcome, whole, {sparse, -1}, PLX_ERR_FORMAT},
        {"memory smaller than its header", welcome, whole, {small, -1}, PLX_ERR_FORMAT},
        {"memory smaller than it says", welcome, whole, {cut, -1}, PLX_ERR_FORMAT},
    };
    int listener = listen_here(SOCK_SEQPACKET), before = dup(0);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        pid_t service = serve_badly(&answers[i], listener);
        struct plx_client *client = NULL;
        int result = plx_connect(path, &client);
        if (result != answers[i].expected)
            fail_msg("%s: %s", answers[i].what, plx_strerror(result));
        plx_disconnect(client);
        kill(service, SIGKILL);
        waitpid(service, NULL, 0);
    }
    close(before);
    int after = dup(0);
    assert_int_equal(after, before); /* no descriptor was kept */
    int mine[] = {after, listener, good, loose, small, cut, other, null, sparse, read_only};
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        close(mine[i]);
    unlink(path);
}

/* The library requires a seal against writing. With SHRINK alone, pages can be removed from memory that is mapped and in use.
 */
static void only_write_seals_forbid_holes(void **state)
{
    (void)state;
    enum { PAGE = 4096, BYTES = 16 * PAGE };
    static const struct {
        int seal, error;
    } cases[] = {{0, 0}, {F_SEAL_FUTURE_WRITE, EPERM}, {F_SEAL_WRITE, EPERM}};
    char *pages = calloc(1, BYTES);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = make_memfd(pages, BYTES, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | cases[i].seal);
        errno = 0;
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, PAGE);
        assert_int_equal(errno, cases[i].error);
        close(fd);
    }
    free(pages);
}

static long shared_memory_kib(void)
{
    long kib = -1;
    char line[128];
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "RssShmem: %ld", &kib);
    if (file)
        fclose(file);
    assert_true(kib >= 0);
    return kib;
}

/* 6 GiB of which only the header exists; then the same with a header that admits to it, and a small one with a page missing. */
static void memory_that_is_not_there_is_not_brought_in(void **state)
{
    (void)state;
    const uint64_t huge = UINT64_C(6) << 30;
    size_t bytes;
    struct plx_shm_header *image = shm_image_make(&bytes);
    int fd[3];
    for (int i = 0; i < 3; i++) {
        fd[i] = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (i == 1) {
            image->region_bytes = huge;
            image->frame_stride = (huge - image->frames_offset) / REGION_IMAGE_SLOTS / 8 * 8;
        } else if (i == 2) {
            free(image);
            image = shm_image_make(&bytes);
        }
        assert_int_equal(write(fd[i], image, sizeof *image), sizeof *image);
        assert_int_equal(ftruncate(fd[i], (off_t)(i < 2 ? huge : bytes)), 0);
        assert_int_equal(fcntl(fd[i], F_ADD_SEALS, SERVICE_SEALS), 0);
        struct plx_map map = {0};
        long before = shared_memory_kib();
        assert_int_equal(plx_map_open(fd[i], &map), PLX_ERR_FORMAT);
        struct stat status;
        assert_int_equal(fstat(fd[i], &status), 0);
        assert_true(status.st_blocks <= 8 && shared_memory_kib() - before < 64);
        close(fd[i]);
    }
    free(image);
}

static void silent_service_is_a_timeout(void **state)
{
    (void)state;
    int fd = listen_here(SOCK_SEQPACKET);
    int64_t begin = plx_now_ns();
    assert_refused(path, PLX_ERR_TIMEOUT);
    assert_true(plx_now_ns() - begin > 1900 * PLX_NS_PER_MS); /* the service had its time */
    close(fd);
    unlink(path);
}

/* The service ends, and its successor hangs at the first hello: the client gives up that connection, and the next one is
 * answered.
 */
static void a_mute_service_is_asked_again(void **state)
{
    (void)state;
    size_t bytes;
    struct plx_shm_header *image = shm_image_make(&bytes);
    struct bad_answer answer = {
        "", {PLX_MESSAGE_MAGIC, PLX_ABI_VERSION, PLX_MESSAGE_WELCOME, 0, 1}, sizeof(struct plx_message), {-1, -1}, 0};
    const int first = make_memfd(image, bytes, SERVICE_SEALS);
    image->epoch = 2;
    ((struct plx_frame *)(void *)((char *)image + image->frames_offset + image->frame_stride))->epoch = 2;
    const int second = make_memfd(image, bytes, SERVICE_SEALS);
    free(image);
    int listener = listen_here(SOCK_SEQPACKET);
    pid_t service = fork();
    if (service == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        answer.descriptors[0] = first;
        give_answer(&answer, accept(listener, NULL, NULL));
        accept(listener, NULL, NULL); /* stays open, and hears nothing */
        answer.descriptors[0] = second;
        for (;;)
            give_answer(&answer, accept(listener, NULL, NULL));
    }
    struct plx_client *client;
    struct plx_view view;
    assert_int_equal(plx_connect(path, &client), 0);
    int result = PLX_ERR_LOST;
    uint64_t epoch = 0;
    for (int i = 0; i < 3 && epoch != 2; i++) { /* the frame of the first region, LOST, and that of the second */
        result = plx_next(client, patience_ms(), &view);
        if (result == 0) {
            epoch = view.frame->epoch;
            plx_release(client, &view);
        }
    }
    assert_int_equal(result, 0);
    assert_int_equal(epoch, 2);
    plx_disconnect(client);
    kill(service, SIGKILL);
    waitpid(service, NULL, 0);
    int mine[] = {first, second, listener};
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        close(mine[i]);
    unlink(path);
}

/* Both copies of the header are checked: the one that is read from the file, and the one in the mapping. */
static void a_region_that_is_none_is_refused(void **state)
{
    (void)state;
    size_t bytes;
    struct plx_shm_header *image = shm_image_make(&bytes);
    struct plx_map map;
    assert_int_equal(plx_map_check(image, bytes, &map), 0);
    assert_int_equal(plx_map_check(image, sizeof *image - 1, &map), PLX_ERR_FORMAT);
    for (int bit = 0; bit < 64; bit++) {
        image->magic ^= UINT64_C(1) << bit;
        assert_int_equal(plx_map_check(image, bytes, &map), PLX_ERR_FORMAT);
        image->magic ^= UINT64_C(1) << bit;
    }
    /* A newer region must say so before any of its other numbers is believed; a foreign one has no version. */
    image->abi_version++;
    assert_int_equal(plx_map_check(image, bytes, &map), PLX_ERR_VERSION);
    image->magic = 0;
    assert_int_equal(plx_map_check(image, bytes, &map), PLX_ERR_FORMAT);
    image->magic = PLX_SHM_MAGIC;
    assert_int_equal(plx_map_check(image, sizeof *image - 1, &map), PLX_ERR_FORMAT);
    free(image);
}

/* Sets one number of the header, of BYTES bytes, and returns what plx_map_check says; takes it back. */
static int check_with(struct plx_shm_header *image, size_t region_bytes, size_t offset, size_t bytes, uint64_t value)
{
    unsigned char *at = (unsigned char *)image + offset;
    uint64_t before = 0;
    struct plx_map map;
    memcpy(&before, at, bytes);
    memcpy(at, &value, bytes);
    const int result = plx_map_check(image, region_bytes, &map);
    memcpy(at, &before, bytes);
    return result;
}

/* One number of the header at a time, at its limits and beyond: the others leave room enough for it. */
static void each_number_of_a_header_is_checked_alone(void **state)
{
    (void)state;
    size_t bytes;
    struct plx_shm_header *image = shm_image_make(&bytes);
    const uint64_t header = sizeof *image, slots = REGION_IMAGE_SLOTS * sizeof(struct plx_shm_slot);
    const uint64_t frames = image->frames_offset, stride = image->frame_stride, frame = image->frame_bytes;
#define NUMBER(name) #name, offsetof(struct plx_shm_header, name), sizeof image->name
    const struct {
        const char *name;
        size_t offset, bytes;
        uint64_t value;
        bool good;
    } cases[] = {
        {NUMBER(slot_count), 3, false},
        {NUMBER(slot_count), 5, false}, /* frames of that many do not fit */
        {NUMBER(slot_count), 65, false},
        {NUMBER(slot_count), 0, false},
        {NUMBER(region_bytes), bytes - 8, false},
        {NUMBER(region_bytes), bytes + 8, false},
        {NUMBER(slots_offset), header + 8, true},
        {NUMBER(slots_offset), header + 4, false},
        {NUMBER(slots_offset), header - 8, false},
        {NUMBER(slots_offset), 0, false},
        {NUMBER(slots_offset), bytes - slots, true},
        {NUMBER(slots_offset), bytes - slots + 8, false},
        {NUMBER(slots_offset), (bytes + 8) / 8 * 8, false},
        {NUMBER(slots_offset), UINT64_MAX - 7, false},
        {NUMBER(frames_offset), frames - 8, true},
        {NUMBER(frames_offset), frames - 4, false},
        {NUMBER(frames_offset), header, true},
        {NUMBER(frames_offset), header - 8, false},
        {NUMBER(frames_offset), 0, false},
        {NUMBER(frames_offset), frames + 8, false},
        {NUMBER(frames_offset), (bytes + 8) / 8 * 8, false},
        {NUMBER(frames_offset), UINT64_MAX - 7, false},
        {NUMBER(frame_bytes), sizeof(struct plx_frame), true},
        {NUMBER(frame_bytes), sizeof(struct plx_frame) - 1, false},
        {NUMBER(frame_bytes), stride, true},
        {NUMBER(frame_bytes), stride + 1, false},
        {NUMBER(frame_bytes), UINT64_C(1) << 32, false},
        {NUMBER(frame_stride), (frame + 7) / 8 * 8 - 8, false},
        {NUMBER(frame_stride), stride + 8, false},
        {NUMBER(frame_stride), UINT64_MAX - 7, false},
    };
#undef NUMBER
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int result = check_with(image, bytes, cases[i].offset, cases[i].bytes, cases[i].value);
        if (result != (cases[i].good ? 0 : PLX_ERR_FORMAT))
            fail_msg("%s = %llu: %d", cases[i].name, (unsigned long long)cases[i].value, result);
    }
    /* A stride of odd size, where nothing else is wrong: of smaller frames. */
    image->frame_bytes = sizeof(struct plx_frame);
    assert_int_equal(check_with(image, bytes, offsetof(struct plx_shm_header, frame_stride), 8, stride - 4), PLX_ERR_FORMAT);
    assert_int_equal(check_with(image, bytes, offsetof(struct plx_shm_header, frame_stride), 8, stride - 8), 0);
    /* A frame of more than 4 GiB, in a region that has room for it: only the header is read. */
    const uint64_t large = UINT64_C(1) << 40;
    image->region_bytes = large;
    image->frame_stride = UINT64_C(1) << 33;
    assert_int_equal(check_with(image, large, offsetof(struct plx_shm_header, frame_bytes), 8, UINT32_MAX), 0);
    assert_int_equal(check_with(image, large, offsetof(struct plx_shm_header, frame_bytes), 8, UINT64_C(1) << 32),
                     PLX_ERR_FORMAT);
    free(image);
}

static uint64_t random_word(unsigned *seed)
{
    static const uint64_t wicked[] = {0,  1,    2,         7,          8,         63,         64,
                                      65, 4096, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
    uint64_t random = (uint64_t)(unsigned)rand_r(seed) << 32 ^ (uint64_t)(unsigned)rand_r(seed) << 8 ^ (unsigned)rand_r(seed);
    return rand_r(seed) % 2 ? wicked[random % (sizeof wicked / sizeof wicked[0])] : random;
}

/* Spoils up to four places of header, slot table, or the frame's numbers: single bytes, or words that are likely to hurt. */
static void spoil(unsigned char *memory, const struct plx_shm_header *good, unsigned *seed)
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
    struct plx_shm_header *good = shm_image_make(&bytes);
    unsigned char *memory = malloc(bytes);
    for (unsigned seed = first; seed < first + SEEDS; seed++) {
        unsigned state_of_seed = seed;
        memcpy(memory, good, bytes);
        spoil(memory, good, &state_of_seed);
        struct plx_map map;
        struct plx_view view = {0};
        int found = plx_map_check(memory, bytes, &map);
        if (!found)
            found = plx_map_find_newest(&map, 0, &view);
        if (found == 1) {
            shm_image_read(&view);
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
    struct plx_shm_header *good = shm_image_make(&bytes);
    int fd = make_memfd(good, bytes, 0);
    unsigned char *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(shared != MAP_FAILED);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, SERVICE_SEALS), 0); /* after the mapping, as the service does */
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
            shm_image_read(&view);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_answers_are_refused),
        cmocka_unit_test(only_write_seals_forbid_holes),
        cmocka_unit_test(memory_that_is_not_there_is_not_brought_in),
        cmocka_unit_test(silent_service_is_a_timeout),
        cmocka_unit_test(a_mute_service_is_asked_again),
        cmocka_unit_test(a_region_that_is_none_is_refused),
        cmocka_unit_test(each_number_of_a_header_is_checked_alone),
        cmocka_unit_test(hostile_memory_never_crashes),
        cmocka_unit_test(hostile_service_never_crashes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
