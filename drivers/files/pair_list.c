/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/pair_list.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "drivers/files/file.h"
#include "drivers/files/picture.h"
#include "drivers/files/recording.h"

#define MAX_PAIRS 1000000
#define MAX_TIME_S 4e9 /* times may count from any epoch */

/* Pictures of one eye. */
struct names {
    char **name;
    size_t count, room;
};

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->name[i]);
    free(names->name);
}

static int add_name(struct names *names, const char *name)
{
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 64;
        char **larger = realloc(names->name, room * sizeof names->name[0]);
        if (!larger)
            return PLX_ERR_NOMEM;
        names->name = larger;
        names->room = room;
    }
    char *copy = strdup(name);
    if (!copy)
        return PLX_ERR_NOMEM;
    names->name[names->count++] = copy;
    return 0;
}

/* The part of NAME that its counterpart has too: all but a leading "left" or "right". */
static const char *key_of(const char *name)
{
    for (int eye = 0; eye < PLX_EYES; eye++)
        if (strncmp(name, plx_layout_eye[eye], strlen(plx_layout_eye[eye])) == 0)
            return name + strlen(plx_layout_eye[eye]);
    return name;
}

static int compare_names(const void *a, const void *b)
{
    const char *first = *(const char *const *)a, *second = *(const char *const *)b;
    int order = strverscmp(key_of(first), key_of(second)); /* 2.png before 10.png */
    return order ? order : strcmp(first, second);
}

static int list_eye(const char *directory, const struct plx_layout *layout, int eye, struct names *names,
                    struct plx_error_message *message)
{
    char *path = plx_layout_path(directory, layout->folder[eye], "");
    if (!path)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
    int result = 0;
    DIR *folder = opendir(path);
    if (!folder) {
        result = plx_file_fail(path, message);
        goto out;
    }
    const bool flat = !*layout->folder[eye];
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(folder)); errno = 0) {
        if (!plx_layout_is_picture(entry->d_name) ||
            (flat && strncmp(entry->d_name, plx_layout_eye[eye], strlen(plx_layout_eye[eye])) != 0))
            continue;
        if (names->count == MAX_PAIRS)
            result = plx_fail(message, PLX_ERR_RANGE, "%s: more than %d pictures", path, MAX_PAIRS);
        else if (add_name(names, entry->d_name) < 0)
            result = plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
        if (result < 0)
            goto out;
    }
    if (errno != 0)
        result = plx_file_fail(path, message);
    else if (names->count > 0)
        qsort(names->name, names->count, sizeof names->name[0], compare_names);

out:
    if (folder)
        closedir(folder);
    free(path);
    return result;
}

static void leave_out_last(struct plx_pair_list *list, const char *path, const char *what)
{
    struct plx_pair_list_pair *pair = &list->pair[--list->count];
    for (int eye = 0; eye < PLX_EYES; eye++) {
        free(pair->path[eye]);
        pair->path[eye] = NULL;
    }
    plx_fail(&list->note, 0, "%s: %s: the last pair is left out, because the recording was cut off there", path, what);
}

/* Pairs the sorted names of both eyes. A picture without a counterpart is an error unless it is the last. */
static int join_names(const char *directory, const struct plx_layout *layout, const struct names names[PLX_EYES],
                      struct plx_pair_list *list, struct plx_error_message *message)
{
    size_t most = names[PLX_LEFT].count > names[PLX_RIGHT].count ? names[PLX_LEFT].count : names[PLX_RIGHT].count;
    list->pair = calloc(most, sizeof list->pair[0]);
    if (!list->pair)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
    for (size_t i = 0; i < most; i++) {
        const char *left = i < names[PLX_LEFT].count ? names[PLX_LEFT].name[i] : NULL;
        const char *right = i < names[PLX_RIGHT].count ? names[PLX_RIGHT].name[i] : NULL;
        int order = !left ? 1 : !right ? -1 : strverscmp(key_of(left), key_of(right));
        int alone = order < 0 ? PLX_LEFT : PLX_RIGHT;
        if (order != 0 && i + 1 == most && i > 0) {
            plx_fail(&list->note, 0, "%s: the last picture, %s, is left out: the recording was cut off before its counterpart",
                     directory, alone == PLX_LEFT ? left : right);
            break;
        }
        if (order != 0)
            return plx_fail(message, PLX_ERR_NOT_FOUND, "%s/%s%s%s: the picture has no counterpart of the %s eye", directory,
                            layout->folder[alone], *layout->folder[alone] ? "/" : "", alone == PLX_LEFT ? left : right,
                            plx_layout_eye[!alone]);
        struct plx_pair_list_pair *pair = &list->pair[list->count++];
        pair->path[PLX_LEFT] = plx_layout_path(directory, layout->folder[PLX_LEFT], left);
        pair->path[PLX_RIGHT] = plx_layout_path(directory, layout->folder[PLX_RIGHT], right);
        if (!pair->path[PLX_LEFT] || !pair->path[PLX_RIGHT])
            return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
    }
    return 0;
}

