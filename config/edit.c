/* SPDX-License-Identifier: Apache-2.0 */
/* Changes one key in a configuration file that a person wrote: everything else in it stays as it is. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <parallax/error.h>

#include "config/config.h"
#include "config/file.h"
#include "config/replace.h"
#include "config/yaml.h"

/* Where the character at LINE and COLUMN (from 1) begins in TEXT. */
static size_t offset_of(const char *text, int line, int column)
{
    const char *at = text;
    for (int i = 1; i < line; i++) {
        const char *end = strchr(at, '\n');
        at = end ? end + 1 : at + strlen(at);
    }
    for (int i = 1; i < column && *at && *at != '\n'; i++)
        for (at++; ((unsigned char)*at & 0xC0) == 0x80;) /* the rest of a character in UTF-8 */
            at++;
    return (size_t)(at - text);
}

/* What YAML takes for white space before a comment. */
static bool is_blank(char character)
{
    return character == ' ' || character == '\t';
}

/* Where the scalar of one line ends that begins at TEXT + AT. */
static size_t end_of(const char *text, size_t at)
{
    const char quote = text[at];
    size_t end = at + 1;
    if (quote == '"' || quote == '\'') {
        while (text[end] && (text[end] != quote || (quote == '\'' && text[end + 1] == quote)))
            end += text[end + 1] && (quote == '\'' ? text[end] == quote : text[end] == '\\') ? 2 : 1; /* a quote inside */
        return text[end] ? end + 1 : end;
    }
    for (; text[end] && text[end] != '\n' && !(text[end] == '#' && is_blank(text[end - 1]));)
        end++;
    while (end > at && (is_blank(text[end - 1]) || text[end - 1] == '\r'))
        end--;
    return end;
}

static void write_edited(FILE *file, const char *text, const char *key, const char *value, const struct plx_yaml_node *node)
{
    const size_t length = strlen(text), at = node ? offset_of(text, node->line, node->column) : length;
    const size_t end = node ? end_of(text, at) : at;
    fwrite(text, 1, at, file);
    if (node)
        fprintf(file, "\"%s\"", value);
    else
        fprintf(file, "%s%s: \"%s\"\n", length > 0 && text[length - 1] != '\n' ? "\n" : "", key, value);
    fwrite(text + end, 1, length - end, file);
}

/* The edited file says what the old one says, but for the assignment. */
static int check_edited(const char *path, const char *edited, const char *key, const char *value,
                        struct plx_error_message *message)
{
    static struct plx_config before, after; /* large */
    char assignment[PATH_MAX + 64];
    snprintf(assignment, sizeof assignment, "%s=%s", key, value);
    int result = plx_config_load(path, &before, message);
    if (result == 0)
        result = plx_config_set(&before, assignment, message);
    if (result == 0)
        result = plx_config_load(edited, &after, message);
    if (result == 0 && !plx_config_equals(&before, &after))
        result = plx_fail(message, PLX_ERR_FORMAT, "%s: cannot change the key %s here; write %s: %s yourself", path, key, key,
                          value);
    return result;
}

int plx_config_edit(const char *path, const char *key, const char *value, struct plx_error_message *message)
{
    char real[PATH_MAX];
    char *text = NULL;
    size_t size;
    struct stat old;
    struct plx_yaml *yaml = NULL;
    struct plx_replacement edited;
    if (strpbrk(value, "\"\\") || !realpath(path, real) || stat(real, &old) < 0)
        return strpbrk(value, "\"\\") ? plx_fail(message, PLX_ERR_ARG, "%s: expected no quotes and no backslashes", value)
                                      : plx_fail(message, plx_error_of_errno(errno), "%s: %s", path, strerror(errno));
    int result = plx_yaml_read(real, &yaml, message);
    if (result == 0)
        result = plx_file_read(real, PLX_YAML_MAX_BYTES, &text, &size, message);
    if (result == 0)
        result = plx_replacement_begin(real, &edited, message);
    if (result < 0)
        goto out;
    write_edited(edited.file, text, key, value, plx_yaml_get(plx_yaml_root(yaml), key));
    if (fflush(edited.file) != 0)
        result = plx_fail(message, PLX_ERR_IO, "%s: cannot write; is the disk full?", path);
    if (result == 0)
        result = check_edited(real, edited.path, key, value, message);
    if (result == 0)
        result = plx_replacement_finish(&edited, &old, message);
    else
        plx_replacement_cancel(&edited);
out:
    free(text);
    plx_yaml_destroy(yaml);
    return result;
}
