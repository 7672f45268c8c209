/* SPDX-License-Identifier: Apache-2.0 */
#include "config/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include <parallax/error.h>

#include "config/file.h"
#include "config/text.h"

/* A node and its text in one block; all blocks of a file are in one linked list. */
struct block {
    struct block *before;
    struct plx_yaml_node node;
    char text[];
};

struct plx_yaml {
    char *path, *source;
    size_t source_size;
    struct block *last;
    int nodes;
    struct plx_yaml_node *root;
};

struct builder {
    struct plx_yaml *yaml;
    yaml_parser_t parser;
    struct plx_error_message *message;
};

int plx_yaml_fail(const struct plx_yaml *yaml, const struct plx_yaml_node *node, struct plx_error_message *message, int error,
                  const char *format, ...)
{
    char text[sizeof message->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!node)
        return plx_fail(message, error, "%s: %s", yaml->path, text);
    return plx_fail(message, error, "%s:%d:%d: %s", yaml->path, node->line, node->column, text);
}

static int fail_mark(const struct builder *build, const yaml_mark_t *mark, int error, const char *text)
{
    return plx_fail(build->message, error, "%s:%d:%d: %s", build->yaml->path, (int)mark->line + 1, (int)mark->column + 1, text);
}

/* libyaml names a bad byte by its offset alone. */
static int fail_offset(const struct builder *build, size_t offset, const char *problem)
{
    const char *source = build->yaml->source;
    yaml_mark_t mark = {0};
    char text[128];
    for (size_t i = 0; i < offset && i < build->yaml->source_size; i++) {
        if (source[i] == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (((unsigned char)source[i] & 0xC0) != 0x80) {
            mark.column++;
        }
    }
    snprintf(text, sizeof text, "%s; expected YAML in UTF-8", problem ? problem : "unreadable byte");
    return fail_mark(build, &mark, PLX_ERR_FORMAT, text);
}

/* True if the character at MARK, whose index counts characters, is a tab. */
static bool tab_at(const struct plx_yaml *yaml, const yaml_mark_t *mark)
{
    size_t index = 0;
    for (size_t i = 0; i < yaml->source_size; i++)
        if (((unsigned char)yaml->source[i] & 0xC0) != 0x80 && index++ == mark->index)
            return yaml->source[i] == '\t';
    return false;
}

static int fail_parser(const struct builder *build)
{
    const yaml_parser_t *parser = &build->parser;
    char text[256];
    if (parser->error == YAML_MEMORY_ERROR)
        return plx_fail(build->message, PLX_ERR_NOMEM, "%s: out of memory", build->yaml->path);
    if (parser->error == YAML_READER_ERROR)
        return fail_offset(build, parser->problem_offset, parser->problem);
    const yaml_mark_t *mark = &parser->problem_mark;
    if (tab_at(build->yaml, mark))
        return fail_mark(build, mark, PLX_ERR_FORMAT, "a tab character; expected spaces, YAML does not indent with tabs");
    snprintf(text, sizeof text, "%s%s%s; expected valid YAML", parser->problem ? parser->problem : "syntax error",
             parser->context ? " " : "", parser->context ? parser->context : "");
    return fail_mark(build, mark, PLX_ERR_FORMAT, text);
}

/* Adds a node without children. */
static int add_node(struct builder *build, const yaml_event_t *event, enum plx_yaml_kind kind, struct plx_yaml_node **ret_node)
{
    struct plx_yaml *yaml = build->yaml;
    const size_t length = kind == PLX_YAML_SCALAR ? event->data.scalar.length : 0;
    if (length > PLX_YAML_MAX_SCALAR)
        return fail_mark(build, &event->start_mark, PLX_ERR_RANGE, "a text of more than 65536 bytes; is this the right file?");
    if (++yaml->nodes > PLX_YAML_MAX_NODES)
        return fail_mark(build, &event->start_mark, PLX_ERR_RANGE, "more than 262144 values; is this the right file?");
    if (length > 0 && memchr(event->data.scalar.value, 0, length))
        return fail_mark(build, &event->start_mark, PLX_ERR_FORMAT, "a zero byte in a text; expected printable text");
    struct block *block = calloc(1, sizeof *block + length + 1);
    if (!block)
        return plx_fail(build->message, PLX_ERR_NOMEM, "%s: out of memory", yaml->path);
    block->before = yaml->last;
    yaml->last = block;
    if (length > 0)
        memcpy(block->text, event->data.scalar.value, length);
    block->node = (struct plx_yaml_node){.kind = kind,
                                         .text = block->text,
                                         .line = (int)event->start_mark.line + 1,
                                         .column = (int)event->start_mark.column + 1};
    if (kind == PLX_YAML_SCALAR)
        block->node.quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || event->data.scalar.tag;
    *ret_node = &block->node;
    return 0;
}

static int build_node(struct builder *build, const yaml_event_t *event, int depth, struct plx_yaml_node **ret_node);

/* A key must be a name that MAP does not have yet. */
static int check_key(const struct builder *build, const struct plx_yaml_node *map, const struct plx_yaml_node *key)
{
    char quoted[PLX_QUOTED_TEXT];
    if (key->kind != PLX_YAML_SCALAR)
        return plx_yaml_fail(build->yaml, key, build->message, PLX_ERR_FORMAT,
                             "a key that is a list or a map; expected a name");
    const struct plx_yaml_node *twin = plx_yaml_get(map, key->text);
    if (twin)
        return plx_yaml_fail(build->yaml, key, build->message, PLX_ERR_FORMAT,
                             "key \"%s\" is given twice, first at line %d; expected it once", plx_quote(key->text, quoted),
                             twin->key->line);
    if (map->count >= PLX_YAML_MAX_KEYS)
        return plx_yaml_fail(build->yaml, key, build->message, PLX_ERR_RANGE, "more than %d keys in one map",
                             PLX_YAML_MAX_KEYS);
    return 0;
}

/* The next child of a list or map, NULL at its end. */
static int build_child(struct builder *build, int depth, struct plx_yaml_node **ret_node)
{
    yaml_event_t event;
    int result = 0;
    if (!yaml_parser_parse(&build->parser, &event))
        return fail_parser(build);
    *ret_node = NULL;
    if (event.type != YAML_SEQUENCE_END_EVENT && event.type != YAML_MAPPING_END_EVENT)
        result = build_node(build, &event, depth, ret_node);
    yaml_event_delete(&event);
    return result;
}

static int build_children(struct builder *build, struct plx_yaml_node *parent, int depth)
{
    struct plx_yaml_node **tail = &parent->child;
    for (;;) {
        struct plx_yaml_node *key = NULL, *node;
        int result = 0;
        if (parent->kind == PLX_YAML_MAP) {
            result = build_child(build, depth, &key);
            if (result < 0 || !key)
                return result;
            result = check_key(build, parent, key);
            if (result < 0)
                return result;
        }
        result = build_child(build, depth, &node);
        if (result < 0 || !node)
            return result;
        node->key = key;
        *tail = node;
        tail = &node->next;
        parent->count++;
    }
}

/* Depth is bounded by PLX_YAML_MAX_DEPTH. */
static int build_node(struct builder *build, const yaml_event_t *event, int depth, struct plx_yaml_node **ret_node)
{
    const bool scalar = event->type == YAML_SCALAR_EVENT, list = event->type == YAML_SEQUENCE_START_EVENT;
    const enum plx_yaml_kind kind = scalar ? PLX_YAML_SCALAR : list ? PLX_YAML_LIST : PLX_YAML_MAP;
    const yaml_char_t *anchor = scalar ? event->data.scalar.anchor
                                : list ? event->data.sequence_start.anchor
                                       : event->data.mapping_start.anchor;
    if (event->type == YAML_ALIAS_EVENT || anchor)
        return fail_mark(build, &event->start_mark, PLX_ERR_FORMAT,
                         "an anchor or alias; expected the value itself, written out");
    if (depth >= PLX_YAML_MAX_DEPTH)
        return fail_mark(build, &event->start_mark, PLX_ERR_RANGE, "nested more than 16 deep; is this the right file?");
    int result = add_node(build, event, kind, ret_node);
    if (result == 0 && kind != PLX_YAML_SCALAR)
        result = build_children(build, *ret_node, depth + 1);
    return result;
}

static int build_document(struct builder *build)
{
    for (;;) {
        yaml_event_t event;
        int result = 0;
        if (!yaml_parser_parse(&build->parser, &event))
            return fail_parser(build);
        const yaml_event_type_t type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT && build->yaml->root)
            result = fail_mark(build, &event.start_mark, PLX_ERR_FORMAT, "a second document; expected one document a file");
        else if (type >= YAML_ALIAS_EVENT) /* a node: the other events are of streams and documents */
            result = build_node(build, &event, 0, &build->yaml->root);
        yaml_event_delete(&event);
        if (result < 0 || type == YAML_STREAM_END_EVENT)
            return result;
    }
}

