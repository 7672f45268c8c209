/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, descriptors, processes and disk that are not there when they are asked for. */
#define WIDTH 320
#define HEIGHT 240
#include "tests/system/fault.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "app/exit.h"
#include "tests/command.h"

/* --- at any call -------------------------------------------------------------------------------------------------- */

/* The service under WHAT must publish, or end with a code of the system's and a sentence. True if it published. */
static bool publishes_or_says_why(const char *what)
{
    struct plx_client *client = NULL;
    struct plx_view view;
    int code = -1;

    daemon_start(&daemon_, small_args);
    const int64_t deadline = now_ms() + patience_ms();
    while ((code = daemon_wait(&daemon_, 0)) < 0 && now_ms() < deadline) {
        if (!client && plx_connect(daemon_.socket, &client) < 0)
            usleep(2000);
        if (client && plx_next(client, 20, &view) == 0)
            break;
        if (strstr(daemon_said(&daemon_), "engine failed: ") && strstr(daemon_said(&daemon_), "restarting in 0.4 s")) {
            stop_daemon(); /* it logged the reason, and would try for ever */
            plx_disconnect(client);
            return false;
        }
    }
    if (code < 0 && client) {
        plx_release(client, &view);
        whole_frame(client, START_MS);
        if (daemon_wait(&daemon_, 0) >= 0)
            fail_msg("%s: it published and ended: %s", what, daemon_said(&daemon_));
        stop_daemon();
        plx_disconnect(client);
        return true;
    }
    if (code == 127 && strstr(daemon_said(&daemon_), "error while loading shared libraries"))
        return false; /* the loader's word, before ours */
    if (code != PLX_EXIT_OS && code != PLX_EXIT_IO)
        fail_msg("%s: exit code %d (-1: none); it said: %s", what, code, daemon_said(&daemon_));
    if (!strstr(daemon_said(&daemon_), "parallaxd: "))
        fail_msg("%s: exit code %d without a word", what, code);
    return false;
}

/* False if there are fewer calls than FAULT counts. */
static bool survives(const char *fault)
{
    make(NULL);
    daemon_.fault = fault;
    publishes_or_says_why(fault);
    const bool came = strstr(daemon_said(&daemon_), "fault: ") != NULL;
    clean(NULL);
    return came;
}

static void any_call_may_fail(void **state)
{
    (void)state;
    static const char *const names[] = {
        "malloc",
        "calloc",
        "realloc",
        "aligned_alloc",
        "mmap",
        "memfd_create",
        "ftruncate",
        "fallocate",
        "open",
        "fopen",
        "fdopen",
        "socket",
        "socketpair",
        "bind",
        "fork",
        "epoll_create1",
        "epoll_ctl",
        "sd_event_new",
        "sd_event_add_io",

        "sd_event_add_signal",
        "timerfd_create",
        "pthread_create",
    };
    uint64_t random = scratch_seed();
    int faults = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char fault[64];
        int call = 0;
        do {
            call += fault_full() || call < 1 ? 1 : 1 + (int)(scratch_random(&random) % 30);
            snprintf(fault, sizeof fault, "fail %s %d", names[i], call);
            faults++;
        } while (survives(fault));
    }
    print_message("    %d faults; PLX_TEST_SEED=%llu\n", faults, (unsigned long long)scratch_seed());
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

static bool publishes_within(int limited, rlim_t limit, const char *what)
{
    make(NULL);
    daemon_.limited = limited;
    daemon_.limit = limit;
    const bool published = publishes_or_says_why(what);
    clean(NULL);
    return published;
}

/* More is never worse, and the most is enough. */
static void check_limits(int limited, rlim_t least, rlim_t most, rlim_t step, const char *name)
{
    bool enough = false;

    for (rlim_t limit = least; limit <= most; limit += step) {
        char what[64];
        snprintf(what, sizeof what, "%s %llu", name, (unsigned long long)limit);
        bool published = publishes_within(limited, limit, what);
        if (enough && !published) /* threads that contend for malloc get 64 MiB of addresses each, by chance */
            published = publishes_within(limited, limit, what);
        if (enough && !published)
            fail_msg("%s is too little, and less was enough", what);
        enough = published;
    }
    assert_true(enough);
}

