/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libparallax: read what the Parallax service publishes. The library maps the service's memory read-only, never blocks the
 * service, checks every number before it is used, and never returns an old frame as a new one.
 *
 * A struct plx_client belongs to one thread at a time; different clients are independent. Functions without a client may be
 * called from any thread. Functions that return int return 0 (or what they say) or a negative enum plx_error.
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
    uint64_t sequence;                        /* number of this frame */
    uint64_t missed; /* frames published between the previous view and this one; 0 in a client's first view */
    uint64_t token;  /* the library's own */
};

/* Connects to the service at SOCKET_PATH (NULL: $PARALLAX_SOCKET, else PLX_DEFAULT_SOCKET) and maps its memory.
 * *ret_client belongs to the caller until plx_disconnect.
 * Errors: NOT_FOUND (no service there), PERMISSION, VERSION, BUSY (the service has as many clients as it may, or as this
 * process or user may have), TIMEOUT (no answer in 2 s), FORMAT (what answers is not Parallax), RANGE (path too long), ARG,
 * NOMEM, IO. */
int plx_connect(const char *socket_path, struct plx_client **ret_client);

/* The same, but waits up to TIMEOUT_MS (negative: for ever) for a service that starts later. Errors of plx_connect; NOT_FOUND:
 * no service came; TIMEOUT: a signal handler ran meanwhile. */
int plx_connect_wait(const char *socket_path, int timeout_ms, struct plx_client **ret_client);

/* The path that plx_connect(SOCKET_PATH, ...) tries: SOCKET_PATH, or for NULL $PARALLAX_SOCKET, else PLX_DEFAULT_SOCKET. Not
 * the caller's; valid until the environment changes. */
const char *plx_socket_path(const char *socket_path);

/* Closes, and unmaps what nobody holds by plx_mapping_ref; NULL is fine. Views of the client end with it. Waits for threads of
 * plx_verdict that still unmap; afterwards nothing of this library runs by itself. */
void plx_disconnect(struct plx_client *client);

/* Waits for a fresh frame (plx_is_fresh) newer than the last one seen, and views the newest. TIMEOUT_MS: 0 does not wait, a
 * negative number waits for ever. *ret_view belongs to the caller until plx_release. Frames that are not fresh any more are
 * skipped and counted as missed: a service that stood still is not read as if it had just published. Errors:
 *   TIMEOUT  the service is alive and published no newer fresh frame in time, or a signal handler ran while the call slept. It
 *            sleeps in slices, so not every signal ends it: where a handler sets a flag, give a finite timeout.
 *   LOST     the service or its engine is gone: returned at once when that happens, later in place of TIMEOUT. Call again:
 *            the library attaches again by itself.
 *   VERSION  the service came back in another version.
 *   FORMAT   the shared memory is damaged.
 *   ARG      the last view is not released. */
int plx_next(struct plx_client *client, int timeout_ms, struct plx_view *ret_view);

/* Ends the view, which is empty afterwards. 0: everything that was read through it is valid. OVERWRITTEN: the service reused
 * the slot meanwhile; discard what was read. ARG: VIEW is not the open view of CLIENT. */
int plx_release(struct plx_client *client, struct plx_view *view);

/* Views frame SEQUENCE again, however old, until plx_release: for what was computed on a frame while newer ones came, such as
 * the boxes of a detector (plx_locate). Numbers begin again with each epoch: compare frame->epoch, or the capture time. It
 * waits for nothing; view->missed is 0, and plx_next goes on as if this call had not been. Errors: NOT_FOUND (the ring does not
 * hold it any more, or not yet), LOST (not attached), FORMAT (the shared memory is damaged), ARG (the last view is not
 * released). */
int plx_view_at(struct plx_client *client, uint64_t sequence, struct plx_view *ret_view);

