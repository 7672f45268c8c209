/* SPDX-License-Identifier: Apache-2.0 */
/* The line that toggles while the verdict is go. */
#ifndef PLX_APP_GPIO_TOGGLE_H
#define PLX_APP_GPIO_TOGGLE_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/client.h>

#include "app/gpio/line.h"

struct plx_gpio_toggle {
    /* Set by the caller. */
    const char *socket;         /* as in plx_connect */
    struct plx_gpio_line *line; /* at low; the caller's */
    int64_t period_ns;          /* half a period of the line */
    /* The rest begins with zeros. */
    struct plx_client *client; /* NULL until a service was there */
    int connect_result;        /* result of the last attempt */
    int64_t connect_ns;        /* when the next attempt is due */
    int64_t step_ns;           /* when the next step is due */
    bool high;                 /* level of the line */
    bool logged;               /* the log has a line, and its last one said: */
    uint32_t logged_verdict, logged_reasons;
    int64_t log_ns; /* when that was */
};

/* Sleeps until the next half period begins, or a signal handler runs. Then asks for the verdict: go flips the line; all else
 * leaves the line low. Errors: those of plx_gpio_line_set. */
int plx_gpio_toggle_step(struct plx_gpio_toggle *toggle, struct plx_error_message *message);

/* Disconnects from the service. The line stays as it is. */
void plx_gpio_toggle_finish(struct plx_gpio_toggle *toggle);

#endif
