/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as the file of `parallax tune`, which the service reads at its start. */
#include <string.h>

#include "app/tune.h"
#include "gpu/gpu.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct plx_match match = {.disparities = 128, .paths = 8};
    const struct plx_tune_conditions here = {.device = "GPU", .width = 640, .height = 480, .match = &match};
    struct memory_file file = memory_file_open(data, size);
    struct plx_error_message message = {""};
    int schedule = -1;

    const int result = plx_tune_load(file.path, &here, &schedule, &message);
    memory_file_close(&file);
    if (result < 0 ? message.text[0] == '\0' || strchr(message.text, '\n') != NULL
                   : schedule < 0 || schedule >= PLX_GPU_SCHEDULES)
        abort();
    return 0;
}
