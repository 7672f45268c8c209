/* SPDX-License-Identifier: Apache-2.0 */
/* SIGTERM at random moments of the service's first three seconds: it ends in order, and nothing is left behind. */
#include "tests/system/fault.h"

#include <errno.h>
#include <sys/prctl.h>

/* Waits until PROCESS takes SIGTERM in order: that it is blocked, for its signalfd. Before, its end is that of any program. */
static void wait_until_it_listens(pid_t process)
{
    const int64_t deadline = now_ms() + patience_ms();
    char path[64], line[128];
    unsigned long long blocked = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    while (!(blocked >> (SIGTERM - 1) & 1)) {
        assert_true(now_ms() < deadline);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
                break;
        fclose(file);
    }
}

/* Names in the service's directory but its log, which is the test's, and the lock, which the next service takes over. */
static int left_behind(void)
{
    DIR *directory = opendir(daemon_.directory);
    const struct dirent *entry;
    int count = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "log") != 0 && strcmp(entry->d_name, "s.lock") != 0)
            count++;
    closedir(directory);
    return count;
}

static void sigterm_at_any_moment_ends_it_in_order(void **state)
{
    (void)state;
    const int moments = fault_full() ? 200 : 16;
    const int span_ms = fault_full() ? 3000 : 1000;
    uint64_t random = scratch_seed();

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the service would become ours */
    for (int i = 0; i < moments; i++) {
        const int moment_us = (int)(scratch_random(&random) % (uint64_t)(span_ms * 1000));
        daemon_start(&daemon_, small_args);
        wait_until_it_listens(daemon_.pid);
        usleep((useconds_t)moment_us);
        kill(daemon_.pid, SIGTERM);
        const int code = end_within(2000);
        if (code != 0 || left_behind() > 0)
            fail_msg("SIGTERM after %.3f ms: exit code %d, %d files left; it said: %s; PLX_TEST_SEED=%llu", moment_us / 1e3,
                     code, left_behind(), daemon_said(&daemon_), (unsigned long long)scratch_seed());
        assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD); /* no process is left */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sigterm_at_any_moment_ends_it_in_order, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
