/* SPDX-License-Identifier: Apache-2.0 */
/* The commands. argv[0] is the name of the command. Each returns an exit code (app/exit.h). */
#ifndef PLX_APP_CLI_COMMANDS_H
#define PLX_APP_CLI_COMMANDS_H

int plx_command_run(int argc, char **argv);
int plx_command_status(int argc, char **argv);
int plx_command_watch(int argc, char **argv);
int plx_command_snapshot(int argc, char **argv);
int plx_command_record(int argc, char **argv);
int plx_command_cameras(int argc, char **argv);
int plx_command_config(int argc, char **argv);
int plx_command_metrics(int argc, char **argv);
int plx_command_blackbox(int argc, char **argv);
int plx_command_report(int argc, char **argv);
int plx_command_tune(int argc, char **argv);
int plx_command_selftest(int argc, char **argv);

#endif
