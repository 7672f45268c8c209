/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/blackbox.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "app/log.h"
#include "app/supervisor/service_clock.h"
#include "app/version.h"
#include "core/base/clock.h"

#define PICTURE_NS PLX_NS_PER_S
#define BEAT_NS (100 * PLX_NS_PER_MS)
#define AFTERMATH_NS (500 * PLX_NS_PER_MS)
#define SAVE_PAUSE_NS (10 * PLX_NS_PER_S)
#define LAST_COPY_MS 500 /* for a copy that is being written at the end */

#define PART(pointer, size) ((struct plx_box_part){pointer, size})
#define NOTHING ((struct plx_box_part){NULL, 0})

static void append(struct plx_blackbox *blackbox, enum plx_box_kind kind, struct plx_box_part head, struct plx_box_part body)
{
    struct plx_error_message message;

    if (!blackbox->box || plx_box_append(blackbox->box, kind, head, body, &message) == 0)
        return;
    plx_log_copy(NULL, NULL);
    plx_log(LOG_WARNING, "%s; the black box records nothing more until the service is restarted; frames are not affected",
            message.text);
}

static void copy_line(void *context, int level, const char *line)
{
    plx_blackbox_log(context, level, line);
}

void plx_blackbox_open(struct plx_blackbox *blackbox, const char *directory)
{
    if (directory[0] != '\0' && plx_box_create(directory, plx_version, &blackbox->box, &blackbox->note) == 0)
        plx_log_copy(copy_line, blackbox);
}

void plx_blackbox_log_note(struct plx_blackbox *blackbox)
{
    if (blackbox->note.text[0] != '\0')
        plx_log(LOG_NOTICE, "%s; create it, or set blackbox.directory (empty: none)", blackbox->note.text);
    blackbox->note.text[0] = '\0';
}

void plx_blackbox_close_in_child(struct plx_blackbox *blackbox)
{
    plx_log_copy(NULL, NULL);
    plx_child_finish(&blackbox->copier);
    plx_box_close_in_child(blackbox->box);
    blackbox->box = NULL;
}

void plx_blackbox_close(struct plx_blackbox *blackbox)
{
    struct plx_error_message message;
    int status;

    plx_log_copy(NULL, NULL);
    for (int ms = 0; blackbox->copier.pid > 0 && !plx_child_reap(&blackbox->copier, &status) && ms < LAST_COPY_MS; ms += 10)
        usleep(10000);
    plx_child_signal(&blackbox->copier, SIGKILL);
    plx_child_finish(&blackbox->copier);
    if (blackbox->box && blackbox->saving && blackbox->picture_ns > 0 &&
        plx_box_save(blackbox->box, blackbox->saving, &message) < 0)
        plx_log(LOG_WARNING, "%s", message.text);
    plx_box_destroy(blackbox->box);
    blackbox->box = NULL;
}

/* --- records ------------------------------------------------------------------------------------------------------ */

/* FRAME's header locates its left picture. It is checked first: a faulty engine may have written it. */
static void append_picture(struct plx_blackbox *blackbox, const struct plx_shm *shm, const struct plx_frame *frame)
{
    static unsigned char pixels[PLX_BOX_PICTURE_SIDE * PLX_BOX_PICTURE_SIDE], row[8192];
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_LEFT];
    const uint32_t longer = plane->width > plane->height ? plane->width : plane->height;
    const uint32_t step = (longer + PLX_BOX_PICTURE_SIDE - 1) / PLX_BOX_PICTURE_SIDE;

    if (longer == 0 || longer > sizeof row || plane->element != 1 || plane->pitch < plane->width)
        return;
    const struct plx_box_picture picture = {
        .sequence = frame->sequence, .width = plane->width / step, .height = plane->height / step};
    for (uint32_t y = 0; y < picture.height; y++) {
        const uint64_t at = plane->offset + (uint64_t)(y * step + step / 2) * plane->pitch;
        if (!plx_ring_copy(shm, frame->sequence, at, row, plane->width))
            return;
        for (uint32_t x = 0; x < picture.width; x++) {
            unsigned sum = 0;
            for (uint32_t i = 0; i < step; i++)
                sum += row[x * step + i];
            pixels[y * picture.width + x] = (unsigned char)(sum / step);
        }
    }
    append(blackbox, PLX_BOX_PICTURE, PART(&picture, sizeof picture), PART(pixels, (size_t)picture.width * picture.height));
}

