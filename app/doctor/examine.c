/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the checks, and their processes. */
#include "app/doctor/doctor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/doctor/check.h"
#include "app/exit.h"

#define LIMIT_MS 5000 /* for one check */

static const struct check {
    const char *name;
    void (*run)(const struct doctor_subject *subject, struct doctor_finding *finding);
} checks[DOCTOR_ROWS] = {
    {"configuration", doctor_check_configuration},
    {"socket", doctor_check_socket},
    {"service", doctor_check_service},
    {"cameras", doctor_check_cameras},
    {"pictures", doctor_check_pictures},
    {"camera clock", doctor_check_camera_clock},
    {"calibration", doctor_check_calibration},
    {"drift", doctor_check_drift},
    {"gpu", doctor_check_gpu},
    {"memory", doctor_check_memory},
    {"priority", doctor_check_priority},
    {"processors", doctor_check_processors},
    {"clock", doctor_check_clock},
    {"network", doctor_check_network},
    {"jetson", doctor_check_jetson},
};

/* Takes what the check in process CHILD writes into FD. A process that a driver holds cannot be killed, and is not waited for.
 */
static void receive(pid_t child, int fd, struct doctor_finding *ret)
{
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    struct doctor_finding finding;

    const int ready = poll(&answer, 1, LIMIT_MS);
    if (ready > 0 && read(fd, &finding, sizeof finding) == (ssize_t)sizeof finding)
        *ret = finding;
    else if (ready > 0)
        doctor_find(ret, DOCTOR_UNKNOWN, "the check crashed");
    else
        doctor_find(ret, DOCTOR_UNKNOWN, "no answer in %d s: a driver may hang", LIMIT_MS / 1000);
    kill(child, SIGKILL);
    waitpid(child, NULL, ready > 0 ? 0 : WNOHANG);
}

/* Runs CHECK in a process of its own: a camera or a GPU that hangs, or its library that crashes, fails this check only. */
static void run_check(const struct check *check, const struct doctor_subject *subject, struct doctor_finding *ret)
{
    _Static_assert(sizeof *ret <= 4096, "a pipe takes it at once (PIPE_BUF)");
    int fd[2];

    if (pipe(fd) < 0) {
        doctor_find(ret, DOCTOR_UNKNOWN, "cannot start a process: %s", strerror(errno));
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        check->run(subject, ret);
        _exit(write(fd[1], ret, sizeof *ret) == (ssize_t)sizeof *ret ? 0 : PLX_EXIT_IO);
    }
    close(fd[1]);
    if (child < 0)
        doctor_find(ret, DOCTOR_UNKNOWN, "cannot start a process: %s", strerror(errno));
    else
        receive(child, fd[0], ret);
    close(fd[0]);
}

void doctor_examine(const struct doctor_request *request, struct doctor_row ret_row[DOCTOR_ROWS])
{
    static struct doctor_subject subject; /* large */

    doctor_subject_read(request, &subject);
    for (int i = 0; i < DOCTOR_ROWS; i++) {
        ret_row[i] = (struct doctor_row){.name = checks[i].name};
        run_check(&checks[i], &subject, &ret_row[i].finding);
    }
}

enum doctor_state doctor_worst(const struct doctor_row row[DOCTOR_ROWS])
{
    enum doctor_state worst = DOCTOR_NOT_APPLICABLE;

    for (int i = 0; i < DOCTOR_ROWS; i++)
        if (row[i].finding.state > worst)
            worst = row[i].finding.state;
    return worst;
}

const char *doctor_state_word(enum doctor_state state)
{
    static const char *const word[] = {
        [DOCTOR_NOT_APPLICABLE] = "not applicable",
        [DOCTOR_GOOD] = "good",
        [DOCTOR_UNKNOWN] = "unknown",
        [DOCTOR_DOUBTFUL] = "doubtful",
        [DOCTOR_BAD] = "bad",
    };
    return word[state];
}

int doctor_exit_code(enum doctor_state worst)
{
    return worst == DOCTOR_BAD ? PLX_EXIT_FAILURE : worst > DOCTOR_GOOD ? PLX_EXIT_DOUBT : PLX_EXIT_OK;
}
