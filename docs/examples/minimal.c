/* SPDX-License-Identifier: Apache-2.0 */
/* A complete robot program: prints the distance of the largest obstacle. Every build compiles it; docs/client.md shows it. */
#include <parallax/client.h>
#include <stdio.h>

int main(void)
{
    struct plx_client *client = NULL;
    struct plx_view view;
    int code = plx_connect(NULL, &client);
    while (client && (code == 0 || code == PLX_ERR_TIMEOUT || code == PLX_ERR_LOST)) { /* LOST: the library attaches again */
        code = plx_next(client, 1000, &view); /* a fresh frame: a robot must not act on an old one */
        if (code != 0) {
            puts("blind: no fresh picture");
            continue;
        }
        uint32_t count = view.obstacle_count;
        float distance = count > 0 ? view.frame->obstacle[0].nearest_m : 0;
        const char *note = view.frame->source == PLX_SOURCE_V4L2 ? "" : " (simulated or recorded pictures)";
        int fresh = plx_is_fresh(view.frame);         /* still fresh, after the work with it */
        if (plx_release(client, &view) == 0 && fresh) /* 0: nobody overwrote the frame */
            printf("%u obstacles; the largest begins at %.2f m%s\n", count, (double)distance, note);
    }
    fprintf(stderr, "parallax: %s\n", plx_strerror(code));
    return 1;
}
