/* SPDX-License-Identifier: Apache-2.0 */
/* The service's state as diagnostic_msgs/DiagnosticArray. */
#ifndef PLX_BRIDGE_DIAGNOSTICS_MESSAGE_H
#define PLX_BRIDGE_DIAGNOSTICS_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "formats/cdr/ros_types.h"

/* Levels of diagnostic_msgs/DiagnosticStatus. */
enum plx_diagnostic_level { PLX_DIAGNOSTIC_OK, PLX_DIAGNOSTIC_WARN, PLX_DIAGNOSTIC_ERROR, PLX_DIAGNOSTIC_STALE };

#define PLX_DRIFT_VALUES 26

/* Socket buffers for pictures and points, bytes, as systemd/parallax-ros.sysctl sets them: net.core.rmem_default, rmem_max. */
#define PLX_RMEM_DEFAULT 4194304
#define PLX_RMEM_MAX 16777216

/* What is said about the service, and the memory of its message. */
struct plx_diagnostics {
    uint32_t state, health, restarts; /* enum plx_state, enum plx_health; engines that were replaced */
    double frames_per_s;
    double age_ms;   /* age of the newest frame when it came, NAN: unknown */
    uint32_t source; /* enum plx_source_type of the newest frame, */
    uint32_t blind;  /* and enum plx_blind bits; both without meaning if there was none: */
    bool any;
    uint64_t dropped;                  /* messages for slow readers */
    bool has_network;                  /* what follows is known: */
    uint64_t sent_bytes, resent_bytes; /* in the last second; sent again, because readers asked for it */
    char reason[256];
    struct plx_drift_info drift; /* drift in the newest frame; all zeros: nothing is measured */
    struct plx_calibration_info calibration;

    struct ros_diagnostic_status status[3];
    struct ros_key_value value[8], drift_value[PLX_DRIFT_VALUES], network_value[2];
    char flags[512], blind_text[64], text[4][32], drift_text[PLX_DRIFT_VALUES][24], drift_message[192];
    char network_text[2][24], network_message[192];
};

/* The level for a state, enum plx_state, and a source, enum plx_source_type: pictures that do not show the world are never OK.
 */
enum plx_diagnostic_level plx_diagnostic_level(uint32_t state, uint32_t source);

/* Writes what NAME gives for the bits of FLAGS into TEXT, with a space between two. */
void plx_diagnostic_flags(uint32_t flags, const char *(*name)(int bit), char *text, size_t size);

struct plx_client;

/* Fills what the service at CLIENT says, NULL: there is none; not rates, ages and drops. Needs libparallax. */
void plx_diagnostics_read(struct plx_client *client, struct plx_diagnostics *ret_diagnostics);

/* Fills *ret_array, which points into DIAGNOSTICS, with the status of
 * - "parallax: service". Level: OK while running, WARN while the service is degraded, starts or recovers, or its pictures are
 *   simulated or recorded, ERROR if it has failed, STALE where there is none. Keys are those of `parallax status --json`.
 * - "parallax: calibration drift". WARN from more than 1 px of rows at worst on, or with an offset above 0.25 px and 3 of its
 *   standard deviations, STALE where there is no service; "unknown" is what is not measured.
 * - "parallax: network", if that is known. WARN while readers ask again for more than 1 % of the bytes. */
void plx_message_diagnostics(struct plx_diagnostics *diagnostics, int64_t realtime_ns, struct ros_diagnostic_array *ret_array);

#endif
