/* SPDX-License-Identifier: Apache-2.0 */
/* Stage columns: the values of all cells, row by row; then path, stixels and scan, column by column. The arithmetic is that of
 * core/ground/columns.h and core/ground/stixels.h. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/ground/stixels.h"
#include "cpu/internal.h"

#define ALIGNMENT 64

/* Buffers of one thread for a column. */
struct column {
    int16_t *ground;          /* [rows] */
    uint16_t *state;          /* [rows] */
    uint8_t *ground_cost, *p; /* as in struct plx_path */
};

/* Buffers of one thread. */
struct worker {
    uint16_t *pixels; /* PLX_CELL_SCRATCH */
    int16_t *values;  /* [columns] of a row of cells */
    struct column column[PLX_PATHS];
};

struct plx_columns_scratch {
    void *memory;        /* block that holds all that follows */
    uint8_t *thing_cost; /* [PLX_THING_ROWS][PLX_THING_TABLE] */
    int16_t *value;      /* [columns][rows] of cells */
    int threads;
    struct worker worker[]; /* [threads] */
};

struct job {
    const struct plx_kernels *kernels;
    const struct plx_columns_scratch *scratch;
    const struct plx_image *disparity, *scan, *stixels;
    const struct plx_ground *ground;
    const struct plx_columns_params *params;
    int columns, rows;
    atomic_int next; /* first row of cells or column that no thread has taken */
};

/* The next BYTES of MEMORY, aligned; without MEMORY only counts. */
static void *take(uint8_t *memory, size_t *offset, size_t bytes)
{
    void *here = memory ? memory + *offset : NULL;
    *offset += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return here;
}

/* Points all buffers into MEMORY, or nowhere if it is NULL; returns the bytes that they need. */
static size_t place(struct plx_columns_scratch *scratch, uint8_t *memory, const struct plx_limits *limits)
{
    const size_t columns = (size_t)plx_columns_of(limits->width), rows = (size_t)plx_cell_rows_of(limits->height);
    size_t end = 0;

    scratch->thing_cost = take(memory, &end, (size_t)PLX_THING_ROWS * PLX_THING_TABLE);
    scratch->value = take(memory, &end, columns * rows * sizeof *scratch->value);
    for (int i = 0; i < scratch->threads; i++) {
        struct worker *worker = &scratch->worker[i];
        worker->pixels = take(memory, &end, PLX_CELL_SCRATCH(limits->width) * sizeof *worker->pixels);
        worker->values = take(memory, &end, columns * sizeof *worker->values);
        for (int k = 0; k < PLX_PATHS; k++) {
            struct column *column = &worker->column[k];
            column->ground = take(memory, &end, rows * sizeof *column->ground);
            column->state = take(memory, &end, rows * sizeof *column->state);
            column->ground_cost = take(memory, &end, rows * PLX_PATH_PADDING);
            column->p = take(memory, &end, rows * ((size_t)limits->disparities + PLX_PATH_PADDING));
        }
    }
    return end;
}

static void fill(const struct plx_columns_scratch *scratch, int height)
{
    for (int sixteenth = 0; sixteenth < PLX_DISPARITY_ONE; sixteenth++)
        for (int i = 0; i < PLX_THING_TABLE; i++)
            scratch->thing_cost[sixteenth * PLX_THING_TABLE + i] =
                (uint8_t)plx_path_cost(abs(sixteenth - PLX_DISPARITY_ONE * (i - PLX_THING_TABLE / 2)), PLX_THING_TOLERANCE);
    memset(scratch->thing_cost + (PLX_THING_ROWS - 1) * PLX_THING_TABLE, PLX_THING_UNKNOWN, PLX_THING_TABLE);
    for (int i = 0; i < scratch->threads; i++)
        for (int k = 0; k < PLX_PATHS; k++)
            memset(scratch->worker[i].column[k].ground_cost, 255, (size_t)plx_cell_rows_of(height) * PLX_PATH_PADDING);
}

int plx_columns_scratch_create(const struct plx_limits *limits, int threads, struct plx_columns_scratch **ret_scratch)
{
    struct plx_columns_scratch *scratch = calloc(1, sizeof *scratch + (size_t)threads * sizeof scratch->worker[0]);
    if (!scratch)
        return PLX_ERR_NOMEM;
    scratch->threads = threads;
    scratch->memory = aligned_alloc(ALIGNMENT, place(scratch, NULL, limits));
    if (!scratch->memory) {
        free(scratch);
        return PLX_ERR_NOMEM;
    }
    place(scratch, scratch->memory, limits);
    fill(scratch, limits->height);
    *ret_scratch = scratch;
    return 0;
}

