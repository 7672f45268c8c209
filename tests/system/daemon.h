/* SPDX-License-Identifier: Apache-2.0 */
/* The real parallaxd as a process of a test: started in a directory of its own, spoken to by signals and its socket, heard by
 * what it writes on standard error. */
#ifndef PLX_TESTS_SYSTEM_DAEMON_H
#define PLX_TESTS_SYSTEM_DAEMON_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/exec_as.h"
#include "tests/patience.h"

#define DAEMON_ARGS 48

struct daemon {
    char directory[64]; /* its own; everything in it goes with it */
    char socket[96];
    char log[96];      /* its standard error */
    pid_t pid;         /* 0 = not running */
    uid_t user;        /* 0 = as the test */
    int limited;       /* RLIMIT_*, if limit > 0 */
    rlim_t limit;      /* 0 = none */
    const char *group; /* control group that it joins; NULL = none */
    const char *fault; /* NULL = none; PLX_FAULT of parallaxd_faulty (faulty.c), which then runs in its place */
};

/* Path of NAME in the daemon's directory; good for the next three calls. */
static inline const char *daemon_path(const struct daemon *daemon, const char *name)
{
    static char path[4][256];
    static unsigned turn;
    char *here = path[turn++ % 4];
    snprintf(here, sizeof path[0], "%s/%s", daemon->directory, name);
    return here;
}

static inline void daemon_make(struct daemon *daemon)
{
    memset(daemon, 0, sizeof *daemon);
    strcpy(daemon->directory, "/tmp/plx-daemon-XXXXXX");
    assert_non_null(mkdtemp(daemon->directory));
    snprintf(daemon->socket, sizeof daemon->socket, "%s/s", daemon->directory);
    snprintf(daemon->log, sizeof daemon->log, "%s/log", daemon->directory);
}

static inline void daemon_remove(struct daemon *daemon)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", daemon->directory);
    assert_int_equal(system(command), 0);
}

/* The default configuration of a test's service. */
static inline const char *daemon_backend(void)
{
    const char *backend = getenv("PLX_TEST_BACKEND");
    return backend ? backend : "cpu";
}

/* Starts parallaxd with ARGS (NULL at the end), after --set publish.socket, backend, and no black box and no
 * history of corrections. */
static inline void daemon_start(struct daemon *daemon, const char *const *args)
{
    char socket_key[128], backend_key[32];
    char *argv[DAEMON_ARGS] = {(char *)"parallaxd",
                               (char *)"--set",
                               socket_key,
                               (char *)"--set",
                               backend_key,
                               (char *)"--set",
                               (char *)"blackbox.directory=",
                               (char *)"--set",
                               (char *)"calibration_history="};
    int count = 9;

    snprintf(socket_key, sizeof socket_key, "publish.socket=%s", daemon->socket);
    snprintf(backend_key, sizeof backend_key, "backend=%s", daemon_backend());
    for (; *args; args++) {
        assert_true(count < DAEMON_ARGS - 1);
        memcpy(&argv[count++], args, sizeof *args); /* exec takes them without const, and does not write */
    }
    daemon->pid = fork();
    assert_true(daemon->pid >= 0);
    if (daemon->pid > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
    int log = open(daemon->log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (log < 0 || dup2(log, STDERR_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0)
        _exit(127);
    if (daemon->limit > 0 && setrlimit(daemon->limited, &(struct rlimit){daemon->limit, daemon->limit}) < 0)
        _exit(127);
    char procs[128];
    snprintf(procs, sizeof procs, "%s/cgroup.procs", daemon->group ? daemon->group : "");
    int join = daemon->group ? open(procs, O_WRONLY | O_CLOEXEC) : -1;
    if (daemon->group && write(join, "0", 1) != 1)
        _exit(127);
    if (daemon->fault)
        setenv("PLX_FAULT", daemon->fault, 1);
    const char *subject = getenv("PLX_TEST_PARALLAXD"); /* for the test of the tests (runners.sh) */
    exec_as(daemon->user,
            subject         ? subject
            : daemon->fault ? PLX_BINARY_DIR "/bin/parallaxd_faulty"
                            : PLX_BINARY_DIR "/bin/parallaxd",
            argv);
}

/* Its exit code, 128 + signal if it was killed, or -1 if it still runs after TIMEOUT_MS. */
static inline int daemon_wait(struct daemon *daemon, int timeout_ms)
{
    const int64_t deadline = plx_now_ns() + timeout_ms * PLX_NS_PER_MS;
    int status;

    while (waitpid(daemon->pid, &status, WNOHANG) == 0) {
        if (plx_now_ns() > deadline)
            return -1;
        usleep(2000);
    }
    daemon->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The output so far, in static storage. */
static inline const char *daemon_said(const struct daemon *daemon)
{
    static char text[16384];
    FILE *file = fopen(daemon->log, "r");
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[bytes] = '\0';
    return text;
}

/* Its first child of that name ("parallax-engine"; NULL = any), 0 while there is none. */
static inline pid_t daemon_child(const struct daemon *daemon, const char *name)
{
    char path[64], comm[32];
    int child = 0;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)daemon->pid, (int)daemon->pid);
    FILE *children = fopen(path, "r");
    while (children && fscanf(children, "%d", &child) == 1) {
        snprintf(path, sizeof path, "/proc/%d/comm", child);
        FILE *file = fopen(path, "r");
        const bool is = file && fscanf(file, "%31s", comm) == 1 && (!name || strcmp(comm, name) == 0);
        if (file)
            fclose(file);
        if (is)
            break;
        child = 0;
    }
    if (children)
        fclose(children);
    return child;
}

static inline void write_text(const char *directory, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#endif
