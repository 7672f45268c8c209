/* SPDX-License-Identifier: Apache-2.0 */
#include "app/blackbox/box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/base/clock.h"

#define NAME_BYTES 96
#define COPY_BYTES 65536

struct plx_box {
    char path[4096]; /* the directory's path */
    int directory, file;
    bool broken; /* the disk has refused a record */
    uint64_t number;
    uint32_t at; /* where in the ring the next record begins */
    struct plx_box_header header;
};

static int refuse(struct plx_error_message *message, const char *path, const char *what)
{
    const int error = errno;
    return plx_fail(message, plx_error_of_errno(error), "black box in %s: cannot %s: %s", path, what, strerror(error));
}

/* --- the file ------------------------------------------------------------------------------------------------------- */

static bool write_at(int file, const void *data, size_t bytes, off_t at)
{
    const char *next = data;

    while (bytes > 0) {
        const ssize_t written = pwrite(file, next, bytes, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        next += written;
        at += written;
        bytes -= (size_t)written;
    }
    return true;
}

static bool write_header(struct plx_box *box)
{
    box->header.sum = plx_box_header_sum(&box->header);
    return write_at(box->file, &box->header, sizeof box->header, 0);
}

/* A name with the time of the last write to FILE, so that names sort by time. */
static void name_copy(int file, const char *reason, char ret_name[NAME_BYTES])
{
    struct stat info;
    struct tm date = {0};
    char stamp[32];

    if (fstat(file, &info) < 0)
        clock_gettime(CLOCK_REALTIME, &info.st_mtim);
    gmtime_r(&info.st_mtim.tv_sec, &date);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &date);
    snprintf(ret_name, NAME_BYTES, "%s.%03dZ-%.32s.box", stamp, (int)(info.st_mtim.tv_nsec / 1000000), reason);
}

static int is_saved(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && length > 4 && strcmp(entry->d_name + length - 4, ".box") == 0;
}

static void remove_oldest(const struct plx_box *box)
{
    struct dirent **name;
    const int count = scandirat(box->directory, ".", &name, is_saved, alphasort);

    for (int i = 0; i < count; i++) {
        if (i < count - PLX_BOX_SAVED)
            unlinkat(box->directory, name[i]->d_name, 0);
        free(name[i]);
    }
    if (count >= 0)
        free(name);
}

/* Keeps the old box as a copy if its supervisor did not end in order. */
static void keep_old(struct plx_box *box)
{
    struct plx_box_header old;
    char name[NAME_BYTES];

    if (pread(box->file, &old, sizeof old, 0) != (ssize_t)sizeof old ||
        memcmp(old.magic, PLX_BOX_MAGIC, sizeof old.magic) != 0 || old.sum != plx_box_header_sum(&old) || old.ended)
        return;
    name_copy(box->file, "not-ended", name);
    renameat(box->directory, PLX_BOX_LIVE, box->directory, name);
    remove_oldest(box);
}

/* A POSIX lock belongs to this process alone: an engine that outlives its supervisor for a moment does not hold it. */
static int open_live(struct plx_box *box, struct plx_error_message *message)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    box->file = openat(box->directory, PLX_BOX_LIVE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (box->file < 0)
        return refuse(message, box->path, "open " PLX_BOX_LIVE);
    if (fcntl(box->file, F_SETLK, &lock) < 0)
        return plx_fail(message, PLX_ERR_BUSY,
                        "black box in %s: another parallaxd writes it; give this one another blackbox.directory", box->path);
    return 0;
}

/* Allocates every block: a full disk is an error now, not in the middle of a fault. */
static int fill_live(struct plx_box *box, struct plx_error_message *message)
{
    if (ftruncate(box->file, 0) < 0 || fchmod(box->file, 0640) < 0)
        return refuse(message, box->path, "empty " PLX_BOX_LIVE);
    errno = posix_fallocate(box->file, 0, PLX_BOX_BYTES);
    if (errno == 0 && write_header(box))
        return 0;
    const int result = refuse(message, box->path, "create a file of 4 MiB");
    unlinkat(box->directory, PLX_BOX_LIVE, 0);
    return result;
}

static struct plx_box_header describe(const char *program)
{
    struct plx_box_header header = {
        .version = PLX_BOX_VERSION,
        .abi_version = PLX_ABI_VERSION,
        .ring_bytes = PLX_BOX_RING_BYTES,
        .pid = (int32_t)getpid(),
        .monotonic_ns = plx_now_ns(),
    };
    struct timespec now;

    memcpy(header.magic, PLX_BOX_MAGIC, sizeof header.magic);
    snprintf(header.program, sizeof header.program, "%s", program);
    clock_gettime(CLOCK_REALTIME, &now);
    header.begun_ns = now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
    return header;
}

