/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/clock.h"

#define SILENT_NS (2 * PLX_NS_PER_S)
#define REDRAW_NS (250 * PLX_NS_PER_MS)
#define LINE_NS (5 * PLX_NS_PER_S)

void plx_progress_begin(struct plx_progress *progress)
{
    *progress = (struct plx_progress){.started_ns = plx_now_ns(), .terminal = isatty(STDERR_FILENO)};
}

void plx_progress_step(struct plx_progress *progress, uint64_t done, uint64_t total)
{
    int64_t now = plx_now_ns();
    int64_t elapsed = now - progress->started_ns;
    if (elapsed < SILENT_NS ||
        (progress->printed_ns && now - progress->printed_ns < (progress->terminal ? REDRAW_NS : LINE_NS)))
        return;
    progress->printed_ns = now;

    double rate = (double)done * PLX_NS_PER_S / (double)elapsed;
    fprintf(stderr, "%s%llu", progress->terminal ? "\r\033[K" : "", (unsigned long long)done);
    if (total > 0)
        fprintf(stderr, "/%llu", (unsigned long long)total);
    fprintf(stderr, " pairs, %.1f/s", rate);
    if (total > done && rate > 0)
        fprintf(stderr, ", %.0f s left", (double)(total - done) / rate);
    fputs(progress->terminal ? "" : "\n", stderr);
}

void plx_progress_end(struct plx_progress *progress)
{
    if (progress->terminal && progress->printed_ns)
        fputs("\r\033[K", stderr);
}
