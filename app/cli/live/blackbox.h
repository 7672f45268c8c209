/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of the black box, for several commands. */
#ifndef PLX_APP_CLI_LIVE_BLACKBOX_H
#define PLX_APP_CLI_LIVE_BLACKBOX_H

#define PLX_DIRECTORY_BYTES 4096

/* blackbox.directory of the service at SOCKET_PATH (NULL: as plx_connect). Without a service, of the configuration file
 * CONFIG_PATH; without that file, the default. "" if the black box is switched off. */
void plx_blackbox_directory(const char *socket_path, const char *config_path, char ret_directory[PLX_DIRECTORY_BYTES]);

#endif
