/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax snapshot --last`: what the flight recorder has in memory, as a file. */
#ifndef PLX_APP_CLI_LIVE_SNAPSHOT_LAST_H
#define PLX_APP_CLI_LIVE_SNAPSHOT_LAST_H

/* Asks the recorder of the service at SOCKET_PATH (NULL: as plx_connect) for the last SECONDS, copies its file to PATH unless
 * that is NULL, and prints where it is. Returns an exit code. */
int plx_snapshot_last(const char *command, const char *socket_path, double seconds, const char *path);

#endif
