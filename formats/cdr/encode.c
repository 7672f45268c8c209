/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <parallax/error.h>

#include "formats/cdr/cdr.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

/* Where bytes go. Without DATA they are only counted. */
struct output {
    uint8_t *data; /* behind the header */
    size_t at;
};

size_t plx_cdr_kind_size(enum plx_cdr_kind kind)
{
    static const uint8_t size[PLX_CDR_KINDS] = {
        [PLX_CDR_BOOL] = 1,   [PLX_CDR_BYTE] = 1,    [PLX_CDR_UINT8] = 1,   [PLX_CDR_INT8] = 1,  [PLX_CDR_INT32] = 4,
        [PLX_CDR_UINT32] = 4, [PLX_CDR_FLOAT32] = 4, [PLX_CDR_FLOAT64] = 8, [PLX_CDR_INT64] = 8,
    };
    return size[kind];
}

static void put(struct output *output, const void *data, size_t bytes)
{
    if (output->data && bytes > 0)
        memcpy(output->data + output->at, data, bytes);
    output->at += bytes;
}

static void align(struct output *output, size_t size)
{
    static const uint8_t padding[8];
    put(output, padding, (size - output->at % size) % size);
}

static void put_count(struct output *output, uint32_t count)
{
    align(output, sizeof count);
    put(output, &count, sizeof count);
}

static void put_string(struct output *output, const char *text)
{
    const size_t bytes = text ? strlen(text) + 1 : 1;
    put_count(output, (uint32_t)bytes);
    put(output, text ? text : "", bytes);
}

static void put_message(struct output *output, const struct plx_cdr_type *type, const void *message);

/* COUNT elements of FIELD, one behind the other in C. */
static void put_elements(struct output *output, const struct plx_cdr_field *field, const void *elements, uint32_t count)
{
    const size_t size = plx_cdr_kind_size(field->kind);
    if (size > 0 && count > 0) {
        align(output, size);
        put(output, elements, size * count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (field->kind == PLX_CDR_STRING)
            put_string(output, ((const char *const *)elements)[i]);
        else
            put_message(output, field->type, (const uint8_t *)elements + i * field->type->size);
}

static void put_message(struct output *output, const struct plx_cdr_type *type, const void *message)
{
    for (int i = 0; i < type->fields; i++) {
        const struct plx_cdr_field *field = &type->field[i];
        const void *member = (const uint8_t *)message + field->offset;
        if (field->shape != PLX_CDR_SEQUENCE) {
            put_elements(output, field, member, field->count);
            continue;
        }
        const plx_cdr_any_sequence *sequence = member;
        put_count(output, sequence->count);
        put_elements(output, field, sequence->data, sequence->count);
    }
}

size_t plx_cdr_size(const struct plx_cdr_type *type, const void *message)
{
    struct output counter = {.data = NULL};
    put_message(&counter, type, message);
    return PLX_CDR_HEADER + counter.at;
}

int plx_cdr_encode(const struct plx_cdr_type *type, const void *message, void *ret_data, size_t capacity, size_t *ret_bytes)
{
    static const uint8_t header[PLX_CDR_HEADER] = {0, 1, 0, 0};
    const size_t bytes = plx_cdr_size(type, message);
    if (bytes > capacity)
        return PLX_ERR_RANGE;
    memcpy(ret_data, header, sizeof header);
    struct output output = {.data = (uint8_t *)ret_data + PLX_CDR_HEADER};
    put_message(&output, type, message);
    *ret_bytes = bytes;
    return 0;
}
