/* SPDX-License-Identifier: Apache-2.0 */
/* A dry run of an engine, for probes: opens what it would open, without starting the source or disturbing a running engine. */
#include <fcntl.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/backend.h"
#include "app/engine/engine.h"
#include "app/engine/report.h"
#include "app/engine/setup.h"
#include "app/exit.h"
#include "app/publish/shm.h"

/* Allocates a ring for frames of FRAME_BYTES, and frees it. */
static int try_ring(const struct plx_config *config, uint32_t frame_bytes, struct plx_error_message *message)
{
    const struct plx_shm_options options = {.slots = config->publish.slots, .frame_bytes = frame_bytes};
    struct plx_shm *shm;

    const int result = plx_shm_create(&options, &shm, message);
    if (result == 0)
        plx_shm_destroy(shm);
    return result;
}

/* Out of memory, the kernel must kill the probe and not the engine. */
static void prefer_oom_kill(void)
{
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    const ssize_t written = write(fd, "1000", 4);
    (void)written; /* without it the kernel chooses by its own rules */
    close(fd);
}

int plx_engine_probe(const struct plx_config *config, uint32_t ring_bytes, int report_fd)
{
    struct plx_setup setup;
    struct plx_report report;
    struct plx_error_message message;

    prefer_oom_kill();
    if (plx_setup_open(&setup, config, NULL, &report) == 0) {
        report =
            (struct plx_report){.kind = PLX_REPORT_PLAN, .frame_bytes = setup.frame_bytes, .calibration = setup.calibration};
        const int result = setup.frame_bytes == ring_bytes ? 0 : try_ring(config, setup.frame_bytes, &message);
        if (result < 0)
            report = plx_setup_failure(config, false, result, &message);
        plx_setup_close(&setup);
    }
    plx_report_send_last(report_fd, &report);
    return report.exit_code;
}

int plx_engine_probe_gpu(int report_fd)
{
    const struct plx_limits small = {.width = 64, .height = 64, .disparities = 64, .threads = 1};
    struct plx_report report = {.kind = PLX_REPORT_PLAN};
    struct plx_stages *stages;

    const int result = plx_backend_open(PLX_BACKEND_GPU, PLX_GPU_MEMORY_AUTO, &small, &stages, NULL, &report.message);
    if (result == 0) {
        stages->ops->destroy(stages);
    } else {
        report.kind = PLX_REPORT_FAILED;
        report.error = result;
        report.exit_code = plx_exit_code(result);
    }
    plx_report_send_last(report_fd, &report);
    return report.exit_code;
}
