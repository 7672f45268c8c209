/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallax-gpio on a line of a real GPIO chip of the kernel, beside a real service: the line toggles while the verdict is go,
 * and stands still at low after slow, a dead engine, a dead service and an orderly end, and wherever it was after its own
 * death.
 *
 * guest: gpiotest
 */
#define WIDTH 320
#define HEIGHT 240
#include "tests/system/service.h"

#include <sys/socket.h>
#include <sys/un.h>

#define LINE "5" /* its name is "verdict" */
#define PERIOD_MS 10
#define LONG_MS 1000
#define ENGINE_MS 200 /* sooner than a new engine can see */
#define LATE_MS 40    /* one slow processor, on which the service computes too */

/* As in system/test_verdict: the camera of the scene as it stands, with a free zone, and one with a box in it. */
#define MOUNTED                                                                                                                \
    "--set", small_width, "--set", small_height, "--set", "source.rate_hz=4", "--set", "match.disparities=64", "--set",        \
        "match.paths=4", "--set", "mount.z_m=1", "--set", "mount.pitch_deg=5.73", "--set", "mount.roll_deg=0.86", "--set",     \
        "verdict.reaction_ms=1000", "--set", "verdict.stop_flags=frozen,no_frames", "--set", "verdict.slow_flags="
static const char free_zone[] = "zones=[{name: near, polygon: [[1.7, -0.4], [2.7, -0.4], [2.7, 0.4], [1.7, 0.4]]}]";
static const char box_zone[] =
    "zones=[{name: far, polygon: [[1.7, -0.5], [4.8, -0.5], [4.8, 0.5], [1.7, 0.5]], max_unknown: 0.6, "
    "occupied: slow}]";

static const char *const go_args[] = {MOUNTED, "--set", free_zone, NULL};
static const char *const slow_args[] = {MOUNTED, "--set", box_zone, NULL};
static char log_path[128];

/* What the wire shows: the chip's own record. */
static uint64_t wire(const char *what)
{
    char path[96];
    unsigned long long number = 0;
    snprintf(path, sizeof path, "/sys/kernel/debug/gpiotest/" LINE "/%s", what);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu", &number), 1);
    fclose(file);
    return number;
}

