/* SPDX-License-Identifier: Apache-2.0 */
/* parallax-gpio: a GPIO line that toggles while the verdict is go. Page: docs/verdict.md. */
#include <signal.h>

#include <parallax/error.h>
#include <parallax/shm.h>
#include <systemd/sd-daemon.h>

#include "app/exit.h"
#include "app/gpio/toggle.h"
#include "app/log.h"
#include "app/options.h"
#include "app/realtime.h"
#include "app/version.h"
#include "core/base/clock.h"

static const char program[] = "parallax-gpio";
static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static int toggle_until_stopped(struct plx_gpio_toggle *toggle, struct plx_error_message *message)
{
    int64_t notify_ns = 0;
    int result = 0;

    while (result == 0 && !stopped) {
        result = plx_gpio_toggle_step(toggle, message);
        if (plx_now_ns() < notify_ns)
            continue;
        sd_notify(0, "WATCHDOG=1");
        plx_log_flush();
        notify_ns = plx_now_ns() + PLX_NS_PER_S;
    }
    return result;
}

static int run(const char *chip, const char *line, struct plx_gpio_toggle *toggle, struct plx_error_message *message)
{
    int result = plx_gpio_line_open(chip, line, &toggle->line, message);
    if (result < 0)
        return result;
    struct plx_error_message refusal;
    if (plx_realtime_lock_memory(&refusal) < 0)
        plx_log(LOG_NOTICE, "%s", refusal.text);
    plx_log(LOG_INFO, "%s: line %s of %s is low, and toggles while the verdict is go", plx_version, line, chip);
    sd_notify(0, "READY=1");
    toggle->step_ns = plx_now_ns();
    result = toggle_until_stopped(toggle, message);
    sd_notify(0, "STOPPING=1");
    plx_gpio_line_close(toggle->line); /* low first: to disconnect may take longer */
    plx_gpio_toggle_finish(toggle);
    return result;
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const char *chip = NULL, *gpio_line = NULL, *socket = NULL;
    double period_ms = 10;
    const struct plx_option options[] = {
        PLX_OPTION("chip", "CHIP", chip, "the GPIO chip: its name, path, label or number, as gpiodetect lists them"),
        PLX_OPTION("line", "LINE", gpio_line, "the line of the chip: its offset, or its name, as gpioinfo lists them"),
        PLX_OPTION("period", "MS", period_ms, "half a period of the line, 1 to 1000 ms (default: 10)", .min = 1, .max = 1000),
        PLX_OPTION("socket", "PATH", socket,
                   "uses the service at this socket (default: $PARALLAX_SOCKET, else " PLX_DEFAULT_SOCKET ")"),
        {0},
    };
    const struct plx_command_line line = {
        .program = program,
        .about =
            "Toggles a GPIO line while the verdict of the service is go. A line that stands still means stop: slow, stop, a "
            "verdict that is too old, and a service or a program that died. SIGTERM and SIGINT stop it, with the line at "
            "low. --chip and --line are needed. Nothing of this is certified.",
        .option = options};
    struct plx_error_message message = {""};

    plx_parse_command_line(&line, argc, argv, NULL);
    if (!chip || !gpio_line)
        return plx_exit_error(program, PLX_EXIT_USAGE, "--%s is missing: %s (%s --help)", chip ? "line" : "chip",
                              chip ? "the line of the chip" : "the GPIO chip", program);
    plx_log_open(program);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct plx_gpio_toggle toggle = {.socket = socket, .period_ns = (int64_t)(period_ms * PLX_NS_PER_MS)};
    const int result = run(chip, gpio_line, &toggle, &message);
    if (result < 0)
        plx_log(LOG_ERR, "%s", message.text);
    return plx_exit_code(result);
}
