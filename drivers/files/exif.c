/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/exif.h"

#include <stdbool.h>
#include <string.h>

#define UPRIGHT 1
#define EXIF "Exif\0" /* and the 0 that ends the string */

enum marker { APP1 = 0xE1, SCAN = 0xDA, END = 0xD9 };

enum tiff { MAGIC = 42, IFD_AT = 4, ENTRY_BYTES = 12, TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3 };

struct block {
    const uint8_t *data;
    size_t bytes;
    bool is_little_endian;
};

/* The number of COUNT bytes, at most 4, at AT; 0 if the block ends before. */
static uint32_t number_at(const struct block *block, size_t at, size_t count)
{
    uint32_t number = 0;
    if (at > block->bytes || count > block->bytes - at)
        return 0;
    for (size_t i = 0; i < count; i++)
        number = number << 8 | block->data[at + (block->is_little_endian ? count - 1 - i : i)];
    return number;
}

/* A tag that is cut off reads as 0, which is none. */
static int orientation_in_tiff(const struct block *tiff)
{
    if (number_at(tiff, 2, 2) != MAGIC)
        return UPRIGHT;
    const size_t directory = number_at(tiff, IFD_AT, 4), entries = number_at(tiff, directory, 2);
    for (size_t i = 0; i < entries; i++) {
        const size_t entry = directory + 2 + i * ENTRY_BYTES;
        const uint32_t value = number_at(tiff, entry + 8, 2);
        if (number_at(tiff, entry, 2) == TAG_ORIENTATION && number_at(tiff, entry + 2, 2) == TYPE_SHORT)
            return value >= 1 && value <= 8 ? (int)value : UPRIGHT;
    }
    return UPRIGHT;
}

int plx_exif_orientation(const uint8_t *data, size_t bytes)
{
    const struct block file = {data, bytes, false};
    size_t at = 2; /* after the start of image */
    while (number_at(&file, at, 1) == 0xFF) {
        const uint32_t marker = number_at(&file, at + 1, 1), length = number_at(&file, at + 2, 2);
        const size_t content = at + 4;
        if (marker == 0xFF) { /* a fill byte */
            at++;
            continue;
        }
        if (marker == SCAN || marker == END || length < 2 || length - 2 > bytes - content)
            break;
        if (marker == APP1 && length - 2 >= sizeof EXIF && memcmp(data + content, EXIF, sizeof EXIF) == 0) {
            const size_t start = content + sizeof EXIF;
            return orientation_in_tiff(
                &(struct block){data + start, length - 2 - sizeof EXIF, number_at(&file, start, 1) == 'I'});
        }
        at = content + length - 2;
    }
    return UPRIGHT;
}
