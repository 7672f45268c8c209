// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/stereocam: each write is one pair of pictures, the left's rows and then the right's, tight, in the formats that the
 * nodes are set to. A few pairs wait here; a write waits for room (or fails with EAGAIN), and each tick of the frame clock
 * takes one.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "stereocam.h"

#define PAIRS 4 /* one of them is the one that was taken last */

struct pair {
    u8 *data;
    size_t capacity, bytes[EYES];
};

static struct pair pairs[PAIRS];
static u32 written, taken; /* pairs so far; the slots between them wait */
static DEFINE_MUTEX(lock);
static DECLARE_WAIT_QUEUE_HEAD(room);

static bool has_room(void)
{
    return READ_ONCE(written) - READ_ONCE(taken) < PAIRS - 1;
}

bool feed_ready(void)
{
    return READ_ONCE(written) != READ_ONCE(taken);
}

bool feed_next(const u8 *ret_picture[EYES], size_t ret_bytes[EYES])
{
    bool fresh;
    struct pair *pair;
    mutex_lock(&lock);
    fresh = feed_ready();
    if (fresh)
        taken++;
    pair = &pairs[(taken - 1) % PAIRS]; /* never written while it is the last one taken: see has_room */
    for (int i = 0; i < EYES; i++) {
        ret_picture[i] = taken ? pair->data + (i ? pair->bytes[0] : 0) : NULL;
        ret_bytes[i] = taken ? pair->bytes[i] : 0;
    }
    mutex_unlock(&lock);
    if (fresh)
        wake_up_interruptible(&room);
    return fresh;
}

/* Bytes of a picture of EYE in its present format; 0 without a node. */
static size_t picture_bytes(struct eye *eye)
{
    size_t bytes = 0;
    mutex_lock(&eye->lock);
    if (eye->node) {
        const struct v4l2_pix_format *pix = &eye->node->format;
        bytes = (size_t)pix->width * pix->height * (format_bits(pix->pixelformat) > 8 ? 2 : 1);
    }
    mutex_unlock(&eye->lock);
    return bytes;
}

static ssize_t put(const char __user *from, size_t count, const size_t bytes[EYES])
{
    struct pair *pair = &pairs[written % PAIRS];
    if (count > pair->capacity) {
        kvfree(pair->data);
        pair->capacity = 0;
        pair->data = kvmalloc(count, GFP_KERNEL);
        if (!pair->data)
            return -ENOMEM;
        pair->capacity = count;
    }
    if (copy_from_user(pair->data, from, count))
        return -EFAULT;
    memcpy(pair->bytes, bytes, sizeof pair->bytes);
    WRITE_ONCE(written, written + 1);
    return count;
}

static ssize_t feed_write(struct file *file, const char __user *from, size_t count, loff_t *offset)
{
    size_t bytes[EYES] = {picture_bytes(&stereocam.eye[0]), picture_bytes(&stereocam.eye[1])};
    ssize_t result;
    /* An eye that is unplugged gets a picture like the other's. */
    for (int i = 0; i < EYES; i++)
        bytes[i] = bytes[i] ? bytes[i] : bytes[!i];
    if (!count || count != bytes[0] + bytes[1])
        return -EINVAL;
    mutex_lock(&lock);
    while (!has_room()) {
        mutex_unlock(&lock);
        if (file->f_flags & O_NONBLOCK)
            return -EAGAIN;
        if (wait_event_interruptible(room, has_room()))
            return -ERESTARTSYS;
        mutex_lock(&lock);
    }
    result = put(from, count, bytes);
    mutex_unlock(&lock);
    return result;
}

static __poll_t feed_poll(struct file *file, poll_table *table)
{
    poll_wait(file, &room, table);
    return has_room() ? EPOLLOUT | EPOLLWRNORM : 0;
}

static const struct file_operations files = {
    .owner = THIS_MODULE,
    .write = feed_write,
    .poll = feed_poll,
};

static struct miscdevice device = {.minor = MISC_DYNAMIC_MINOR, .name = "stereocam", .fops = &files, .mode = 0600};

int feed_init(void)
{
    return misc_register(&device);
}

void feed_exit(void)
{
    misc_deregister(&device);
    for (int i = 0; i < PAIRS; i++)
        kvfree(pairs[i].data);
}
