/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes pairs of the ring into an MCAP file, one at a time, so that the recorder goes on collecting. The file is named
 * TIME-REASON.mcap, or TIME-REASON-cut.mcap if it had to be ended before all its pairs were written; until its end
 * TIME-REASON.mcap.part.
 */
#ifndef PLX_APP_FLIGHT_RECORDER_DUMP_H
#define PLX_APP_FLIGHT_RECORDER_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "app/flight_recorder/ring.h"

#define PLX_DUMP_PATH 4200
#define PLX_DUMP_SNAPSHOT "snapshot" /* the reason of a file that somebody asked for */

struct plx_bag_writer;

struct plx_dump {
    const char *directory;
    int keep; /* files of faults, and as many of snapshots: those who ask displace no fault */
    const struct plx_pair_ring *ring;

    struct plx_bag_writer *bag; /* NULL: no file is being written */
    char path[PLX_DUMP_PATH], part[PLX_DUMP_PATH];
    char reasons[256]; /* separated by commas */
    uint64_t next;     /* number of the next pair to be written */
    int64_t until_ns;  /* the last pair is published before this time, CLOCK_MONOTONIC */
    uint64_t pairs, missed;
    uint64_t left_out;        /* once a file has ended: pairs of the ring that it should have, and lacks */
    uint64_t epoch, sequence; /* last pair */
};

static inline bool plx_dump_is_open(const struct plx_dump *dump)
{
    return dump->bag != NULL;
}

/* Creates the directory (its parent must exist) and removes partial files of a recorder that was killed. IO, PERMISSION,
 * NOT_FOUND. */
int plx_dump_prepare(const struct plx_dump *dump, struct plx_error_message *message);

/* Begins a file of the pairs published from FROM_NS to UNTIL_NS. NOT_FOUND: the ring has none yet. IO, NOMEM. */
int plx_dump_begin(struct plx_dump *dump, const char *reason, int64_t from_ns, int64_t until_ns,
                   struct plx_error_message *message);

/* One more reason for the open file, which then goes on until UNTIL_NS at least. */
void plx_dump_merge(struct plx_dump *dump, const char *reason, int64_t until_ns);

/* Writes the next pair. Returns 1: it was written; 0: there is none yet; or the error of a failure, which closes and removes
 * the file. */
int plx_dump_step(struct plx_dump *dump, struct plx_error_message *message);

/* Ends the file, notes in it how many of its pairs are left out, gives it its name, and deletes the oldest ones. IO: the file
 * is removed. */
int plx_dump_end(struct plx_dump *dump, struct plx_error_message *message);

#endif
