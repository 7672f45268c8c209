/* SPDX-License-Identifier: Apache-2.0 */
/* What files below /proc, /sys, /var and /etc say about this machine. ROOT is the directory of these: "", except in tests. */
#ifndef PLX_APP_MACHINE_FILES_H
#define PLX_APP_MACHINE_FILES_H

#include <stdbool.h>

/* The first line of the file whose path is ROOT followed by FORMAT; false, and RET_TEXT is untouched, if it cannot be read. */
__attribute__((format(printf, 4, 5))) bool plx_machine_line(const char *root, char *ret_text, int size, const char *format,
                                                            ...);

/* The rest of the first line of ROOT's file PATH that begins with KEY, without leading blanks; false if there is none. */
bool plx_machine_value(const char *root, const char *path, const char *key, char *ret_text, int size);

/* The model of the machine from its device tree; "" if there is no device tree. */
void plx_machine_model(const char *root, char *ret_text, int size);

/* The number and name of a Jetson's power mode; false if nvpmodel has written none. */
bool plx_machine_power_mode(const char *root, int *ret_mode, char *ret_name, int size);

#endif
