/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/pair_list.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <parallax/error.h>

#include "drivers/files/file.h"
#include "drivers/files/picture.h"
#include "drivers/files/recording.h"

#define MAX_PAIRS 1000000
#define MAX_TIME_S 4e9 /* times may count from any epoch */

#define NANOSECONDS_FROM 16 /* digits: numbers that long are times */

/* A picture of one eye. */
struct name {
    char *text, *key; /* KEY: the part that its counterpart has too */
};

/* All of one eye. */
struct names {
    struct name *item;
    size_t count, room;
};

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->item[i].text);
        free(names->item[i].key);
    }
    free(names->item);
}

static int add_name(struct names *names, const char *name)
{
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 64;
        struct name *larger = realloc(names->item, room * sizeof names->item[0]);
        if (!larger)
            return PLX_ERR_NOMEM;
        names->item = larger;
        names->room = room;
    }
    struct name *item = &names->item[names->count++];
    *item = (struct name){strdup(name), strdup(name)};
    if (!item->text || !item->key)
        return PLX_ERR_NOMEM;
    plx_layout_eye_of(name, item->key);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct name *first = a, *second = b;
    int order = strverscmp(first->key, second->key); /* 2.png before 10.png */
    return order ? order : strcmp(first->text, second->text);
}

/* The number that a name is, without its ending; -1: it is none. */
static long long number_of(const char *name, size_t *ret_digits)
{
    *ret_digits = strspn(name, "0123456789");
    return *ret_digits > 0 && *ret_digits <= 19 && name[*ret_digits] == '.' ? strtoll(name, NULL, 10) : -1;
}

static int compare_times(const void *a, const void *b)
{
    const long long left = *(const long long *)a, right = *(const long long *)b;
    return (left > right) - (left < right);
}

/* Whether all names are times in nanoseconds, as in EuRoC's recordings. */
static bool are_times(const struct names *names)
{
    size_t digits;
    for (size_t i = 0; i < names->count; i++)
        if (number_of(names->item[i].key, &digits) < 0 || digits < NANOSECONDS_FROM)
            return false;
    return names->count > 0;
}

/* Half the median step of NAMES, which are times: what two pictures of a pair may be apart. */
static int find_tolerance(const struct names *names, long long *ret_ns)
{
    const size_t steps = names->count - 1;
    size_t digits;
    long long *step = malloc(names->count * sizeof *step);
    if (!step)
        return PLX_ERR_NOMEM;
    for (size_t i = 0; i < steps; i++)
        step[i] = number_of(names->item[i + 1].key, &digits) - number_of(names->item[i].key, &digits);
    if (steps > 0)
        qsort(step, steps, sizeof *step, compare_times);
    *ret_ns = steps > 0 ? step[(steps - 1) / 2] / 2 : 0;
    free(step);
    return 0;
}

/* Which of two names comes first, as strcmp; 0: they are a pair. TOLERANCE_NS < 0: the names are no times. */
static int compare_eyes(const struct name *left, const struct name *right, long long tolerance_ns)
{
    size_t digits;
    if (tolerance_ns < 0)
        return strverscmp(left->key, right->key);
    const long long one = number_of(left->key, &digits), other = number_of(right->key, &digits);
    return llabs(other - one) <= tolerance_ns ? 0 : one < other ? -1 : 1;
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
        if (!plx_layout_is_picture(entry->d_name) || (flat && plx_layout_eye_of(entry->d_name, NULL) != (enum plx_eye)eye))
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
        qsort(names->item, names->count, sizeof names->item[0], compare_names);

out:
    if (folder)
        closedir(folder);
    free(path);
    return result;
}

static void leave_out_last(struct plx_pair_list *list, const char *path, const char *what)
{
    struct plx_pair_list_pair *pair = &list->pair[--list->count];
    for (int i = 0; i < PLX_PAIR_PICTURES; i++) {
        free(pair->path[i]);
        pair->path[i] = NULL;
    }
    plx_say(&list->note, "%s: %s: the last pair is left out, because the recording was cut off there", path, what);
}

static int add_pair(const char *directory, const struct plx_layout *layout, const struct name *left, const struct name *right,
                    struct plx_pair_list *list, struct plx_error_message *message)
{
    struct plx_pair_list_pair *pair = &list->pair[list->count++];
    size_t digits;
    pair->number = number_of(left->key, &digits);
    pair->skew_ns = number_of(right->key, &digits) - pair->number; /* where the names are times */
    pair->path[PLX_LEFT] = plx_layout_path(directory, layout->folder[PLX_LEFT], left->text);
    pair->path[PLX_RIGHT] = plx_layout_path(directory, layout->folder[PLX_RIGHT], right->text);
    if (!pair->path[PLX_LEFT] || !pair->path[PLX_RIGHT])
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
    return 0;
}

