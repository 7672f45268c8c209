/* SPDX-License-Identifier: Apache-2.0 */
/* A real parallaxd for benchmarks that disturb it: started in a directory of its own, with its engine at hand. */
#ifndef PLX_TESTS_BENCH_SERVICE_H
#define PLX_TESTS_BENCH_SERVICE_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench_service {
    char directory[64], socket[96], config[96];
    pid_t pid; /* 0: not running */
};

static inline void bench_service_make(struct bench_service *service)
{
    memset(service, 0, sizeof *service);
    strcpy(service->directory, "/tmp/plx-bench-XXXXXX");
    if (!mkdtemp(service->directory)) {
        perror("no directory for the service");
        exit(1);
    }
    snprintf(service->socket, sizeof service->socket, "%s/s", service->directory);
    snprintf(service->config, sizeof service->config, "%s/parallax.yaml", service->directory);
}

/* Replaces the configuration file whole. */
static inline void bench_service_configure(const struct bench_service *service, const char *text)
{
    char fresh[128];
    snprintf(fresh, sizeof fresh, "%s.new", service->config);
    FILE *file = fopen(fresh, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0 || rename(fresh, service->config) < 0) {
        perror(service->config);
        exit(1);
    }
}

/* Starts the parallaxd beside this program with the configuration file, no black box, and no history of corrections. */
static inline void bench_service_start(struct bench_service *service)
{
    char program[4096], socket_key[128];
    char *argv[] = {(char *)"parallaxd",
                    (char *)"--config",
                    service->config,
                    (char *)"--set",
                    socket_key,
                    (char *)"--set",
                    (char *)"backend=cpu",
                    (char *)"--set",
                    (char *)"blackbox.directory=",
                    (char *)"--set",
                    (char *)"calibration_history=",
                    NULL};

    snprintf(socket_key, sizeof socket_key, "publish.socket=%s", service->socket);
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - sizeof "parallaxd");
    program[length > 0 ? length : 0] = '\0';
    service->pid = fork();
    if (service->pid != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a benchmark that is interrupted leaves nothing behind */
    char *slash = strrchr(program, '/');
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (slash && log >= 0 && dup2(log, STDERR_FILENO) >= 0) {
        memcpy(slash + 1, "parallaxd", sizeof "parallaxd");
        execv(program, argv);
    }
    _exit(127);
}

/* The engine's process; 0 while there is none. */
static inline pid_t bench_service_engine(const struct bench_service *service)
{
    char path[64], comm[32] = "";
    int child = 0;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)service->pid, (int)service->pid);
    FILE *children = fopen(path, "r");
    while (children && strcmp(comm, "parallax-engine") != 0 && fscanf(children, "%d", &child) == 1) {
        snprintf(path, sizeof path, "/proc/%d/comm", child);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%31s", comm) != 1)
            comm[0] = '\0';
        if (file)
            fclose(file);
    }
    if (children)
        fclose(children);
    return strcmp(comm, "parallax-engine") == 0 ? child : 0;
}

static inline void bench_service_stop(struct bench_service *service)
{
    if (service->pid <= 0) /* -1 would mean every process */
        return;
    kill(service->pid, SIGTERM);
    waitpid(service->pid, NULL, 0);
    service->pid = 0;
}

static inline void bench_service_remove(struct bench_service *service)
{
    char command[96];
    bench_service_stop(service);
    snprintf(command, sizeof command, "rm -rf %s", service->directory);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", service->directory);
}

#endif
