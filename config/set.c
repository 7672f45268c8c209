/* SPDX-License-Identifier: Apache-2.0 */
/* One `key=value` of a command line. */
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "config/text.h"
#include "config/value.h"

/* Splits TEXT, which is changed, at its commas, brackets around it left away; the items found, at most MAX + 1. */
static int split(char *text, const char *item[], int max)
{
    int count = 0;
    char *rest = text + strspn(text, "[ ");
    rest[strcspn(rest, "]")] = '\0';
    for (char *word; (word = strsep(&rest, ",")) && count <= max; count++) {
        word += strspn(word, " ");
        word[strcspn(word, " ")] = '\0';
        item[count] = word;
    }
    return count;
}

int plx_config_set(struct plx_config *config, const char *assignment, struct plx_error_message *message)
{
    enum { ITEMS = PLX_ZONES * PLX_ZONES };
    char name[PLX_QUOTED_TEXT], quoted[PLX_QUOTED_TEXT], nearest[PLX_KEY_NAME], list[PLX_VALUE_TEXT];
    const char *item[ITEMS + 1];
    const char *equals = strchr(assignment, '=');

    if (!equals)
        return plx_fail(message, PLX_ERR_FORMAT, "\"%s\" has no =; expected key=value, such as match.paths=4",
                        plx_quote(assignment, quoted));
    snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);
    const struct plx_key *key = plx_key_find(name);
    if (!key) {
        plx_key_nearest(name, nearest);
        return plx_fail(message, PLX_ERR_FORMAT, "unknown key \"%s\"; did you mean \"%s\"?", plx_quote(name, quoted), nearest);
    }
    struct plx_written written = {.item = item, .count = 1};
    item[0] = equals + 1;
    if (key->type == PLX_KEY_BYTES) {
        snprintf(list, sizeof list, "%s", equals + 1);
        written.count = split(list, item, ITEMS);
        written.list = true;
    }
    return plx_value_parse(key, &written, config, message);
}
