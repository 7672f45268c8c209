/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The black box's file: one block of header, then a ring of records, each of which begins on PLX_BOX_ALIGN bytes and has a
 * number and a checksum. There is no index: every whole record counts, in the order of the numbers, so a file that was cut off
 * or overwritten anywhere still yields its other records. Little endian. The structs have no padding.
 */
#ifndef PLX_APP_BLACKBOX_FORMAT_H
#define PLX_APP_BLACKBOX_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/checks/health_table.h"

#define PLX_BOX_VERSION 1u
#define PLX_BOX_MAGIC "PLXBOX\r\n" /* 8 bytes */
#define PLX_BOX_RECORD_MAGIC 0x52584C50u
#define PLX_BOX_HEADER_BYTES 4096u
#define PLX_BOX_RING_BYTES (4u << 20) /* 8 s of 60 frames a second with 16 obstacles each */
#define PLX_BOX_BYTES (PLX_BOX_HEADER_BYTES + PLX_BOX_RING_BYTES)
#define PLX_BOX_ALIGN 16u
#define PLX_BOX_MAX_PAYLOAD 65536u
#define PLX_BOX_LIVE "live.box" /* the box that is being written */
#define PLX_BOX_OBSTACLES 16    /* in the record of a frame: the first ones */
#define PLX_BOX_PICTURE_SIDE 160

struct plx_box_header {
    char magic[8];
    uint32_t version;     /* version of this format */
    uint32_t abi_version; /* ABI of the frames in it */
    uint32_t ring_bytes;
    int32_t pid;          /* the supervisor's process */
    int64_t begun_ns;     /* CLOCK_REALTIME */
    int64_t monotonic_ns; /* CLOCK_MONOTONIC at the same moment */
    char program[64];     /* its version; text ends with a zero */
    uint32_t ended;       /* 1: the supervisor ended in order */
    uint32_t sum;         /* CRC-32 of all fields before */
};

enum plx_box_kind {
    PLX_BOX_FRAME = 1, /* struct plx_frame up to its obstacles, and the first of those: no planes */
    PLX_BOX_PICTURE,   /* struct plx_box_picture and its pixels */
    PLX_BOX_STATE,     /* struct plx_box_state and the reason */
    PLX_BOX_LOG,       /* int32_t level and the line */
    PLX_BOX_HEARTBEATS /* struct plx_box_beat [PLX_THREAD_COUNT] */
};

struct plx_box_record {
    uint32_t magic;
    uint32_t kind;
    uint32_t bytes;  /* length of the payload, which follows */
    uint32_t sum;    /* CRC-32 of this struct, with a sum of 0, and of the payload */
    uint64_t number; /* from 1, without gaps */
    int64_t time_ns; /* CLOCK_MONOTONIC */
};

struct plx_box_picture {
    uint64_t sequence; /* the frame's sequence */
    uint32_t width, height;
};

struct plx_box_state {
    uint32_t state, health;
};

struct plx_box_beat {
    uint32_t what;     /* enum plx_watched, or PLX_HEARTBEAT_IDLE */
    uint32_t since_ms; /* for this long */
};

#define PLX_BOX_FRAME_BYTES offsetof(struct plx_frame, obstacle)

uint32_t plx_box_header_sum(const struct plx_box_header *header);
uint32_t plx_box_record_sum(const struct plx_box_record *record, const void *payload);

#endif
