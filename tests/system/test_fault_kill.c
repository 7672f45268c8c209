/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL of engine, supervisor and client at each system call of a frame (by ptrace), and at random moments. */
#include "tests/system/fault.h"

#include <errno.h>
#include <sys/ptrace.h>

#include "tests/command.h"

#define KILLS_A_LIFE 4 /* killed engines before the service is started again: back-off grows with each */

/* Stops PROCESS and lets it run to the next beginning or end of a system call, COUNT times. False if it is gone or, by itself,
 * makes none within a second. */
static bool step(pid_t process, int count)
{
    int status;

    for (int i = 0; i < count; i++) {
        if (ptrace(PTRACE_SYSCALL, process, 0, 0) < 0)
            return false;
        const int64_t deadline = now_ms() + 1000;
        pid_t changed;
        while ((changed = waitpid(process, &status, __WALL | WNOHANG)) == 0 && now_ms() < deadline)
            usleep(50);
        if (changed != process || !WIFSTOPPED(status))
            return false;
    }
    return true;
}

static bool seize(pid_t process)
{
    int status;
    return ptrace(PTRACE_SEIZE, process, 0, PTRACE_O_TRACESYSGOOD) == 0 && ptrace(PTRACE_INTERRUPT, process, 0, 0) == 0 &&
           waitpid(process, &status, __WALL) == process;
}

/* SIGKILL COUNT steps from now. The tracer must take notice of the end of a process that is not its child. */
static void kill_at_step(pid_t process, int count, bool child)
{
    if (!seize(process)) {
        print_message("    skipped: ptrace is not allowed here (%s)\n", strerror(errno));
        skip();
    }
    step(process, count);
    kill(process, SIGKILL);
    if (!child)
        waitpid(process, NULL, __WALL);
}

/* How many steps PROCESS makes from one frame to the next but one. */
static int steps_of_a_frame(pid_t process, struct plx_client *client)
{
    const uint64_t first = whole_frame(client, START_MS).sequence;
    struct plx_view view;
    int steps = 0;

    if (!seize(process))
        return 1; /* the kill will say so */
    for (uint64_t now = first; now < first + 3 && step(process, 1); steps++)
        if (plx_next(client, 0, &view) == 0) {
            now = view.sequence;
            plx_release(client, &view);
        }
    ptrace(PTRACE_DETACH, process, 0, 0);
    return steps < 10 ? 10 : steps;
}

/* From COUNT steps those to try: all, or ten of them. */
static int stride(int count)
{
    return fault_full() ? 1 : count / 10 + 1;
}

static void start(struct plx_client **ret_client)
{
    daemon_start(&daemon_, small_args);
    if (!*ret_client)
        *ret_client = connect_client();
    whole_frame(*ret_client, START_MS);
}

static void finish(struct plx_client *client)
{
    stop_daemon();
    plx_disconnect(client);
}

/* Kills the engine and looks whether all is as it was within two seconds; N_TH of this service's life. */
static void engine_dies_and_comes_back(struct plx_client *client, int n_th, void (*kill_engine)(pid_t engine, int argument),
                                       int argument)
{
    const struct plx_frame before = running_frame(client, START_MS);
    const int files = settled_files(daemon_.pid);
    const pid_t engine = engine_of(&daemon_);

    kill_engine(engine, argument);
    const int64_t killed_ms = now_ms();
    while (plx_state(client) != PLX_STATE_RECOVERING && engine_of(&daemon_) == engine) {
        if (is_late(killed_ms, 50 + SLACK_MS))
            fail_msg("no word of the engine's death after %d ms", 50 + SLACK_MS);
        usleep(200);
    }
    const struct plx_frame after = running_frame(client, RECOVER_MS + (100 << n_th));
    assert_false(is_late(killed_ms, RECOVER_MS + (100 << n_th)));
    assert_true(after.epoch == before.epoch && after.sequence > before.sequence);
    whole_frame(client, START_MS);
    expect_files(files, RECOVER_MS);
    assert_true(is_gone(engine));
}

static void kill_engine_at_step(pid_t engine, int count)
{
    kill_at_step(engine, count, false);
}

static void kill_engine_after(pid_t engine, int microseconds)
{
    usleep((useconds_t)microseconds);
    kill(engine, SIGKILL);
}

static void an_engine_killed_at_each_system_call_is_replaced(void **state)
{
    (void)state;
    struct plx_client *client = NULL;
    int kills = 0;

    start(&client);
    const int steps = steps_of_a_frame(engine_of(&daemon_), client);
    for (int count = 1; count <= steps; count += stride(steps), kills++) {
        if (kills % KILLS_A_LIFE == 0 && kills > 0) {
            stop_daemon();
            start(&client);
        }
        engine_dies_and_comes_back(client, kills % KILLS_A_LIFE, kill_engine_at_step, count);
    }
    print_message("    %d kills within the %d steps of two frames\n", kills, steps);
    finish(client);
}