/* Both pictures of the last pair must be whole. The others are checked when they are read. */
static int check_last(struct plx_pair_list *list, struct plx_error_message *message)
{
    struct plx_pair_list_pair *pair = &list->pair[list->count - 1];
    int result = 0;
    for (int eye = 0; eye < PLX_EYES && result == 0 && list->count > 1; eye++) {
        struct plx_image image;
        result = plx_picture_read(pair->path[eye], PLX_U8, &image, message);
        if (result == 0)
            free(image.data);
    }
    if (result != PLX_ERR_FORMAT)
        return 0; /* any other error is reported when the pair is replayed */
    char *path = strdup(message->text);
    leave_out_last(list, path ? path : "a picture", "incomplete picture");
    free(path);
    return 0;
}

/* Line i of times.txt is the time of pair i in seconds; more lines than pairs are fine. */
static int read_times(const char *directory, struct plx_pair_list *list, struct plx_error_message *message)
{
    char line[256], *path = plx_layout_path(directory, "times.txt", "");
    FILE *file = NULL;
    int result = path ? plx_file_open(path, &file, message) : plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
    if (result == PLX_ERR_NOT_FOUND) { /* the recording has no times */
        result = 0;
        goto out;
    }
    if (result < 0)
        goto out;
    list->timed = true;
    for (int i = 0; i < list->count && result == 0; i++) {
        char *rest = line;
        const bool there = fgets(line, sizeof line, file), whole = there && strchr(line, '\n');
        double time_s = there ? strtod(line, &rest) : 0.0;
        if (!whole && feof(file) && i > 0 && i + 1 == list->count)
            leave_out_last(list, path, there ? "the last line has no end" : "the last pair has no line");
        else if ((!whole && i + 1 < list->count) || rest == line || rest[strspn(rest, " \t\r\n")] != '\0' ||
                 !(fabs(time_s) <= MAX_TIME_S))
            result = plx_fail(message, PLX_ERR_FORMAT, "%s:%d: expected a time in seconds for each of %d pairs", path, i + 1,
                              list->count);
        else if (i > 0 && time_s <= list->pair[i - 1].time_s)
            result = plx_fail(message, PLX_ERR_FORMAT, "%s:%d: the time %.9g s is not later than that of the line before", path,
                              i + 1, time_s);
        else
            list->pair[i].time_s = time_s;
    }

out:
    if (file)
        fclose(file);
    free(path);
    return result;
}

int plx_pair_list_open(const char *directory, struct plx_pair_list *ret_list, struct plx_error_message *message)
{
    struct plx_pair_list list = {0};
    struct names names[PLX_EYES] = {{0}};
    const struct plx_layout *layout = NULL;
    int result = plx_layout_find(directory, &layout, message);
    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result = list_eye(directory, layout, eye, &names[eye], message);
    if (result < 0)
        goto out;
    if (names[PLX_LEFT].count + names[PLX_RIGHT].count == 0) {
        result = plx_fail(message, PLX_ERR_NOT_FOUND,
                          "%s: no stereo pairs; expected image_0/ and image_1/, image_2/ and image_3/, left/ and right/, or "
                          "left* and right* files, PNG, JPEG or PGM",
                          directory);
        goto out;
    }
    list.first_projection = layout->first_projection;
    result = join_names(directory, layout, names, &list, message);
    if (result == 0)
        result = read_times(directory, &list, message);
    if (result == 0)
        result = check_last(&list, message);

out:
    free_names(&names[PLX_LEFT]);
    free_names(&names[PLX_RIGHT]);
    if (result < 0)
        plx_pair_list_close(&list);
    else
        *ret_list = list;
    return result;
}

void plx_pair_list_close(struct plx_pair_list *list)
{
    for (int i = 0; i < list->count; i++)
        for (int eye = 0; eye < PLX_EYES; eye++)
            free(list->pair[i].path[eye]);
    free(list->pair);
    *list = (struct plx_pair_list){0};
}