/* Many a file for OpenCV has `data:[`, which OpenCV reads, but YAML does not: puts a blank behind the colon. */
static int space_lists(struct plx_yaml *yaml)
{
    static const char tight[] = "data:[";
    const size_t before = sizeof tight - 2; /* the bracket */
    const char *from = yaml->source, *const last = yaml->source + yaml->source_size;
    size_t count = 0;
    for (const char *at = from; (at = memmem(at, (size_t)(last - at), tight, before + 1)); at += before)
        count++;
    char *spaced = malloc(yaml->source_size + count + 1), *end = spaced;
    if (!spaced)
        return PLX_ERR_NOMEM;
    for (const char *at = from; (at = memmem(at, (size_t)(last - at), tight, before + 1)); from = at) {
        at += before;
        end = mempcpy(end, from, (size_t)(at - from));
        *end++ = ' ';
    }
    memcpy(end, from, (size_t)(last - from) + 1);
    free(yaml->source);
    yaml->source = spaced;
    yaml->source_size += count;
    return 0;
}

static int parse_source(struct plx_yaml *yaml, struct plx_error_message *message)
{
    static const char directive[] = "%YAML";
    const size_t mark = (size_t)(plx_without_bom(yaml->source) - yaml->source);
    struct builder build = {.yaml = yaml, .message = message};
    yaml->source_size -= mark;
    memmove(yaml->source, yaml->source + mark, yaml->source_size + 1);
    if (strncmp(yaml->source, directive, sizeof directive - 1) == 0) {
        yaml->source[0] = '#'; /* neither OpenCV's %YAML:1.0 nor a version changes how we read */
        if (space_lists(yaml) < 0)
            return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", yaml->path);
    }
    if (!yaml_parser_initialize(&build.parser))
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", yaml->path);
    yaml_parser_set_encoding(&build.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&build.parser, (const unsigned char *)yaml->source, yaml->source_size);
    int result = build_document(&build);
    yaml_parser_delete(&build.parser);
    return result;
}