/* As plx_next, then copies the frame, header and planes, into BUFFER, which is the caller's: CAPACITY bytes, 8-byte aligned. A
 * copy that the service overwrote is repeated, so it is always whole, and its plane table is checked. *ret_bytes: the size of
 * the frame. Errors of plx_next, and RANGE (CAPACITY is less than *ret_bytes; the next call sees the same frame), OVERWRITTEN
 * (64 attempts failed: frames come faster than they can be copied). */
int plx_copy(struct plx_client *client, int timeout_ms, void *buffer, size_t capacity, size_t *ret_bytes);

/* Copies the header of the newest frame, of whatever age, without planes, into *ret_frame of the caller. To show what was last
 * known, never to act on. plx_next still returns this frame. Errors: NOT_FOUND (no frame yet), LOST (not attached), OVERWRITTEN
 * (frames come too fast), FORMAT, ARG. */
int plx_last_header(struct plx_client *client, struct plx_frame *ret_frame);

/* A descriptor for poll, epoll or select: readable when plx_next(client, 0, ...) should be called; that call may still return
 * TIMEOUT. Only plx_next and plx_copy make it unreadable again. The library owns and closes it; the number stays the same when
 * the library attaches again. Errors: ARG, NOMEM (no descriptor left). */
int plx_fd(struct plx_client *client);

/* The service's state now, enum plx_state; PLX_STATE_STOPPED where the service is gone, STARTING for up to 2 s
 * where it replaces its memory after a reload. It is never RUNNING while the newest frame is not fresh. Errors: ARG, FORMAT
 * (the shared memory is damaged). */
int plx_state(struct plx_client *client);

/* Health flags now (enum plx_health); PLX_HEALTH_NO_FRAMES is among them when the service is gone or its newest frame is not
 * fresh. */
uint32_t plx_health(struct plx_client *client);

/* Engines of this service that died or hung and were replaced; 0 before the first connection. */
uint32_t plx_restarts(struct plx_client *client);

/* Whether the robot may go: enum plx_verdict_kind, from the newest frame that the service has judged. It answers
 * PLX_VERDICT_STOP whenever it does not know better: where the verdict is older than its valid_ns, the service or its engine is
 * dead, hung or not there, or CLIENT is NULL; so it has no error. *RET_VERDICT (NULL is fine): the whole of it, with STALE and
 * NO_SERVICE among the reasons in these cases. It takes no system call while the service is well (< 1 us), attaches again where
 * the service came back, and opens no view. To let go of a memory may take up to a second: a thread of the library does it,
 * at ordinary priority, with all signals blocked, and ends; in the call only where no thread can be made, or 8 are at it.
 * Nothing of this is certified. */
int plx_verdict(struct plx_client *client, struct plx_verdict_now *ret_verdict);

/* Writes the reason of the service's state, or of its work on the CPU, into RET_TEXT: one line for people, cut to SIZE bytes
 * with its 0; "" where there is none. 256 bytes hold every reason. Programs decide by state and health. Errors: ARG, LOST (the
 * service is gone), FORMAT (the shared memory is damaged). */
int plx_reason(struct plx_client *client, char *ret_text, size_t size);

/* Writes the configuration in force of the service at SOCKET_PATH (as in plx_connect) into RET_TEXT: every key, as YAML with a
 * 0 at its end. *ret_bytes: bytes with the 0. It opens a connection of its own, waits up to 2 s, and may be called from any
 * thread. Errors of plx_connect, and RANGE (SIZE is less than *ret_bytes). */
int plx_config(const char *socket_path, char *ret_text, size_t size, size_t *ret_bytes);

/* Gives odometry of the robot to the service, which begins its search for the motion of the next frames there, instead of at
 * constant velocity: for robots that turn faster than the pictures tell. HINT counts for frames whose interval it overlaps, and
 * the newest one counts. A wrong hint costs time, and cannot become the motion of a frame by itself. Waits up to 100 ms for
 * the answer. Errors: PERMISSION (the key motion.hint_user names another user, or
 * nobody), RANGE (numbers outside of what struct plx_motion_hint allows), BUSY (no engine runs, or more hints came since the
 * last frame than the service takes: the hint is dropped), LOST (the service is gone; call again, the library attaches again),
 * TIMEOUT, FORMAT, ARG. */
