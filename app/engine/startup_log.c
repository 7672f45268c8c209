/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/startup_log.h"

#include "app/engine/report.h"
#include "app/engine/setup.h"
#include "app/log.h"
#include "app/realtime.h"

static void report_line(void *context, int level, const char *line)
{
    const int *report_fd = context;
    struct plx_report report = {.kind = PLX_REPORT_LOG, .error = level};

    plx_fail(&report.message, 0, "%s", line);
    plx_report_send(*report_fd, &report);
}

void plx_startup_log_forward(int *report_fd)
{
    plx_log_copy(report_line, report_fd);
}

void plx_startup_log_setup(const struct plx_setup *setup, int report_fd)
{
    const char *raw = setup->raw_note.text, *backend = setup->backend_note.text;
    struct plx_report note = {.kind = PLX_REPORT_NOTE};

    plx_fail(&note.message, 0, "%s%s%s", raw, *raw && *backend ? "; " : "", backend);
    if (note.message.text[0] != '\0') {
        plx_log(LOG_NOTICE, "%s", note.message.text);
        plx_report_send(report_fd, &note);
    }
    if (setup->fifo_note.text[0] != '\0')
        plx_log(LOG_NOTICE, "%s", setup->fifo_note.text);
    if (setup->tune_note.text[0] != '\0')
        plx_log(LOG_WARNING, "%s", setup->tune_note.text);
}

void plx_startup_lock_memory(void)
{
    struct plx_error_message message;

    if (plx_realtime_lock_memory(&message) < 0)
        plx_log(LOG_NOTICE, "%s", message.text);
}