static void a_supervisor_killed_at_each_system_call_leaves_nothing_that_lasts(void **state)
{
    (void)state;
    struct plx_client *client = NULL;
    int kills = 0;

    start(&client);
    const int steps = steps_of_a_frame(daemon_.pid, client);
    for (int count = 1; count <= steps; count += stride(steps), kills++) {
        const struct plx_frame before = whole_frame(client, START_MS);
        const pid_t engine = engine_of(&daemon_);
        kill_at_step(daemon_.pid, count, true);
        assert_int_equal(end_within(1000), 128 + SIGKILL);
        assert_true(is_gone(engine));
        start(&client);
        assert_true(whole_frame(client, START_MS).epoch > before.epoch);
    }
    print_message("    %d kills within the %d steps of two frames\n", kills, steps);
    finish(client);
}

static void a_client_killed_at_each_system_call_is_not_noticed(void **state)
{
    (void)state;
    struct plx_client *client = NULL;

    start(&client);
    const int files = settled_files(daemon_.pid);
    const pid_t engine = engine_of(&daemon_);
    setenv("PARALLAX_SOCKET", daemon_.socket, 1);
    for (int count = 1; count <= 200; count += stride(200)) {
        struct command watch;
        command_begin(&watch, (const char *const[]){"watch", NULL}, 0);
        kill_at_step(watch.pid, count, true);
        command_end(&watch);
        assert_int_equal(watch.code, 128 + SIGKILL);
        command_free(&watch);
        whole_frame(client, RECOVER_MS);
    }
    expect_files(files, RECOVER_MS);
    assert_int_equal(engine_of(&daemon_), engine);
    finish(client);
}

/* --- at random moments ------------------------------------------------------------------------------------------- */

/* The supervisor dies: clients hear of it within a period, its engine ends, and the next service is theirs without a word. */
static void supervisor_dies_and_comes_back(struct plx_client *client, int microseconds)
{
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    usleep((useconds_t)microseconds);
    kill(daemon_.pid, SIGKILL);
    const int64_t killed_ms = now_ms();
    while (plx_state(client) != PLX_STATE_STOPPED) {
        if (is_late(killed_ms, 50 + SLACK_MS))
            fail_msg("no word of the service's death after %d ms", 50 + SLACK_MS);
        usleep(200);
    }
    assert_int_equal(end_within(1000), 128 + SIGKILL);
    assert_true(is_gone(engine));
    start(&client);
    assert_true(whole_frame(client, START_MS).epoch > before.epoch);
}

static void client_dies(struct plx_client *client, int microseconds)
{
    const uint64_t before = whole_frame(client, START_MS).sequence;
    const pid_t engine = engine_of(&daemon_);
    struct command watch;

    command_begin(&watch, (const char *const[]){"watch", "--socket", daemon_.socket, NULL}, 0);
    usleep((useconds_t)microseconds);
    kill(watch.pid, SIGKILL);
    command_end(&watch);
    assert_int_equal(watch.code, 128 + SIGKILL);
    command_free(&watch);
    assert_true(whole_frame(client, RECOVER_MS).sequence > before);
    assert_int_equal(engine_of(&daemon_), engine);
}

/* A moment of a frame or two. */
static int any_moment(uint64_t *random)
{
    return (int)(scratch_random(random) % 100000);
}

static void whoever_is_killed_at_any_moment_the_others_go_on(void **state)
{
    (void)state;
    enum { ENGINE, SUPERVISOR, CLIENT, VICTIMS };
    const int kills = fault_full() ? 1000 : 12;
    struct plx_client *client = NULL;
    uint64_t random = scratch_seed();
    int killed[VICTIMS] = {0}, engines = 0; /* counts in this service's life */

    print_message("    %d kills, PLX_TEST_SEED=%llu\n", kills, (unsigned long long)random);
    start(&client);
    for (int i = 0; i < kills; i++) {
        const int victim = (int)(scratch_random(&random) % VICTIMS);
        if (victim == ENGINE && engines == KILLS_A_LIFE) {
            stop_daemon();
            start(&client);
            engines = 0;
        }
        if (victim == ENGINE)
            engine_dies_and_comes_back(client, engines++, kill_engine_after, any_moment(&random));
        else if (victim == SUPERVISOR)
            supervisor_dies_and_comes_back(client, any_moment(&random)), engines = 0;
        else
            client_dies(client, any_moment(&random));
        killed[victim]++;
    }
    print_message("    killed: engine %d, supervisor %d, client %d times\n", killed[ENGINE], killed[SUPERVISOR],
                  killed[CLIENT]);
    finish(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(an_engine_killed_at_each_system_call_is_replaced),
        TEST(a_supervisor_killed_at_each_system_call_leaves_nothing_that_lasts),
        TEST(a_client_killed_at_each_system_call_is_not_noticed),
        TEST(whoever_is_killed_at_any_moment_the_others_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
