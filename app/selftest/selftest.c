/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax selftest`, also called parallax-selftest: checks this machine. Man page: parallax-selftest(8). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/exit.h"
#include "app/machine_files.h"
#include "app/options.h"
#include "app/selftest/check.h"
#include "app/selftest/selftest.h"
#include "core/base/clock.h"
#include "oracle/test_image.h"

#define QUICK_LIMIT_S 300 /* for one check; under QEMU checks are slow */
#define FULL_LIMIT_S 3600

#define NAME "parallax selftest"

/* BACKEND is given to the check in its options; a check that tests no backend ignores it. */
static const struct check {
    const char *name;
    void (*run)(const struct check_options *options, struct check_outcome *ret);
    enum plx_backend_kind backend;
} checks[] = {
    {"stages/cpu against oracles", check_stages, PLX_BACKEND_CPU},
    {"stages/gpu against oracles", check_stages, PLX_BACKEND_GPU},
    {"frames/cpu against golden hashes", check_golden, PLX_BACKEND_CPU},
    {"frames/gpu against golden hashes", check_golden, PLX_BACKEND_GPU},
    {"frames/gpu against cpu", check_gpu_equals_cpu, PLX_BACKEND_GPU},
    {"memory/latency", check_latency, PLX_BACKEND_CPU},
    {"cameras/rate and sync", check_camera_pairs, PLX_BACKEND_CPU},
    {"cameras/exposure", check_camera_control, PLX_BACKEND_CPU},
    {"throughput/cpu", check_throughput, PLX_BACKEND_CPU},
    {"throughput/gpu", check_throughput, PLX_BACKEND_GPU},
    {"machine/temperature", check_temperature, PLX_BACKEND_CPU},
    {"machine/power", check_power, PLX_BACKEND_CPU},
    {"machine/gpu for clients", check_client_gpu, PLX_BACKEND_CPU},
};
const int check_count = sizeof checks / sizeof *checks;

/* Runs CHECK in a process of its own, so that a crash or a hang only fails this check, and no CUDA context is forked. */
static void run_check(const struct check *check, const struct check_options *options, struct check_outcome *shared,
                      struct check_result *ret)
{
    const int64_t begun = plx_now_ns();
    int status = 0;

    memset(shared, 0, sizeof *shared);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(options->full ? FULL_LIMIT_S : QUICK_LIMIT_S);
        check->run(options, shared);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        check_fail(shared, "cannot start a process: %s", strerror(errno));
    else if (WIFSIGNALED(status))
        check_fail(shared, WTERMSIG(status) == SIGALRM ? "the check hangs (signal %d)" : "the check crashed (signal %d)",
                   WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        check_fail(shared, "the check ended with exit code %d", WEXITSTATUS(status));
    *ret = (struct check_result){check->name, *shared, (double)(plx_now_ns() - begun) / 1e9};
}

static int run_all(struct check_options *options, const char *junit)
{
    struct check_outcome *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct check_result *result = calloc((size_t)check_count, sizeof *result);
    char model[128];
    int failed = 0;

    if (shared == MAP_FAILED || !result) {
        free(result);
        return PLX_EXIT_OS;
    }
    plx_machine_model(options->root, model, sizeof model);
    printf("TAP version 14\n1..%d\n# %s, %s\n", check_count, model[0] ? model : "no device tree",
           options->full ? "full" : "quick");
    fflush(stdout);
    for (int i = 0; i < check_count; i++) {
        options->backend = checks[i].backend;
        run_check(&checks[i], options, shared, &result[i]);
        results_tap(stdout, i + 1, &result[i]);
        failed += result[i].outcome.verdict == CHECK_FAILED;
    }
    struct plx_error_message message;
    const int error = junit ? results_junit(junit, result, check_count, &message) : 0;
    if (error < 0)
        fprintf(stderr, NAME ": %s\n", message.text);
    free(result);
    munmap(shared, sizeof *shared);
    return failed > 0 ? PLX_EXIT_FAILURE : error < 0 ? PLX_EXIT_CANNOT_WRITE : PLX_EXIT_OK;
}

int plx_command_selftest(int argc, char **argv)
{
    struct check_options options = {.seed = test_seed(), .config_path = PLX_DEFAULT_CONFIG, .root = ""};
    const char *junit = NULL;
    bool quick = false;
    const struct plx_option table[] = {
        PLX_OPTION("quick", NULL, quick, "half a minute (default)"),
        PLX_OPTION("full", NULL, options.full, "more cases and longer measurements: some minutes"),
        PLX_OPTION("config", "FILE", options.config_path,
                   "checks the cameras of this configuration (default: " PLX_DEFAULT_CONFIG ")"),
        PLX_OPTION("junit", "FILE", junit, "also writes the results as JUnit XML"),
        {0},
    };
    const struct plx_command_line line = {
        .program = NAME,
        .about = "Checks this machine: stages against oracles, the GPU against the CPU, golden frames, shared memory, cameras, "
                 "throughput, temperature and power mode. A check whose device is missing is skipped. The results go to "
                 "standard output as TAP.",
        .option = table};

    plx_parse_command_line(&line, argc, argv, NULL);
    return run_all(&options, junit);
}
