/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service that shows the things of tests/places.h, on the real region and socket:
 *
 *   places_peer SOCKET PITCH ROLL
 *
 * It prints one line with four numbers for each thing: x, y, z of the middle of its face in axes of the camera, and the
 * distance along the view of its nearest corner, all in metres. Then it publishes the frame ten times a second until its
 * standard input ends.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/publish/clients.h"
#include "tests/places.h"

static void publish(struct plx_shm *region, const struct plx_frame *frame)
{
    struct plx_frame *slot = plx_ring_begin(region);
    memcpy(slot, frame, frame->bytes);
    slot->source = PLX_SOURCE_SYNTHETIC;
    slot->fresh_ns = PLX_NS_PER_S;
    for (int eye = 0; eye < PLX_EYES; eye++)
        slot->capture[eye].capture_ns = plx_now_ns();
    plx_ring_commit(region);
}

static int serve(const char *socket, const struct plx_frame *frame)
{
    const struct plx_shm_options options = {.epoch = 1, .slots = 4, .frame_bytes = frame->bytes};
    const struct plx_clients_options clients_options = {.socket_path = socket, .group = "", .max_clients = 8};
    struct plx_error_message message = {""};
    struct plx_shm *region = NULL;
    struct plx_clients *clients = NULL;

    int result = plx_shm_create(&options, &region, &message);
    if (result == 0)
        result = plx_clients_create(&clients_options, region, &clients, &message);
    if (result == 0) {
        struct pollfd events[] = {{STDIN_FILENO, POLLIN, 0}, {plx_clients_fd(clients), POLLIN, 0}};
        plx_shm_set_state(region, PLX_STATE_RUNNING, 0);
        do {
            publish(region, frame);
            plx_clients_handle(clients);
            plx_clients_notify(clients, plx_ring_newest(region));
        } while (poll(events, 2, 100) >= 0 && !events[0].revents);
    } else {
        fprintf(stderr, "places_peer: %s\n", message.text);
    }
    plx_clients_destroy(clients);
    plx_shm_destroy(region);
    return result == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct places places;

    if (argc != 4 || places_open(atof(argv[2]), atof(argv[3]), &places) < 0)
        return 2;
    for (int n = 0; n < PLACES_THINGS; n++) {
        double middle[3], nearest;
        places_face(&places, n, middle, &nearest);
        printf("%.4f %.4f %.4f %.4f ", middle[0], middle[1], middle[2], nearest);
    }
    printf("\n");
    fflush(stdout);
    const int exit_code = serve(argv[1], places.runner.frame);
    places_close(&places);
    return exit_code;
}
