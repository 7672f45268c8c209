/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's descriptor: writes whole pieces, or leaves the file as it was before them. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <parallax/error.h>

#include "bridge/mcap_writer.h"

uint32_t mcap_crc(uint32_t crc, const struct iovec *piece, int pieces)
{
    for (int i = 0; i < pieces; i++)
        if (piece[i].iov_len > 0) /* zlib takes NULL for the begin of a new sum */
            crc = (uint32_t)crc32_z(crc, piece[i].iov_base, piece[i].iov_len);
    return crc;
}

uint64_t mcap_total(const struct iovec *piece, int pieces)
{
    uint64_t bytes = 0;
    for (int i = 0; i < pieces; i++)
        bytes += piece[i].iov_len;
    return bytes;
}

int mcap_check_open(const struct plx_mcap_writer *writer, struct plx_error_message *message)
{
    if (writer->error < 0)
        return plx_fail(message, writer->error, "%s", writer->message.text);
    if (writer->finished)
        return plx_fail(message, PLX_ERR_ARG, "%s: the file is finished", writer->name);
    return 0;
}

/* 0 or an errno. */
static int write_all(int fd, struct iovec *piece, int pieces)
{
    while (pieces > 0) {
        if (piece->iov_len == 0) {
            piece++;
            pieces--;
            continue;
        }
        const ssize_t written = writev(fd, piece, pieces);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        size_t done = (size_t)written;
        for (; pieces > 0 && done >= piece->iov_len; piece++, pieces--)
            done -= piece->iov_len;
        if (done > 0)
            *piece = (struct iovec){(uint8_t *)piece->iov_base + done, piece->iov_len - done};
    }
    return 0;
}

int mcap_append(struct plx_mcap_writer *writer, struct iovec *piece, int pieces, struct plx_error_message *message)
{
    const uint64_t bytes = mcap_total(piece, pieces);
    const uint32_t crc = mcap_crc(writer->data_crc, piece, pieces);
    const int number = write_all(writer->fd, piece, pieces);

    if (number == 0) {
        writer->end += bytes;
        writer->data_crc = crc;
        return 0;
    }
    struct stat status;
    const bool is_gone = fstat(writer->fd, &status) == 0 && status.st_nlink == 0;
    writer->broken = ftruncate(writer->fd, (off_t)writer->end) < 0 || lseek(writer->fd, (off_t)writer->end, SEEK_SET) < 0;
    writer->error =
        plx_fail(&writer->message, plx_error_of_errno(number),
                 is_gone ? "%s: cannot be written: %s. It was removed meanwhile: nothing of its %llu bytes is left"
                         : "%s: cannot be written: %s. It is readable up to byte %llu. Free space and begin a new file",
                 writer->name, strerror(number), (unsigned long long)writer->end);
    return plx_fail(message, writer->error, "%s", writer->message.text);
}
