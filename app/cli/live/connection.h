/* SPDX-License-Identifier: Apache-2.0 */
/* The running service, seen through libparallax, for the commands that talk to it. */
#ifndef PLX_APP_CLI_LIVE_CONNECTION_H
#define PLX_APP_CLI_LIVE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <parallax/client.h>

#include "app/cli/options.h"
#include "core/image.h"

/* The option that all of them have. */
#define PLX_SOCKET_OPTION(variable)                                                                                            \
    {                                                                                                                          \
        .name = "socket", .argument = "PATH", .kind = PLX_OPTION_TEXT, .value = &(variable),                                   \
        .help = "of the service (default: $PARALLAX_SOCKET, else " PLX_DEFAULT_SOCKET ")"                                      \
    }

struct plx_connection {
    const char *command; /* for error messages */
    const char *socket;
    struct plx_client *client;
    struct plx_frame *frame; /* the last copy: header and planes */
    size_t capacity;         /* bytes at FRAME */
};

/* Parses the command line and takes *SOCKET, which the socket option has set. RET_WORDS as in plx_options_parse. True:
 * *ret_exit is OK, go on. False: end the program with *ret_exit; the reason was printed and nothing is held. */
bool plx_connection_parse(const struct plx_usage *usage, int argc, char **argv, const char *const *socket,
                          struct plx_words *ret_words, struct plx_connection *ret_online, int *ret_exit);
/* The same, and connects. */
bool plx_connection_open(const struct plx_usage *usage, int argc, char **argv, const char *const *socket,
                         struct plx_words *ret_words, struct plx_connection *ret_online, int *ret_exit);
void plx_connection_close(struct plx_connection *online);

/* Prints one line for ERROR of a client call and returns its exit code. */
int plx_connection_fail(const struct plx_connection *online, int error);

/* Waits for a newer frame and copies its header alone, sizes checked. The errors of plx_next; LOST only if the service is still
 * away when the time is over. */
int plx_connection_next_header(struct plx_connection *online, int timeout_ms, struct plx_frame *ret_frame);

/* Waits for a newer frame and copies all of it into online->frame. The errors of plx_copy but RANGE; LOST as above. */
int plx_connection_next_frame(struct plx_connection *online, int timeout_ms);

/* Plane ID of the last copy; data is NULL where it is switched off, or wider or higher than an image may be. */
struct plx_image plx_connection_plane(const struct plx_connection *online, enum plx_plane_id id);

/* To standard output, a line, where FRAME does not show the world as it is now: "note: simulated pictures" */
void plx_print_source_note(const struct plx_frame *frame);

/* From now on SIGINT and SIGTERM do not end the program but make plx_stopped true. */
void plx_stop_on_signals(void);
bool plx_stopped(void);

#endif