static void few_descriptors_are_enough_or_said(void **state)
{
    (void)state;
    check_limits(RLIMIT_NOFILE, 8, 32, fault_full() ? 1 : 6, "RLIMIT_NOFILE");
}

static void little_memory_is_enough_or_said(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    print_message("    skipped: sanitizers need more address space than there is memory\n");
    skip();
#endif
    const rlim_t mib = 1 << 20;
    struct stat program; /* with CUDA it is tens of MiB; where it does not fit itself, the kernel ends it before it begins */
    assert_int_equal(stat(PLX_BINARY_DIR "/bin/parallaxd", &program), 0);
    const rlim_t least = (rlim_t)program.st_size + 20 * mib;
    check_limits(RLIMIT_AS, least, least + 400 * mib, (fault_full() ? 10 : 80) * mib, "RLIMIT_AS");
}

static void set_files(rlim_t files)
{
    assert_int_equal(prlimit(daemon_.pid, RLIMIT_NOFILE, &(struct rlimit){files, 4096}, NULL), 0);
}

/* A service that runs keeps what it has: configuration, clients, memory; and goes on by itself when there is more again. */
static void a_service_without_descriptors_waits_for_them(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = running_frame(client, START_MS);
    const int files = settled_files(daemon_.pid);

    set_files(3);
    kill(daemon_.pid, SIGHUP); /* nothing has changed: nothing is tried */
    wait_until_said("configuration reloaded", RECOVER_MS);
    kill(engine_of(&daemon_), SIGKILL);
    wait_until_said("cannot start the engine: ", RECOVER_MS);
    assert_int_equal(plx_state(client), PLX_STATE_RECOVERING);
    set_files(4096);
    const struct plx_frame after = running_frame(client, 2 * RECOVER_MS);
    assert_true(after.epoch == before.epoch && after.sequence > before.sequence);
    expect_files(files, RECOVER_MS);
    stop_daemon();
    plx_disconnect(client);
}

static void a_configuration_that_cannot_be_tried_is_not_taken(void **state)
{
    (void)state;
    char path[128];
    const char *const args[] = {"--config", path, NULL};

    snprintf(path, sizeof path, "%s/parallax.yaml", daemon_.directory);
    write_config(SMALL_SOURCE "match:\n  disparities: 64\n");
    daemon_.fault = "fail socketpair 3"; /* after the probe and the engine of the start: the socket of the reload's probe */
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    write_config(SMALL_SOURCE "match:\n  disparities: 128\n");
    kill(daemon_.pid, SIGHUP);
    wait_until_said("kept as it was: ", RECOVER_MS);
    const struct plx_frame after = whole_frame(client, START_MS);
    assert_int_equal(after.disparities, 64);
    assert_true(after.epoch == before.epoch);
    assert_int_equal(engine_of(&daemon_), engine);
    stop_daemon();
    plx_disconnect(client);
}

/* --- disk --------------------------------------------------------------------------------------------------------- */

/* Recording into DIRECTORY, which takes little, ends with an error that names a file; frames go on meanwhile. */
static void record_until_full(struct plx_client *client, const char *directory)
{
    struct command command;
    const uint64_t before = whole_frame(client, START_MS).sequence;

    command_begin(&command, (const char *const[]){"record", directory, "--pairs", "1000", "--socket", daemon_.socket, NULL}, 0);
    int64_t deadline = now_ms() + patience_ms();
    while (waitpid(command.pid, NULL, WNOHANG | WNOWAIT) == 0 && now_ms() < deadline)
        whole_frame(client, 500);
    command_end(&command);
    if (command.code != PLX_EXIT_IO && command.code != PLX_EXIT_CANNOT_WRITE)
        fail_msg("exit code %d: %s", command.code, command.err);
    assert_non_null(strstr(command.err, directory));
    command_free(&command);
    assert_true(whole_frame(client, START_MS).sequence > before);
    assert_true(plx_state(client) == PLX_STATE_RUNNING ||
                plx_state(client) == PLX_STATE_DEGRADED); /* late, on a slow machine */
}

