/* SPDX-License-Identifier: Apache-2.0 */
/* What the columns of a scan say together. */
#ifndef PLX_CORE_GROUND_SCAN_H
#define PLX_CORE_GROUND_SCAN_H

#include "core/ground/columns.h"

/* Closes gaps in the SCAN of COUNT columns: where fewer than 5 columns with free ground lie between columns without, they have
 * none either. What is too near to be matched gets matches by chance in some columns of its own. */
void plx_scan_close(struct plx_scan *scan, int count);

/* Takes back the drops that the stage stixels found in SCAN where the ground does not fall more steeply than 8 degrees. The
 * stage knows how far ground goes from one row to the next on the plane; on a slope that falls away it goes farther, and a
 * slope then looks like a drop. DISPARITY, GROUND and PARAMS are those of the stage. */
void plx_scan_refuse_slopes(const struct plx_image *disparity, const struct plx_ground *ground,
                            const struct plx_calibration_info *calibration, const struct plx_columns_params *params,
                            struct plx_scan *scan);

/* Ends free ground at the drops that the stage stixels found, and says so, where at least 10 columns side by side have one:
 * fewer are chance. */
void plx_scan_confirm_drops(struct plx_scan *scan, int count);

/* Ends free ground where the ground itself rises by three quarters of the height that a thing needs (100 mm above min_height),
 * more steeply than 1 in 5, in at least 4 columns side by side: the path of a column runs over such a low thing as over raised
 * ground. Looks at the strict DISPARITY; SCAN is that of it, GROUND and PARAMS. Not farther than noise allows. */
void plx_scan_end_at_rises(const struct plx_image *disparity, const struct plx_ground *ground,
                           const struct plx_calibration_info *calibration, const struct plx_columns_params *params,
                           struct plx_scan *scan);

#endif