/* Starts parallax-gpio with ARGS (NULL at the end), which writes into log_path. */
static pid_t begin(const char *const *args, uid_t user)
{
    char *argv[16] = {(char *)"parallax-gpio"};
    for (int i = 0; args[i]; i++)
        memcpy(&argv[i + 1], &args[i], sizeof args[i]); /* exec takes them without const, and does not write */
    snprintf(log_path, sizeof log_path, "%s/gpio", daemon_.directory);
    unlink(log_path);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
    const int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (log < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    exec_as(user, PLX_BINARY_DIR "/bin/parallax-gpio", argv);
}

static pid_t begin_on_line(void)
{
    return begin((const char *const[]){"--chip", "gpiotest", "--line", "verdict", "--socket", daemon_.socket, NULL}, 0);
}

/* The exit code, or 128 + signal. */
static int end(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *said(void)
{
    static char text[4096];
    FILE *file = fopen(log_path, "r");
    const size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[bytes] = '\0';
    return text;
}

static void wait_for_edges(void)
{
    const int64_t begin_ms = now_ms();
    const uint64_t before = wire("edges");
    while (wire("edges") < before + 10) {
        if (is_late(begin_ms, 4 * START_MS))
            fail_msg("no edges; parallax-gpio said: %s; the service: %s", said(), daemon_said(&daemon_));
        usleep(5000);
    }
}

static struct plx_verdict_now wait_for(struct plx_client *client, enum plx_verdict_kind kind)
{
    const int64_t begin_ms = now_ms();
    struct plx_verdict_now verdict;
    while (plx_verdict(client, &verdict) != (int)kind) {
        if (is_late(begin_ms, 4 * START_MS))
            fail_msg("expected %s, not %s (%x); the service said: %s", plx_verdict_word(kind),
                     plx_verdict_word(verdict.verdict), verdict.reasons, daemon_said(&daemon_));
        usleep(2000);
    }
    return verdict;
}

/* Until when the newest verdict that is go holds, once there is none any more. */
static int64_t end_of_go(struct plx_client *client)
{
    struct plx_verdict_now verdict;
    int64_t until_ns = 0;
    while (plx_verdict(client, &verdict) == PLX_VERDICT_GO) {
        until_ns = verdict.capture_ns + verdict.valid_ns;
        usleep(1000);
    }
    return until_ns;
}

/* The line stands still at low for MS. */
static void stays_low(int ms)
{
    const uint64_t edges = wire("edges");
    assert_int_equal(wire("value"), 0);
    usleep((unsigned)ms * 1000);
    assert_int_equal(wire("edges"), edges);
    assert_int_equal(wire("value"), 0);
}

/* The last edge came no later than a half period after UNTIL_NS; the line then stays at low for MS. */
static void stood_still_by(const char *fault, int64_t since_ns, int64_t until_ns, int ms)
{
    usleep((PERIOD_MS + LATE_MS) * 1000);
    const int64_t last_ns = (int64_t)wire("last_ns");
    print_message("    %s: the last edge after %d ms; the verdict held for %d ms\n", fault,
                  (int)((last_ns - since_ns) / PLX_NS_PER_MS), (int)((until_ns - since_ns) / PLX_NS_PER_MS));
    assert_true(last_ns <= until_ns + (PERIOD_MS + LATE_MS) * PLX_NS_PER_MS);
    stays_low(ms);
}

static void go_toggles_and_the_end_is_low(void **state)
{
    (void)state;
    daemon_start(&daemon_, go_args);
    struct plx_client *client = connect_client();
    wait_for(client, PLX_VERDICT_GO);
    const pid_t pid = begin_on_line();
    wait_for_edges();
    const uint64_t before = wire("edges");
    const int64_t begin_ns = plx_now_ns();
    sleep(2);
    const uint64_t edges = wire("edges") - before;
    const int64_t expected = (plx_now_ns() - begin_ns) / (PERIOD_MS * PLX_NS_PER_MS);
    print_message("    %d edges where %d half periods passed\n", (int)edges, (int)expected);
    assert_in_range(edges, expected * 9 / 10, expected + 1);

    const pid_t second = begin_on_line();
    assert_int_equal(end(second), 75);
    assert_non_null(strstr(said(), "is taken by \"parallax-gpio\""));
    wait_for_edges(); /* the first does not care */
    kill(pid, SIGTERM);
    assert_int_equal(end(pid), 0);
    stays_low(LONG_MS);
    plx_disconnect(client);
}

/* The service of the test before runs on. */
static void its_own_death_stands_still(void **state)
{
    (void)state;
    const pid_t pid = begin_on_line();
    wait_for_edges();
    kill(pid, SIGKILL);
    assert_int_equal(end(pid), 128 + SIGKILL);
    const uint64_t edges = wire("edges");
    sleep(1);
    assert_int_equal(wire("edges"), edges); /* at either level */
    const pid_t next = begin_on_line();
    wait_for_edges();
    kill(next, SIGSTOP);
    usleep(PERIOD_MS * 1000);
    const uint64_t stopped = wire("edges");
    sleep(1);
    assert_int_equal(wire("edges"), stopped);
    kill(next, SIGKILL);
    end(next);
}

static void a_dead_or_hung_engine_stands_still_until_the_next_one_sees(void **state)
{
    (void)state;
    struct plx_client *client = connect_client();
    const pid_t pid = begin_on_line();
    wait_for_edges();
    int64_t since_ns = plx_now_ns();
    kill(daemon_child(&daemon_, "parallax-engine"), SIGKILL);
    end_of_go(client); /* the service takes it back before its time */
    stood_still_by("engine killed", since_ns, plx_now_ns(), ENGINE_MS);
    wait_for_edges();

    since_ns = plx_now_ns();
    kill(daemon_child(&daemon_, "parallax-engine"), SIGSTOP);
    const int64_t until_ns = end_of_go(client);
    stood_still_by("engine hung", since_ns, until_ns, ENGINE_MS);
    wait_for_edges();
    assert_non_null(strstr(said(), "the line stands still: stop (stale"));
    kill(pid, SIGTERM);
    assert_int_equal(end(pid), 0);
    plx_disconnect(client);
}

static void a_dead_service_stands_still_until_the_next_one(void **state)
{
    (void)state;
    struct plx_client *client = connect_client();
    const pid_t pid = begin_on_line();
    wait_for_edges();
    const int64_t since_ns = plx_now_ns();
    kill(daemon_.pid, SIGKILL);
    waitpid(daemon_.pid, NULL, 0);
    daemon_.pid = 0;
    const int64_t until_ns = end_of_go(client);
    stood_still_by("service killed", since_ns, until_ns, LONG_MS);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0); /* it outlives the service */
    daemon_start(&daemon_, go_args);
    wait_for_edges();

    const int64_t asked_ns = plx_now_ns();
    kill(daemon_.pid, SIGTERM);
    assert_int_equal(end_within(START_MS), 0);
    stood_still_by("service stopped", asked_ns, plx_now_ns(), LONG_MS);
    kill(pid, SIGTERM);
    assert_int_equal(end(pid), 0);
    plx_disconnect(client);
}

/* It starts first, and finds the service. The verdict is go until a box moves into the zone. */
static void slow_stands_still(void **state)
{
    (void)state;
    const pid_t pid = begin_on_line();
    stays_low(LONG_MS);
    daemon_start(&daemon_, slow_args);
    struct plx_client *client = connect_client();
    const struct plx_verdict_now verdict = wait_for(client, PLX_VERDICT_SLOW);
    stood_still_by("slow", verdict.capture_ns, plx_now_ns(), LONG_MS);
    assert_int_equal(plx_verdict(client, NULL), PLX_VERDICT_SLOW);
    print_message("    slow since frame %d\n", (int)verdict.sequence);
    kill(pid, SIGTERM);
    assert_int_equal(end(pid), 0);
    assert_non_null(strstr(said(), "no service is there"));
    assert_non_null(strstr(said(), "the line stands still: stop (stale, no_service)"));
    plx_disconnect(client);
    kill(daemon_.pid, SIGTERM);
    assert_int_equal(end_within(START_MS), 0);
}

static bool systemd_is_told(int socket, const char *what)
{
    const struct timeval patience = {.tv_sec = START_MS / 1000};
    char text[256];

    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (ssize_t bytes; (bytes = recv(socket, text, sizeof text - 1, 0)) > 0;) {
        text[bytes] = '\0';
        if (strstr(text, what))
            return true;
    }
    return false;
}

/* Ready with the line at low, then once a second alive, also without a service. */
static void systemd_hears_of_it(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", daemon_.directory);
    const int told = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(told, (const struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    const pid_t pid = begin_on_line();
    unsetenv("NOTIFY_SOCKET");
    assert_true(systemd_is_told(told, "READY=1"));
    assert_true(systemd_is_told(told, "WATCHDOG=1"));
    assert_true(systemd_is_told(told, "WATCHDOG=1"));
    kill(pid, SIGTERM);
    assert_true(systemd_is_told(told, "STOPPING=1"));
    assert_int_equal(end(pid), 0);
    close(told);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *args[7];
        int code;
        uid_t user;
        const char *words;
    } wrong[] = {
        {{"--chip", "nosuch", "--line", "5"}, 66, 0, "--chip nosuch: cannot be opened (No such file or directory); expected"},
        {{"--chip", "/dev/null", "--line", "5"}, 78, 0, "--chip /dev/null: this is no GPIO chip; gpiodetect lists them"},
        {{"--chip", "/dev/gpiochip0", "--line", "5"}, 77, 65534, "--chip /dev/gpiochip0: this user may not open it; add"},
        {{"--chip", "gpiochip0", "--line", "8"},
         78,
         0,
         "--line 8: gpiochip0 (gpiotest) has 8 lines; expected 0 to 7, or a name"},
        {{"--chip", "gpiotest", "--line", "99999999999999999999"}, 78, 0, "(gpiotest) has 8 lines; expected 0 to 7"},
        {{"--chip", "gpiotest", "--line", "brake"},
         66,
         0,
         "(gpiotest) has no line of this name; gpioinfo gpiochip0 lists them"},
        {{"--chip", "0", "--line", "6"}, 78, 0, "--line 6: the line of gpiochip0 cannot be an output (Invalid argument)"},
        {{"--chip", "gpiotest"}, 64, 0, "--line is missing"},
        {{"--line", "5"}, 64, 0, "--chip is missing"},
        {{"--chip", "0", "--line", "5", "--period", "0.5"}, 64, 0, "--period 0.5: expected 1 to 1000"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const int code = end(begin(wrong[i].args, wrong[i].user));
        print_message("    %d %s", code, said());
        assert_non_null(strstr(said(), wrong[i].words));
        assert_int_equal(code, wrong[i].code);
    }
}

int main(void)
{
    if (access(PLX_BINARY_DIR "/bin/parallax-gpio", X_OK) != 0) {
        puts("skipped: parallax-gpio is not built here: no libgpiod 1");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(systemd_hears_of_it),
        cmocka_unit_test(go_toggles_and_the_end_is_low),
        cmocka_unit_test(its_own_death_stands_still),
        cmocka_unit_test(a_dead_or_hung_engine_stands_still_until_the_next_one_sees),
        cmocka_unit_test(a_dead_service_stands_still_until_the_next_one),
        cmocka_unit_test(slow_stands_still),
    };
    return cmocka_run_group_tests_name("gpio", tests, make, clean);
}
