/* SPDX-License-Identifier: Apache-2.0 */
#include "app/gpio/toggle.h"

#include <stdio.h>
#include <time.h>

#include <parallax/error.h>
#include <parallax/words.h>

#include "app/log.h"
#include "core/base/clock.h"

#define CONNECT_NS (100 * PLX_NS_PER_MS) /* between two attempts while no service was there yet */
/* Between two lines of the log, for a verdict that flutters must not fill the journal. */
#define LOG_NS PLX_NS_PER_S
#define LOG_REASONS_NS (10 * PLX_NS_PER_S) /* where only the reasons changed */

/* False if a signal handler ran. Steps that a late process missed are left out: each edge has a verdict of its own. */
static bool sleep_until_next(struct plx_gpio_toggle *toggle)
{
    const int64_t now = plx_now_ns();
    toggle->step_ns += toggle->period_ns;
    if (toggle->step_ns < now)
        toggle->step_ns = now;
    const struct timespec until = {.tv_sec = toggle->step_ns / PLX_NS_PER_S, .tv_nsec = toggle->step_ns % PLX_NS_PER_S};
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0;
}

/* Looks for the service until it was there once; from then on plx_verdict finds it again. */
static void connect_first(struct plx_gpio_toggle *toggle)
{
    const char *path = plx_socket_path(toggle->socket);
    const int64_t now = plx_now_ns();
    if (toggle->client || now < toggle->connect_ns)
        return;
    const int result = plx_connect(toggle->socket, &toggle->client);
    if (result == 0)
        plx_log(LOG_INFO, "%s: reading the service", path);
    else if (result != toggle->connect_result)
        plx_log(LOG_WARNING, "%s: no service is there (%s); waiting for it", path, plx_strerror(result));
    toggle->connect_result = result;
    toggle->connect_ns = plx_now_ns() + CONNECT_NS;
}

/* "stop (stale, no_service)" */
static void describe(const struct plx_verdict_now *verdict, char *ret_text, size_t size)
{
    size_t used = (size_t)snprintf(ret_text, size, "%s", plx_verdict_word(verdict->verdict));
    const char *before = " (";
    for (int bit = 0; bit < 32 && used < size; bit++) {
        if (!(verdict->reasons >> bit & 1u))
            continue;
        used += (size_t)snprintf(ret_text + used, size - used, "%s%s", before, plx_reason_name(bit));
        before = ", ";
    }
    if (verdict->reasons && used < size)
        snprintf(ret_text + used, size - used, ")");
}

static void log_change(struct plx_gpio_toggle *toggle, const struct plx_verdict_now *verdict)
{
    const bool go = verdict->verdict == PLX_VERDICT_GO;
    const bool same = toggle->logged && go == (toggle->logged_verdict == PLX_VERDICT_GO);
    const int64_t now = plx_now_ns();
    char text[256];

    if (same && verdict->verdict == toggle->logged_verdict && verdict->reasons == toggle->logged_reasons)
        return;
    if (toggle->logged && now - toggle->log_ns < (same ? LOG_REASONS_NS : LOG_NS))
        return;
    describe(verdict, text, sizeof text);
    plx_log(go ? LOG_INFO : LOG_WARNING, "the line %s: %s", go ? "toggles" : "stands still", text);
    toggle->logged = true;
    toggle->logged_verdict = verdict->verdict;
    toggle->logged_reasons = verdict->reasons;
    toggle->log_ns = now;
}

int plx_gpio_toggle_step(struct plx_gpio_toggle *toggle, struct plx_error_message *message)
{
    struct plx_verdict_now verdict;

    if (!sleep_until_next(toggle))
        return 0;
    connect_first(toggle);
    toggle->high = plx_verdict(toggle->client, &verdict) == PLX_VERDICT_GO && !toggle->high;
    const int result = plx_gpio_line_set(toggle->line, toggle->high, message); /* low too: somebody may have pulled it */
    if (result == 0)
        log_change(toggle, &verdict);
    return result;
}

void plx_gpio_toggle_finish(struct plx_gpio_toggle *toggle)
{
    plx_disconnect(toggle->client);
    toggle->client = NULL;
}
