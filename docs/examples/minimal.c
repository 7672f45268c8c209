/* SPDX-License-Identifier: Apache-2.0 */
/* A complete robot program: prints the distance of the largest obstacle. Every build compiles it; README.md shows it. */
#include <parallax/client.h>
#include <stdio.h>

int main(void)
{
    struct plx_client *client = NULL;
    struct plx_view view;
    fprintf(stderr, "the service at %s\n", plx_socket_path(NULL));
    int code = plx_connect_wait(NULL, -1, &client);                                    /* it may start later */
    while (client && (code == 0 || code == PLX_ERR_TIMEOUT || code == PLX_ERR_LOST)) { /* LOST: the library attaches again */
        code = plx_next(client, 1000, &view); /* a fresh frame: a robot must not act on an old one */
        if (code != 0) {
            puts("blind: no fresh picture");
            continue;
        }
        const struct plx_obstacle *obstacle;
        int count = plx_obstacles(&view, &obstacle); /* negative: the picture cannot show any */
        float distance = count > 0 ? obstacle[0].nearest_m : 0;
        const char *note = view.frame->source == PLX_SOURCE_V4L2 ? "" : " (simulated or recorded pictures)";
        int fresh = plx_is_fresh(view.frame);          /* still fresh, after the work with it */
        if (plx_release(client, &view) != 0 || !fresh) /* not 0: the frame was overwritten meanwhile */
            puts("blind: that took too long");
        else if (count < 0)
            puts("blind: this picture cannot show obstacles; `parallax status` says why");
        else if (count == 0)
            printf("no obstacle in view%s\n", note);
        else
            printf("%d obstacles; the largest begins at %.2f m%s\n", count, (double)distance, note);
    }
    fprintf(stderr, "parallax: %s\n", plx_strerror(code));
    return 1;
}