void plx_columns_scratch_destroy(struct plx_columns_scratch *scratch)
{
    if (scratch)
        free(scratch->memory);
    free(scratch);
}

/* The next of COUNT pieces of work, or -1. Relaxed: the pool orders the pieces' data. */
static int claim(struct job *job, int count)
{
    const int index = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    return index < count ? index : -1;
}

static void find_values(void *argument, int index)
{
    struct job *job = argument;
    const struct worker *worker = &job->scratch->worker[index];
    const struct plx_image *disparity = job->disparity;

    for (int row; (row = claim(job, job->rows)) >= 0;) {
        const int y = PLX_CELL_HEIGHT * row;
        job->kernels->cells(job->params, plx_row(disparity, y), y + 1 < disparity->height ? plx_row(disparity, y + 1) : NULL,
                            disparity->width, worker->pixels, worker->values);
        for (int column = 0; column < job->columns; column++)
            job->scratch->value[(size_t)column * (size_t)job->rows + (size_t)row] = worker->values[column];
    }
}

/* The state of the path in each row, from the top row down. */
static void trace_back(const struct plx_path *path, uint16_t *ret_state)
{
    const size_t pitch = (size_t)path->disparities + PLX_PATH_PADDING;
    int state = plx_path_least(path->p, path->disparities);

    ret_state[0] = (uint16_t)state;
    for (int y = 1; y < path->rows; y++) {
        state = plx_path_before(path->p + (size_t)y * pitch, path->disparities, state);
        ret_state[y] = (uint16_t)state;
    }
}

static struct plx_column column_of(const struct job *job, const struct column *buffers, int x)
{
    return (struct plx_column){job->params,
                               job->ground,
                               x,
                               job->rows,
                               job->disparity->width,
                               job->disparity->height,
                               job->scratch->value + (size_t)x * (size_t)job->rows,
                               buffers->state};
}

/* Columns X .. X + COUNT - 1. */
static void publish(const struct job *job, const struct worker *worker, int x, int count)
{
    struct plx_scan *scan = (struct plx_scan *)job->scan->data;
    struct plx_path path[PLX_PATHS] = {{0}};
    struct plx_column column[PLX_PATHS];

    for (int k = 0; k < count; k++) {
        const struct column *buffers = &worker->column[k];
        column[k] = column_of(job, buffers, x + k);
        for (int row = 0; row < job->rows; row++)
            buffers->ground[row] = (int16_t)plx_row_ground(&column[k], row);
        path[k] = (struct plx_path){job->rows,          job->params->disparities, plx_columns_lift(job->params),
                                    job->ground->valid, job->scratch->thing_cost, column[k].value,
                                    buffers->ground,    buffers->ground_cost,     buffers->p};
    }
    job->kernels->paths(path, count);
    for (int k = 0; k < count; k++) {
        trace_back(&path[k], worker->column[k].state);
        plx_column_publish(&column[k], &scan[x + k], plx_row(job->stixels, x + k));
    }
}

static void publish_columns(void *argument, int index)
{
    struct job *job = argument;
    struct plx_scan *scan = (struct plx_scan *)job->scan->data;
    const bool blind = plx_columns_blind(job->params, job->ground);

    for (int group; (group = claim(job, (job->columns + PLX_PATHS - 1) / PLX_PATHS)) >= 0;) {
        const int x = group * PLX_PATHS, count = x + PLX_PATHS <= job->columns ? PLX_PATHS : job->columns - x;
        for (int k = 0; k < count && blind; k++)
            plx_column_unknown(&scan[x + k], plx_row(job->stixels, x + k));
        if (!blind)
            publish(job, &job->scratch->worker[index], x, count);
    }
}

int plx_cpu_stixels(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                    const struct plx_columns_params *params, const struct plx_image *ret_scan,
                    const struct plx_image *ret_stixels)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct job job = {.kernels = cpu->kernels,
                      .scratch = cpu->columns,
                      .disparity = disparity,
                      .scan = ret_scan,
                      .stixels = ret_stixels,
                      .ground = ground,
                      .params = params};

    if (!plx_columns_ok(disparity, params, ret_scan, ret_stixels))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, disparity) || params->disparities > cpu->limits.disparities)
        return PLX_ERR_RANGE;
    job.columns = plx_columns_of(disparity->width);
    job.rows = plx_cell_rows_of(disparity->height);
    plx_pool_run(cpu->pool, cpu->columns->threads, find_values, &job);
    atomic_store_explicit(&job.next, 0, memory_order_relaxed);
    plx_pool_run(cpu->pool, cpu->columns->threads, publish_columns, &job);
    return 0;
}
