/* SPDX-License-Identifier: Apache-2.0 */
/* The service's state as diagnostic_msgs/DiagnosticArray. */
#ifndef PLX_BRIDGE_DIAGNOSTICS_MESSAGE_H
#define PLX_BRIDGE_DIAGNOSTICS_MESSAGE_H

#include "bridge/ros_types.h"

/* Levels of diagnostic_msgs/DiagnosticStatus. */
enum plx_diagnostic_level { PLX_DIAGNOSTIC_OK, PLX_DIAGNOSTIC_WARN, PLX_DIAGNOSTIC_ERROR, PLX_DIAGNOSTIC_STALE };

/* What is said about the service, and the memory of its message. */
struct plx_diagnostics {
    uint32_t state, health, restarts; /* enum plx_state, enum plx_health; engines that were replaced */
    double frames_per_s;
    double age_s;     /* of the newest frame when it came, NAN: unknown */
    uint64_t dropped; /* messages for slow readers */
    char reason[256];

    struct ros_diagnostic_status status;
    struct ros_key_value value[6];
    char flags[512], text[4][32];
};

/* The level for a state, enum plx_state. */
enum plx_diagnostic_level plx_diagnostic_level(uint32_t state);

/* Writes the names of the flags of HEALTH into TEXT, with a space between two. */
void plx_diagnostic_flags(uint32_t health, char *text, size_t size);

/* Fills *ret_array, which points into DIAGNOSTICS, with the status "parallax: service". Level: OK while running, WARN while the
 * service is degraded, starts or recovers, ERROR if it has failed, STALE where there is none. */
void plx_message_diagnostics(struct plx_diagnostics *diagnostics, int64_t realtime_ns, struct ros_diagnostic_array *ret_array);

#endif
