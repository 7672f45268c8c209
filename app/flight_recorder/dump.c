/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flight_recorder/dump.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "app/bag_writer/bag_writer.h"
#include "core/base/clock.h"

#define STAMP_BYTES 20 /* length of "20261124T000112.345Z" */
#define ENDING ".mcap"
#define CUT "-cut"
#define SNAPSHOT PLX_DUMP_SNAPSHOT
#define PART ".part"

/* --- the directory -------------------------------------------------------------------------------------------------- */

/* TIME-REASON and ENDS, as plx_dump_begin names files. */
static bool is_named(const char *name, const char *ends)
{
    const size_t length = strlen(name), end = strlen(ends);
    return length > STAMP_BYTES + end && isdigit((unsigned char)name[0]) && name[8] == 'T' && name[STAMP_BYTES - 1] == 'Z' &&
           name[STAMP_BYTES] == '-' && strcmp(name + length - end, ends) == 0;
}

static bool is_of_snapshot(const char *name)
{
    return strncmp(name + STAMP_BYTES + 1, SNAPSHOT, strlen(SNAPSHOT)) == 0;
}

static int is_fault(const struct dirent *entry)
{
    return is_named(entry->d_name, ENDING) && !is_of_snapshot(entry->d_name);
}

static int is_snapshot(const struct dirent *entry)
{
    return is_named(entry->d_name, ENDING) && is_of_snapshot(entry->d_name);
}

static int is_part(const struct dirent *entry)
{
    return is_named(entry->d_name, ENDING PART);
}

/* Deletes the files that SELECT finds, but the newest KEEP. */
static void delete_oldest(const char *directory, int (*select)(const struct dirent *entry), int keep)
{
    struct dirent **entry;
    char path[PLX_DUMP_PATH + 256];
    const int count = scandir(directory, &entry, select, alphasort); /* names begin with the time */

    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, entry[i]->d_name);
        if (i < count - keep)
            unlink(path);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
}

int plx_dump_prepare(const struct plx_dump *dump, struct plx_error_message *message)
{
    if ((mkdir(dump->directory, 0750) < 0 && errno != EEXIST) || access(dump->directory, W_OK | X_OK) < 0) {
        const int error = errno;
        return plx_fail(message, plx_error_of_errno(error), "%s: cannot write there: %s", dump->directory, strerror(error));
    }
    delete_oldest(dump->directory, is_part, 0);
    return 0;
}

/* --- a file --------------------------------------------------------------------------------------------------------- */

static void name_file(struct plx_dump *dump, const char *reason)
{
    struct timespec now;
    struct tm date = {0};
    char stamp[32];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &date);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &date);
    snprintf(dump->path, sizeof dump->path, "%s/%s.%03dZ-%s" ENDING, dump->directory, stamp, (int)(now.tv_nsec / 1000000),
             reason);
    snprintf(dump->part, sizeof dump->part, "%.*s" PART, PLX_DUMP_PATH - 8, dump->path);
}

static const struct plx_frame *pair_of(const struct plx_dump *dump, uint64_t number)
{
    return plx_pair_ring_get(dump->ring, number);
}

int plx_dump_begin(struct plx_dump *dump, const char *reason, int64_t from_ns, int64_t until_ns,
                   struct plx_error_message *message)
{
    uint64_t next = dump->ring->first;
    uint32_t topics = 0;

    while (next < dump->ring->end && pair_of(dump, next)->published_ns < from_ns)
        next++;
    if (next == dump->ring->end)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "there are no pairs to write");
    name_file(dump, reason);
    int result = plx_bag_topics(NULL, &topics, message);
    if (result == 0)
        result = plx_bag_writer_create(dump->part, topics, PLX_BAG_PLAIN_PICTURES, pair_of(dump, next), &dump->bag, message);
    if (result < 0) {
        unlink(dump->part);
        return result;
    }
    snprintf(dump->reasons, sizeof dump->reasons, "%s", reason);
    dump->next = next;
    dump->until_ns = until_ns;
    dump->pairs = dump->missed = dump->left_out = 0;
    return 0;
}

void plx_dump_merge(struct plx_dump *dump, const char *reason, int64_t until_ns)
{
    const size_t length = strlen(dump->reasons);
    snprintf(dump->reasons + length, sizeof dump->reasons - length, ",%s", reason);
    if (dump->until_ns < until_ns)
        dump->until_ns = until_ns;
}

/* Closes and removes the file. */
static void abandon(struct plx_dump *dump)
{
    struct plx_error_message ignored;
    plx_bag_writer_finish(dump->bag, &ignored); /* the first failure was reported */
    dump->bag = NULL;
    unlink(dump->part);
}

static void count(struct plx_dump *dump, const struct plx_frame *pair)
{
    if (dump->pairs > 0 && pair->epoch == dump->epoch && pair->sequence > dump->sequence)
        dump->missed += pair->sequence - dump->sequence - 1;
    dump->epoch = pair->epoch;
    dump->sequence = pair->sequence;
    dump->pairs++;
}

int plx_dump_step(struct plx_dump *dump, struct plx_error_message *message)
{
    if (dump->next < dump->ring->first) /* the ring has dropped it */
        dump->next = dump->ring->first;
    if (dump->next >= dump->ring->end || pair_of(dump, dump->next)->published_ns > dump->until_ns)
        return 0;
    const struct plx_frame *pair = pair_of(dump, dump->next);
    const int result = plx_bag_writer_add(dump->bag, pair, NULL, message);
    if (result < 0) {
        abandon(dump);
        return result;
    }
    count(dump, pair);
    dump->next++;
    return 1;
}

static int note(struct plx_dump *dump, struct plx_error_message *message)
{
    char pairs[24], missed[24], left_out[24];
    const struct plx_mcap_pair pair[] = {
        {"reason", dump->reasons}, {"pairs", pairs}, {"missed", missed}, {"left_out", left_out}};
    snprintf(pairs, sizeof pairs, "%" PRIu64, dump->pairs);
    snprintf(missed, sizeof missed, "%" PRIu64, dump->missed);
    snprintf(left_out, sizeof left_out, "%" PRIu64, dump->left_out);
    return plx_bag_writer_note(dump->bag, "parallax.recorder", pair, sizeof pair / sizeof *pair, message);
}

/* Counts the pairs in the ring that the file should still get; a file that lacks some has a name that says so. */
static void count_left_out(struct plx_dump *dump)
{
    uint64_t next = dump->next > dump->ring->first ? dump->next : dump->ring->first;

    for (; next < dump->ring->end && pair_of(dump, next)->published_ns <= dump->until_ns; next++)
        dump->left_out++;
    const size_t stem = strlen(dump->path) - strlen(ENDING);
    if (dump->left_out > 0)
        snprintf(dump->path + stem, sizeof dump->path - stem, CUT ENDING);
}

int plx_dump_end(struct plx_dump *dump, struct plx_error_message *message)
{
    count_left_out(dump);
    int result = note(dump, message);
    if (result < 0) {
        abandon(dump);
        return result;
    }
    result = plx_bag_writer_finish(dump->bag, message);
    dump->bag = NULL;
    if (result == 0 && rename(dump->part, dump->path) < 0)
        result = plx_fail(message, PLX_ERR_IO, "%s: %s", dump->path, strerror(errno));
    if (result < 0)
        unlink(dump->part);
    else
        delete_oldest(dump->directory, strcmp(dump->reasons, SNAPSHOT) == 0 ? is_snapshot : is_fault, dump->keep);
    return result;
}
