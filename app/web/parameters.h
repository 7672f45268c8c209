/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration that the service has in force, for those who ask: read by a thread of its own, because a service that hangs
 * makes plx_config wait for two seconds, and the event loop waits for nobody. For the thread of the event loop.
 */
#ifndef PLX_APP_WEB_PARAMETERS_H
#define PLX_APP_WEB_PARAMETERS_H

#include <pthread.h>
#include <stdbool.h>

#include <systemd/sd-event.h>

#include "config/config.h"

struct plx_web_parameters {
    const char *socket; /* the service's socket; the caller's */
    /* Called with what a read gave; NULL: the service does not answer. */
    void (*answered)(void *context, const struct plx_config *config);
    void *context;

    int done_fd; /* an eventfd: the thread is done */
    sd_event_source *done;
    pthread_t thread;
    bool reading;             /* the thread runs; config and known are its own meanwhile */
    struct plx_config config; /* large */
    bool known;
};

/* Fields up to CONTEXT are set by the caller. NOMEM. */
int plx_web_parameters_open(struct plx_web_parameters *parameters, sd_event *event);

/* Waits for the thread, two seconds at most. After open, or with done_fd -1. */
void plx_web_parameters_close(struct plx_web_parameters *parameters);

/* Reads once for all who ask meanwhile; calls ANSWERED later. */
void plx_web_parameters_ask(struct plx_web_parameters *parameters);

#endif
