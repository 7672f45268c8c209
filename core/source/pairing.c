/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timestamps of each eye increase. So of two captures whose times differ too much, the older one will never have a partner.
 * Pairing the oldest captures that fit therefore gives the largest possible number of pairs.
 */
#include "core/source/pairing.h"

#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"

#define DEFAULT_RATE_HZ 30.0

int64_t plx_pairing_default_tolerance_ns(double rate_hz)
{
    return (int64_t)(PLX_NS_PER_S / (rate_hz > 0.0 ? rate_hz : DEFAULT_RATE_HZ) / 4.0);
}

void plx_pairing_init(struct plx_pairing *pairing, int64_t tolerance_ns)
{
    memset(pairing, 0, sizeof *pairing);
    pairing->tolerance_ns = pairing->drift_ns = tolerance_ns;
}

static void discard(struct plx_pairing_result *result, const struct plx_capture *capture)
{
    result->release[result->release_count++] = *capture;
}

static void discard_unmatched(struct plx_pairing *pairing, enum plx_eye eye, const struct plx_capture *capture,
                              struct plx_pairing_result *result)
{
    struct plx_pairing_eye *left = &pairing->eye[PLX_LEFT], *right = &pairing->eye[PLX_RIGHT];
    pairing->eye[eye].unmatched++;
    if (pairing->eye[eye].unmatched_run < PLX_PAIRING_DESYNC)
        pairing->eye[eye].unmatched_run++;
    if (left->unmatched_run >= PLX_PAIRING_DESYNC && right->unmatched_run >= PLX_PAIRING_DESYNC)
        result->health |= PLX_HEALTH_DESYNC;
    discard(result, capture);
}

static void pop_oldest(struct plx_pairing *pairing)
{
    pairing->waiting_count--;
    memmove(pairing->waiting, pairing->waiting + 1, (size_t)pairing->waiting_count * sizeof pairing->waiting[0]);
}

/* Counts CAPTURE and its gaps in EYE; true if its timestamp increased. */
static bool count_capture(struct plx_pairing_eye *eye, const struct plx_capture *capture, struct plx_pairing_result *result)
{
    bool increases = !eye->seen || capture->capture_ns > eye->last_ns;
    uint32_t gap = capture->sequence - eye->last_sequence - 1u; /* numbering wraps */
    result->health |= capture->health;
    if (!increases)
        result->health |= PLX_HEALTH_TIMESTAMP;
    if (eye->seen && gap > capture->skipped && gap < UINT32_MAX / 2) { /* more: the camera restarted its numbering */
        eye->dropped += gap - capture->skipped;
        result->health |= PLX_HEALTH_DROPPED;
    }
    eye->seen = true;
    eye->last_ns = capture->capture_ns;
    eye->last_sequence = capture->sequence;
    return increases;
}

static void make_pair(struct plx_pairing *pairing, const struct plx_capture *left, const struct plx_capture *right,
                      struct plx_pairing_result *result)
{
    result->paired = true;
    result->pair[PLX_LEFT] = *left;
    result->pair[PLX_RIGHT] = *right;
    result->health |= left->health | right->health;
    pairing->eye[PLX_LEFT].unmatched_run = pairing->eye[PLX_RIGHT].unmatched_run = 0;
}

static void wait_for_partner(struct plx_pairing *pairing, enum plx_eye eye, const struct plx_capture *capture,
                             struct plx_pairing_result *result)
{
    if (pairing->waiting_count == PLX_PAIRING_QUEUE) {
        discard_unmatched(pairing, eye, &pairing->waiting[0], result);
        pop_oldest(pairing);
    }
    pairing->waiting_eye = eye;
    pairing->waiting[pairing->waiting_count++] = *capture;
}

/* Finds the partner of CAPTURE among the waiting captures of the other eye, or queues it. */
static void match(struct plx_pairing *pairing, enum plx_eye eye, const struct plx_capture *capture,
                  struct plx_pairing_result *result)
{
    while (pairing->waiting_count > 0 && pairing->waiting_eye != eye) {
        const struct plx_capture oldest = pairing->waiting[0];
        /* Later minus earlier, unsigned: no overflow for any two times. */
        bool is_older = oldest.capture_ns <= capture->capture_ns;
        uint64_t difference = is_older ? (uint64_t)capture->capture_ns - (uint64_t)oldest.capture_ns
                                       : (uint64_t)oldest.capture_ns - (uint64_t)capture->capture_ns;
        if (difference <= (uint64_t)pairing->tolerance_ns) {
            if (difference > (uint64_t)pairing->drift_ns)
                result->health |= PLX_HEALTH_DESYNC;
            pop_oldest(pairing);
            make_pair(pairing, eye == PLX_LEFT ? capture : &oldest, eye == PLX_LEFT ? &oldest : capture, result);
            return;
        }
        if (!is_older) {
            discard_unmatched(pairing, eye, capture, result);
            return;
        }
        discard_unmatched(pairing, pairing->waiting_eye, &oldest, result);
        pop_oldest(pairing);
    }
    wait_for_partner(pairing, eye, capture, result);
}

int plx_pairing_push(struct plx_pairing *pairing, const struct plx_capture *capture, struct plx_pairing_result *ret_result)
{
    const bool left = capture->raw[PLX_LEFT].data != NULL, right = capture->raw[PLX_RIGHT].data != NULL;
    if (!left && !right)
        return PLX_ERR_ARG;
    memset(ret_result, 0, sizeof *ret_result);
    if (left && right) {
        count_capture(&pairing->eye[PLX_LEFT], capture, ret_result);
        count_capture(&pairing->eye[PLX_RIGHT], capture, ret_result);
        make_pair(pairing, capture, capture, ret_result);
        ret_result->pair[PLX_RIGHT].buffer = NULL;
        return 0;
    }
    const enum plx_eye eye = left ? PLX_LEFT : PLX_RIGHT;
    if (!count_capture(&pairing->eye[eye], capture, ret_result) && pairing->waiting_eye == eye) {
        for (int i = 0; i < pairing->waiting_count; i++)
            discard_unmatched(pairing, eye, &pairing->waiting[i], ret_result);
        pairing->waiting_count = 0;
    }
    match(pairing, eye, capture, ret_result);
    return 0;
}

void plx_pairing_flush(struct plx_pairing *pairing, struct plx_pairing_result *ret_result)
{
    memset(ret_result, 0, sizeof *ret_result);
    for (int i = 0; i < pairing->waiting_count; i++)
        discard(ret_result, &pairing->waiting[i]);
    pairing->waiting_count = 0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        pairing->eye[eye].seen = false;
        pairing->eye[eye].unmatched_run = 0;
    }
}