static struct plx_client *start_for_recording(void)
{
    static const char *const args[] = {SMALL, "--set", "publish.right=true", NULL};
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    return client;
}

/* Takes back what a test may have left when it failed. */
static int clean_disk(void **state)
{
    char directory[96];
    struct rlimit files;

    getrlimit(RLIMIT_FSIZE, &files);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){files.rlim_max, files.rlim_max});
    snprintf(directory, sizeof directory, "%s/disk", daemon_.directory);
    umount2(directory, MNT_DETACH); /* if it is mounted */
    return clean(state);
}

static void a_recording_that_meets_its_limit_ends_with_an_error(void **state)
{
    (void)state;
    char directory[96];
    struct plx_client *client = start_for_recording();
    struct rlimit before;

    snprintf(directory, sizeof directory, "%s/record", daemon_.directory);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN); /* inherited: EFBIG instead */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){20000, before.rlim_max});
    record_until_full(client, directory);
    stop_daemon();
    plx_disconnect(client);
}

/* COMMAND mounts a small file system at disk/ of the service's directory, in which it runs. */
static void record_on_a_full(const char *command, const char *name)
{
    char directory[96], line[512];

    snprintf(directory, sizeof directory, "%s/disk", daemon_.directory);
    assert_int_equal(mkdir(directory, 0755), 0);
    snprintf(line, sizeof line, "exec 2>/dev/null; cd %s && %s", daemon_.directory, command);
    if (system(line) != 0) {
        print_message("    skipped: a small %s cannot be mounted here\n", name);
        skip();
    }
    struct plx_client *client = start_for_recording();
    record_until_full(client, directory);
    stop_daemon();
    plx_disconnect(client);
}

static void a_recording_on_a_full_tmpfs_ends_with_an_error(void **state)
{
    (void)state;
    record_on_a_full("mount -t tmpfs -o size=512k tmpfs disk", "tmpfs");
}

static void a_recording_on_a_full_disk_ends_with_an_error(void **state)
{
    (void)state;
    record_on_a_full(
        "truncate -s 1M disk.img && PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q disk.img && mount -o loop disk.img disk", "ext4");
}

static void output_that_nobody_takes_is_an_error(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "parallax metrics",       "parallax status --json", "parallax watch --changes --seconds 1",
        "parallax --help",        "parallaxd --help",       "parallaxd --version",
        "parallaxd --dump-config"};
    struct plx_client *client = start_for_recording();
    char line[256];

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        snprintf(line, sizeof line, "PARALLAX_SOCKET=%s " PLX_BINARY_DIR "/bin/%s >/dev/full 2>&1", daemon_.socket,
                 commands[i]);
        const int status = system(line);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != PLX_EXIT_IO)
            fail_msg("%s: status %d, expected exit code %d", commands[i], status, PLX_EXIT_IO);
    }
    stop_daemon();
    plx_disconnect(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(few_descriptors_are_enough_or_said),
        cmocka_unit_test(little_memory_is_enough_or_said),
        TEST(a_service_without_descriptors_waits_for_them),
        TEST(a_configuration_that_cannot_be_tried_is_not_taken),
        cmocka_unit_test_setup_teardown(a_recording_that_meets_its_limit_ends_with_an_error, make, clean_disk),
        cmocka_unit_test_setup_teardown(a_recording_on_a_full_tmpfs_ends_with_an_error, make, clean_disk),
        cmocka_unit_test_setup_teardown(a_recording_on_a_full_disk_ends_with_an_error, make, clean_disk),
        TEST(output_that_nobody_takes_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
