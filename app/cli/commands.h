/* SPDX-License-Identifier: Apache-2.0 */
/* The commands. argv[0] is the name of the command. Each returns an exit code (app/exit.h). */
#ifndef PLX_APP_CLI_COMMANDS_H
#define PLX_APP_CLI_COMMANDS_H

int plx_command_run(int argc, char **argv);
int plx_command_status(int argc, char **argv);
int plx_command_verdict(int argc, char **argv);
int plx_command_locate(int argc, char **argv);
int plx_command_wall(int argc, char **argv);
int plx_command_watch(int argc, char **argv);
int plx_command_snapshot(int argc, char **argv);
int plx_command_pipe(int argc, char **argv);
int plx_command_record(int argc, char **argv);
int plx_command_cameras(int argc, char **argv);
int plx_command_config(int argc, char **argv);
int plx_command_metrics(int argc, char **argv);
int plx_command_blackbox(int argc, char **argv);
int plx_command_calibration(int argc, char **argv);
int plx_command_doctor(int argc, char **argv);
int plx_command_report(int argc, char **argv);
int plx_command_calibrate(int argc, char **argv);
int plx_command_tune(int argc, char **argv);

#define PLX_DIRECTORY_BYTES 4096

/* blackbox.directory of the service at SOCKET_PATH (NULL: as plx_connect). Without a service, of the configuration file
 * CONFIG_PATH; without that file, the default. "" if the black box is switched off. */
void plx_blackbox_directory(const char *socket_path, const char *config_path, char ret_directory[PLX_DIRECTORY_BYTES]);

#endif
