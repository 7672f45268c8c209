/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chaos: random faults one after the other, for PLX_SOAK_MINUTES (default: ten seconds). After each the service must publish
 * whole frames again; at the end its descriptors and memory are what they were.
 */
#include "tests/system/fault.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BACK_MS 30000 /* what recovery may take at most; how fast it is, others test */
#define WARM_UP 8     /* faults after which memory is compared */

static uint64_t random_state;

static int pick(int count)
{
    return (int)(scratch_random(&random_state) % (uint64_t)count);
}

/* --- what is done ------------------------------------------------------------------------------------------------- */

static void kill_engine(void)
{
    kill(engine_of(&daemon_), SIGKILL);
}

static void stop_engine(void)
{
    kill(engine_of(&daemon_), SIGSTOP);
}

static void stop_engine_for_a_moment(void)
{
    const pid_t engine = engine_of(&daemon_);
    kill(engine, SIGSTOP);
    usleep((useconds_t)pick(300) * 1000);
    kill(engine, SIGCONT);
}

static void stop_supervisor_for_a_moment(void)
{
    kill(daemon_.pid, SIGSTOP);
    usleep((useconds_t)pick(300) * 1000);
    kill(daemon_.pid, SIGCONT);
}

static void reload_good(void)
{
    static const char *const text[] = {
        SMALL_SOURCE "match:\n  disparities: 64\n  paths: 4\n",
        SMALL_SOURCE "match:\n  disparities: 64\n  paths: 4\nexposure:\n  target: 0.3\n",
        SMALL_SOURCE "match:\n  disparities: 64\n  paths: 8\n",
    };
    write_config(text[pick(3)]);
    kill(daemon_.pid, SIGHUP);
}

static void reload_bad(void)
{
    static const char *const text[] = {"source: [", "nonsense: 1\n", SMALL_SOURCE "calibration: /nowhere.yaml\n"};
    write_config(text[pick(3)]);
    kill(daemon_.pid, SIGHUP);
}

static int raw_client(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", daemon_.socket);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void say_garbage(void)
{
    uint8_t text[512];
    const int fd = raw_client();
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)scratch_random(&random_state);
    send(fd, text, (size_t)pick(sizeof text), MSG_NOSIGNAL);
    usleep(1000);
    close(fd);
}

static void crowd(void)
{
    int fd[100];
    for (size_t i = 0; i < sizeof fd / sizeof fd[0]; i++)
        fd[i] = raw_client();
    for (size_t i = 0; i < sizeof fd / sizeof fd[0]; i++)
        close(fd[i]);
}

static void come_and_go(void)
{
    struct plx_client *client = connect_client();
    if (pick(2))
        plx_fd(client);
    if (pick(2))
        whole_frame(client, BACK_MS);
    plx_disconnect(client);
}

static const struct {
    const char *name;
    void (*run)(void);
} chaos[] = {
    {"kill engine", kill_engine},
    {"stop engine", stop_engine},
    {"stop engine for a moment", stop_engine_for_a_moment},
    {"stop supervisor for a moment", stop_supervisor_for_a_moment},
    {"reload", reload_good},
    {"reload bad", reload_bad},
    {"garbage", say_garbage},
    {"crowd", crowd},
    {"come and go", come_and_go},
};

/* --- what must hold ----------------------------------------------------------------------------------------------- */

/* Least squares over all that was measured since the warm-up. */
struct slope {
    double n, t, y, tt, ty;
};

static void measure(struct slope *slope, double minutes, double kib)
{
    slope->n++;
    slope->t += minutes;
    slope->y += kib;
    slope->tt += minutes * minutes;
    slope->ty += minutes * kib;
}

static double slope_of(const struct slope *slope)
{
    const double d = slope->n * slope->tt - slope->t * slope->t;
    return d > 0 ? (slope->n * slope->ty - slope->t * slope->y) / d : 0;
}

/* A few whole frames of the same service, one after the other. */
static void expect_service(struct plx_client *client, const char *after, uint64_t epoch)
{
    uint64_t last = 0;

    for (int i = 0; i < 3; i++) {
        const struct plx_frame frame = whole_frame(client, BACK_MS);
        if (frame.epoch != epoch || frame.sequence <= last)
            fail_msg("after \"%s\": sequence %llu after %llu, epoch %llu; PLX_TEST_SEED=%llu", after,
                     (unsigned long long)frame.sequence, (unsigned long long)last, (unsigned long long)frame.epoch,
                     (unsigned long long)scratch_seed());
        last = frame.sequence;
    }
    assert_int_equal(daemon_wait(&daemon_, 0), -1);
}

static void chaos_leaves_no_trace(void **state)
{
    (void)state;
    const char *minutes = getenv("PLX_SOAK_MINUTES");
    const int64_t soak_ms = minutes ? strtol(minutes, NULL, 10) * 60000 : 10000;
    char path[128];
    const char *const args[] = {"--config", path, NULL};
    struct slope slope = {0};
    int faults = 0;

    random_state = scratch_seed();
    print_message("    %d s of chaos, PLX_TEST_SEED=%llu\n", (int)(soak_ms / 1000), (unsigned long long)random_state);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the service would become ours */
    snprintf(path, sizeof path, "%s/parallax.yaml", daemon_.directory);
    write_config(SMALL_SOURCE "match:\n  disparities: 64\n  paths: 4\n");
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    const uint64_t epoch = running_frame(client, START_MS).epoch;
    const int files = settled_files(daemon_.pid);
    const int64_t begin_ms = now_ms();
    long first_kib = 0;

    for (; now_ms() - begin_ms < soak_ms; faults++) {
        const int what = pick(sizeof chaos / sizeof chaos[0]);
        chaos[what].run();
        expect_service(client, chaos[what].name, epoch);
        assert_int_equal(truncate(daemon_.log, 0), 0);
        if (faults == WARM_UP)
            first_kib = private_kib(daemon_.pid);
        if (faults >= WARM_UP)
            measure(&slope, (double)(now_ms() - begin_ms) / 60000, (double)private_kib(daemon_.pid));
        usleep((useconds_t)pick(200) * 1000);
    }
    expect_files(files, BACK_MS);
    const long grown_kib = first_kib > 0 ? private_kib(daemon_.pid) - first_kib : 0;
    print_message("    %d faults, %u engines replaced; supervisor %ld KiB, grown by %ld, slope %.2f KiB/min\n", faults,
                  plx_restarts(client), private_kib(daemon_.pid), grown_kib, slope_of(&slope));
    assert_true(grown_kib < 64);
    if (soak_ms >= 10 * 60000) /* less says nothing about a slope: memory comes in pages */
        assert_true(slope_of(&slope) < 1.0);
    stop_daemon();
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    plx_disconnect(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(chaos_leaves_no_trace, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
