/* SPDX-License-Identifier: Apache-2.0 */
/* The region as the files of this folder see it. */
#ifndef PLX_APP_REGION_REGION_INTERNAL_H
#define PLX_APP_REGION_REGION_INTERNAL_H

#include <parallax/region.h>

#include "app/region/region.h"

struct plx_shared_region {
    struct plx_region_header *header; /* the mapping */
    struct plx_region_slot *slots;
    unsigned char *frames;
    int client_fd; /* read-only */
};

#endif