int plx_motion_hint(struct plx_client *client, const struct plx_motion_hint *hint);

/* The service's memory as a client has mapped it: all frames lie in it. For bindings to other languages, whose views end when a
 * garbage collector finds them, and for GPUs, which register memory once. */
struct plx_mapping {
    const void *memory; /* read-only */
    size_t bytes;
};

/* Keeps the present mapping of CLIENT, and so the memory of its open view, until plx_mapping_unref: also after plx_release, a
 * restart of the service, and plx_disconnect. The memory stays readable, its frames do not stay: the service overwrites them.
 * While references to the mapping of an ended service are left, its memory is not freed. Errors: LOST (not attached), ARG. */
int plx_mapping_ref(struct plx_client *client, const struct plx_mapping **ret_mapping);

/* Gives a reference of plx_mapping_ref back; without any, and without the client's own, the memory is unmapped. NULL is fine.
 * May be called from any thread. */
void plx_mapping_unref(const struct plx_mapping *mapping);

/* Age of FRAME: nanoseconds since its left capture time, time in suspend included, never negative. INT64_MAX where the capture
 * time is unknown or FRAME is NULL, so that an undated frame never looks new. */
int64_t plx_age_ns(const struct plx_frame *frame);

/* 1 if FRAME is fresh: captured less than frame->fresh_ns ago, time in suspend included. Else 0, also for a publication in the
 * future (the clock of another time namespace) and for NULL. */
int plx_is_fresh(const struct plx_frame *frame);

/* The obstacles in VIEW, largest first: returns their number, and *ret_obstacles points to the first, in shared memory. Tracks
 * that are LOST in this frame are not among them. BLIND: the frame cannot show obstacles (frame->blind says why), so that
 * nothing is known of the way ahead. ARG. */
int plx_obstacles(const struct plx_view *view, const struct plx_obstacle **ret_obstacles);

/* Distance Z, metres, of the nearest part of obstacle INDEX of VIEW in the pixel columns X .. X + WIDTH - 1 of the rectified
 * left image, by its outline: what stands up to 1.9 m above the ground, to a 16th of the obstacle's width. INFINITY where
 * nothing of it stands, for a track that is LOST, and for an INDEX that VIEW does not have. */
float plx_obstacle_nearest(const struct plx_view *view, uint32_t index, int32_t x, int32_t width);

/* Distance Z, metres, of the nearest edge of a drop (PLX_SCAN_DROP: stairs down, the edge of a platform, a pit, a kerb) in
 * those columns of the scan that have pixels in X .. X + WIDTH - 1 of the rectified left image. INFINITY where none is seen,
 * also where nothing is known of the ground, and in a frame without a scan. */
float plx_drop_nearest(const struct plx_view *view, int32_t x, int32_t width);

/* Strict disparity in pixels at column X, row Y, min_disparity included; NAN where it is invalid, outside the image, and in a
 * raw frame. */
float plx_disparity_px(const struct plx_view *view, uint32_t x, uint32_t y);

/* The point in metres, in camera axes, at column X, row Y of the rectified left image: Z = f b / d (Hartley, Zisserman:
 * Multiple View Geometry, 2004, chapter 12). NOT_FOUND where there is no disparity, as in a raw frame, or the point lies at
 * infinity; ARG. */
int plx_point(const struct plx_view *view, uint32_t x, uint32_t y, float ret_xyz[3]);

/* plx_point for all pixels at once: Z into RET_METRES, float [height][width], whose rows begin PITCH bytes apart; NAN where
 * plx_point gives NOT_FOUND. Sizes are those of view->layout[PLX_PLANE_DISPARITY]. The image is the caller's. It counts only
 * when plx_release returns 0. Errors: NOT_FOUND (the view has no disparity, as in a raw frame), ARG (PITCH is no multiple of 4,
 * or less than a row). */
