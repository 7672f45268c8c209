/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and talks to the processes of ring_peer.c, for tests and benches. Any failure ends the test program. */
#ifndef PLX_TESTS_PEER_H
#define PLX_TESTS_PEER_H

#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/exec_as.h"
#include "tests/patience.h"

struct peer {
    pid_t pid;
    int in; /* its stdin */
    FILE *out;
};

struct peer_tally {
    uint64_t first, last, seen, missed, overwritten, torn, lost, epochs;
    int64_t lost_ns;
};

static inline void peer_check(bool fine, const char *what)
{
    if (!fine) {
        fprintf(stderr, "peer: %s\n", what);
        abort();
    }
}

/* PROGRAM lies beside the running one. ARGUMENT[0] is filled in. */
static inline struct peer peer_start(const char *program, char **argument)
{
    char self[PATH_MAX] = "", path[2 * PATH_MAX];
    peer_check(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink /proc/self/exe");
    snprintf(path, sizeof path, "%s/%s", dirname(self), program);
    argument[0] = path;
    int in[2], out[2];
    peer_check(!pipe2(in, 02000000 /* O_CLOEXEC */) && !pipe2(out, 02000000), "pipe2");
    struct peer peer = {.pid = fork()};
    peer_check(peer.pid >= 0, "fork");
    if (peer.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        exec_program(path, argument);
        _exit(127);
    }
    argument[0] = NULL; /* PATH ends here */
    close(in[0]);
    close(out[1]);
    peer.in = in[1];
    peer.out = fdopen(out[0], "r");
    peer_check(peer.out, "fdopen");
    return peer;
}

/* The next line that the peer prints, "" at its end; static storage. A silent peer fails the test. */
static inline const char *peer_line(struct peer *peer)
{
    static char line[512];
    struct pollfd out = {.fd = fileno(peer->out), .events = POLLIN}; /* a line is read whole, so nothing is left buffered */
    peer_check(poll(&out, 1, patience_ms()) == 1, "no answer");
    if (!fgets(line, sizeof line, peer->out))
        line[0] = 0;
    return line;
}

static inline uint64_t peer_ask(struct peer *service, const char *format, ...)
{
    char command[128];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(command, sizeof command, format, args);
    va_end(args);
    peer_check(write(service->in, command, (size_t)length) == length, "the service is gone");
    return strtoull(peer_line(service), NULL, 10);
}

static inline struct peer peer_service(const char *socket, int epoch, int slots, int max_clients)
{
    char number[3][16];
    snprintf(number[0], 16, "%d", epoch);
    snprintf(number[1], 16, "%d", slots);
    snprintf(number[2], 16, "%d", max_clients);
    char role[] = "service", *argument[] = {NULL, role, strdup(socket), number[0], number[1], number[2], NULL};
    struct peer peer = peer_start("ring_peer", argument);
    free(argument[2]);
    peer_check(!strcmp(peer_line(&peer), "ready\n"), "the service did not start");
    return peer;
}

/* Returns when the reader has got its first frame: there must be one. */
static inline struct peer peer_reader(const char *program, const char *socket, uint64_t last, const char *how)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, last);
    char role[] = "reader", *argument[] = {NULL, role, strdup(socket), number, strdup(how), NULL};
    struct peer peer = peer_start(program, argument);
    free(argument[2]);
    free(argument[4]);
    peer_check(!strcmp(peer_line(&peer), "reading\n"), "the reader gets no frame");
    return peer;
}

/* Waits for the peer to end by itself, or by the closing of its stdin; its wait status. */
static inline int peer_end(struct peer *peer)
{
    int status = -1;
    close(peer->in);
    fclose(peer->out);
    waitpid(peer->pid, &status, 0);
    return status;
}

/* SIGKILL, as the kernel or a crash would. */
static inline void peer_kill(struct peer *peer)
{
    kill(peer->pid, SIGKILL);
    peer_end(peer);
}

/* The reader's last words, and its end. */
static inline struct peer_tally peer_tally(struct peer *reader)
{
    struct peer_tally t;
    int fields = sscanf(peer_line(reader),
                        "first %" SCNu64 " last %" SCNu64 " seen %" SCNu64 " missed %" SCNu64 " overwritten %" SCNu64
                        " torn %" SCNu64 " lost %" SCNu64 " epochs %" SCNu64 " lost_ns %" SCNd64,
                        &t.first, &t.last, &t.seen, &t.missed, &t.overwritten, &t.torn, &t.lost, &t.epochs, &t.lost_ns);
    peer_check(fields == 9, "a reader failed");
    peer_check(peer_end(reader) == 0, "a reader ended with an error");
    return t;
}

#endif
