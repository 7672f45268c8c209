/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax snapshot --last` asks the recorder: one packet each way on a SOCK_SEQPACKET socket, whose file's mode says who may.
 */
#ifndef PLX_APP_FLIGHT_RECORDER_REQUEST_H
#define PLX_APP_FLIGHT_RECORDER_REQUEST_H

#include <stdint.h>

#define PLX_RECORDER_MAGIC 0x52584C50u /* "PLXR" */
#define PLX_RECORDER_VERSION 1u
#define PLX_RECORDER_MAX_SECONDS 3600u

struct plx_recorder_request {
    uint32_t magic, version;
    uint32_t milliseconds; /* before now; 1 .. 1000 * PLX_RECORDER_MAX_SECONDS */
    uint32_t reserved;     /* 0 */
};

struct plx_recorder_answer {
    uint32_t magic, version;
    int32_t error;   /* enum plx_error, 0: TEXT is the path of the file; else it is a sentence */
    uint32_t pairs;  /* in the file */
    char text[4204]; /* ends with a 0 */
};

#endif
