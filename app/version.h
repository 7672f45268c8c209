/* SPDX-License-Identifier: Apache-2.0 */
/* Version and build of a program. */
#ifndef PLX_APP_VERSION_H
#define PLX_APP_VERSION_H

extern const char plx_version[]; /* e.g. "0.1.0" */

/* Writes it to standard output, `PROGRAM VERSION` first, then a line each for commit, compiler, processor and CUDA. */
void plx_print_version(const char *program);

#endif
