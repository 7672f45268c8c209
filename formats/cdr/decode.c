/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include <parallax/error.h>

#include "formats/cdr/cdr.h"

#define ARENA_ALIGNMENT 8

/* Bytes that are not read yet, and the room for what they unpack to. */
struct input {
    const uint8_t *data; /* behind the header */
    size_t at, bytes;
    struct plx_cdr_arena *arena;
    int depth;
};

/* Skips to a multiple of SIZE; false if the data ends before. */
static bool align(struct input *input, size_t size)
{
    const size_t padding = (size - input->at % size) % size;
    if (padding > input->bytes - input->at)
        return false;
    input->at += padding;
    return true;
}

/* The next BYTES, or NULL if there are not as many. */
static const uint8_t *take(struct input *input, size_t bytes)
{
    if (bytes > input->bytes - input->at)
        return NULL;
    input->at += bytes;
    return input->data + input->at - bytes;
}

static int take_count(struct input *input, uint32_t *ret_count)
{
    const uint8_t *data = align(input, sizeof *ret_count) ? take(input, sizeof *ret_count) : NULL;
    if (!data)
        return PLX_ERR_FORMAT;
    memcpy(ret_count, data, sizeof *ret_count);
    return 0;
}

/* Length 0, without the NUL that belongs to it, is what some writers make of an empty string. */
static int take_string(struct input *input, const char **ret_text)
{
    uint32_t bytes;
    int result = take_count(input, &bytes);
    if (result < 0)
        return result;
    const uint8_t *text = take(input, bytes);
    if (!text || (bytes > 0 && text[bytes - 1] != 0))
        return PLX_ERR_FORMAT;
    *ret_text = bytes > 0 ? (const char *)text : "";
    return 0;
}

static int take_message(struct input *input, const struct plx_cdr_type *type, void *ret_message);

/* COUNT numbers of SIZE bytes. */
static int take_numbers(struct input *input, const struct plx_cdr_field *field, size_t size, uint32_t count, uint8_t *ret)
{
    if (count == 0)
        return 0;
    const uint8_t *data = align(input, size) ? take(input, size * count) : NULL;
    if (!data)
        return PLX_ERR_FORMAT;
    if (field->kind != PLX_CDR_BOOL)
        memcpy(ret, data, size * count);
    else /* another byte than 0 and 1 is no value of a C bool */
        for (uint32_t i = 0; i < count; i++)
            ((bool *)ret)[i] = data[i] != 0;
    return 0;
}

static int take_elements(struct input *input, const struct plx_cdr_field *field, uint32_t count, uint8_t *ret)
{
    const size_t size = plx_cdr_kind_size(field->kind);
    if (size > 0)
        return take_numbers(input, field, size, count, ret);
    int result = 0;
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = field->kind == PLX_CDR_STRING ? take_string(input, (const char **)(void *)ret + i)
                                               : take_message(input, field->type, ret + i * field->type->size);
    return result;
}

/* Room for COUNT elements of FIELD in the arena, NULL if there is none. */
static uint8_t *reserve(struct plx_cdr_arena *arena, const struct plx_cdr_field *field, uint32_t count)
{
    const size_t number = plx_cdr_kind_size(field->kind);
    const size_t size = number > 0 ? number : field->kind == PLX_CDR_STRING ? sizeof(const char *) : field->type->size;
    const size_t begin = (arena->used + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (begin > arena->capacity || count > (arena->capacity - begin) / size)
        return NULL;
    arena->used = begin + size * count;
    return arena->memory + begin;
}

static int take_sequence(struct input *input, const struct plx_cdr_field *field, plx_cdr_any_sequence *ret_sequence)
{
    uint32_t count;
    int result = take_count(input, &count);
    if (result < 0)
        return result;
    *ret_sequence = (plx_cdr_any_sequence){.count = count};
    if (field->kind == PLX_CDR_UINT8 || field->kind == PLX_CDR_INT8 || field->kind == PLX_CDR_BYTE) {
        ret_sequence->data = take(input, count);
        return ret_sequence->data ? 0 : PLX_ERR_FORMAT;
    }
    if (count > input->bytes - input->at) /* an element has at least one byte */
        return PLX_ERR_FORMAT;
    uint8_t *elements = reserve(input->arena, field, count);
    ret_sequence->data = elements;
    return elements ? take_elements(input, field, count, elements) : PLX_ERR_RANGE;
}

static int take_message(struct input *input, const struct plx_cdr_type *type, void *ret_message)
{
    int result = ++input->depth > PLX_CDR_MAX_DEPTH ? PLX_ERR_ARG : 0;
    for (int i = 0; i < type->fields && result == 0; i++) {
        const struct plx_cdr_field *field = &type->field[i];
        uint8_t *member = (uint8_t *)ret_message + field->offset;
        result = field->shape == PLX_CDR_SEQUENCE ? take_sequence(input, field, (plx_cdr_any_sequence *)(void *)member)
                                                  : take_elements(input, field, field->count, member);
    }
    input->depth--;
    return result;
}

int plx_cdr_decode(const struct plx_cdr_type *type, const void *data, size_t bytes, struct plx_cdr_arena *arena,
                   void *ret_message)
{
    const uint8_t *header = data;
    if (bytes < PLX_CDR_HEADER)
        return PLX_ERR_FORMAT;
    if (header[0] != 0 || header[1] != 1) /* the other two bytes are options, which plain CDR does not have */
        return PLX_ERR_UNSUPPORTED;
    struct input input = {.data = header + PLX_CDR_HEADER, .bytes = bytes - PLX_CDR_HEADER, .arena = arena};
    return take_message(&input, type, ret_message);
}
