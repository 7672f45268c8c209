/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed pool of threads that share the tasks of one call. */
#ifndef PLX_CPU_RUNTIME_POOL_H
#define PLX_CPU_RUNTIME_POOL_H

struct plx_pool;

/* THREADS in all, the caller's among them; 0 = as many as the process may run on. Errors: NOMEM. */
int plx_pool_create(int threads, struct plx_pool **ret_pool);
void plx_pool_destroy(struct plx_pool *pool);

int plx_pool_threads(const struct plx_pool *pool);

/* Calls task(argument, i) once for each i in 0..count-1, on all threads, in any order, and returns when all are done. Tasks
 * start in ascending order: task i has been started before task i + 1 is. Not reentrant; allocates nothing. */
void plx_pool_run(struct plx_pool *pool, int count, void (*task)(void *argument, int index), void *argument);

#endif
