/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/recording.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <parallax/error.h>

#define ONE_LAYOUT "name a directory with only one of them, such as one with links to these folders"

const char *const plx_layout_eye[PLX_EYES] = {"left", "right"};

static const struct plx_layout layouts[] = {
    {{"image_0", "image_1"}, 0, {NULL, NULL}, false},
    {{"image_2", "image_3"}, 2, {NULL, NULL}, false},
    /* KITTI's raw recordings, which have all four cameras */
    {{"image_00/data", "image_01/data"}, 0, {"image_00/timestamps.txt", "image_01/timestamps.txt"}, false},
    {{"image_02/data", "image_03/data"}, 2, {"image_02/timestamps.txt", "image_03/timestamps.txt"}, true},
    {{"cam0/data", "cam1/data"}, 0, {NULL, NULL}, false}, /* EuRoC, inside of mav0 or above it */
    {{"mav0/cam0/data", "mav0/cam1/data"}, 0, {NULL, NULL}, false},
    {{"left", "right"}, 0, {NULL, NULL}, false},
    {{"", ""}, 0, {NULL, NULL}, false},
};

bool plx_layout_is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return name[0] != '.' && dot && /* not what a Macintosh leaves beside a file */
           (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".pgm") == 0 || strcasecmp(dot, ".jpg") == 0 ||
            strcasecmp(dot, ".jpeg") == 0);
}

/* NAME without BYTES from AT on. */
static void cut_out(const char *name, size_t at, size_t bytes, char *ret_key)
{
    memcpy(ret_key, name, at);
    memcpy(ret_key + at, name + at + bytes, strlen(name + at + bytes) + 1);
}

enum plx_eye plx_layout_eye_of(const char *name, char *ret_key)
{
    static const char *const middlebury[PLX_EYES] = {"im0", "im1"};
    const size_t length = strlen(name), stem = length - strlen(strrchr(name, '.') ? strrchr(name, '.') : "");
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const size_t word = strlen(plx_layout_eye[eye]);
        const bool first = strncmp(name, plx_layout_eye[eye], word) == 0;
        const bool last =
            stem > word && strncmp(name + stem - word, plx_layout_eye[eye], word) == 0 && strchr("_-.", name[stem - word - 1]);
        const bool im = stem == 3 && strncmp(name, middlebury[eye], 3) == 0;
        if (!first && !last && !im)
            continue;
        if (ret_key)
            cut_out(name, first || im ? 0 : stem - word, im ? 3 : word, ret_key);
        return (enum plx_eye)eye;
    }
    if (ret_key)
        memcpy(ret_key, name, length + 1);
    return PLX_EYES;
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
            seen[eye] |= plx_layout_is_picture(entry->d_name) && plx_layout_eye_of(entry->d_name, NULL) == (enum plx_eye)eye;
    closedir(folder);
    return seen[PLX_LEFT] && seen[PLX_RIGHT];
}

int plx_layout_find(const char *directory, const struct plx_layout **ret_layout, struct plx_error_message *message)
{
    const struct plx_layout *found = NULL, *layout = layouts;
    for (; *layout->folder[PLX_LEFT]; layout++) {
        bool left = is_folder(directory, layout->folder[PLX_LEFT]), right = is_folder(directory, layout->folder[PLX_RIGHT]);
        if (left != right)
            return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: has %s/ but no %s/, expected both", directory,
                            layout->folder[left ? PLX_LEFT : PLX_RIGHT], layout->folder[left ? PLX_RIGHT : PLX_LEFT]);
        if (left && found && layout->in_colour && layout == found + 1)
            continue;
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

bool plx_layout_colour_folder(const char *directory, const struct plx_layout *layout, char *ret_folder, size_t bytes)
{
    snprintf(ret_folder, bytes, "%s" PLX_LAYOUT_COLOUR, layout->folder[PLX_LEFT]);
    return *layout->folder[PLX_LEFT] && is_folder(directory, ret_folder);
}
