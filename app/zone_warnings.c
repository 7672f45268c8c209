/* SPDX-License-Identifier: Apache-2.0 */
#include "app/zone_warnings.h"

#include <math.h>

#include "app/log.h"
#include "config/zones.h"

#define MIN_SHARE 0.001 /* share of a zone: less is no cell of the map */

void plx_zone_warnings_log(const struct plx_config *config)
{
    for (int i = 0; i < config->pipeline.zones.count; i++) {
        const struct plx_zone *zone = &config->pipeline.zones.zone[i];
        const double share = plx_zone_share_in_robot(zone, &config->pipeline.map);
        if (share > MIN_SHARE)
            plx_log(LOG_WARNING,
                    "zone %s: %.0f %% of it lies in the rectangle of the robot itself (map.front_m, map.back_m, map.width_m); "
                    "nothing is seen there, whatever stands in it; expected a zone that begins beside the robot",
                    zone->name, fmax(100 * share, 1));
    }
}
