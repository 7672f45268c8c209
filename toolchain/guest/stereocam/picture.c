// SPDX-License-Identifier: GPL-2.0-only
/* The picture of one tick: what was fed, or a moving ramp; as bright as its setting says; with whatever is to be wrong with it.
 */
#include <linux/vmalloc.h>

#include "stereocam.h"

/* The ramp, for programs to check: sample (x, y) of picture n = (x + y + 3 n + 8 if right) mod 256, in the upper bits. */
static u32 ramp(const struct eye *eye, u32 x, u32 y, int bits)
{
    return ((x + y + 3 * eye->sequence + 8 * (eye - stereocam.eye)) & 255) << (bits - 8);
}

/* Rows of FED are tight; those of the buffer may be longer. */
static void fill(const struct eye *eye, u8 *to, const u8 *fed, struct setting in_force)
{
    const struct v4l2_pix_format *pix = &eye->node->format;
    int bits = format_bits(pix->pixelformat), bytes = bits > 8 ? 2 : 1;
    u32 scale = READ_ONCE(stereocam.scale);
    u64 factor = (u64)in_force.exposure_us * in_force.gain, one = (u64)EXPOSURE_DEFAULT_US * GAIN_ONE;
    u64 factor_16 = div_u64((factor * scale) << 16, one); /* 16.16 */
    for (u32 y = 0; y < pix->height; y++) {
        u8 *row = to + y * pix->bytesperline;
        const u8 *from = fed ? fed + (size_t)y * pix->width * bytes : NULL;
        if (from && !scale) {
            memcpy(row, from, pix->width * bytes);
            continue;
        }
        for (u32 x = 0; x < pix->width; x++) {
            u64 value = !from ? ramp(eye, x, y, bits) : bytes == 2 ? ((const u16 *)from)[x] : from[x];
            if (scale)
                value = min_t(u64, (value * factor_16) >> 16, (1 << bits) - 1);
            if (bytes == 2)
                ((u16 *)row)[x] = value;
            else
                row[x] = value;
        }
    }
}

/* Repeats the picture, or its lower rows, that was there when this was asked for. */
static void freeze(struct eye *eye, u8 *picture)
{
    const struct v4l2_pix_format *pix = &eye->node->format;
    u32 rows = READ_ONCE(eye->frozen) ? pix->height : min(READ_ONCE(eye->frozen_rows), pix->height);
    size_t start = (size_t)(pix->height - rows) * pix->bytesperline;
    if (rows && eye->held) {
        memcpy(picture + start, eye->held + start, pix->sizeimage - start);
    } else if (rows) {
        eye->held = vmalloc(pix->sizeimage);
        if (eye->held)
            memcpy(eye->held, picture, pix->sizeimage);
    } else {
        vfree(eye->held);
        eye->held = NULL;
    }
}

static bool count_down(u32 *count)
{
    u32 left = READ_ONCE(*count);
    if (left)
        WRITE_ONCE(*count, left - 1);
    return left != 0;
}

/* The same pictures are dropped in every run: a multiplicative hash (Knuth) of the sequence number. */
static bool dropped(const struct eye *eye)
{
    return ((eye->sequence * 2654435761U) >> 16) % 100 < READ_ONCE(eye->drop_percent);
}

static u64 stamp(const struct eye *eye, u64 time_ns)
{
    u64 stamp_ns = time_ns + READ_ONCE(eye->timestamp_offset_ns), modulus_ns = READ_ONCE(eye->timestamp_modulus_ns);
    if (timestamp_kind == 1) /* delivered when it was read out, one period after its exposure began */
        stamp_ns -= 1000ULL * READ_ONCE(stereocam.period_us);
    return modulus_ns ? stamp_ns % modulus_ns : stamp_ns;
}

static const char *deliver(struct eye *eye, struct record *record, const u8 *fed, size_t fed_bytes)
{
    const struct v4l2_pix_format *pix = &eye->node->format;
    size_t tight = (size_t)pix->width * pix->height * (format_bits(pix->pixelformat) > 8 ? 2 : 1);
    struct buffer *buffer = list_first_entry_or_null(&eye->buffers, struct buffer, list);
    bool error;
    if (dropped(eye))
        return "dropped";
    if (!buffer)
        return "no-buffer";
    list_del(&buffer->list);
    fill(eye, vb2_plane_vaddr(&buffer->vb.vb2_buf, 0), fed_bytes == tight ? fed : NULL, record->in_force);
    freeze(eye, vb2_plane_vaddr(&buffer->vb.vb2_buf, 0));
    buffer->vb.sequence = record->sequence;
    buffer->vb.field = V4L2_FIELD_NONE;
    buffer->vb.vb2_buf.timestamp = record->timestamp_ns;
    vb2_set_plane_payload(&buffer->vb.vb2_buf, 0, count_down(&eye->short_count) ? pix->sizeimage / 2 : pix->sizeimage);
    error = count_down(&eye->error_count);
    vb2_buffer_done(&buffer->vb.vb2_buf, error ? VB2_BUF_STATE_ERROR : VB2_BUF_STATE_DONE);
    return error ? "error" : "good";
}

/* The record of the next picture; NULL if the sensor is not at work. */
static struct record *begin(struct eye *eye, u64 time_ns)
{
    struct record *record = &eye->records[eye->record_count % RECORDS];
    if (!eye->node || !eye->streaming || eye->node->bypass || READ_ONCE(eye->stall))
        return NULL;
    record->sequence = eye->sequence + READ_ONCE(eye->sequence_offset);
    record->timestamp_ns = stamp(eye, time_ns);
    record->in_force = controls_in_force(eye);
    return record;
}

static void end(struct eye *eye, struct record *record, const char *fate)
{
    record->fate = fate;
    eye->record_count++;
    eye->sequence++;
}

void picture_deliver(struct eye *eye, u64 time_ns, const u8 *fed, size_t fed_bytes)
{
    struct record *record;
    mutex_lock(&eye->lock);
    record = begin(eye, time_ns);
    if (record)
        end(eye, record, deliver(eye, record, fed, fed_bytes));
    mutex_unlock(&eye->lock);
}

void picture_miss(struct eye *eye, u64 time_ns)
{
    struct record *record;
    mutex_lock(&eye->lock);
    record = begin(eye, time_ns);
    if (record)
        end(eye, record, "missed");
    mutex_unlock(&eye->lock);
}
