/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/offline/pairs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/files/file.h"
#include "drivers/files/pair_list.h"
#include "drivers/files/picture.h"
#include "drivers/files/recording.h"

#define UNTIMED_PERIOD_S 0.1

static char *join(const char *directory, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static bool exists(const char *directory, const char *name)
{
    char *path = join(directory, name);
    bool yes = path && access(path, F_OK) == 0;
    free(path);
    return yes;
}

/* The last part of PATH, which does not end with a slash. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *without_extension(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? strndup(name, (size_t)(dot - name)) : strdup(name);
}

static void free_pair(struct plx_pair *pair)
{
    free(pair->name);
    free(pair->left);
    free(pair->right);
    free(pair->folder);
}

/* Owns the strings of PAIR from now on; only the folder may be NULL. */
static int append(struct plx_pairs *pairs, struct plx_pair pair, struct plx_error_message *message)
{
    struct plx_pair *grown = realloc(pairs->item, ((size_t)pairs->count + 1) * sizeof *grown);
    if (grown)
        pairs->item = grown;
    if (!grown || !pair.name || !pair.left || !pair.right) {
        free_pair(&pair);
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    }
    plx_clean_text(pair.name); /* listings have a line for each pair */
    pairs->item[pairs->count++] = pair;
    return 0;
}

/* A scene is a directory with left.* and right.*, or im0.* and im1.* as in Middlebury's data. Sets the names of its pictures,
 * static storage; false if DIRECTORY is no scene. */
static bool find_scene(const char *directory, const char *ret_name[PLX_EYES])
{
    static const char *const names[][PLX_EYES] = {
        {"left.png", "right.png"},   {"left.pgm", "right.pgm"}, {"left.jpg", "right.jpg"},
        {"left.jpeg", "right.jpeg"}, {"im0.png", "im1.png"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (exists(directory, names[i][PLX_LEFT]) && exists(directory, names[i][PLX_RIGHT])) {
            ret_name[PLX_LEFT] = names[i][PLX_LEFT];
            ret_name[PLX_RIGHT] = names[i][PLX_RIGHT];
            return true;
        }
    return false;
}

static int add_scene(struct plx_pairs *pairs, const char *directory, const char *const name[PLX_EYES],
                     struct plx_error_message *message)
{
    return append(pairs,
                  (struct plx_pair){.name = strdup(base_name(directory)),
                                    .left = join(directory, name[PLX_LEFT]),
                                    .right = join(directory, name[PLX_RIGHT]),
                                    .folder = strdup(directory)},
                  message);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Adds each folder of DIRECTORY that is a scene. */
static int add_scenes(struct plx_pairs *pairs, const char *directory, struct plx_error_message *message)
{
    struct dirent **names = NULL;
    int count = scandir(directory, &names, is_visible, alphasort);
    if (count < 0)
        return plx_file_fail(directory, message);
    int result = 0;
    for (int i = 0; i < count; i++) {
        char *scene = join(directory, names[i]->d_name);
        const char *name[PLX_EYES];
        if (result == 0 && scene && find_scene(scene, name))
            result = add_scene(pairs, scene, name, message);
        free(scene);
        free(names[i]);
    }
    free(names);
    return result;
}

static int add_sequence(struct plx_pairs *pairs, const char *directory, struct plx_error_message *message)
{
    struct plx_pair_list listing;
    int result = plx_pair_list_open(directory, &listing, message);
    if (result < 0)
        return result;
    for (int i = 0; i < listing.count && result == 0; i++) {
        char *const *path = listing.pair[i].path;
        result = append(pairs,
                        (struct plx_pair){.name = without_extension(base_name(path[PLX_LEFT])),
                                          .left = strdup(path[PLX_LEFT]),
                                          .right = strdup(path[PLX_RIGHT]),
                                          .time_s = listing.timed ? listing.pair[i].time_s : i * UNTIMED_PERIOD_S},
                        message);
    }
    pairs->sequence = true;
    pairs->note = listing.note;
    pairs->first_projection = listing.first_projection;
    plx_pair_list_close(&listing);
    return result;
}

/* DIRECTORY must hold only one layout of pairs. */
static int find_pairs(const char *directory, struct plx_pairs *pairs, struct plx_error_message *message)
{
    const char *name[PLX_EYES], *folder = plx_layout_left_folder(directory);
    const bool is_scene = find_scene(directory, name);
    int result = add_scenes(pairs, directory, message);
    if (result < 0)
        return result;
    if (is_scene + (folder != NULL) + (pairs->count > 0) > 1)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: holds both %s and %s; expected only one of them", directory,
                        is_scene ? "left.* with right.*" : pairs->item[0].folder, !folder ? pairs->item[0].folder : folder);
    if (is_scene)
        return add_scene(pairs, directory, name, message);
    return pairs->count > 0 ? 0 : add_sequence(pairs, directory, message);
}

int plx_pairs_find(const char *directory, struct plx_pairs *ret_pairs, struct plx_error_message *message)
{
    struct plx_pairs pairs = {.count = 0};
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    char *path = strndup(directory, length);
    if (!path)
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    int result = find_pairs(path, &pairs, message);
    free(path);
    if (result < 0)
        plx_pairs_destroy(&pairs);
    else
        *ret_pairs = pairs;
    return result;
}

int plx_pairs_single(const char *left, const char *right, struct plx_pairs *ret_pairs, struct plx_error_message *message)
{
    struct plx_pairs pairs = {.count = 0};
    struct plx_pair pair = {.name = without_extension(base_name(left)), .left = strdup(left), .right = strdup(right)};
    int result = append(&pairs, pair, message);
    if (result < 0)
        plx_pairs_destroy(&pairs);
    else
        *ret_pairs = pairs;
    return result;
}

static char *name_in_bag(const char *path, const char *eye, int k)
{
    char *name;
    return asprintf(&name, "%s%s/%06d.png", path, eye, k) < 0 ? NULL : name;
}

int plx_pairs_bag(const struct plx_bag_options *options, struct plx_pairs *ret_pairs, struct plx_error_message *message)
{
    struct plx_pairs pairs = {.sequence = true};
    int result = plx_bag_open(options, &pairs.bag, message);
    for (int k = 0; result == 0 && k < plx_bag_info(pairs.bag)->count; k++) {
        char name[16];
        snprintf(name, sizeof name, "%06d", k);
        const struct plx_pair pair = {.name = strdup(name),
                                      .left = name_in_bag(options->path, "", k),
                                      .right = name_in_bag(options->path, ":right", k),
                                      .time_s = (double)(plx_bag_time_ns(pairs.bag, k) - plx_bag_time_ns(pairs.bag, 0)) /
                                                (double)PLX_NS_PER_S};
        result = append(&pairs, pair, message);
    }
    if (result < 0) {
        plx_pairs_destroy(&pairs);
        return result;
    }
    pairs.note = plx_bag_info(pairs.bag)->note;
    *ret_pairs = pairs;
    return 0;
}

void plx_pairs_destroy(struct plx_pairs *pairs)
{
    for (int i = 0; i < pairs->count; i++)
        free_pair(&pairs->item[i]);
    free(pairs->item);
    plx_bag_close(pairs->bag);
    *pairs = (struct plx_pairs){.count = 0};
}

/* Allocates pictures and reads pair K of the MCAP file into them. */
static int load_from_bag(struct plx_bag *bag, int k, struct plx_image image[PLX_EYES], struct plx_error_message *message)
{
    const struct plx_bag_info *info = plx_bag_info(bag);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        void *data = malloc((size_t)info->width * (size_t)info->height);
        image[eye] = (struct plx_image){data, info->width, info->height, (size_t)info->width, PLX_U8};
        if (!data)
            return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    }
    return plx_bag_read(bag, k, image, message);
}

static int load_from_files(const struct plx_pair *pair, struct plx_image image[PLX_EYES], struct plx_error_message *message)
{
    int result = plx_picture_read(pair->left, PLX_U8, &image[PLX_LEFT], message);
    if (result == 0)
        result = plx_picture_read(pair->right, PLX_U8, &image[PLX_RIGHT], message);
    if (result == 0 && !plx_same_size(&image[PLX_LEFT], &image[PLX_RIGHT]))
        result =
            plx_fail(message, PLX_ERR_FORMAT, "%s: %dx%d pixels, expected %dx%d as in %s", pair->right, image[PLX_RIGHT].width,
                     image[PLX_RIGHT].height, image[PLX_LEFT].width, image[PLX_LEFT].height, pair->left);
    return result;
}

int plx_pair_load(const struct plx_pairs *pairs, int k, struct plx_image *ret_left, struct plx_image *ret_right,
                  struct plx_error_message *message)
{
    struct plx_image image[PLX_EYES] = {{.data = NULL}, {.data = NULL}};
    const int result =
        pairs->bag ? load_from_bag(pairs->bag, k, image, message) : load_from_files(&pairs->item[k], image, message);
    if (result < 0) {
        free(image[PLX_LEFT].data);
        free(image[PLX_RIGHT].data);
        return result;
    }
    *ret_left = image[PLX_LEFT];
    *ret_right = image[PLX_RIGHT];
    return 0;
}

char *plx_pair_file(const struct plx_pair *pair, const char *given)
{
    const char *directory = pair->folder ? pair->folder : given;
    const char *name = pair->folder ? given : base_name(pair->left);
    return exists(directory, name) ? join(directory, name) : NULL;
}
