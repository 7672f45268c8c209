/* SPDX-License-Identifier: Apache-2.0 */
#include "app/corrections/worker.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <parallax/error.h>

enum phase { IDLE, ASKED, DONE };

struct plx_worker {
    struct plx_correction_store store;
    struct plx_stereo_calibration calibration;

    /* The next three belong to the worker's thread while the phase is ASKED, else to the thread of the frames. */
    struct plx_drift_job job;
    struct plx_drift_result result;
    struct plx_remap map;

    _Atomic int phase; /* enum phase. ASKED is stored with release order after the job, and DONE after its result; each side
                          loads with acquire order before it reads the other's part */
    atomic_bool ends;
    sem_t asked;
    pthread_t thread;
};

static void work(struct plx_worker *worker)
{
    const struct plx_correction_store *store = &worker->store;
    struct plx_drift_job *job = &worker->job;
    struct plx_drift_result *result = &worker->result;
    struct plx_correction_evidence evidence;

    if (job->mode != PLX_CORRECTION_OFF)
        job->is_ordered = store->wanted(store->context, &job->order);
    plx_drift_job_run(job, result);
    while (plx_drift_result_next(result, &evidence)) {
        const uint32_t number = store->keep(store->context, &evidence);
        plx_drift_result_settle(result, evidence.applied, number);
    }
    if (!result->changed)
        return;
    plx_remap_fill(&worker->calibration, PLX_RIGHT, &result->state.applied, &worker->map);
    result->map = &worker->map;
}

static void *run(void *context)
{
    struct plx_worker *worker = context;

    for (;;) {
        while (sem_wait(&worker->asked) < 0 && errno == EINTR)
            ;
        if (atomic_load_explicit(&worker->ends, memory_order_relaxed)) /* sem_post orders it */
            return NULL;
        work(worker);
        atomic_store_explicit(&worker->phase, DONE, memory_order_release);
    }
}

/* A thread of ordinary priority, also where the caller's is higher: a map takes longer than a frame. */
static int start_thread(struct plx_worker *worker)
{
    const struct sched_param ordinary = {.sched_priority = 0};
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) != 0)
        return PLX_ERR_NOMEM;
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    pthread_attr_setschedparam(&attr, &ordinary);
    const int result = pthread_create(&worker->thread, &attr, run, worker);
    pthread_attr_destroy(&attr);
    return result == 0 ? 0 : PLX_ERR_NOMEM;
}

static void release(struct plx_worker *worker)
{
    sem_destroy(&worker->asked);
    free(worker->map.entry);
    free(worker);
}

int plx_worker_create(const struct plx_stereo_calibration *calibration, const struct plx_correction_store *store,
                      struct plx_worker **ret_worker)
{
    struct plx_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return PLX_ERR_NOMEM;

    worker->store = *store;
    worker->calibration = *calibration;
    worker->map = (struct plx_remap){.width = calibration->rectified_width, .height = calibration->rectified_height};
    worker->map.entry = malloc((size_t)worker->map.width * (size_t)worker->map.height * sizeof *worker->map.entry);
    sem_init(&worker->asked, 0, 0);
    if (!worker->map.entry || start_thread(worker) < 0) {
        release(worker);
        return PLX_ERR_NOMEM;
    }
    *ret_worker = worker;
    return 0;
}

void plx_worker_destroy(struct plx_worker *worker)
{
    if (!worker)
        return;
    atomic_store_explicit(&worker->ends, true, memory_order_relaxed);
    sem_post(&worker->asked);
    pthread_join(worker->thread, NULL);
    release(worker);
}

static bool wanted(void *context, struct plx_correction_order *order)
{
    const struct plx_correction_store *store = &((struct plx_worker *)context)->store;
    return store->wanted(store->context, order);
}

static bool ask(void *context, const struct plx_drift_job *job)
{
    struct plx_worker *worker = context;

    /* Acquire: what the thread read of the last job comes before this one. */
    if (atomic_load_explicit(&worker->phase, memory_order_acquire) != IDLE)
        return false;
    worker->job = *job;
    atomic_store_explicit(&worker->phase, ASKED, memory_order_release);
    sem_post(&worker->asked);
    return true;
}

static const struct plx_drift_result *take(void *context)
{
    struct plx_worker *worker = context;

    if (atomic_load_explicit(&worker->phase, memory_order_acquire) != DONE)
        return NULL;
    /* Relaxed: the thread writes to result and map only after the next ask, which releases them. */
    atomic_store_explicit(&worker->phase, IDLE, memory_order_relaxed);
    return &worker->result;
}

struct plx_correction_worker plx_worker_ops(struct plx_worker *worker)
{
    return (struct plx_correction_worker){.context = worker, .wanted = wanted, .ask = ask, .take = take};
}
