/* SPDX-License-Identifier: Apache-2.0 */
#include "app/ros/node.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include <parallax/client.h>
#include <parallax/error.h>

#include "app/ros/compressor.h"
#include "app/ros/locator.h"
#include "bridge/diagnostics_message.h"
#include "core/base/clock.h"

#define WAIT_MS 100
#define BOXES_MS 5 /* slice of that wait while a detector sends boxes, which are answered after each slice */
#define MAX_INTERVAL_NS (PLX_NS_PER_S / 2) /* a longer one is a gap, not a rate */
#define RETRY_NS PLX_NS_PER_S              /* between attempts to connect, and of diagnostics */

struct plx_ros_node {
    const char *socket;
    const struct plx_frame_names *frames;
    struct plx_ros_tools tools;
    struct plx_ros_publisher *publisher;
    struct plx_ros_locator *locator;
    struct plx_client *client; /* NULL: no service yet */
    int64_t connected_ns;      /* the last attempt */
    struct plx_frame *frame;
    size_t capacity; /* bytes at FRAME */
    void *scratch;
    size_t scratch_bytes;
    struct plx_diagnostics diagnostics;
    int64_t diagnosed_ns;              /* the last time, CLOCK_MONOTONIC */
    int frames_since;                  /* then */
    uint64_t sent_bytes, resent_bytes; /* until then */
    int64_t captured_ns;               /* left capture time of the last frame that was published */
    int64_t age_ns;                    /* age of the newest frame when it came */
    struct plx_confirmed confirmed;    /* in the last frame that was published */
};

/* Once: it never changes, and DDS keeps it for those who come late. */
static void publish_static_transform(const struct plx_ros_node *node)
{
    struct ros_transform_stamped one;
    struct ros_tf_message transforms;
    const struct plx_frame_messages messages = {.realtime_ns = plx_ros_now_ns(), .names = node->frames, .scratch = &one};
    if (plx_message_optical_transform(&messages, &transforms) == 0)
        plx_ros_publish(node->publisher, PLX_TOPIC_TF_STATIC, &transforms);
}

int plx_ros_node_create(const char *socket, const struct plx_ros_names *names, struct plx_ros_publisher *publisher,
                        struct plx_ros_node **ret_node)
{
    struct plx_ros_node *node = calloc(1, sizeof *node);
    if (!node)
        return PLX_ERR_NOMEM;
    int result = plx_ros_locator_create(publisher, &names->frames, &node->locator);
    if (result == 0)
        result = plx_ros_compressor_create(&node->tools.compressor);
    if (result < 0) {
        plx_ros_node_destroy(node);
        return result;
    }
    node->socket = socket;
    node->frames = &names->frames;
    node->tools.slow_percent = names->slow_percent;
    node->publisher = publisher;
    node->connected_ns = plx_now_ns() - RETRY_NS;
    node->diagnosed_ns = plx_now_ns();
    node->age_ns = INT64_MAX;
    publish_static_transform(node);
    *ret_node = node;
    return 0;
}

void plx_ros_node_destroy(struct plx_ros_node *node)
{
    if (!node)
        return;
    plx_disconnect(node->client);
    plx_ros_locator_destroy(node->locator);
    plx_ros_compressor_destroy(node->tools.compressor);
    free(node->frame);
    free(node->scratch);
    free(node);
}

bool plx_ros_node_is_connected(const struct plx_ros_node *node)
{
    return node->client && plx_state(node->client) != PLX_STATE_STOPPED;
}

static void pause_ms(int ms)
{
    const struct timespec time = {.tv_nsec = ms * PLX_NS_PER_MS};
    nanosleep(&time, NULL);
}

static int connect_again(struct plx_ros_node *node)
{
    if (plx_now_ns() - node->connected_ns < RETRY_NS) {
        pause_ms(WAIT_MS);
        return PLX_ERR_NOT_FOUND;
    }
    node->connected_ns = plx_now_ns();
    return plx_connect(node->socket, &node->client);
}

/* Makes FRAME or SCRATCH as large as a service needs that has become larger. */
static int grow(void **memory, size_t *bytes, size_t needed)
{
    if (needed <= *bytes)
        return 0;
    void *larger = realloc(*memory, needed);
    if (!larger)
        return PLX_ERR_NOMEM;
    *memory = larger;
    *bytes = needed;
    return 0;
}

/* The static transform is published once, diagnostics every second, answers to boxes with the boxes. */
static bool is_of_frames(int topic)
{
    return topic < PLX_TOPIC_TF_STATIC || (topic >= PLX_TOPICS && topic < PLX_ROS_TOPIC_BOXES);
}

static bool is_frame_read(const struct plx_ros_node *node)
{
    for (int i = 0; i < PLX_ROS_TOPICS; i++)
        if (is_of_frames(i) && plx_ros_is_read(node->publisher, i))
            return true;
    return false;
}

/* Waits up to WAIT_MS for a frame: into node->frame if WHOLE, else its times alone. */
static int take(struct plx_ros_node *node, bool whole, int wait_ms)
{
    struct plx_view view;
    size_t bytes = 0;
    if (whole) {
        int result = plx_copy(node->client, wait_ms, node->frame, node->capacity, &bytes);
        if (result == PLX_ERR_RANGE) {
            void *memory = node->frame;
            result = grow(&memory, &node->capacity, bytes);
            node->frame = memory;
            result = result < 0 ? result : plx_copy(node->client, wait_ms, node->frame, node->capacity, &bytes);
        }
        node->age_ns = result == 0 ? plx_age_ns(node->frame) : node->age_ns;
        return result;
    }
    const int result = plx_next(node->client, wait_ms, &view);
    if (result < 0)
        return result;
    int64_t realtime_ns;
    node->age_ns = plx_age_ns(view.frame);
    if (plx_realtime_ns(view.frame, &realtime_ns) == 0)
        plx_ros_locator_note(node->locator, view.frame, realtime_ns);
    return plx_release(node->client, &view);
}

