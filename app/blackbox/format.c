/* SPDX-License-Identifier: Apache-2.0 */
#include "app/blackbox/format.h"

#include <stddef.h>

#include <zlib.h>

uint32_t plx_box_header_sum(const struct plx_box_header *header)
{
    return (uint32_t)crc32(0, (const unsigned char *)header, offsetof(struct plx_box_header, sum));
}

uint32_t plx_box_record_sum(const struct plx_box_record *record, const void *payload)
{
    struct plx_box_record sealed = *record;

    sealed.sum = 0;
    return (uint32_t)crc32(crc32(0, (const unsigned char *)&sealed, sizeof sealed), payload, record->bytes);
}
