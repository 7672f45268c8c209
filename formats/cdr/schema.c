/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/cdr/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#define SEPARATOR "================================================================================"

/* Text that is written, and the messages that it has to define, in the order in which they were met. */
struct writer {
    char *text;
    size_t size, used;
    const struct plx_cdr_type *type[PLX_SCHEMA_TYPES];
    int types;
    bool full;
};

static void add(struct writer *writer, const char *text)
{
    const size_t bytes = strlen(text);
    writer->full = writer->full || bytes >= writer->size - writer->used;
    if (writer->full)
        return;
    memcpy(writer->text + writer->used, text, bytes + 1);
    writer->used += bytes;
}

/* "sensor_msgs/msg/Image" is "sensor_msgs/Image" in a definition. */
static void add_type_name(struct writer *writer, const struct plx_cdr_type *type)
{
    char name[128];
    const char *middle = strstr(type->name, "/msg/");
    snprintf(name, sizeof name, "%.*s/%s", (int)(middle - type->name), type->name, middle + strlen("/msg/"));
    add(writer, name);
}

static void note(struct writer *writer, const struct plx_cdr_type *type)
{
    for (int i = 0; i < writer->types; i++)
        if (writer->type[i] == type)
            return;
    if (writer->types < PLX_SCHEMA_TYPES)
        writer->type[writer->types++] = type;
    else
        writer->full = true;
}

static void add_field(struct writer *writer, const struct plx_cdr_field *field)
{
    static const char *const name[PLX_CDR_KINDS] = {
        [PLX_CDR_BOOL] = "bool",     [PLX_CDR_BYTE] = "byte",     [PLX_CDR_UINT8] = "uint8",     [PLX_CDR_INT8] = "int8",
        [PLX_CDR_INT32] = "int32",   [PLX_CDR_UINT32] = "uint32", [PLX_CDR_FLOAT32] = "float32", [PLX_CDR_FLOAT64] = "float64",
        [PLX_CDR_STRING] = "string", [PLX_CDR_INT64] = "int64",
    };
    char count[16];
    if (field->kind == PLX_CDR_MESSAGE) {
        add_type_name(writer, field->type);
        note(writer, field->type);
    } else {
        add(writer, name[field->kind]);
    }
    snprintf(count, sizeof count, "[%u]", field->count);
    add(writer, field->shape == PLX_CDR_ONE ? "" : field->shape == PLX_CDR_SEQUENCE ? "[]" : count);
    add(writer, " ");
    add(writer, field->name);
    add(writer, "\n");
}

int plx_schema_text(const struct plx_cdr_type *type, char *ret_text, size_t size)
{
    struct writer writer = {.text = ret_text, .size = size, .full = size == 0};
    note(&writer, type);
    for (int i = 0; i < writer.types; i++) {
        if (i > 0) {
            add(&writer, SEPARATOR "\nMSG: ");
            add_type_name(&writer, writer.type[i]);
            add(&writer, "\n");
        }
        for (int k = 0; k < writer.type[i]->fields; k++)
            add_field(&writer, &writer.type[i]->field[k]);
    }
    return writer.full ? PLX_ERR_RANGE : (int)writer.used;
}
