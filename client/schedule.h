/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU schedule of the service, for `parallax` alone: a diagnostic of this program, and no part of the library's interface.
 */
#ifndef PLX_CLIENT_SCHEDULE_H
#define PLX_CLIENT_SCHEDULE_H

#include <stdint.h>

struct plx_client;

/* As gpu_schedule of parallax/shm.h; also 0 before the first connection. */
uint32_t plx_client_gpu_schedule(struct plx_client *client);

#endif
