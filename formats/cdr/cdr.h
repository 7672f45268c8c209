/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ROS 2 messages as bytes: CDR as DDS and rosbags have it (OMG, "DDS Interoperability Wire Protocol", version 2.5, chapter 10:
 * plain CDR, version 1), little endian. What a message looks like is said once, in a table of its fields
 * (formats/cdr/ros_types.h), which encoder, decoder and formats/cdr/schema.h read. No function allocates; all may be called
 * from any thread.
 */
#ifndef PLX_FORMATS_CDR_CDR_H
#define PLX_FORMATS_CDR_CDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLX_CDR_HEADER 4     /* bytes before the first field, which alignment does not count: 00 01 00 00 */
#define PLX_CDR_MAX_DEPTH 16 /* messages within messages */

enum plx_cdr_kind {
    PLX_CDR_BOOL,
    PLX_CDR_BYTE,
    PLX_CDR_UINT8,
    PLX_CDR_INT8,
    PLX_CDR_INT32,
    PLX_CDR_UINT32,
    PLX_CDR_INT64,
    PLX_CDR_FLOAT32,
    PLX_CDR_FLOAT64,
    PLX_CDR_STRING,  /* const char *, NUL-terminated; NULL is encoded as "" */
    PLX_CDR_MESSAGE, /* a structure, of plx_cdr_field.type */
    PLX_CDR_KINDS
};

enum plx_cdr_shape { PLX_CDR_ONE, PLX_CDR_ARRAY, PLX_CDR_SEQUENCE };

/* One field of a message and of the C structure that holds it. */
struct plx_cdr_field {
    const char *name;
    enum plx_cdr_kind kind;
    enum plx_cdr_shape shape;
    uint32_t count;  /* elements of an array; else 1 */
    uint32_t offset; /* in the C structure */
    const struct plx_cdr_type *type;
};

struct plx_cdr_type {
    const char *name; /* as in "sensor_msgs/msg/Image" */
    const char *hash; /* hash of a message's definition, as in REP-2016: "RIHS01_..."; NULL for parts of messages */
    size_t size;      /* size of the C structure */
    const struct plx_cdr_field *field;
    int fields;
};

/* A sequence in a C structure, laid out as Cyclone DDS has it, so that its writers take the structures as they are. DATA may be
 * NULL if COUNT is 0. */
#define PLX_CDR_SEQUENCE_OF(element)                                                                                           \
    struct {                                                                                                                   \
        uint32_t capacity; /* not used */                                                                                      \
        uint32_t count;                                                                                                        \
        const element *data;                                                                                                   \
        bool owned; /* not used */                                                                                             \
    }

/* Any of them, for those who go by the table. */
typedef PLX_CDR_SEQUENCE_OF(void) plx_cdr_any_sequence;

/* Memory of the caller, aligned to 8 bytes, for what plx_cdr_decode unpacks. USED is set to 0 to use it again. */
struct plx_cdr_arena {
    uint8_t *memory;
    size_t capacity, used;
};

/* Bytes of one element of KIND in the message and in C; 0 for strings and messages, whose size differs. */
size_t plx_cdr_kind_size(enum plx_cdr_kind kind);

/* Bytes that MESSAGE, a structure of TYPE, has when encoded, with the header. */
size_t plx_cdr_size(const struct plx_cdr_type *type, const void *message);

/* Encodes MESSAGE into RET_DATA [CAPACITY]. *ret_bytes: plx_cdr_size. RANGE: that is more than CAPACITY. */
int plx_cdr_encode(const struct plx_cdr_type *type, const void *message, void *ret_data, size_t capacity, size_t *ret_bytes);

/* Decodes the BYTES at DATA into *ret_message, a structure of TYPE. Strings and sequences of bytes point into DATA, other
 * sequences into ARENA. Bytes behind the last field are ignored (some writers pad). Numbers of any value are taken, booleans
 * other than 0 as true. FORMAT: DATA ends early, or a string has no end; UNSUPPORTED: not plain little-endian CDR; RANGE: ARENA
 * is too small; ARG: messages nested deeper than PLX_CDR_MAX_DEPTH. */
int plx_cdr_decode(const struct plx_cdr_type *type, const void *data, size_t bytes, struct plx_cdr_arena *arena,
                   void *ret_message);

#endif
