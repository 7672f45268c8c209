/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as a history of corrections, as they are and with the checksum put right. What is read is plausible, and
 * is the same after it was written. */
#include <inttypes.h>
#include <string.h>

#include "app/corrections/history.h"
#include "core/base/checksum.h"
#include "tests/fuzz/memory_file.h"

#define MAX_BYTES (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_bytes(const uint8_t *data, size_t size, struct plx_correction_history *ret_history)
{
    struct memory_file file = memory_file_open(data, size);
    struct plx_error_message message = {""};
    const int result = plx_corrections_read(file.path, ret_history, &message);
    memory_file_close(&file);
    if (result < 0 && (message.text[0] == '\0' || strchr(message.text, '\n')))
        abort();
    return result == 0;
}

/* Commands take steps on it, and the service starts with it. */
static void use(struct plx_correction_history *history)
{
    struct plx_error_message message;
    const struct plx_correction_evidence evidence = {.applied = true};

    if ((history->number > 0) != (plx_corrections_find(history, history->number) != NULL))
        abort();
    for (int i = 0; i < history->count; i++)
        if (!plx_correction_is_plausible(&history->entry[i].correction))
            abort();
    plx_corrections_accept(history, &message);
    plx_corrections_undo(history, false, &message);
    plx_corrections_add(history, &evidence, 1);
    if (history->count > PLX_CORRECTIONS_KEPT)
        abort();
}

static void survive(const struct plx_correction_history *history)
{
    static struct plx_correction_history again;
    static char path[64];
    struct plx_error_message message;

    snprintf(path, sizeof path, "/dev/shm/plx-fuzz-history-%d", (int)getpid());
    if (plx_corrections_write(path, history, &message) < 0 || plx_corrections_read(path, &again, &message) < 0 ||
        memcmp(&again, history, sizeof again) != 0)
        abort();
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plx_correction_history history;
    static char text[MAX_BYTES + 64];

    if (size > MAX_BYTES)
        return 0;
    read_bytes(data, size, &history);
    memcpy(text, data, size);
    text[size] = '\0';
    char *end = NULL;
    for (char *next = strstr(text, "\"checksum\""); next; next = strstr(next + 1, "\"checksum\""))
        end = next;
    if (!end)
        return 0;
    const uint64_t sum = plx_fnv1a(PLX_FNV1A_BEGIN, text, (size_t)(end - text));
    const int added = snprintf(end, 64, "\"checksum\": \"%016" PRIx64 "\"}", sum);
    if (read_bytes((const uint8_t *)text, (size_t)(end - text) + (size_t)added, &history)) {
        survive(&history);
        use(&history);
    }
    return 0;
}
