/* SPDX-License-Identifier: Apache-2.0 */
/* The service in a control group that gives it little: MemoryMax= and CPUQuota= of its unit. */
#include "tests/sanitizer.h"
#include "tests/system/fault.h"

#include "app/exit.h"
#include "tests/command.h"
#include "tests/system/control_group.h"

static struct control_group group;

static void make_group(const char *controller)
{
    if (!control_group_make(&group, controller)) {
        print_message("    skipped: no control group for %s can be made here\n", controller);
        skip();
    }
    daemon_.group = group.path;
}

static int clean_group(void **state)
{
    const int result = clean(state);
    control_group_remove(&group);
    return result;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

#define MIB (1L << 20)

/* The service with that much publishes, or says that memory is short, or is itself what the kernel kills: then systemd and the
 * kernel's log say so. Nothing is ever met in the middle (SIGBUS). True if it published. */
static bool publishes_in(long bytes)
{
    struct plx_client *client = NULL;
    struct plx_view view;
    bool published = false;
    int code = -1;

    assert_true(control_group_limit_memory(&group, bytes));
    daemon_start(&daemon_, small_args);
    const int64_t begin_ms = now_ms();
    while (!published && (code = daemon_wait(&daemon_, 0)) < 0 && !is_late(begin_ms, START_MS)) {
        if (!client && plx_connect(daemon_.socket, &client) < 0)
            usleep(2000);
        published = client && plx_next(client, 20, &view) == 0;
        if (strstr(daemon_said(&daemon_), "memory is exhausted); restarting in 0.4 s"))
            break; /* it logged the reason, and would try for ever */
    }
    if (code >= 0 && code != PLX_EXIT_OS && code != 128 + SIGKILL)
        fail_msg("%ld MiB: exit code %d; it said: %s", bytes / MIB, code, daemon_said(&daemon_));
    if (code == PLX_EXIT_OS)
        assert_non_null(strstr(daemon_said(&daemon_), "memory"));
    if (code < 0 && !published && is_late(begin_ms, START_MS))
        fail_msg("%ld MiB: neither frames nor a word; it said: %s", bytes / MIB, daemon_said(&daemon_));
    if (published) {
        plx_release(client, &view);
        whole_frame(client, START_MS);
    }
    if (code < 0)
        stop_daemon();
    plx_disconnect(client);
    return published;
}

static void too_little_memory_is_said(void **state)
{
    (void)state;
    bool enough = false;

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    print_message("    skipped: sanitizers need memory of their own\n");
    skip();
#endif
    make_group("memory");
    for (long mib = 4; mib <= 64; mib += fault_full() ? 2 : 12) {
        const bool published = publishes_in(mib * MIB);
        if (enough && !published)
            fail_msg("%ld MiB are too little, and less was enough; it said: %s", mib, daemon_said(&daemon_));
        if (published && !enough)
            print_message("    %ld MiB are enough\n", mib);
        enough = published;
        assert_int_equal(truncate(daemon_.log, 0), 0);
    }
    assert_true(enough);
}

/* A process of the group that wants more and more. */
static pid_t start_hog(void)
{
    const pid_t hog = fork();

    assert_true(hog >= 0);
    if (hog > 0)
        return hog;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!control_group_write(&group, "cgroup.procs", "0"))
        _exit(127);
    for (;;) {
        char *more = malloc(MIB);
        if (more)
            memset(more, 1, MIB);
        usleep(1000);
    }
}

/* The kernel kills the engine for lack of memory: its supervisor says so and replaces it, and clients keep their mapping. */
static void an_engine_killed_for_lack_of_memory_is_replaced(void **state)
{
    (void)state;
    char path[64];

    make_group("memory");
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)engine);
    FILE *file = fopen(path, "w"); /* the first that the kernel takes */
    assert_non_null(file);
    fputs("1000", file);
    assert_int_equal(fclose(file), 0);
    assert_true(control_group_limit_memory(&group, 400 * MIB));
    const pid_t hog = start_hog();
    wait_until_said("engine died of signal 9 (Killed: sent from outside, or because memory is exhausted); restarting in 0.1 s",
                    3 * START_MS);
    kill(hog, SIGKILL);
    waitpid(hog, NULL, 0);
    const struct plx_frame after = running_frame(client, RECOVER_MS);
    assert_true(after.epoch == before.epoch && after.sequence > before.sequence);
    assert_int_equal(daemon_wait(&daemon_, 0), -1);
    assert_int_equal(plx_restarts(client), 1);
    stop_daemon();
    plx_disconnect(client);
}

/* --- processors --------------------------------------------------------------------------------------------------- */

#define PERIOD_MS 50
#define QUOTA 30 /* per cent of one processor */

/* The processing time of FRAME. */
static int64_t busy_ns(const struct plx_frame *frame)
{
    int64_t us = 0;
    for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
        us += frame->stage_us[stage];
    return us * PLX_NS_PER_US;
}

/* Pairs are skipped whole, what is published is young, and the flags say so. */
static void a_third_of_a_processor_keeps_the_newest(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    const char *const *const args = small_args; /* work enough */
#else
    /* Too much for a third of a processor, and for the guest's no more than it takes to show. */
    const char *const width = clock_is_exact() ? "source.width=320" : "source.width=640";
    const char *const height = clock_is_exact() ? "source.height=240" : "source.height=480";
    const char *const args[] = {
        "--set", width,       "--set", height, "--set", "source.rate_hz=20", "--set", "match.disparities=128",
        "--set", "threads=1", NULL};
#endif
    static struct plx_frame frame, before;
    int waited = 0, late = 0, count = 0;
    uint64_t lost = 0;

    make_group("cpu");
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    assert_true(control_group_limit_cpu(&group, QUOTA));
    for (int i = 0; i < 10; i++)
        before = next_frame(client, START_MS); /* it is under way */
    const long memory = private_kib(engine_of(&daemon_));
    const uint32_t restarts = plx_restarts(client);

    for (const int64_t end_ms = now_ms() + (fault_full() ? 30000 : 6000); now_ms() < end_ms; before = frame, count++) {
        frame = next_frame(client, START_MS);
        lost += frame.pairs_skipped - before.pairs_skipped + frame.capture[PLX_LEFT].dropped - before.capture[PLX_LEFT].dropped;
        late += (frame.health & (PLX_HEALTH_OVERLOAD | PLX_HEALTH_LATE)) == (PLX_HEALTH_OVERLOAD | PLX_HEALTH_LATE);
        /* Taken while the one before was being worked on, at the earliest: nothing has waited in line. */
        waited += frame.capture[PLX_LEFT].capture_ns < before.published_ns - busy_ns(&before) - 2 * PERIOD_MS * PLX_NS_PER_MS;
    }
    print_message("    %d frames, %llu pairs skipped, %d frames late and overloaded, %d not the newest\n", count,
                  (unsigned long long)lost, late, waited);
    assert_true(count > 0 && lost > (uint64_t)count); /* most pairs are lost */
    assert_true(late * 4 > count * 3);
    assert_true(waited * 4 <= count); /* a queue would delay all */
    if (!SANITIZED)                   /* sanitizers keep books */
        assert_true(private_kib(engine_of(&daemon_)) < memory + 512);
    assert_int_equal(plx_restarts(client), restarts); /* slow is no reason to be replaced */
    assert_true(control_group_limit_cpu(&group, 1000));
    stop_daemon();
    plx_disconnect(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean_group)
    const struct CMUnitTest tests[] = {
        TEST(too_little_memory_is_said),
        TEST(an_engine_killed_for_lack_of_memory_is_replaced),
        TEST(a_third_of_a_processor_keeps_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
