/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app/ros/messages.idl says what the tables of formats/cdr/ros_types.c say: idlc makes of it what Cyclone DDS needs to know.
 * After a change of the tables, PLX_UPDATE_IDL=1 writes it anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cdr/ros_types.h"
#include "tests/cmocka.h"

#define IDL PLX_SOURCE_DIR "/app/ros/messages.idl"
#define TYPES 64

static const struct plx_cdr_type *written[TYPES];
static int types;

/* "sensor_msgs/msg/Image" as "sensor_msgs", and as "Image_". */
static int package_length(const struct plx_cdr_type *type)
{
    return (int)(strchr(type->name, '/') - type->name);
}

static const char *short_name(const struct plx_cdr_type *type)
{
    return strrchr(type->name, '/') + 1;
}

static void write_field(FILE *out, const struct plx_cdr_field *field)
{
    static const char *const names[PLX_CDR_KINDS] = {
        [PLX_CDR_BOOL] = "boolean",    [PLX_CDR_BYTE] = "octet",    [PLX_CDR_UINT8] = "octet",
        [PLX_CDR_INT8] = "int8",       [PLX_CDR_INT32] = "long",    [PLX_CDR_UINT32] = "unsigned long",
        [PLX_CDR_INT64] = "long long", [PLX_CDR_FLOAT32] = "float", [PLX_CDR_FLOAT64] = "double",
        [PLX_CDR_STRING] = "string",
    };
    char type[128];
    if (field->type)
        snprintf(type, sizeof type, "%.*s::msg::dds_::%s_", package_length(field->type), field->type->name,
                 short_name(field->type));
    else
        snprintf(type, sizeof type, "%s", names[field->kind]);
    if (field->shape == PLX_CDR_SEQUENCE)
        fprintf(out, "  sequence<%s> %s;\n", type, field->name);
    else if (field->shape == PLX_CDR_ARRAY)
        fprintf(out, "  %s %s[%u];\n", type, field->name, field->count);
    else
        fprintf(out, "  %s %s;\n", type, field->name);
}

/* Writes TYPE behind those that it is made of, each once. */
static void write_type(FILE *out, const struct plx_cdr_type *type)
{
    for (int i = 0; i < types; i++)
        if (written[i] == type)
            return;
    for (int i = 0; i < type->fields; i++)
        if (type->field[i].type)
            write_type(out, type->field[i].type);
    assert_true(types < TYPES);
    written[types++] = type;
    fprintf(out, "module %.*s { module msg { module dds_ {\n@final struct %s_ {\n", package_length(type), type->name,
            short_name(type));
    for (int i = 0; i < type->fields; i++)
        write_field(out, &type->field[i]);
    fprintf(out, "};\n}; }; };\n\n");
}

static void it_follows_the_tables(void **state)
{
    (void)state;
    char *text, committed[65536];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out,
            "// SPDX-License-Identifier: Apache-2.0\n"
            "// The messages of formats/cdr/ros_types.h for idlc, with the names that ROS 2 gives them in DDS. Written by\n"
            "// PLX_UPDATE_IDL=1 test_ros_idl.\n\n");
    for (int i = 0; ros_message_types[i]; i++)
        write_type(out, ros_message_types[i]);
    fclose(out);
    if (getenv("PLX_UPDATE_IDL")) {
        FILE *idl = fopen(IDL, "w");
        assert_true(idl && fwrite(text, 1, size, idl) == size && fclose(idl) == 0);
    }
    FILE *idl = fopen(IDL, "r");
    assert_non_null(idl);
    const size_t read = fread(committed, 1, sizeof committed - 1, idl);
    fclose(idl);
    committed[read] = '\0';
    assert_string_equal(committed, text);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_follows_the_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
