/* SPDX-License-Identifier: Apache-2.0 */
/* What the columns of a scan say together. */
#ifndef PLX_CORE_GROUND_SCAN_H
#define PLX_CORE_GROUND_SCAN_H

#include <parallax/frame.h>

/* Closes gaps in the SCAN of COUNT columns: where fewer than 5 columns with free ground lie between columns without, they have
 * none either. What is too near to be matched gets matches by chance in some columns of its own. */
void plx_scan_close(struct plx_scan *scan, int count);

/* Ends free ground at the drops that the stage columns found, and says so, where at least 8 columns side by side have one:
 * fewer are chance. */
void plx_scan_confirm_drops(struct plx_scan *scan, int count);

#endif