/* TEXT NULL: reads the file at PATH. */
static int parse(const char *path, const char *text, struct plx_yaml **ret_yaml, struct plx_error_message *message)
{
    struct plx_yaml *yaml = calloc(1, sizeof *yaml);
    int result = 0;
    if (!yaml || !(yaml->path = strdup(path)) || (text && !(yaml->source = strdup(text))))
        result = plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    if (result == 0 && text)
        yaml->source_size = strlen(text);
    else if (result == 0)
        result = plx_file_read(path, PLX_YAML_MAX_BYTES, &yaml->source, &yaml->source_size, message);
    if (result == 0)
        result = parse_source(yaml, message);
    if (result == 0)
        *ret_yaml = yaml;
    else
        plx_yaml_destroy(yaml);
    return result;
}

int plx_yaml_read(const char *path, struct plx_yaml **ret_yaml, struct plx_error_message *message)
{
    return parse(path, NULL, ret_yaml, message);
}

int plx_yaml_parse(const char *name, const char *text, struct plx_yaml **ret_yaml, struct plx_error_message *message)
{
    return parse(name, text, ret_yaml, message);
}

void plx_yaml_destroy(struct plx_yaml *yaml)
{
    if (!yaml)
        return;
    while (yaml->last) {
        struct block *before = yaml->last->before;
        free(yaml->last);
        yaml->last = before;
    }
    free(yaml->source);
    free(yaml->path);
    free(yaml);
}

const struct plx_yaml_node *plx_yaml_root(const struct plx_yaml *yaml)
{
    return yaml->root;
}

const struct plx_yaml_node *plx_yaml_get(const struct plx_yaml_node *map, const char *key)
{
    if (!map || map->kind != PLX_YAML_MAP)
        return NULL;
    for (const struct plx_yaml_node *child = map->child; child; child = child->next)
        if (strcmp(child->key->text, key) == 0)
            return child;
    return NULL;
}

bool plx_yaml_is_null(const struct plx_yaml_node *node)
{
    return node->kind == PLX_YAML_SCALAR && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}
