/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libparallax: read what the Parallax service publishes. The library maps the service's memory read-only; it never
 * blocks the service, it believes no number that it reads there before checking it, and it hands out no old picture as news.
 *
 * A struct plx_client belongs to one thread at a time. Different clients are independent.
 */
#ifndef PARALLAX_CLIENT_H
#define PARALLAX_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_DEFAULT_SOCKET "/run/parallax/parallax.sock"

struct plx_client;

/* A frame seen in place. Valid between plx_next and plx_release; what was read from it counts only when plx_release
 * returns 0. A client has one view at a time. While it is open the memory may change under it: take sizes, pitches and counts
 * from the checked copies here, not from FRAME, and no torn or hostile number can lead outside the mapping. */
struct plx_view {
    const struct plx_frame *frame;            /* in shared memory, read-only; NULL in an empty view */
    const void *plane[PLX_PLANE_COUNT];       /* inside the mapping; NULL where switched off */
    struct plx_plane layout[PLX_PLANE_COUNT]; /* checked copy of frame->plane */
    uint32_t obstacle_count;                  /* checked copy, <= PLX_MAX_OBSTACLES */
    int32_t min_disparity;                    /* copy; pixels */
    uint64_t sequence;                        /* of this frame */
    uint64_t missed; /* frames published between the previous view and this one; 0 in a client's first view */
    uint64_t token;  /* the library's own */
};

/* Connects to the service at SOCKET_PATH (NULL: $PARALLAX_SOCKET, else PLX_DEFAULT_SOCKET) and maps its memory.
 * *ret_client belongs to the caller until plx_disconnect.
 * Errors: NOT_FOUND (no service there), PERMISSION, VERSION, BUSY (the service has as many clients as it may), TIMEOUT (no
 * answer in 2 s), FORMAT (what answers is not Parallax), RANGE (path too long), ARG, NOMEM, IO. */
int plx_connect(const char *socket_path, struct plx_client **ret_client);

/* Unmaps and closes; NULL is fine. Views of the client end with it. */
void plx_disconnect(struct plx_client *client);

/* Waits up to TIMEOUT_MS (0: do not wait, negative: for ever) for a fresh frame newer than the last one seen and views it;
 * always the newest there is. A frame that is no longer fresh (plx_is_fresh) is passed over, and counts as missed: a client of
 * a service that has stood still is told nothing about what was there before. Errors: TIMEOUT  service alive, no newer fresh
 * frame in time, or a signal handler ran while it slept (which it does in slices: not every signal is met, so give a finite
 * timeout where a handler sets a flag) LOST     service or its engine is gone: said once at once when it happens, after that
 * instead of TIMEOUT while it lasts. Call again to go on trying: the library reattaches by itself VERSION  the service came
 * back in another version;  FORMAT  the region is damaged;  ARG  the last view is not released */
int plx_next(struct plx_client *client, int timeout_ms, struct plx_view *ret_view);

/* Ends the view. 0: everything read through it was whole. OVERWRITTEN: discard it. */
int plx_release(struct plx_client *client, struct plx_view *view);

/* As plx_next, then copies the frame, header and planes, into BUFFER (8-byte aligned) of CAPACITY bytes, retrying on overwrite,
 * so that the copy is always whole and its plane table checked. RANGE if CAPACITY is too small (*ret_bytes then says what is
 * needed; the frame is not used up); OVERWRITTEN after 64 attempts (frames come faster than they can be copied). */
int plx_copy(struct plx_client *client, int timeout_ms, void *buffer, size_t capacity, size_t *ret_bytes);

/* The header of the newest frame, however old, without its planes: to say what was last known, never as news. It is not counted
 * as seen. NOT_FOUND (no frame yet), LOST (not attached), OVERWRITTEN (frames come too fast), FORMAT, ARG. */
int plx_last_header(struct plx_client *client, struct plx_frame *ret_frame);

/* A descriptor that polls readable when plx_next(client, 0, ...) has something to say (now and then it says TIMEOUT). It stays
 * the library's, and stays the same number over a reattach. Only plx_next and plx_copy make it unreadable again. Negative
 * plx_error on failure. */
int plx_fd(struct plx_client *client);

/* The service's state now: a plx_state, read from the region; PLX_STATE_STOPPED when the service is gone. FORMAT if the region
 * is damaged. */
int plx_state(struct plx_client *client);

/* Health flags now (enum plx_health); PLX_HEALTH_NO_FRAMES when the service is gone. */
uint32_t plx_health(struct plx_client *client);

/* Engines of this service that died or hung and were replaced; 0 before the first connection. */
uint32_t plx_restarts(struct plx_client *client);

/* Why the service is in its state, or works on the CPU, in words for people: one line, cut to SIZE bytes with its end; "" when
 * there is nothing to say. Programs decide by state and health. 256 bytes hold all of it. Errors: ARG, LOST (the service is
 * gone), FORMAT (the region is damaged). */
int plx_reason(struct plx_client *client, char *ret_text, size_t size);

/* The GPU schedule of the matching; all give the same bits. 0: on the CPU, or not known yet. Else 1 + its number in the low 16
 * bits; bit 16 is set if `parallax tune` measured that it is the fastest. */
uint32_t plx_gpu_schedule(struct plx_client *client);

/* The configuration that the service at SOCKET_PATH (as in plx_connect) has in force, every key, as YAML with a 0 at its end.
 * *ret_bytes counts what SIZE must hold, with the 0; RANGE if it is smaller. Asks by a connection of its own, up to 2 s. Errors
 * as plx_connect, and ARG. */
int plx_config(const char *socket_path, char *ret_text, size_t size, size_t *ret_bytes);

/* Age of FRAME: time since its left capture time, nanoseconds, never negative, time in suspend included; INT64_MAX where that
 * time is unknown or FRAME is NULL, so that what cannot be dated never looks young. */
int64_t plx_age_ns(const struct plx_frame *frame);

/* 1 while FRAME is news: it was published no longer ago than frame->fresh_ns, time in suspend included. 0 after that, and where
 * it was published in the future or FRAME is NULL. It goes by the publication, as a replay has capture times of its own. */
int plx_is_fresh(const struct plx_frame *frame);

/* Disparity in pixels at (x, y), min_disparity included; NAN where invalid or outside, and in a raw frame. */
float plx_disparity_px(const struct plx_view *view, uint32_t x, uint32_t y);

/* The point in metres at (x, y) of the rectified left image; NOT_FOUND where there is no disparity, as in a raw frame, or
 * it lies at infinity. */
int plx_point(const struct plx_view *view, uint32_t x, uint32_t y, float ret_xyz[3]);

#ifdef __cplusplus
}
#endif
#endif
