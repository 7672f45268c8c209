/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/assets.h"

#include <string.h>

/* The bytes of page/FILE; PLX_PAGE is the folder, from CMake. */
#define EMBED(NAME, FILE)                                                                                                      \
    __asm__(".pushsection .rodata\n" #NAME ":\n.incbin \"" PLX_PAGE "/" FILE "\"\n" #NAME "_end:\n.popsection\n");             \
    extern const char NAME[] __asm__(#NAME); /* NOLINT(bugprone-macro-parentheses): a declaration */                           \
    extern const char NAME##_end[] __asm__(#NAME "_end");

EMBED(plx_page_html, "page.html")
EMBED(plx_page_css, "page.css")
EMBED(plx_page_js, "page.js")
EMBED(plx_page_link, "link.js")
EMBED(plx_page_pictures, "pictures.js")
EMBED(plx_page_top, "top.js")
EMBED(plx_page_calibrating, "calibrating.js")
EMBED(plx_page_cloud, "cloud.js")
EMBED(plx_page_confirmed, "confirmed.js")
EMBED(plx_page_panel, "panel.js")
EMBED(plx_page_wall, "wall.js")

#define JAVASCRIPT "text/javascript; charset=utf-8"

const struct plx_web_asset *plx_web_asset(const char *path)
{
    static const struct plx_web_asset assets[] = {
        {"/", "text/html; charset=utf-8", plx_page_html, plx_page_html_end},
        {"/page.css", "text/css; charset=utf-8", plx_page_css, plx_page_css_end},
        {"/page.js", JAVASCRIPT, plx_page_js, plx_page_js_end},
        {"/link.js", JAVASCRIPT, plx_page_link, plx_page_link_end},
        {"/pictures.js", JAVASCRIPT, plx_page_pictures, plx_page_pictures_end},
        {"/top.js", JAVASCRIPT, plx_page_top, plx_page_top_end},
        {"/calibrating.js", JAVASCRIPT, plx_page_calibrating, plx_page_calibrating_end},
        {"/cloud.js", JAVASCRIPT, plx_page_cloud, plx_page_cloud_end},
        {"/confirmed.js", JAVASCRIPT, plx_page_confirmed, plx_page_confirmed_end},
        {"/panel.js", JAVASCRIPT, plx_page_panel, plx_page_panel_end},
        {"/wall.js", JAVASCRIPT, plx_page_wall, plx_page_wall_end},
    };
    for (size_t i = 0; i < sizeof assets / sizeof *assets; i++)
        if (strcmp(assets[i].path, path) == 0)
            return &assets[i];
    return NULL;
}
