/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration as YAML: each key with its value, help, range and default. */
#include <string.h>

#include <parallax/error.h>

#include "config/schema.h"

/* The keys of a dump. */
struct dump {
    const struct plx_config *config;
    struct plx_config defaults;
    struct plx_config preset; /* the defaults with the preset of CONFIG: what a file has that names no other key */
    bool with_all;            /* expert keys at their defaults too */
};

static int section_length(const struct plx_key *key)
{
    const char *dot = strchr(key->name, '.');
    return dot ? (int)(dot - key->name) : 0;
}

/* A key that differs from the preset alone is printed too: the dump prints the preset, and must load as CONFIG. */
static bool is_left_out(const struct dump *dump, const struct plx_key *key)
{
    return !dump->with_all && key->expert && plx_key_is_same(key, dump->config, &dump->defaults) &&
           plx_key_is_same(key, dump->config, &dump->preset);
}

static void print_key(const struct dump *dump, const struct plx_key *key, FILE *out)
{
    char text[PLX_VALUE_TEXT];
    const int length = section_length(key);
    const char *indent = length > 0 ? "  " : "";

    plx_value_expected(key, text);
    fprintf(out, "%s# %s. Takes %s", indent, key->help, text);
    plx_value_print(key, &dump->defaults, text);
    fprintf(out, "; default %s%s%s\n", text, key->expert ? "; expert" : "",
            key->reloadable ? "; can change while running" : "");
    plx_value_print(key, dump->config, text);
    fprintf(out, "%s%s: %s\n", indent, key->name + (length > 0 ? length + 1 : 0), text);
}

static void print_keys(const struct dump *dump, FILE *out)
{
    const char *section = "";
    int open = 0;

    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        const int length = section_length(key);
        if (is_left_out(dump, key))
            continue;
        if (length > 0 && (length != open || strncmp(section, key->name, (size_t)length) != 0))
            fprintf(out, "\n%.*s:\n", length, key->name);
        else if (length == 0 && open > 0)
            fputc('\n', out);
        section = key->name;
        open = length;
        print_key(dump, key, out);
    }
}

static int dump(const struct plx_config *config, bool with_all, FILE *out)
{
    struct dump keys = {.config = config, .with_all = with_all};

    plx_config_default(&keys.defaults);
    keys.preset = keys.defaults;
    plx_match_preset_apply(&keys.preset.pipeline.match, plx_match_preset_of(&config->pipeline.match));
    fprintf(out, "# Configuration of Parallax: each key, its value, what it means. A key that is left out has its default%s.\n",
            with_all ? "" : "; --all prints it too");
    print_keys(&keys, out);
    return fflush(out) == 0 && !ferror(out) ? 0 : PLX_ERR_IO;
}

int plx_config_dump(const struct plx_config *config, FILE *out)
{
    return dump(config, true, out);
}

int plx_config_dump_common(const struct plx_config *config, FILE *out)
{
    return dump(config, false, out);
}
