/* SPDX-License-Identifier: Apache-2.0 */
/* What the service says to a client (include/parallax/region.h), sent without waiting. SOCKET is the client's. */
#ifndef PLX_APP_SUPERVISOR_MESSAGES_H
#define PLX_APP_SUPERVISOR_MESSAGES_H

#include <stdbool.h>

#include "app/region/region.h"

/* If it does not arrive, the end of the connection does. ERROR: a plx_error. */
void plx_message_refusal(int socket, int error);

/* REGION's epoch and read-only descriptor. False: they did not fit, or the client is gone. */
bool plx_message_welcome(int socket, const struct plx_shared_region *region);

/* The descriptor FD of the configuration's text, which stays the caller's, or the plx_error for why there is none. Once for
 * each client: a descriptor that nobody takes from the queue counts against the service's own limit. False as above. */
bool plx_message_config(int socket, int fd);

/* False: the client is gone. A full queue is no fault: its descriptor polls readable anyway. */
bool plx_message_frame(int socket, uint64_t sequence);

#endif
