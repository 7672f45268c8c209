/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/layout.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <parallax/error.h>

#define ONE_LAYOUT "name a directory with only one of them, such as one with links to its folders"

const char *const plx_layout_eye[PLX_EYES] = {"left", "right"};

static const struct plx_layout layouts[] = {
    {{"image_0", "image_1"}, 0},
    {{"image_2", "image_3"}, 2},
    {{"left", "right"}, 0},
    {{"", ""}, 0},
};

bool plx_layout_is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name &&
           (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".pgm") == 0 || strcasecmp(dot, ".jpg") == 0 ||
            strcasecmp(dot, ".jpeg") == 0);
}

char *plx_layout_path(const char *directory, const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s%s%s", directory, folder, *folder && *name ? "/" : "", name) < 0 ? NULL : path;
}

static bool is_folder(const char *directory, const char *name)
{
    struct stat status;
    char *path = plx_layout_path(directory, name, "");
    bool yes = path && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    free(path);
    return yes;
}

/* True if there are pictures of both eyes in DIRECTORY itself. */
static bool is_flat(const char *directory)
{
    bool seen[PLX_EYES] = {false};
    DIR *folder = opendir(directory);
    if (!folder)
        return false;
    for (const struct dirent *entry; (entry = readdir(folder));)
        for (int eye = 0; eye < PLX_EYES; eye++)
            seen[eye] |= plx_layout_is_picture(entry->d_name) &&
                         strncmp(entry->d_name, plx_layout_eye[eye], strlen(plx_layout_eye[eye])) == 0;
    closedir(folder);
    return seen[PLX_LEFT] && seen[PLX_RIGHT];
}

int plx_layout_find(const char *directory, const struct plx_layout **ret_layout, struct plx_error_message *message)
{
    const struct plx_layout *found = NULL, *layout = layouts;
    for (; *layout->folder[PLX_LEFT]; layout++) {
        bool left = is_folder(directory, layout->folder[PLX_LEFT]), right = is_folder(directory, layout->folder[PLX_RIGHT]);
        if (left != right)
            return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: %s/ is there, %s/ beside it is missing", directory,
                            layout->folder[left ? PLX_LEFT : PLX_RIGHT], layout->folder[left ? PLX_RIGHT : PLX_LEFT]);
        if (left && found)
            return plx_fail(message, PLX_ERR_FORMAT, "%s: holds both %s/ with %s/ and %s/ with %s/; " ONE_LAYOUT, directory,
                            found->folder[PLX_LEFT], found->folder[PLX_RIGHT], layout->folder[PLX_LEFT],
                            layout->folder[PLX_RIGHT]);
        if (left)
            found = layout;
    }
    if (found && is_flat(directory))
        return plx_fail(message, PLX_ERR_FORMAT, "%s: holds both %s/ with %s/ and left* with right* pictures; " ONE_LAYOUT,
                        directory, found->folder[PLX_LEFT], found->folder[PLX_RIGHT]);
    *ret_layout = found ? found : layout;
    return 0;
}

const char *plx_layout_left_folder(const char *directory)
{
    for (const struct plx_layout *layout = layouts; *layout->folder[PLX_LEFT]; layout++)
        if (is_folder(directory, layout->folder[PLX_LEFT]))
            return layout->folder[PLX_LEFT];
    return NULL;
}