int plx_depth(const struct plx_view *view, float *ret_metres, size_t pitch);

/* Likewise X, Y and Z into RET_XYZ, float [height][width][3]. Equal to plx_point but for rounding, 1e-6 of Z. */
int plx_points(const struct plx_view *view, float *ret_xyz, size_t pitch);

/* A distance Z along the view axis, metres, and how sure it is. Both errors are those of matching, by plx_error_info of the
 * frame: what the calibration adds is not in them. NAN where they are not known. */
struct plx_distance {
    float distance_m;
    float sigma_m; /* 68 % of the errors are smaller */
    float bound_m; /* 95 % are; far away a disparity of nearly 0 is within it, and then it reaches infinity at the far side */
};

/* The distance of column X, row Y of the rectified left image, by its strict disparity. NOT_FOUND where that is unknown, as in
 * a raw frame, or at infinity; ARG. As all that is read from a view, it counts only when plx_release returns 0. */
int plx_pixel_distance(const struct plx_view *view, uint32_t x, uint32_t y, struct plx_distance *ret_distance);

/* The distance of stixel NUMBER, 0 .. 7, of COLUMN, and of the nearest thing of COLUMN in the scan. Their errors are those of
 * the pixels that show them, the median; that of an obstacle is obstacle.nearest_sigma_m. NOT_FOUND where there is none; ARG.
 */
int plx_stixel_distance(const struct plx_view *view, uint32_t column, uint32_t number, struct plx_distance *ret_distance);
int plx_scan_distance(const struct plx_view *view, uint32_t column, struct plx_distance *ret_distance);

/* A box of a detector in the rectified left image, pixels; it may reach beyond the image. */
struct plx_box {
    int32_t x, y, width, height; /* its columns are X .. X + WIDTH - 1 */
    const uint8_t *mask;         /* [height][width], 0: this pixel does not count; NULL: all count. The caller's */
    uint64_t mask_pitch;         /* bytes from one row of the mask to the next */
};

/* Where the thing in a box is. All numbers are NAN where they are not known, so also all metres of a state but KNOWN. */
struct plx_location {
    uint32_t state;        /* enum plx_location_state */
    int32_t obstacle;      /* index in frame->obstacle, -1: none */
    uint32_t track;        /* track of that obstacle; 0: none */
    float share;           /* how much of the box, without ground, shows the thing: 0 .. 1, weighted */
    float distance_m;      /* Z of its surface, the median */
    float sigma_m;         /* standard deviation of distance_m */
    float position_m[3];   /* middle of that surface, camera axes */
    float base_m[3];       /* the same in the robot's base; NAN where the frame knows neither mount nor ground */
    float size_m[2];       /* width and height of what the box shows of it */
    float velocity_mps[3]; /* of that obstacle over the ground, camera axes; NAN without motion */
};

/* Finds the thing in each of COUNT boxes of VIEW, the nearest one that fills enough of its box: RET_LOCATION[i] is the answer
 * for BOX[i]. Each box costs at most 1600 pixels, evenly spread. Allocates nothing. It counts only when plx_release returns 0.
 * Errors: ARG (no view; a mask whose pitch is less than the width of its box), and then RET_LOCATION is untouched. */
int plx_locate(const struct plx_view *view, const struct plx_box *box, uint32_t count, struct plx_location *ret_location);

/* Capture time of FRAME's left picture by the wall clock, nanoseconds since 1970, as ROS and logs have it: from the age of the
 * frame and what that clock says now. So it follows the clock when that is set: ask once for each frame. Errors: NOT_FOUND (the
 * capture time is unknown), ARG. */
int plx_realtime_ns(const struct plx_frame *frame, int64_t *ret_ns);

#ifdef __cplusplus
}
#endif
#endif
