/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/parameters.h"

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/service_config.h"

static void *read_config(void *argument)
{
    struct plx_web_parameters *parameters = argument;
    parameters->known = plx_service_config_ask(parameters->socket, &parameters->config);
    if (eventfd_write(parameters->done_fd, 1) < 0)
        parameters->known = false; /* cannot be: the counter is 0 */
    return NULL;
}

static int on_done(sd_event_source *source, int fd, uint32_t events, void *context)
{
    struct plx_web_parameters *parameters = context;
    eventfd_t count;
    (void)source;
    (void)events;
    if (eventfd_read(fd, &count) < 0)
        return 0;
    pthread_join(parameters->thread, NULL); /* it orders what the thread wrote before what is read here */
    parameters->reading = false;
    parameters->answered(parameters->context, parameters->known ? &parameters->config : NULL);
    return 0;
}

int plx_web_parameters_open(struct plx_web_parameters *parameters, sd_event *event)
{
    parameters->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (parameters->done_fd < 0 ||
        sd_event_add_io(event, &parameters->done, parameters->done_fd, EPOLLIN, on_done, parameters) < 0)
        return PLX_ERR_NOMEM;
    return 0;
}

void plx_web_parameters_close(struct plx_web_parameters *parameters)
{
    if (parameters->reading)
        pthread_join(parameters->thread, NULL);
    parameters->reading = false;
    parameters->done = sd_event_source_disable_unref(parameters->done);
    if (parameters->done_fd >= 0)
        close(parameters->done_fd);
    parameters->done_fd = -1;
}

void plx_web_parameters_ask(struct plx_web_parameters *parameters)
{
    if (parameters->reading)
        return;
    parameters->reading = pthread_create(&parameters->thread, NULL, read_config, parameters) == 0;
    if (!parameters->reading)
        parameters->answered(parameters->context, NULL);
}
