/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the CDR code makes of the messages of golden/cdr.py.
 *
 *     cdr_probe schema TYPE          the definition of TYPE
 *     cdr_probe hash TYPE            its hash
 *     cdr_probe types                the names of all types
 *     cdr_probe recode TYPE OUTPUT   reads messages from standard input, each behind its length (u32); writes a line
 *                                    "path value" for each number and string that it decodes, and the messages, encoded again,
 *                                    likewise into OUTPUT
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cdr/ros_types.h"
#include "formats/cdr/schema.h"

#define CAPACITY (1 << 20)

static const struct plx_cdr_type *find_type(const char *name)
{
    for (int i = 0; ros_message_types[i]; i++)
        if (strcmp(ros_message_types[i]->name, name) == 0)
            return ros_message_types[i];
    return NULL;
}

static void print_message(const char *path, const struct plx_cdr_type *type, const void *message);

static void print_element(const char *path, const struct plx_cdr_field *field, const void *value)
{
    switch (field->kind) {
    case PLX_CDR_BOOL:
        printf("%s %d\n", path, *(const bool *)value);
        break;
    case PLX_CDR_BYTE:
    case PLX_CDR_UINT8:
        printf("%s %d\n", path, *(const uint8_t *)value);
        break;
    case PLX_CDR_INT8:
        printf("%s %d\n", path, *(const int8_t *)value);
        break;
    case PLX_CDR_INT32:
        printf("%s %" PRId32 "\n", path, *(const int32_t *)value);
        break;
    case PLX_CDR_UINT32:
        printf("%s %" PRIu32 "\n", path, *(const uint32_t *)value);
        break;
    case PLX_CDR_INT64:
        printf("%s %" PRId64 "\n", path, *(const int64_t *)value);
        break;
    case PLX_CDR_FLOAT32:
        printf("%s %.17g\n", path, (double)*(const float *)value);
        break;
    case PLX_CDR_FLOAT64:
        printf("%s %.17g\n", path, *(const double *)value);
        break;
    case PLX_CDR_STRING:
        printf("%s %s\n", path, *(const char *const *)value);
        break;
    case PLX_CDR_MESSAGE:
    case PLX_CDR_KINDS:
        print_message(path, field->type, value);
        break;
    }
}

static void print_message(const char *path, const struct plx_cdr_type *type, const void *message)
{
    for (int i = 0; i < type->fields; i++) {
        const struct plx_cdr_field *field = &type->field[i];
        const uint8_t *member = (const uint8_t *)message + field->offset;
        const plx_cdr_any_sequence *sequence = (const void *)member;
        const size_t number = plx_cdr_kind_size(field->kind);
        const size_t size = number > 0 ? number : field->kind == PLX_CDR_STRING ? sizeof(const char *) : field->type->size;
        const uint32_t count = field->shape == PLX_CDR_SEQUENCE ? sequence->count : field->count;
        const uint8_t *element = field->shape == PLX_CDR_SEQUENCE ? sequence->data : member;
        char name[512];
        for (uint32_t k = 0; k < count; k++) {
            if (field->shape == PLX_CDR_ONE)
                snprintf(name, sizeof name, "%s.%s", path, field->name);
            else
                snprintf(name, sizeof name, "%s.%s[%" PRIu32 "]", path, field->name, k);
            print_element(name, field, element + k * size);
        }
    }
}

static int recode(const struct plx_cdr_type *type, const char *output)
{
    uint8_t *data = malloc(CAPACITY), *again = malloc(CAPACITY);
    struct plx_cdr_arena arena = {.memory = malloc(CAPACITY), .capacity = CAPACITY};
    void *message = malloc(type->size);
    FILE *file = fopen(output, "wb");
    uint32_t length;
    int result = data && again && arena.memory && message && file ? 0 : 1;

    while (result == 0 && fread(&length, sizeof length, 1, stdin) == 1) {
        size_t bytes = 0;
        arena.used = 0;
        result = length > CAPACITY || fread(data, 1, length, stdin) != length ||
                 plx_cdr_decode(type, data, length, &arena, message) < 0 ||
                 plx_cdr_encode(type, message, again, CAPACITY, &bytes) < 0;
        if (result)
            break;
        print_message("", type, message);
        const uint32_t written = (uint32_t)bytes;
        result = fwrite(&written, sizeof written, 1, file) != 1 || fwrite(again, 1, bytes, file) != bytes;
    }
    if (file)
        fclose(file);
    free(message);
    free(arena.memory);
    free(again);
    free(data);
    return result;
}

int main(int argc, char **argv)
{
    static char text[PLX_SCHEMA_BYTES];
    if (argc == 2 && strcmp(argv[1], "types") == 0) {
        for (int i = 0; ros_message_types[i]; i++)
            puts(ros_message_types[i]->name);
        return 0;
    }
    const struct plx_cdr_type *type = argc > 2 ? find_type(argv[2]) : NULL;
    if (type && argc == 3 && strcmp(argv[1], "schema") == 0)
        return plx_schema_text(type, text, sizeof text) < 0 || fputs(text, stdout) < 0;
    if (type && argc == 3 && strcmp(argv[1], "hash") == 0)
        return puts(type->hash) < 0;
    if (type && argc == 4 && strcmp(argv[1], "recode") == 0)
        return recode(type, argv[3]);
    fputs("usage: cdr_probe types | schema TYPE | hash TYPE | recode TYPE OUTPUT\n", stderr);
    return 64;
}
