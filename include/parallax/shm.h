/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared memory as it lies, and the messages that lead to it. Robot programs use client.h; this header is for those
 * who write a reader in another language. The page shared-memory.md (/usr/share/doc/libparallax-dev) explains the protocol
 * and its memory ordering.
 *
 *   0              struct plx_shm_header
 *   slots_offset   struct plx_shm_slot [slot_count]
 *   frames_offset  slot_count frames, frame_stride bytes apart, each struct plx_frame and its planes; page-aligned
 *
 * Frame SEQUENCE lives in slot SEQUENCE % slot_count. To read it: newest (acquire) gives the sequence; the slot's lock
 * (relaxed) must be 2 * sequence; read the frame; acquire fence; the lock (relaxed) must be the same still.
 */
#ifndef PARALLAX_REGION_H
#define PARALLAX_REGION_H

#include <stdint.h>

#include <parallax/frame.h>

/* Lock-free on every machine that Parallax runs on; C++ and others see the plain type of the same layout. */
#ifdef __cplusplus
#    define PLX_ATOMIC(type) type
extern "C" {
#else
#    define PLX_ATOMIC(type) _Atomic(type)
#endif

#define PLX_SHM_MAGIC UINT64_C(0x4E4F49474552584C) /* "LXREGION" */
#define PLX_SHM_MIN_SLOTS 4u
#define PLX_SHM_MAX_SLOTS 64u
#define PLX_REASON_BYTES 256u /* with its end */
#define PLX_VERDICT_BYTES 80u /* size of struct plx_verdict_now */

/* One cache line a slot, so that readers of one do not slow the writer of the next. */
struct plx_shm_slot {
    PLX_ATOMIC(uint64_t) lock; /* 2 * sequence: that frame, whole; odd: empty, or being written */
    uint64_t reserved[7];
};

struct plx_shm_header {
    /* Constant once a client can see it. */
    uint64_t magic;       /* PLX_SHM_MAGIC */
    uint32_t abi_version; /* PLX_ABI_VERSION */
    uint32_t slot_count;  /* PLX_SHM_MIN_SLOTS .. PLX_SHM_MAX_SLOTS */
    uint64_t region_bytes;
    uint64_t slots_offset;
    uint64_t frames_offset;
    uint64_t frame_stride;
    uint64_t frame_bytes; /* room of one frame, header and planes; <= frame_stride */
    uint64_t epoch;       /* this life of the memory */

    /* A line of its own: written once a frame. */
    PLX_ATOMIC(uint64_t) newest;       /* sequence of the newest whole frame, 0 before the first */
    PLX_ATOMIC(uint64_t) status;       /* enum plx_state in the low half, enum plx_health bits in the high half */
    PLX_ATOMIC(uint32_t) wake;         /* futex word: changes after every change of newest or of the state */
    PLX_ATOMIC(uint32_t) restarts;     /* engines of this service that died or hung and were replaced */
    PLX_ATOMIC(uint32_t) gpu_schedule; /* 0: on the CPU; else 1 + its number, and bit 16 if `parallax tune` measured it */
    PLX_ATOMIC(uint32_t) tracks;       /* the highest track number given out in this epoch, by any engine */
    PLX_ATOMIC(uint32_t) replaced;     /* 1: the service goes on in another memory, because frames changed their size */
    uint32_t reserved[7];

    /* As plx_reason: a text that ends with 0. It is of one piece where reason_sum is that of its words as they lie:
     * sum = (sum ^ word) * 0x100000001B3 from 0 on, modulo 2^64; else look again. */
    PLX_ATOMIC(uint64_t) reason[PLX_REASON_BYTES / 8];
    PLX_ATOMIC(uint64_t) reason_sum;
    uint64_t reserved_too[7];

    /* As plx_verdict: a struct plx_verdict_now in words as they lie. It is of one piece where verdict_sum is that of its words,
     * as above. It counts while CLOCK_BOOTTIME is less than VALID_NS after its capture, capture_ns + suspended_ns. */
    PLX_ATOMIC(uint64_t) verdict[PLX_VERDICT_BYTES / 8];
    PLX_ATOMIC(uint64_t) verdict_sum;
    uint64_t reserved_three[5];
};

/* Messages on the SOCK_SEQPACKET socket: struct plx_message, the same in every version, but for a client's HINT. */
#define PLX_MESSAGE_MAGIC 0x584C5031u

enum plx_message_type {
    PLX_MESSAGE_HELLO = 1,     /* client: the first message */
    PLX_MESSAGE_WELCOME = 2,   /* service: comes with the memory's read-only descriptor (SCM_RIGHTS); value = epoch */
    PLX_MESSAGE_REFUSED = 3,   /* service: error says why (VERSION, BUSY); the connection ends */
    PLX_MESSAGE_SUBSCRIBE = 4, /* client: send FRAME messages from now on */
    PLX_MESSAGE_FRAME = 5,     /* service: a new frame or a new state; value = newest sequence */
    /* Client: asks for the configuration in force, once. Service: comes with the read-only descriptor of a memfd that holds it
     * as YAML and is sealed against every change; value = its bytes, at most PLX_CONFIG_BYTES. Without one error says why not.
     */
    PLX_MESSAGE_CONFIG = 6,
    /* Client: a struct plx_hint_message, whose head has the client's number of the hint as its value. Service: a struct
     * plx_message of this type with the same value; error as plx_motion_hint, or 0. The second
     * hint after PERMISSION ends the connection. */
    PLX_MESSAGE_HINT = 7
};
#define PLX_CONFIG_BYTES (256u * 1024u)

struct plx_message {
    uint32_t magic;       /* PLX_MESSAGE_MAGIC */
    uint32_t abi_version; /* the sender's PLX_ABI_VERSION */
    uint32_t type;        /* enum plx_message_type */
    int32_t error;        /* enum plx_error, of REFUSED, CONFIG and HINT */
    uint64_t value;
};

struct plx_hint_message {
    struct plx_message head;
    struct plx_motion_hint hint;
};

#ifdef __cplusplus
}
#endif
#endif
