/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of a live command to the service, through libparallax. */
#ifndef PLX_APP_CLI_LIVE_CONNECTION_H
#define PLX_APP_CLI_LIVE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include <parallax/client.h>

#include "app/options.h"
#include "app/view/frame_text.h"
#include "core/base/image.h"

/* The option of all commands that connect. */
#define PLX_SOCKET_OPTION(VARIABLE)                                                                                            \
    PLX_OPTION("socket", "PATH", VARIABLE,                                                                                     \
               "uses the service at this socket (default: $PARALLAX_SOCKET, else " PLX_DEFAULT_SOCKET ")")

#define PLX_FRESH_FRAME_MS 3000 /* the wait of the commands for a fresh frame */

struct plx_connection {
    const char *command; /* "parallax status": begins every error */
    const char *socket;
    struct plx_client *client;
    struct plx_frame *frame; /* the last copy: header and planes */
    size_t capacity;         /* bytes at FRAME */
    double free_m;           /* plx_free_ahead in the last header's frame */
    struct plx_drop drop;    /* likewise: plx_drop_ahead */
};

/* Connects COMMAND to the service, calls WORK with CONTEXT, and closes the connection. Returns WORK's exit code; if there is no
 * connection, prints one line and returns the exit code for it. */
int plx_connection_run(const char *command, const char *socket, int (*work)(struct plx_connection *connection, void *context),
                       void *context);

/* Prints one line for ERROR of a client call and returns its exit code. */
int plx_connection_fail(const struct plx_connection *connection, int error);

/* Waits for a newer frame and copies only its header, after checking the sizes in it. Errors of plx_next; LOST only if the
 * service is still gone at the end of the timeout. */
int plx_connection_next_header(struct plx_connection *connection, int timeout_ms, struct plx_frame *ret_frame);

/* Waits for a newer frame and copies it into connection->frame. Errors of plx_copy but RANGE; LOST as above. */
int plx_connection_next_frame(struct plx_connection *connection, int timeout_ms);

/* Plane ID of the last copy; data is NULL if the plane is switched off or too large for an image. */
struct plx_image plx_connection_plane(const struct plx_connection *connection, enum plx_plane_id id);

/* Prints a line if the pictures of FRAME do not come from cameras: "note: simulated pictures" */
void plx_print_source_note(const struct plx_frame *frame);

/* From now on SIGINT and SIGTERM make plx_stopped true and do not end the program. */
void plx_stop_on_signals(void);
bool plx_stopped(void);

#endif