/* Names the pictures in colour, if their folder is there. */
static int add_colour(const char *directory, const struct plx_layout *layout, struct plx_pair_list *list,
                      struct plx_error_message *message)
{
    char folder[64];
    if (!plx_layout_colour_folder(directory, layout, folder, sizeof folder))
        return 0;
    for (int k = 0; k < list->count; k++) {
        char **path = list->pair[k].path;
        path[PLX_PAIR_COLOUR] = plx_layout_path(directory, folder, strrchr(path[PLX_LEFT], '/') + 1);
        if (!path[PLX_PAIR_COLOUR])
            return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
    }
    return 0;
}

/* Pairs the sorted names of both eyes. A picture without a counterpart is an error unless it is the last, or the names are
 * times: cameras lose pictures. */
static int join_names(const char *directory, const struct plx_layout *layout, const struct names names[PLX_EYES],
                      struct plx_pair_list *list, struct plx_error_message *message)
{
    const struct names *left = &names[PLX_LEFT], *right = &names[PLX_RIGHT];
    const bool by_time = are_times(left) && are_times(right);
    long long tolerance_ns = -1;
    int lost = 0, result = by_time ? find_tolerance(left, &tolerance_ns) : 0;
    list->pair = calloc(left->count + right->count, sizeof list->pair[0]);
    if (!list->pair || result < 0)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
    for (size_t l = 0, r = 0; (l < left->count || r < right->count) && result == 0;) {
        const bool is_one = l < left->count, is_other = r < right->count;
        const struct name *one = is_one ? &left->item[l] : NULL, *other = is_other ? &right->item[r] : NULL;
        const int order = !is_one ? 1 : !is_other ? -1 : compare_eyes(one, other, tolerance_ns);
        const int alone = order < 0 ? PLX_LEFT : PLX_RIGHT;
        const bool is_last = l + r + 1 == left->count + right->count && list->count > 0;
        l += order <= 0;
        r += order >= 0;
        if (order == 0)
            result = add_pair(directory, layout, one, other, list, message);
        else if (by_time)
            lost++;
        else if (is_last)
            plx_say(&list->note, "%s: the last picture, %s, is left out: the recording was cut off before its counterpart",
                    directory, (alone == PLX_LEFT ? one : other)->text);
        else
            return plx_fail(message, PLX_ERR_NOT_FOUND, "%s/%s%s%s: the picture has no counterpart of the %s eye", directory,
                            layout->folder[alone], *layout->folder[alone] ? "/" : "", (alone == PLX_LEFT ? one : other)->text,
                            plx_layout_eye[!alone]);
    }
    if (lost > 0)
        plx_say(&list->note, "%s: %d pictures have no counterpart of about the same time and are left out", directory, lost);
    if (result == 0 && list->count == 0)
        result = plx_fail(message, PLX_ERR_NOT_FOUND, "%s: no picture has a counterpart of the other eye", directory);
    for (int k = 0; k < list->count; k++) {
        list->pair[k].time_s = by_time ? (double)list->pair[k].number / 1e9 : 0.0;
        list->pair[k].skew_ns = by_time ? list->pair[k].skew_ns : 0;
    }
    list->timed = by_time;
    return result;
}

