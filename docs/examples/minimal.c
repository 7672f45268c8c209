/* SPDX-License-Identifier: Apache-2.0 */
/* A whole robot program: how far is the nearest obstacle? Built with the project and copied into docs/client.md. */
#include <parallax/client.h>
#include <stdio.h>

int main(void)
{
    struct plx_client *eyes;
    struct plx_view view;
    int code = plx_connect(NULL, &eyes);
    while (code == PLX_OK) {
        code = plx_next(eyes, 1000, &view);
        float nearest = 1000;
        for (uint32_t i = 0; !code && i < view.obstacle_count; i++)
            if (view.frame->obstacle[i].status != PLX_TRACK_LOST && view.frame->obstacle[i].nearest_m < nearest)
                nearest = view.frame->obstacle[i].nearest_m;
        if (!code && plx_release(eyes, &view) == PLX_OK && nearest < 1000)
            printf("nearest obstacle: %.2f m\n", nearest);
        if (code == PLX_ERR_TIMEOUT || code == PLX_ERR_LOST) /* LOST: the library reattaches by itself */
            code = puts("no new frame") < 0 ? PLX_ERR_IO : PLX_OK;
    }
    fprintf(stderr, "parallax: %s\n", plx_strerror(code));
    return 1;
}
