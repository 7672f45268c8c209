/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that reads the machine's sensors once a second, so that a read that blocks costs no frame. */
#ifndef PLX_APP_ENGINE_SENSORS_H
#define PLX_APP_ENGINE_SENSORS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/engine/system_health.h"
#include "core/heartbeat.h"

struct plx_sensors {
    struct plx_system_health machine; /* the thread's own */
    struct plx_heartbeats *heartbeats;
    _Atomic(uint32_t) health; /* what the last reading found */
    atomic_bool stop;
    atomic_bool told;              /* news is for the other side to log; else it is the thread's */
    struct plx_error_message news; /* what began or ended */
    bool started;
    pthread_t thread;
};

/* Starts the thread. SENSORS must live as long as the process: a thread that hangs in a read is left behind. Where no thread
 * can be made there are no flags. */
void plx_sensors_start(struct plx_sensors *sensors, struct plx_heartbeats *heartbeats);

/* Ends the thread, unless it hangs. */
void plx_sensors_stop(struct plx_sensors *sensors);

/* Logs what began or ended since; for the thread that logs. Never blocks. */
void plx_sensors_log(struct plx_sensors *sensors);

/* PLX_HEALTH_MEMORY_PRESSURE and PLX_HEALTH_HOT as last read. Never blocks. */
uint32_t plx_sensors_health(const struct plx_sensors *sensors);

#endif
