/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "cpu/internal.h"

struct plx_pool {
    int threads;
    pthread_t *worker; /* [threads - 1] */
    int workers;       /* started */

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool open; /* tasks of the current call may be left; guarded by lock, like the fields below */
    int busy;  /* workers that take part in the current call */
    bool stop;

    void (*task)(void *job, int index);
    void *job;
    int count;
    atomic_int next; /* first task not yet taken */
};

static void take_tasks(struct plx_pool *pool)
{
    /* relaxed: the lock around each call orders the tasks' data; NEXT itself only hands out numbers */
    for (;;) {
        int index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= pool->count)
            return;
        pool->task(pool->job, index);
    }
}

static void *work(void *argument)
{
    struct plx_pool *pool = argument;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && !pool->open)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->stop)
            break;
        pool->busy++;
        pthread_mutex_unlock(&pool->lock);
        take_tasks(pool);
        pthread_mutex_lock(&pool->lock);
        pool->open = false;
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int allowed_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set);
}

int plx_pool_create(int threads, struct plx_pool **ret_pool)
{
    struct plx_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return PLX_ERR_NOMEM;

    pool->threads = threads > 0 ? threads : allowed_cpus();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->worker = calloc((size_t)pool->threads, sizeof *pool->worker);
    if (!pool->worker)
        goto fail;
    for (; pool->workers < pool->threads - 1; pool->workers++) {
        if (pthread_create(&pool->worker[pool->workers], NULL, work, pool) != 0)
            goto fail;
    }
    *ret_pool = pool;
    return 0;

fail:
    plx_pool_destroy(pool);
    return PLX_ERR_NOMEM;
}

void plx_pool_destroy(struct plx_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->workers; i++)
        pthread_join(pool->worker[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->worker);
    free(pool);
}

int plx_pool_threads(const struct plx_pool *pool)
{
    return pool->threads;
}

void plx_pool_run(struct plx_pool *pool, int count, void (*task)(void *job, int index), void *job)
{
    if (pool->workers == 0 || count <= 1) {
        for (int i = 0; i < count; i++)
            task(job, i);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->job = job;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed); /* published by the lock */
    pool->open = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);

    take_tasks(pool);

    /* Waits only for workers that have taken part: where others have the processors, a worker may wake after the last task. */
    pthread_mutex_lock(&pool->lock);
    pool->open = false;
    while (pool->busy > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

struct bands {
    int rows, count;
    void (*band)(void *job, int first, int last);
    void *job;
};

static void run_band(void *argument, int index)
{
    const struct bands *bands = argument;
    const int64_t rows = bands->rows;
    bands->band(bands->job, (int)(rows * index / bands->count), (int)(rows * (index + 1) / bands->count));
}

/* A few bands per thread, so that one delayed thread does not delay the whole image. */
static int band_count(const struct plx_pool *pool, int rows)
{
    return rows < 4 * pool->threads ? rows : 4 * pool->threads;
}

void plx_pool_run_bands(struct plx_pool *pool, int rows, void (*band)(void *job, int first, int last), void *job)
{
    struct bands bands = {.rows = rows, .count = band_count(pool, rows), .band = band, .job = job};
    plx_pool_run(pool, bands.count, run_band, &bands);
}

struct rows {
    void (*row)(void *job, int y);
    void *job;
};

static void run_rows(void *argument, int first, int last)
{
    const struct rows *rows = argument;
    for (int y = first; y < last; y++)
        rows->row(rows->job, y);
}

void plx_pool_run_rows(struct plx_pool *pool, int count, void (*row)(void *job, int y), void *job)
{
    struct rows rows = {row, job};
    plx_pool_run_bands(pool, count, run_rows, &rows);
}
