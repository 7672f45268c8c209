/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as a picture of a replay, PNG, JPEG or PGM. Every result has the size and type of its header. */
#include <string.h>

#include "drivers/files/picture.h"
#include "tests/fuzz/memory_file.h"

#define MAX_PIXELS (1 << 20) /* a header may promise 268 million: true, but slow */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sentence(int result, const struct plx_error_message *message)
{
    if (result < 0 && (message->text[0] == '\0' || strchr(message->text, '\n')))
        abort();
}

static void read_as(const char *path, enum plx_type type, const struct plx_picture_info *info)
{
    struct plx_error_message message = {""};
    struct plx_image image;
    int result = plx_picture_read(path, type, &image, &message);
    check_sentence(result, &message);
    if (result < 0)
        return;
    if (image.width != info->width || image.height != info->height || image.type != type)
        abort();
    unsigned sum = 0;
    for (int y = 0; y < image.height; y++)
        for (int x = 0; x < image.width * (int)image.type; x++)
            sum += ((const uint8_t *)plx_row(&image, y))[x]; /* all of it is there, and was written */
    free(image.data);
    __asm__ volatile("" : : "r"(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_file file = memory_file_open(data, size);
    struct plx_picture_info info;
    struct plx_error_message message = {""};
    int result = plx_picture_info(file.path, &info, &message);
    check_sentence(result, &message);
    if (result == 0 && (info.width < 1 || info.width > PLX_MAX_SIDE || info.height < 1 || info.height > PLX_MAX_SIDE))
        abort();
    if (result == 0 && (int64_t)info.width * info.height <= MAX_PIXELS) {
        read_as(file.path, PLX_U8, &info);
        read_as(file.path, PLX_U16, &info);
    }
    memory_file_close(&file);
    return 0;
}
