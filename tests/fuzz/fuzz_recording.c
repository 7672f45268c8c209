/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as what lies beside recorded pictures: times.txt (first byte even), or calib.txt. Times that are taken
 * advance, and a calibration has passed its check. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "drivers/files/calib_txt.h"
#include "drivers/files/pair_list.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sentence(int result, const struct plx_error_message *message)
{
    if (result < 0 && (message->text[0] == '\0' || strchr(message->text, '\n')))
        abort();
}

static void write_file(const char *folder, const char *name, const void *data, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* A recording of the pictures 1 to 3, which is written once and left behind. */
static const char *recording(void)
{
    static char folder[] = "/tmp/plx-fuzz-recording-XXXXXX";
    static const char *const eyes[] = {"left", "right"};
    char path[96];
    if (!strchr(folder, 'X') || !mkdtemp(folder))
        return folder;
    for (int eye = 0; eye < 2; eye++) {
        snprintf(path, sizeof path, "%s/%s", folder, eyes[eye]);
        mkdir(path, 0700);
        for (int k = 1; k < 4; k++) {
            snprintf(path, sizeof path, "%s/%d.pgm", eyes[eye], k);
            write_file(folder, path, "P5\n1 1\n255\n0", 12);
        }
    }
    return folder;
}

static void times(const uint8_t *data, size_t size)
{
    struct plx_error_message message = {""};
    struct plx_pair_list list;
    const char *folder = recording();
    write_file(folder, "times.txt", data, size);
    const int result = plx_pair_list_open(folder, &list, &message);
    check_sentence(result, &message);
    if (result < 0)
        return;
    for (int k = 1; k < list.count; k++)
        if (!(list.pair[k].time_s > list.pair[k - 1].time_s))
            abort();
    plx_pair_list_close(&list);
}

static void calibration(const uint8_t *data, size_t size)
{
    struct memory_file file = memory_file_open(data, size);
    for (int first = 0; first <= 2; first += 2) {
        struct plx_error_message message = {""};
        struct plx_calibration_info info;
        const int result = plx_calib_txt_read(file.path, first, &info, &message);
        check_sentence(result, &message);
        if (result == 0 && !(info.fx > 0 && isfinite(info.fx) && plx_baseline_check(info.baseline_m, NULL) == 0))
            abort();
    }
    memory_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    (data[0] % 2 == 0 ? times : calibration)(data + 1, size - 1);
    return 0;
}
