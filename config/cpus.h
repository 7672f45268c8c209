/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of processors as Linux writes them: "2-3,5". */
#ifndef PLX_CONFIG_CPUS_H
#define PLX_CONFIG_CPUS_H

#include <stdbool.h>

#define PLX_MAX_CPUS 1024 /* as many as cpu_set_t holds */

/* Marks in RET_LISTED each processor that TEXT lists. False where TEXT is no such list: empty, out of order as 3-2, a number of
 * PLX_MAX_CPUS or more, anything but digits, hyphens and commas; RET_LISTED is then untouched. */
bool plx_cpus_parse(const char *text, bool ret_listed[PLX_MAX_CPUS]);

#endif
