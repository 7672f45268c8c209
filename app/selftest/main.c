/* SPDX-License-Identifier: Apache-2.0 */
/* parallax-selftest: proves on this very machine what was tested elsewhere. Man page: parallax-selftest(8). */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/exit.h"
#include "app/selftest/report.h"
#include "app/version.h"
#include "core/clock.h"
#include "oracle/test_image.h"

#define DEFAULT_CONFIG "/etc/parallax/parallax.yaml"
#define QUICK_LIMIT_S 300 /* for one check; QEMU takes its time */
#define FULL_LIMIT_S 3600

static const char usage[] =
    "usage: parallax-selftest [--quick | --full] [--config FILE] [--junit FILE] [--version | --help]\n"
    "\n"
    "Checks this machine: stages against oracles, the GPU against the CPU, golden frames, shared memory, cameras, throughput,\n"
    "temperature and power mode. What the machine lacks is skipped, with its name. Writes TAP to standard output.\n"
    "\n"
    "  --quick              half a minute (default)\n"
    "  --full               more cases and longer measurements: some minutes\n"
    "  --config FILE        whose cameras are tried (default: " DEFAULT_CONFIG ")\n"
    "  --junit FILE         writes the results as JUnit's XML too\n"
    "  --version            writes version, commit, compiler, CUDA and architectures, and exits\n"
    "  --help               writes this and exits\n"
    "\n"
    "Exit codes: 0 nothing failed, 1 something did, 64 wrong arguments, 71 no memory, 73 FILE cannot be written.\n";

struct command {
    struct check_options options;
    const char *junit;
};

/* Returns -1 to go on, or the exit code. */
static int parse(int argc, char **argv, struct command *ret)
{
    static const struct option options[] = {
        {"quick", no_argument, NULL, 'q'},
        {"full", no_argument, NULL, 'f'},
        {"config", required_argument, NULL, 'c'},
        {"junit", required_argument, NULL, 'j'},
        {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    *ret = (struct command){.options = {.seed = test_seed(), .config_path = DEFAULT_CONFIG, .root = ""}};
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case 'q':
        case 'f':
            ret->options.full = option == 'f';
            break;
        case 'c':
            ret->options.config_path = optarg;
            break;
        case 'j':
            ret->junit = optarg;
            break;
        case 'v':
            plx_print_version("parallax-selftest");
            return PLX_EXIT_OK;
        case 'h':
            fputs(usage, stdout);
            return PLX_EXIT_OK;
        default: /* getopt has said what is wrong */
            return PLX_EXIT_USAGE;
        }
    }
    if (optind == argc)
        return -1;
    fputs("parallax-selftest: there are no arguments without --; see parallax-selftest --help\n", stderr);
    return PLX_EXIT_USAGE;
}

/* Runs CHECK in a process of its own, so that one that crashes or hangs is a result like others, and no CUDA context is forked.
 */
static void run(const struct check *check, const struct check_options *options, struct check_outcome *shared,
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
        check_fail(shared, WTERMSIG(status) == SIGALRM ? "it hangs (signal %d)" : "it crashed (signal %d)", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        check_fail(shared, "it ended with code %d", WEXITSTATUS(status));
    *ret = (struct check_result){check->name, *shared, (double)(plx_now_ns() - begun) / 1e9};
}

static int run_all(const struct command *command)
{
    struct check_outcome *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct check_result *result = calloc((size_t)check_count, sizeof *result);
    char model[128];
    int failed = 0;

    if (shared == MAP_FAILED || !result) {
        free(result);
        return PLX_EXIT_OS;
    }
    check_model(&command->options, model, sizeof model);
    report_tap_begin(stdout, check_count);
    printf("# %s, %s\n", model[0] ? model : "no board with a device tree", command->options.full ? "full" : "quick");
    fflush(stdout);
    for (int i = 0; i < check_count; i++) {
        run(&check_table[i], &command->options, shared, &result[i]);
        report_tap(stdout, i + 1, &result[i]);
        failed += result[i].outcome.verdict == CHECK_FAILED;
    }
    const int error = command->junit ? report_junit(command->junit, result, check_count) : 0;
    if (error < 0)
        fprintf(stderr, "parallax-selftest: cannot write %s: %s\n", command->junit, strerror(-error));
    free(result);
    munmap(shared, sizeof *shared);
    return failed > 0 ? PLX_EXIT_FAILURE : error < 0 ? PLX_EXIT_CANNOT_WRITE : PLX_EXIT_OK;
}

int main(int argc, char **argv)
{
    struct command command;
    const int exit_code = parse(argc, argv, &command);

    return exit_code >= 0 ? exit_code : run_all(&command);
}
