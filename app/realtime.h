/* SPDX-License-Identifier: Apache-2.0 */
/* What bounds the latency of a process beside others: memory that stays in place, processors, real-time priority. */
#ifndef PLX_APP_REALTIME_H
#define PLX_APP_REALTIME_H

#include "core/base/text.h"

/* Locks the memory of this process, later memory included, page by page as it is first used (MCL_ONFAULT): what a driver has
 * reserved without using it costs nothing. Where the limit (RLIMIT_MEMLOCK) is not unlimited, later memory is left out, as it
 * would be refused once the limit is reached. PERMISSION with what to do: nothing is locked, all goes on. */
int plx_realtime_lock_memory(struct plx_error_message *message);

/* From now on what this thread takes by malloc lies in the heap and stays there; then touches every page of the heap, of code,
 * constants and static variables, so that no frame waits for the kernel at the first use of one. */
void plx_realtime_gather_heap(void);
void plx_realtime_touch_memory(void);

/* Lets this thread, and the threads that it makes from now on, run on the processors of CPUS alone ("2-3,5"). RANGE with the
 * name of the key: no such list, or a processor that this process may not use. */
int plx_realtime_choose_cpus(const char *cpus, struct plx_error_message *message);

/* Gives this thread, and the threads that it makes from now on, SCHED_FIFO of PRIORITY (1..99). A thread that then computes
 * for PLX_REALTIME_SPIN_S without ever waiting ends the process (RLIMIT_RTTIME). PERMISSION with what to do. */
#define PLX_REALTIME_SPIN_S 5
int plx_realtime_set_fifo(int priority, struct plx_error_message *message);

#endif
