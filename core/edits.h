/* SPDX-License-Identifier: Apache-2.0 */
/* How far two words are apart, to find what somebody meant. */
#ifndef PLX_CORE_EDITS_H
#define PLX_CORE_EDITS_H

#include <stddef.h>

#define PLX_EDIT_DISTANCE_LETTERS 64 /* of the first word that are looked at, and the largest B_LENGTH */

/* Edits (insert, delete, replace, swap neighbours) that turn A into the first B_LENGTH characters of B: the optimal string
 * alignment distance (Damerau 1964). */
int plx_edit_distance(const char *a, const char *b, size_t b_length);

#endif
