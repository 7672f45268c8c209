/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/share.h"

#include <stdio.h>
#include <string.h>

#include "app/web/local_user.h"

void plx_web_name_viewer(struct plx_web_connection *connection)
{
    uid_t user;
    const bool is_local = strcmp(connection->local, connection->remote) == 0; /* else the search would be in vain */
    if (is_local && plx_local_user(connection->fd, &user))
        snprintf(connection->viewer, sizeof connection->viewer, "user %u", (unsigned)user);
    else
        snprintf(connection->viewer, sizeof connection->viewer, "address %s", connection->remote);
}

int plx_web_check_share(struct plx_web_connection *const all[], int count, const struct plx_web_connection *connection,
                        bool is_socket, struct plx_error_message *message)
{
    int left = PLX_WEB_MAX_CONNECTIONS, held = 0;
    for (int i = 0; i < count; i++) {
        const struct plx_web_connection *each = all[i];
        if (each == connection || !each->authorized || each->phase == PLX_WEB_CLOSED)
            continue;
        if (strcmp(each->viewer, connection->viewer) != 0)
            left--;
        else
            held += !is_socket || each->phase == PLX_WEB_SOCKET;
    }
    const int most = plx_web_share(left, is_socket);
    if (held < most)
        return 0;
    return plx_fail(message, 429,
                    "%s has %d %s open, and may have %d of the %d that others leave: close pages or programs that look",
                    connection->viewer, held, is_socket ? "WebSockets" : "connections", most, left);
}
