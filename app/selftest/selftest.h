/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax selftest`. */
#ifndef PLX_APP_SELFTEST_SELFTEST_H
#define PLX_APP_SELFTEST_SELFTEST_H

/* argv[0] is the name of the command. Returns an exit code (app/exit.h). */
int plx_command_selftest(int argc, char **argv);

#endif