int plx_box_create(const char *directory, const char *program, struct plx_box **ret_box, struct plx_error_message *message)
{
    struct plx_box *box = calloc(1, sizeof *box);
    int result;

    if (!box)
        return plx_fail(message, PLX_ERR_NOMEM, "black box: out of memory");
    snprintf(box->path, sizeof box->path, "%s", directory);
    box->header = describe(program);
    box->file = -1;
    signal(SIGXFSZ, SIG_IGN); /* RLIMIT_FSIZE then is an ordinary error of write */
    if (mkdir(directory, 0750) < 0 && errno != EEXIST)
        box->directory = -1; /* errno holds the reason */
    else
        box->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    result = box->directory < 0 ? refuse(message, directory, "open the directory") : open_live(box, message);
    if (result == 0) {
        keep_old(box);
        close(box->file); /* this also releases the lock; live.box may be a new file now */
        result = open_live(box, message);
    }
    if (result == 0)
        result = fill_live(box, message);
    if (result < 0) {
        plx_box_close_in_child(box);
        return result;
    }
    *ret_box = box;
    return 0;
}

void plx_box_close_in_child(struct plx_box *box)
{
    if (!box)
        return;
    if (box->file >= 0)
        close(box->file);
    if (box->directory >= 0)
        close(box->directory);
    free(box);
}

void plx_box_destroy(struct plx_box *box)
{
    if (!box)
        return;
    box->header.ended = 1;
    write_header(box); /* if the disk refuses, the next start keeps one more copy */
    plx_box_close_in_child(box);
}

/* --- records -------------------------------------------------------------------------------------------------------- */

/* Writes into the ring, across its end. */
static bool put(struct plx_box *box, const void *data, size_t bytes)
{
    const size_t room = PLX_BOX_RING_BYTES - box->at, first = bytes < room ? bytes : room;

    if (!write_at(box->file, data, first, PLX_BOX_HEADER_BYTES + box->at) ||
        !write_at(box->file, (const char *)data + first, bytes - first, PLX_BOX_HEADER_BYTES))
        return false;
    box->at = (uint32_t)((box->at + bytes) % PLX_BOX_RING_BYTES);
    return true;
}

int plx_box_append(struct plx_box *box, enum plx_box_kind kind, struct plx_box_part head, struct plx_box_part body,
                   struct plx_error_message *message)
{
    static unsigned char memory[sizeof(struct plx_box_record) + PLX_BOX_MAX_PAYLOAD];
    struct plx_box_record record = {.magic = PLX_BOX_RECORD_MAGIC, .kind = kind, .time_ns = plx_now_ns()};
    unsigned char *payload = memory + sizeof record;

    if (box->broken)
        return 0; /* the error was reported already */
    if (body.bytes > PLX_BOX_MAX_PAYLOAD - head.bytes)
        body.bytes = PLX_BOX_MAX_PAYLOAD - head.bytes;
    memcpy(payload, head.data, head.bytes);
    if (body.bytes > 0)
        memcpy(payload + head.bytes, body.data, body.bytes);
    record.bytes = (uint32_t)(head.bytes + body.bytes);
    record.number = ++box->number;
    memcpy(memory, &record, sizeof record);
    record.sum = plx_box_record_sum(&record, payload);
    memcpy(memory, &record, sizeof record);
    const size_t whole = (sizeof record + record.bytes + PLX_BOX_ALIGN - 1) / PLX_BOX_ALIGN * PLX_BOX_ALIGN;
    memset(payload + record.bytes, 0, whole - sizeof record - record.bytes);
    if (put(box, memory, whole))
        return 0;
    box->broken = true;
    return refuse(message, box->path, "write");
}

/* --- copies --------------------------------------------------------------------------------------------------------- */

static bool copy(int from, int to)
{
    static char memory[COPY_BYTES];

    for (off_t at = 0; at < (off_t)PLX_BOX_BYTES;) {
        const ssize_t bytes = pread(from, memory, sizeof memory, at);
        if (bytes <= 0 || !write_at(to, memory, (size_t)bytes, at))
            return false;
        at += bytes;
    }
    return fsync(to) == 0;
}

int plx_box_save(struct plx_box *box, const char *reason, struct plx_error_message *message)
{
    char name[NAME_BYTES];
    const int to = openat(box->directory, "saving", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
    int result = 0;

    if (to < 0)
        return refuse(message, box->path, "save a copy");
    name_copy(box->file, reason, name);
    if (fchmod(to, 0640) < 0 || !copy(box->file, to) || renameat(box->directory, "saving", box->directory, name) < 0) {
        result = refuse(message, box->path, "save a copy");
        unlinkat(box->directory, "saving", 0);
    }
    close(to);
    remove_oldest(box);
    return result;
}