/* Waits WAIT_MS for a frame, and answers boxes meanwhile. A frame ends each slice at once, so that it is never published later
 * than without boxes but for the time of one answer. */
static int wait_frame(struct plx_ros_node *node, bool whole)
{
    const int64_t deadline_ns = plx_now_ns() + WAIT_MS * PLX_NS_PER_MS;
    int result = PLX_ERR_TIMEOUT;
    while (result == PLX_ERR_TIMEOUT && plx_now_ns() < deadline_ns) {
        plx_ros_locator_answer(node->locator, node->client);
        result = take(node, whole, plx_ros_has_boxes(node->publisher) ? BOXES_MS : WAIT_MS);
    }
    return result;
}

/* What plx_verdict would answer by now: a reader must not take an old word for a new one. */
static void check_verdict_age(struct plx_frame *frame)
{
    if (plx_age_ns(frame) <= frame->verdict.valid_ns)
        return;
    frame->verdict.verdict = PLX_VERDICT_STOP;
    frame->verdict.reasons |= PLX_REASON_STALE;
}

/* Each large message over a tenth of the time between two frames, as far as that is known. */
static void spread_large(struct plx_ros_node *node)
{
    const int64_t captured_ns = node->frame->capture[PLX_LEFT].capture_ns, interval_ns = captured_ns - node->captured_ns;
    plx_ros_set_spread(node->publisher, interval_ns > 0 && interval_ns < MAX_INTERVAL_NS ? interval_ns / 10 : 0);
    node->captured_ns = captured_ns;
}

/* Publishes what is read of TOPICS, one bit for each. */
static void publish_topics(struct plx_ros_node *node, const struct plx_frame_messages *messages, uint64_t topics)
{
    union plx_ros_message message;
    for (int i = 0; i < PLX_ROS_TOPICS; i++)
        if (is_of_frames(i) && (topics >> i & 1) && plx_ros_is_read(node->publisher, i) &&
            plx_ros_topic_fill(i, messages, &node->tools, &message) == 0)
            plx_ros_publish(node->publisher, i, &message);
}

/* Large messages come after all others, for a verdict must not wait for pictures. */
static void publish_all(struct plx_ros_node *node, const struct plx_frame_messages *messages)
{
    uint64_t large = 0;
    for (int i = 0; i < PLX_ROS_TOPICS; i++)
        large |= (uint64_t)plx_ros_is_large(node->publisher, i) << i;
    publish_topics(node, messages, ~large);
    publish_topics(node, messages, large);
}

static int publish_frame(struct plx_ros_node *node)
{
    struct plx_frame_messages messages = {.frame = node->frame, .names = node->frames, .confirmed = &node->confirmed};
    int result = grow(&node->scratch, &node->scratch_bytes, plx_frame_messages_scratch(node->frame));
    if (result == 0)
        result = plx_realtime_ns(node->frame, &messages.realtime_ns);
    if (result == 0)
        plx_ros_locator_note(node->locator, node->frame, messages.realtime_ns);
    if (result < 0 || (node->frame->health & PLX_HEALTH_NOT_CALIBRATED))
        return result;
    messages.scratch = node->scratch;
    check_verdict_age(node->frame);
    spread_large(node);
    publish_all(node, &messages);
    plx_confirmed_keep(&node->confirmed, node->frame->obstacle, node->frame->obstacle_count);
    return 0;
}

/* Since the diagnostics before, which is a second. */
static void count_bytes(struct plx_ros_node *node)
{
    struct plx_diagnostics *d = &node->diagnostics;
    uint64_t sent, resent;
    plx_ros_count_bytes(node->publisher, &sent, &resent);
    d->has_network = true;
    d->sent_bytes = sent - node->sent_bytes;
    d->resent_bytes = resent - node->resent_bytes;
    node->sent_bytes = sent;
    node->resent_bytes = resent;
}

static void diagnose(struct plx_ros_node *node)
{
    struct plx_diagnostics *d = &node->diagnostics;
    struct ros_diagnostic_array array;
    const int64_t now_ns = plx_now_ns();
    plx_diagnostics_read(node->client, d);
    d->frames_per_s = node->frames_since * (double)PLX_NS_PER_S / (double)(now_ns - node->diagnosed_ns);
    d->age_ms = node->frames_since > 0 && node->age_ns < INT64_MAX ? (double)node->age_ns / (double)PLX_NS_PER_MS : (double)NAN;
    d->dropped = plx_ros_dropped(node->publisher);
    count_bytes(node);
    plx_message_diagnostics(d, plx_ros_now_ns(), &array);
    plx_ros_publish(node->publisher, PLX_TOPIC_DIAGNOSTICS, &array);
    node->diagnosed_ns = now_ns;
    node->frames_since = 0;
}

int plx_ros_node_step(struct plx_ros_node *node)
{
    int result = node->client ? 0 : connect_again(node);
    if (result < 0)
        plx_ros_locator_answer(node->locator, NULL);
    if (result == 0) {
        const bool whole = is_frame_read(node);
        result = wait_frame(node, whole);
        node->frames_since += result == 0;
        if (result == 0 && whole)
            result = publish_frame(node);
        else if (result < 0 && result != PLX_ERR_TIMEOUT && result != PLX_ERR_OVERWRITTEN)
            pause_ms(WAIT_MS);
    }
    if (plx_now_ns() - node->diagnosed_ns >= RETRY_NS)
        diagnose(node);
    return result;
}
