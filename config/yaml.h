/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML file as a tree that keeps the position of every node. A small, strict part of YAML: one document, no anchors, no
 * aliases, no duplicate keys, bounded size and depth. A first line `%YAML:1.0` (OpenCV) or
 * `%YAML 1.2` is taken as a comment, a byte order mark before it is skipped, and behind it `data:[` is read as OpenCV does.
 */
#ifndef PLX_CONFIG_YAML_H
#define PLX_CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/text.h"

#define PLX_YAML_MAX_BYTES (4 << 20) /* a file's largest size */
#define PLX_YAML_MAX_NODES (1 << 18)
#define PLX_YAML_MAX_DEPTH 16
#define PLX_YAML_MAX_SCALAR 65536 /* bytes */
#define PLX_YAML_MAX_KEYS 1024    /* largest mapping */

enum plx_yaml_kind { PLX_YAML_SCALAR, PLX_YAML_LIST, PLX_YAML_MAP };

struct plx_yaml_node {
    enum plx_yaml_kind kind;
    const char *text;            /* a scalar's text, never with a zero byte inside; "" otherwise */
    bool quoted;                 /* scalar in quotes or a block, or tagged */
    int line, column;            /* from 1; columns are characters */
    int count;                   /* children of a list or map */
    struct plx_yaml_node *key;   /* scalar that names a child of a map */
    struct plx_yaml_node *child; /* the first */
    struct plx_yaml_node *next;  /* after this one, of the same parent */
};

struct plx_yaml;

/* Reads the regular file at PATH. FORMAT, RANGE, NOT_FOUND, PERMISSION, IO, NOMEM. Destroy with plx_yaml_destroy. */
int plx_yaml_read(const char *path, struct plx_yaml **ret_yaml, struct plx_error_message *message);
/* The same for TEXT; NAME stands for the file in messages. */
int plx_yaml_parse(const char *name, const char *text, struct plx_yaml **ret_yaml, struct plx_error_message *message);
void plx_yaml_destroy(struct plx_yaml *yaml); /* NULL is fine; the nodes go with it */

/* NULL if the file holds nothing but blanks and comments. */
const struct plx_yaml_node *plx_yaml_root(const struct plx_yaml *yaml);

/* The child of MAP under KEY, or NULL (also when MAP is NULL or no map). */
const struct plx_yaml_node *plx_yaml_get(const struct plx_yaml_node *map, const char *key);

/* True for a scalar without a value: empty, ~ or null, without quotes. */
bool plx_yaml_is_null(const struct plx_yaml_node *node);

/* plx_fail with `path:line:column: ` of NODE before the sentence (the path alone when NODE is NULL). */
int plx_yaml_fail(const struct plx_yaml *yaml, const struct plx_yaml_node *node, struct plx_error_message *message, int error,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
