/* SPDX-License-Identifier: Apache-2.0 */
#include "app/machine_files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool plx_machine_line(const char *root, char *ret_text, int size, const char *format, ...)
{
    char path[512];
    va_list args;
    int length = snprintf(path, sizeof path, "%s", root);

    va_start(args, format);
    length += vsnprintf(path + length, sizeof path - (size_t)length, format, args);
    va_end(args);
    FILE *file = length < (int)sizeof path ? fopen(path, "re") : NULL;
    const bool found = file && fgets(ret_text, size, file);
    if (file)
        fclose(file);
    if (found)
        ret_text[strcspn(ret_text, "\n")] = '\0';
    return found;
}

bool plx_machine_value(const char *root, const char *path, const char *key, char *ret_text, int size)
{
    char full[512], line[512];
    bool found = false;

    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, key, strlen(key)) == 0;
        if (!found)
            continue;
        const char *value = line + strlen(key);
        value += strspn(value, " \t");
        snprintf(ret_text, (size_t)size, "%.*s", (int)strcspn(value, "\n"), value);
    }
    if (file)
        fclose(file);
    return found;
}

void plx_machine_model(const char *root, char *ret_text, int size)
{
    if (!plx_machine_line(root, ret_text, size, "/proc/device-tree/model"))
        ret_text[0] = '\0';
}

/* nvpmodel keeps the number of the mode in its status, and the names in its configuration: < POWER_MODEL ID=0 NAME=MAXN > */
bool plx_machine_power_mode(const char *root, int *ret_mode, char *ret_name, int size)
{
    char text[256], wanted[32];

    if (!plx_machine_line(root, text, sizeof text, "/var/lib/nvpmodel/status"))
        return false;
    const char *number = strstr(text, "pmode:");
    if (!number)
        return false;
    *ret_mode = atoi(number + strlen("pmode:"));
    snprintf(ret_name, (size_t)size, "unnamed");
    snprintf(wanted, sizeof wanted, " ID=%d ", *ret_mode);
    snprintf(text, sizeof text, "%s/etc/nvpmodel.conf", root);
    FILE *file = fopen(text, "re");
    while (file && fgets(text, sizeof text, file)) {
        char *name = strstr(text, " NAME=");
        if (strstr(text, "POWER_MODEL") && strstr(text, wanted) && name) {
            name += strlen(" NAME=");
            name[strcspn(name, " \n>")] = '\0';
            snprintf(ret_name, (size_t)size, "%s", name);
            break;
        }
    }
    if (file)
        fclose(file);
    return true;
}
