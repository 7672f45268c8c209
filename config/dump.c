/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration as YAML: each key with its value, help, range and default. */
#include <string.h>

#include <parallax/error.h>

#include "config/schema.h"

static int section_length(const struct plx_key *key)
{
    const char *dot = strchr(key->name, '.');
    return dot ? (int)(dot - key->name) : 0;
}

int plx_config_dump(const struct plx_config *config, FILE *out)
{
    struct plx_config defaults;
    char text[PLX_VALUE_TEXT];
    const char *section = "";
    int open = 0;

    plx_config_default(&defaults);
    fputs("# Configuration of Parallax: every key, its value, what it means. A key that is left out has its default.\n", out);
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        const int length = section_length(key);
        if (length > 0 && (length != open || strncmp(section, key->name, (size_t)length) != 0))
            fprintf(out, "\n%.*s:\n", length, key->name);
        else if (length == 0 && open > 0)
            fputc('\n', out);
        section = key->name;
        open = length;

        const char *indent = length > 0 ? "  " : "";
        plx_value_expected(key, text);
        fprintf(out, "%s# %s. Takes %s", indent, key->help, text);
        plx_value_print(key, &defaults, text);
        fprintf(out, "; default %s%s\n", text, key->reloadable ? "; can change while running" : "");
        plx_value_print(key, config, text);
        fprintf(out, "%s%s: %s\n", indent, key->name + (length > 0 ? length + 1 : 0), text);
    }
    return fflush(out) == 0 && !ferror(out) ? 0 : PLX_ERR_IO;
}