/* The pictures of the last pair must be whole. The others are checked when they are read. */
static int check_last(struct plx_pair_list *list, struct plx_error_message *message)
{
    struct plx_pair_list_pair *pair = &list->pair[list->count - 1];
    int result = 0;
    for (int i = 0; i < PLX_PAIR_PICTURES && result == 0 && list->count > 1 && pair->path[i]; i++) {
        struct plx_image image;
        result = plx_picture_read(pair->path[i], PLX_U8, &image, message);
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

/* The seconds in LINE, or the time of day in KITTI's raw recordings. */
static bool read_time(const char *line, double *ret_s)
{
    struct tm day = {0};
    double seconds;
    char *rest;
    int used = 0;
    if (sscanf(line, "%4d-%2d-%2d %2d:%2d:%lf %n", &day.tm_year, &day.tm_mon, &day.tm_mday, &day.tm_hour, &day.tm_min, &seconds,
               &used) == 6 &&
        line[used] == '\0') {
        day.tm_year -= 1900;
        day.tm_mon--;
        *ret_s = (double)timegm(&day) + seconds;
        return true;
    }
    *ret_s = strtod(line, &rest);
    return rest != line && rest[strspn(rest, " \t\r\n")] == '\0' && fabs(*ret_s) <= MAX_TIME_S;
}

static long count_lines(FILE *file)
{
    long lines = 0;
    int last = '\n', c;
    while ((c = getc(file)) != EOF) {
        lines += c == '\n';
        last = c;
    }
    rewind(file);
    return lines + (last != '\n');
}

/* Whether the pairs are a part of a longer recording, whose lines go by their numbers, from 0. */
static bool go_by_number(const struct plx_pair_list *list, long lines)
{
    bool yes = lines > list->count;
    for (int i = 0; i < list->count && yes; i++)
        yes = list->pair[i].number >= 0 && list->pair[i].number < lines &&
              (i == 0 || list->pair[i].number > list->pair[i - 1].number);
    return yes;
}

/* Sets the time of PAIR, or its skew if TIME_S is the right eye's. */
static void set_time(struct plx_pair_list_pair *pair, enum plx_eye eye, double time_s)
{
    if (eye == PLX_LEFT)
        pair->time_s = time_s;
    pair->skew_ns = eye == PLX_RIGHT ? (int64_t)((time_s - pair->time_s) * 1e9) : 0;
}

static int read_lines(FILE *file, const char *path, enum plx_eye eye, struct plx_pair_list *list,
                      struct plx_error_message *message)
{
    const bool by_number = go_by_number(list, count_lines(file));
    double before_s = -INFINITY;
    char line[256];
    for (int number = 0, i = 0; i < list->count; number++) {
        double time_s = 0;
        const bool there = fgets(line, sizeof line, file), whole = there && strchr(line, '\n');
        const bool is_good = there && read_time(number == 0 ? plx_without_bom(line) : line, &time_s);
        if (!whole && feof(file) && i > 0 && i + 1 == list->count) {
            leave_out_last(list, path, there ? "the last line has no end" : "the last pair has no line");
            return 0;
        }
        if (!is_good || (!whole && i + 1 < list->count))
            return plx_fail(message, PLX_ERR_FORMAT, "%s:%d: expected a time in seconds for each of %d pairs", path, number + 1,
                            list->count);
        if (!(time_s > before_s))
            return plx_fail(message, PLX_ERR_FORMAT, "%s:%d: the time %.9g s is not later than that of the line before", path,
                            number + 1, time_s);
        before_s = time_s;
        if (!by_number || list->pair[i].number == number)
            set_time(&list->pair[i++], eye, time_s);
    }
    return 0;
}

/* Line i of times.txt is the time of pair i, or of its picture of EYE; more lines than pairs are fine. NOT_FOUND. */
static int read_file(const char *directory, const char *name, enum plx_eye eye, struct plx_pair_list *list,
                     struct plx_error_message *message)
{
    char *path = plx_layout_path(directory, "", name);
    FILE *file;
    int result = path ? plx_file_open(path, &file, message) : plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
    if (result == 0) {
        list->timed = true;
        result = read_lines(file, path, eye, list, message);
        fclose(file);
    }
    free(path);
    return result;
}

static int read_times(const char *directory, const struct plx_layout *layout, struct plx_pair_list *list,
                      struct plx_error_message *message)
{
    int result = read_file(directory, "times.txt", PLX_LEFT, list, message);
    if (result == PLX_ERR_NOT_FOUND && layout->times[PLX_LEFT]) {
        result = read_file(directory, layout->times[PLX_LEFT], PLX_LEFT, list, message);
        if (result == 0)
            result = read_file(directory, layout->times[PLX_RIGHT], PLX_RIGHT, list, message);
    }
    return result == PLX_ERR_NOT_FOUND ? 0 : result; /* the recording has no times, or has them in its names */
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
                          "%s: no stereo pairs; expected folders image_0/ and image_1/, left/ and right/ or others of "
                          "sources.md, or left* and right*, *_left and *_right or im0 and im1 files, PNG, JPEG or PGM",
                          directory);
        goto out;
    }
    list.first_projection = layout->first_projection;
    result = join_names(directory, layout, names, &list, message);
    if (result == 0)
        result = add_colour(directory, layout, &list, message);
    if (result == 0)
        result = read_times(directory, layout, &list, message);
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
        for (int k = 0; k < PLX_PAIR_PICTURES; k++)
            free(list->pair[i].path[k]);
    free(list->pair);
    *list = (struct plx_pair_list){0};
}
