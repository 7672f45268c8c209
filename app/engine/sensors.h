/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's sensors. system_health.c reads what the kernel says of the machine: shortage of memory (pressure stall
 * information), heat and throttled clocks (thermal zones, cooling devices, throttle counters). sensors.c is the thread that
 * reads them once a second, so that a read that blocks delays no frame.
 */
#ifndef PLX_APP_ENGINE_SENSORS_H
#define PLX_APP_ENGINE_SENSORS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/text.h"
#include "core/checks/health_table.h"

#define PLX_SYSTEM_HEALTH_HOLD 10 /* readings without a cause until a flag ends */

/* The state of one flag. */
struct plx_system_fault {
    int hold;                         /* readings until the flag ends; 0 = it is not set */
    struct plx_error_message message; /* the reading that set it */
};

struct plx_system_health {
    char root[256];     /* before each path; "" but in tests */
    char pressure[512]; /* memory.pressure of the process's own control group, below root; "" = there is none */
    struct plx_system_fault memory, heat;
    uint64_t throttled; /* sum of all throttle counters at the last reading */
    int counters;       /* that the sum is of; -1 before the first reading */
};

/* ROOT stands before each path. */
void plx_system_health_init(struct plx_system_health *system, const char *root);

/* Reads everything once; to be called once a second. May block. Returns the flags that are set: PLX_HEALTH_MEMORY_PRESSURE,
 * PLX_HEALTH_HOT. A sensor that this machine does not have sets none. */
uint32_t plx_system_health_read(struct plx_system_health *system);

struct plx_sensors {
    struct plx_system_health machine; /* the thread's own */
    struct plx_heartbeat *heartbeat;
    _Atomic(uint32_t) health; /* what the last reading found */
    atomic_bool stop;
    atomic_bool has_news;          /* news waits to be logged; until it is logged, the thread does not write news */
    struct plx_error_message news; /* what began or ended */
    bool started;
    pthread_t thread;
};

/* Starts the thread, whose heartbeat is HEARTBEAT. SENSORS must live as long as the process: plx_sensors_stop does not wait for
 * a thread that hangs in a read. If no thread can be created, no flag is ever set. */
void plx_sensors_start(struct plx_sensors *sensors, struct plx_heartbeat *heartbeat);

/* Stops the thread, and waits for it up to 0.2 s. */
void plx_sensors_stop(struct plx_sensors *sensors);

/* Logs the flags that began or ended since the last call; for the thread that logs. Never blocks. */
void plx_sensors_log(struct plx_sensors *sensors);

/* PLX_HEALTH_MEMORY_PRESSURE and PLX_HEALTH_HOT as last read. Never blocks. */
uint32_t plx_sensors_health(const struct plx_sensors *sensors);

#endif
