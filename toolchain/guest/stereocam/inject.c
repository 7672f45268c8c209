// SPDX-License-Identifier: GPL-2.0-only
/* Fault settings in debugfs: /sys/kernel/debug/stereocam/, and left/ and right/ in it. README.md lists them. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "stereocam.h"

static struct dentry *root;

static int connected_get(void *data, u64 *ret_value)
{
    struct eye *eye = data;
    *ret_value = READ_ONCE(eye->node) != NULL;
    return 0;
}

static int connected_set(void *data, u64 value)
{
    int result = 0;
    mutex_lock(&stereocam.plug);
    if (value)
        result = node_plug(data);
    else
        node_unplug(data);
    mutex_unlock(&stereocam.plug);
    return result;
}
DEFINE_DEBUGFS_ATTRIBUTE(connected, connected_get, connected_set, "%llu\n");

static int streaming_get(void *data, u64 *ret_value)
{
    struct eye *eye = data;
    *ret_value = READ_ONCE(eye->streaming);
    return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(streaming, streaming_get, NULL, "%llu\n");

/* The stream is broken until it is stopped: EIO. */
static int eio_set(void *data, u64 value)
{
    struct eye *eye = data;
    mutex_lock(&eye->lock);
    if (eye->node && value)
        vb2_queue_error(&eye->node->queue);
    mutex_unlock(&eye->lock);
    return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(eio, NULL, eio_set, "%llu\n");

static int records_show(struct seq_file *file, void *unused)
{
    struct eye *eye = file->private;
    mutex_lock(&eye->lock);
    for (u32 i = eye->record_count > RECORDS ? eye->record_count - RECORDS : 0; i < eye->record_count; i++) {
        const struct record *record = &eye->records[i % RECORDS];
        seq_printf(file, "%u %llu %u %u %s\n", record->sequence, record->timestamp_ns, record->in_force.exposure_us,
                   record->in_force.gain, record->fate);
    }
    mutex_unlock(&eye->lock);
    return 0;
}
DEFINE_SHOW_ATTRIBUTE(records);

void inject_init(void)
{
    root = debugfs_create_dir("stereocam", NULL);
    debugfs_create_u32("wait", 0600, root, &stereocam.wait);
    debugfs_create_u32("scale", 0600, root, &stereocam.scale);
    for (int i = 0; i < EYES; i++) {
        struct eye *eye = &stereocam.eye[i];
        struct dentry *folder = debugfs_create_dir(eye->name, root);
        debugfs_create_file_unsafe("connected", 0600, folder, eye, &connected);
        debugfs_create_file_unsafe("streaming", 0400, folder, eye, &streaming);
        debugfs_create_file_unsafe("eio", 0200, folder, eye, &eio);
        debugfs_create_file("records", 0400, folder, eye, &records_fops);
        debugfs_create_u64("skew_ns", 0600, folder, &eye->skew_ns);
        debugfs_create_u64("timestamp_offset_ns", 0600, folder, &eye->timestamp_offset_ns);
        debugfs_create_u64("timestamp_modulus_ns", 0600, folder, &eye->timestamp_modulus_ns);
        debugfs_create_u32("sequence_offset", 0600, folder, &eye->sequence_offset);
        debugfs_create_u32("error_count", 0600, folder, &eye->error_count);
        debugfs_create_u32("short_count", 0600, folder, &eye->short_count);
        debugfs_create_u32("drop_percent", 0600, folder, &eye->drop_percent);
        debugfs_create_u32("stall", 0600, folder, &eye->stall);
        debugfs_create_u32("frozen", 0600, folder, &eye->frozen);
        debugfs_create_u32("frozen_rows", 0600, folder, &eye->frozen_rows);
        debugfs_create_u32("fail_streamon", 0600, folder, &eye->fail_streamon);
        debugfs_create_u32("refuse_format", 0600, folder, &eye->refuse_format);
    }
}

void inject_exit(void)
{
    debugfs_remove_recursive(root);
}
