/* SPDX-License-Identifier: Apache-2.0 */
/* The page's files, embedded in the program. */
#ifndef PLX_APP_WEB_ASSETS_H
#define PLX_APP_WEB_ASSETS_H

#include <stddef.h>

struct plx_web_asset {
    const char *path, *type;
    const char *data, *end;
};

/* The file at PATH ("/" is the page); NULL: there is none. */
const struct plx_web_asset *plx_web_asset(const char *path);

#endif
