/* SPDX-License-Identifier: Apache-2.0 */
/* A complete robot program: prints the distance of the largest obstacle. Every build compiles it; docs/client.md shows it. */
#include <parallax/client.h>
#include <stdio.h>

int main(void)
{
    struct plx_client *eyes = NULL;
    struct plx_view view;
    int code = plx_connect(NULL, &eyes);
    while (eyes && (code == 0 || code == PLX_ERR_TIMEOUT || code == PLX_ERR_LOST)) { /* LOST: it reattaches by itself */
        code = plx_next(eyes, 1000, &view); /* only what is fresh: else a robot would act on what was there before */
        if (code != 0) {
            puts("blind: no fresh picture");
            continue;
        }
        uint32_t count = view.obstacle_count;
        float distance = count > 0 ? view.frame->obstacle[0].nearest_m : 0;
        const char *note = view.frame->source == PLX_SOURCE_V4L2 ? "" : " (simulated or recorded pictures)";
        int fresh = plx_is_fresh(view.frame);       /* still, after all that was done with it */
        if (plx_release(eyes, &view) == 0 && fresh) /* 0: whole, nobody wrote there meanwhile */
            printf("%u obstacles; the largest begins at %.2f m%s\n", count, (double)distance, note);
    }
    fprintf(stderr, "parallax: %s\n", plx_strerror(code));
    return 1;
}
