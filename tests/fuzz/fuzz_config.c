/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as a configuration. Every configuration that loads also survives dump and load. */
#include <string.h>

#include "config/config.h"
#include "config/schema.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const uint8_t *data, size_t size, struct plx_config *config, bool must_succeed, bool *ret_loaded)
{
    struct memory_file file = memory_file_open(data, size);
    struct plx_error_message message = {""};
    int result = plx_config_load(file.path, config, &message);
    memory_file_close(&file);
    if ((result < 0 && (must_succeed || message.text[0] == '\0')) || strchr(message.text, '\n'))
        abort();
    *ret_loaded = result == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plx_config config, again;
    bool loaded;
    load(data, size, &config, false, &loaded);
    if (!loaded)
        return 0;
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out || plx_config_dump(&config, out) < 0 || fclose(out) != 0)
        abort();
    load((const uint8_t *)text, length, &again, true, &loaded);
    free(text);
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++)
        if (memcmp((const char *)&config + key->offset, (const char *)&again + key->offset, key->size) != 0)
            abort();
    return 0;
}