void plx_blackbox_frame(struct plx_blackbox *blackbox, const struct plx_shm *shm, uint64_t sequence)
{
    static struct plx_frame frame; /* large */
    const int64_t now = plx_monotonic_ns();
    const size_t wanted = PLX_BOX_FRAME_BYTES + PLX_BOX_OBSTACLES * sizeof frame.obstacle[0];

    if (!blackbox->box || !plx_ring_copy(shm, sequence, 0, &frame, wanted))
        return;
    const uint32_t obstacles = frame.obstacle_count < PLX_BOX_OBSTACLES ? frame.obstacle_count : PLX_BOX_OBSTACLES;
    append(blackbox, PLX_BOX_FRAME, PART(&frame, PLX_BOX_FRAME_BYTES),
           PART(frame.obstacle, obstacles * sizeof frame.obstacle[0]));
    if (now - blackbox->picture_ns < PICTURE_NS)
        return;
    blackbox->picture_ns = now;
    append_picture(blackbox, shm, &frame);
}

void plx_blackbox_state(struct plx_blackbox *blackbox, enum plx_state state, uint32_t health, const char *reason)
{
    const struct plx_box_state now = {.state = state, .health = health};

    if (memcmp(&now, &blackbox->recorded, sizeof now) == 0 && strcmp(reason, blackbox->reason.text) == 0)
        return;
    blackbox->recorded = now;
    plx_say(&blackbox->reason, "%s", reason);
    append(blackbox, PLX_BOX_STATE, PART(&now, sizeof now), PART(reason, strlen(reason)));
}

void plx_blackbox_log(struct plx_blackbox *blackbox, int level, const char *line)
{
    const int32_t number = level;
    append(blackbox, PLX_BOX_LOG, PART(&number, sizeof number), PART(line, strlen(line)));
}

static void append_heartbeats(struct plx_blackbox *blackbox, const struct plx_heartbeats *heartbeats, int64_t now_ns)
{
    struct plx_box_beat beat[PLX_THREAD_COUNT];
    int64_t since_ns;

    for (int thread = 0; thread < PLX_THREAD_COUNT; thread++) {
        beat[thread].what = (uint32_t)plx_heartbeat_read(&heartbeats->thread[thread], &since_ns);
        beat[thread].since_ms = since_ns > 0 && since_ns < now_ns ? (uint32_t)((now_ns - since_ns) / PLX_NS_PER_MS) : 0;
    }
    append(blackbox, PLX_BOX_HEARTBEATS, PART(beat, sizeof beat), NOTHING);
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

struct copy_task {
    struct plx_blackbox *blackbox;
    const struct plx_parent *parent;
};

static int copier_main(void *argument, int report_fd)
{
    const struct copy_task *task = argument;
    struct plx_box *box = task->blackbox->box;
    struct plx_error_message message;

    (void)report_fd;
    task->blackbox->box = NULL; /* this process still needs the box */
    plx_parent_close_in_child(task->parent);
    if (plx_box_save(box, task->blackbox->copy_reason, &message) == 0)
        return 0;
    plx_log(LOG_WARNING, "%s", message.text);
    return 1;
}

void plx_blackbox_start_copier(struct plx_blackbox *blackbox, const struct plx_parent *parent)
{
    struct copy_task task = {blackbox, parent};

    if (plx_child_start(&blackbox->copier, "parallax-copier", copier_main, &task) < 0)
        plx_log(LOG_WARNING, "no copy of the black box: the system is out of processes, memory or descriptors");
}

void plx_blackbox_save(struct plx_blackbox *blackbox, const char *reason)
{
    const int64_t now = plx_monotonic_ns();

    if (blackbox->saving)
        return;
    blackbox->saving = reason;
    blackbox->save_ns = now + AFTERMATH_NS;
    if (blackbox->saved_ns > 0 && blackbox->save_ns < blackbox->saved_ns + SAVE_PAUSE_NS)
        blackbox->save_ns = blackbox->saved_ns + SAVE_PAUSE_NS;
}

bool plx_blackbox_tick(struct plx_blackbox *blackbox, const struct plx_heartbeats *heartbeats)
{
    const int64_t now_ns = plx_monotonic_ns(); /* the clock of the heartbeats: the box records, and judges nothing */
    int status;

    if (plx_child_reap(&blackbox->copier, &status))
        plx_child_finish(&blackbox->copier);
    if (!blackbox->box)
        return false;
    if (now_ns - blackbox->beat_ns >= BEAT_NS) {
        blackbox->beat_ns = now_ns;
        append_heartbeats(blackbox, heartbeats, now_ns);
    }
    if (!blackbox->saving || now_ns < blackbox->save_ns || blackbox->copier.pid > 0)
        return false;
    blackbox->copy_reason = blackbox->saving;
    blackbox->saving = NULL;
    blackbox->saved_ns = now_ns;
    return true;
}
