/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a frame, each said once: planes, stages, states, flags. A table has a row for each member of an enumeration;
 * from it come the enumeration, the words of <parallax/words.h>, the element sizes, the page's advice and Python's flags.py
 * (toolchain/vocabulary.py writes it). A number never changes its meaning; new rows go to the end of their table.
 */
#ifndef PARALLAX_VOCABULARY_H
#define PARALLAX_VOCABULARY_H

/* clang-format off */

/*
 * The planes of a frame: name, type of an element. A plane that the configuration switches off has width 0. A frame with
 * PLX_HEALTH_NOT_CALIBRATED is raw: it has LEFT, RIGHT and HISTOGRAM only, and both pictures are as captured, in 8-bit grey.
 */
#define PLX_PLANE_TABLE(ROW)                                                                                                   \
    ROW(LEFT, uint8_t)       /* [height][width] rectified left image */                                                        \
    ROW(DISPARITY, uint16_t) /* [height][width] strict disparity, relative to min_disparity, 0xFFFF = invalid */               \
    ROW(DENSE, uint16_t)     /* [height][width] dense disparity: occlusions filled along the row */                            \
    ROW(FILLED, uint8_t)     /* [height][width] 1 where DENSE holds a filled value, else 0; 0 in a row without any valid pixel */ \
    ROW(CONFIDENCE, uint8_t) /* [height][width] 255 times the probability that DENSE is within 1 px of the truth; 0: not known */ \
    ROW(LABELS, uint16_t)    /* [height][width] 0 = none, n = region n, i.e. the obstacle whose label is n; 0xFFFF = unpublished region */ \
    ROW(HISTOGRAM, uint32_t) /* [2 * (1 + 64)][256]: left whole, left zones row by row, right whole, right zones; raw luma */  \
    ROW(RIGHT, uint8_t)      /* [height][width] rectified right image; off unless publish.right is set (recording needs it) */ \
    ROW(SCAN, struct plx_scan)      /* [1][columns], columns = width / PLX_COLUMN_WIDTH, rounded up */                         \
    ROW(STIXELS, struct plx_stixel) /* [columns][PLX_COLUMN_STIXELS], nearest first, unused ones all 0 */                      \
    ROW(MAP, struct plx_cell)       /* [PLX_MAP_CELLS][PLX_MAP_CELLS] the ground around the robot, see struct plx_map_info */    \
    ROW(COLOUR, struct plx_rgb)     /* [height][width] the left picture in colour, sRGB; off unless colour.enabled is set */

/* What the service is doing: number, name, word. */
#define PLX_STATE_TABLE(ROW)                                                                                                   \
    ROW(0, STARTING, "starting")                                                                                               \
    ROW(1, RUNNING, "running")                                                                                                 \
    ROW(2, DEGRADED, "degraded")     /* running, with at least one health flag set */                                          \
    ROW(3, RECOVERING, "recovering") /* no fresh frames; the engine or a camera is being brought back */                       \
    ROW(4, FAILED, "failed")                                                                                                   \
    ROW(5, STOPPED, "stopped")       /* an orderly end */

/* Health flags, a set bit is a fault: bit, name, word, words, what to do. */
#define PLX_HEALTH_TABLE(ROW)                                                                                                  \
    ROW(0, CAMERA_LOST_LEFT, "camera_lost_left", "left camera lost",                                                           \
        "The left camera is gone. Check its cable; the service tries again by itself.")                                        \
    ROW(1, CAMERA_LOST_RIGHT, "camera_lost_right", "right camera lost",                                                        \
        "The right camera is gone. Check its cable; the service tries again by itself.")                                       \
    ROW(2, NO_FRAMES, "no_frames", "no fresh frames",                                                                          \
        "No frames come. See the other faults, and the service's log.")                                                        \
    ROW(3, DROPPED, "dropped", "camera frames missing", /* gaps in a camera's sequence numbers */                              \
        "A camera loses frames: its cable, its bus, or a rate that is too high.")                                              \
    ROW(4, DESYNC, "desync", "left and right not taken at the same time",                                                      \
        "Left and right are not taken at the same time. Check the trigger.")                                                   \
    ROW(5, TIMESTAMP, "timestamp", "wild timestamps", /* backward or wild */                                                   \
        "A camera's clock jumps. See the service's log.")                                                                      \
    ROW(6, FROZEN, "frozen", "picture frozen", /* it does not change at all */                                                 \
        "A picture does not change at all. Restart that camera.")                                                              \
    ROW(7, DARK, "dark", "too dark or covered",                                                                                \
        "Covered, or too dark to see.")                                                                                        \
    ROW(8, OVEREXPOSED, "overexposed", "overexposed",                                                                          \
        "Too bright. Is exposure control on?")                                                                                 \
    ROW(9, BRIGHTNESS_MISMATCH, "brightness_mismatch", "left and right differ in brightness",                                  \
        "One eye is brighter than the other. Clean the lenses; are the apertures equal?")                                      \
    ROW(10, MISALIGNED, "misaligned", "rows no longer aligned (calibration drift)",                                            \
        "Rows of left and right no longer match: calibrate again.")                                                            \
    ROW(11, LATE, "late", "frames late",                                                                                       \
        "A stage takes longer than its budget. Use a smaller picture, fewer disparities, or a freer machine.")                 \
    ROW(12, OVERLOAD, "overload", "overloaded, pairs skipped", /* processing takes longer than the period */                   \
        "Pairs come faster than they are processed. Lower the rate, the size or the disparities.")                             \
    ROW(13, GPU_FALLBACK, "gpu_fallback", "GPU lost, running on the CPU",                                                      \
        "The GPU failed; the CPU works in its place. Restart the service when you can.")                                       \
    ROW(14, GROUND_LOST, "ground_lost", "ground not found",                                                                    \
        "No ground is seen, so heights are unknown.")                                                                          \
    ROW(15, BUFFER_ERROR, "buffer_error", "damaged camera buffer",                                                             \
        "A camera delivers broken buffers. Check its cable and its driver.")                                                   \
    ROW(16, NOT_CALIBRATED, "not_calibrated", "not calibrated, raw pictures only", /* the images are not rectified */          \
        "There is no calibration: pictures only. Run `parallax calibrate`.")                                                   \
    ROW(17, MEMORY_PRESSURE, "memory_pressure", "the machine is short of memory", /* processes wait for it */                  \
        "The machine is short of memory.")                                                                                     \
    ROW(18, HOT, "hot", "too hot, or clocks throttled",                                                                        \
        "The machine is too hot, or throttled. Check its cooling.")                                                            \
    ROW(19, CAMERA_MOVED, "camera_moved", "camera moved on the robot", /* the ground does not agree with the mount */          \
        "Height or tilt of the camera differ from the key mount. Is it loose? Measure it again.")                              \
    ROW(20, BLURRED, "blurred", "one eye blurred or dirty",                                                                    \
        "One eye sees less sharply than the other. Clean the lenses; is one out of focus?")                                    \
    ROW(21, CORRECTIONS_OFF, "corrections_off", "corrections contradicted each other and are off", /* see drift.md */           \
        "Rows change with the robot's movement. Are the cameras triggered together, and firm? Then reload.")

/* Why a frame cannot show obstacles: where a bit is set, an empty list does not mean that nothing stands there. Bit, name, word,
 * words. */
#define PLX_BLIND_TABLE(ROW)                                                                                                   \
    ROW(0, NOT_CALIBRATED, "not_calibrated", "not calibrated") /* raw mode */                                                  \
    ROW(1, OBSTACLES_OFF, "obstacles_off", "switched off")     /* by the configuration */                                      \
    ROW(2, NO_GROUND, "no_ground", "no ground was found")      /* they are found by their height above it */                   \
    ROW(3, NO_PICTURE, "no_picture", "a camera sees nothing")  /* its picture is dark, overexposed or frozen */

/* Where the pictures come from; only V4L2 shows the world as it is now. Number, name, word, note. */
#define PLX_SOURCE_TABLE(ROW)                                                                                                  \
    ROW(0, SYNTHETIC, "synthetic", "simulated pictures")                                                                       \
    ROW(1, REPLAY, "replay", "recorded pictures")                                                                              \
    ROW(2, V4L2, "v4l2", "")

/* The clock of a source: number, name, word. */
#define PLX_CLOCK_TABLE(ROW)                                                                                                   \
    ROW(0, MONOTONIC, "monotonic")                                                                                             \
    ROW(1, REALTIME, "realtime")                                                                                               \
    ROW(2, DEVICE, "device")                                                                                                   \
    ROW(3, FILE, "file")

/* How a camera's pictures come into the memory that is worked on: number, name, word, words. */
#define PLX_MEMORY_TABLE(ROW)                                                                                                  \
    ROW(0, NONE, "none", "no camera")                                                                                          \
    ROW(1, USERPTR, "userptr", "written by the camera itself (USERPTR)")                                                       \
    ROW(2, DMABUF, "dmabuf", "written by the camera itself (DMABUF)") /* through a shared buffer */                            \
    ROW(3, MMAP, "mmap", "one copy (MMAP)")                           /* from the driver's memory */

/* Stages whose time is published, in the order of the data: name, word. */
#define PLX_STAGE_TABLE(ROW)                                                                                                   \
    ROW(CONVERT, "convert")                                                                                                    \
    ROW(HISTOGRAM, "histogram")                                                                                                \
    ROW(RECTIFY, "rectify")                                                                                                    \
    ROW(PREFILTER, "prefilter")                                                                                                \
    ROW(CENSUS, "census")                                                                                                      \
    ROW(SGM, "sgm")                                                                                                            \
    ROW(CHECK, "check")                                                                                                        \
    ROW(REFINE, "refine")                                                                                                      \
    ROW(GROUND, "ground")                                                                                                      \
    ROW(STIXELS, "stixels")                                                                                                    \
    ROW(OBSTACLES, "obstacles")                                                                                                \
    ROW(MOTION, "motion")                                                                                                      \
    ROW(TRACKS, "tracks")                                                                                                      \
    ROW(MAP, "map")                                                                                                            \
    ROW(COLOUR, "colour")

/* Where ego-motion comes from: number, name. */
#define PLX_MOTION_TABLE(ROW)                                                                                                  \
    ROW(0, NONE)   /* switched off: all numbers are 0 */                                                                       \
    ROW(1, VISUAL) /* visual odometry of the left camera */

/* What is known of a track in this frame: number, name, word.
 * NEW: unconfirmed. It was matched in fewer than tracks.min_hits frames, and may be an error of matching that is gone in the next
 * frame. Lists for people hide it; scan, map and verdict count what was seen at once.
 * TRACKED: confirmed, and seen in this frame.
 * LOST: confirmed, but not seen in this frame: where it should be. Lists for people show it for one frame more. */
#define PLX_TRACK_TABLE(ROW)                                                                                                   \
    ROW(1, NEW, "new")                                                                                                         \
    ROW(2, TRACKED, "tracked")                                                                                                 \
    ROW(3, LOST, "lost")

/* The class of a track's filtered width and height, size_m, which does not say what the thing is. A class stays while the size is
 * within 15 % of it. Number, name, word. */
#define PLX_SIZE_TABLE(ROW)                                                                                                    \
    ROW(0, UNKNOWN, "unknown")                                                                                                 \
    ROW(1, NARROW, "narrow") /* narrower than 0.35 m, higher than 1.2 m */                                                     \
    ROW(2, MEDIUM, "medium") /* up to 1.2 m wide, at least 0.8 m high, and not narrow */                                       \
    ROW(3, LARGE, "large")   /* wider than 1.2 m, up to 6 m; at least 0.8 m high */                                            \
    ROW(4, LOW, "low")       /* up to 6 m wide, lower than 0.8 m */                                                            \
    ROW(5, WIDE, "wide")     /* wider than 6 m, of any height */

/* What the map knows of a cell: number, name, word. */
#define PLX_CELL_TABLE(ROW)                                                                                                    \
    ROW(0, UNKNOWN, "unknown")                                                                                                 \
    ROW(1, FREE, "free")         /* ground, and nothing stands on it */                                                        \
    ROW(2, OCCUPIED, "occupied") /* something stands there, or hangs over it */                                                \
    ROW(3, DROP, "drop")         /* the ground falls away */                                                                   \
    ROW(4, LOST, "lost") /* unknown now: something stood there, or may, or the map lost its memory. Counts even out of view */

/* What a robot may do. Number, name, word. */
#define PLX_VERDICT_TABLE(ROW)                                                                                                 \
    ROW(0, STOP, "stop") /* 0: memory that nobody has written says stop */                                                     \
    ROW(1, SLOW, "slow")                                                                                                       \
    ROW(2, GO, "go")

/* Why a verdict is not go. Bit, name, word, words. */
#define PLX_REASON_TABLE(ROW)                                                                                                  \
    ROW(0, OCCUPIED, "occupied", "something stands in a zone")                                                                 \
    ROW(1, DROP, "drop", "the ground falls away in a zone")                                                                    \
    ROW(2, UNKNOWN, "unknown", "too much of a zone is unknown")                                                                \
    ROW(3, LITTLE_DEPTH, "little_depth", "too little depth is seen towards a zone")                                            \
    ROW(4, FAULT, "fault", "a health flag that counts is set")                                                                 \
    ROW(5, NO_MAP, "no_map", "there is no map: no mount, no ground, or raw pictures")                                          \
    ROW(6, NO_ZONES, "no_zones", "no zone counts at this speed, or none is configured")                                        \
    ROW(7, STALE, "stale", "the newest verdict is too old") /* this and the next: by plx_verdict */                            \
    ROW(8, NO_SERVICE, "no_service", "the service is not there")                                                               \
    ROW(9, SETTLING, "settling", "zones or self-checks have not seen enough since the start")

/* What plx_locate says of a box. Number, name, word, words. */
#define PLX_LOCATION_TABLE(ROW)                                                                                                \
    ROW(0, NO_DISPARITY, "no_disparity", "too few pixels of the box have a disparity") /* 0: zeros never look known */         \
    ROW(1, KNOWN, "known", "known")                                                                                            \
    ROW(2, OUTSIDE, "outside", "no pixel of the box lies in the picture")                                                      \
    ROW(3, ONLY_GROUND, "only_ground", "only ground is seen in the box")                                                       \
    ROW(4, AMBIGUOUS, "ambiguous", "several things in the box are about as likely")                                            \
    ROW(5, BEYOND_REACH, "beyond_reach", "what is seen in the box is too far to be measured")                                  \
    ROW(6, BLIND, "blind", "a camera sees nothing")                                                                            \
    ROW(7, RAW, "raw", "the frame is not calibrated, or its disparity is switched off")

#define PLX_PLANE_ROW(NAME, type) PLX_PLANE_##NAME,
#define PLX_STATE_ROW(number, NAME, word) PLX_STATE_##NAME = (number),
#define PLX_HEALTH_ROW(bit, NAME, word, words, advice) PLX_HEALTH_##NAME = 1u << (bit),
#define PLX_BLIND_ROW(bit, NAME, word, words) PLX_BLIND_##NAME = 1u << (bit),
#define PLX_SOURCE_ROW(number, NAME, word, note) PLX_SOURCE_##NAME = (number),
#define PLX_CLOCK_ROW(number, NAME, word) PLX_CLOCK_##NAME = (number),
#define PLX_MEMORY_ROW(number, NAME, word, words) PLX_MEMORY_##NAME = (number),
#define PLX_STAGE_ROW(NAME, word) PLX_STAGE_##NAME,
#define PLX_MOTION_ROW(number, NAME) PLX_MOTION_##NAME = (number),
#define PLX_TRACK_ROW(number, NAME, word) PLX_TRACK_##NAME = (number),
#define PLX_SIZE_ROW(number, NAME, word) PLX_SIZE_##NAME = (number),
#define PLX_CELL_ROW(number, NAME, word) PLX_CELL_##NAME = (number),
#define PLX_VERDICT_ROW(number, NAME, word) PLX_VERDICT_##NAME = (number),
#define PLX_REASON_ROW(bit, NAME, word, words) PLX_REASON_##NAME = 1u << (bit),
#define PLX_LOCATION_ROW(number, NAME, word, words) PLX_LOCATION_##NAME = (number),

enum plx_plane_id { PLX_PLANE_TABLE(PLX_PLANE_ROW) PLX_PLANE_COUNT };
enum plx_state { PLX_STATE_TABLE(PLX_STATE_ROW) };
enum plx_health { PLX_HEALTH_TABLE(PLX_HEALTH_ROW) };
enum plx_blind { PLX_BLIND_TABLE(PLX_BLIND_ROW) };
enum plx_source_type { PLX_SOURCE_TABLE(PLX_SOURCE_ROW) };
enum plx_clock { PLX_CLOCK_TABLE(PLX_CLOCK_ROW) };
enum plx_memory { PLX_MEMORY_TABLE(PLX_MEMORY_ROW) };
enum plx_stage { PLX_STAGE_TABLE(PLX_STAGE_ROW) PLX_STAGE_COUNT };
enum plx_motion_source { PLX_MOTION_TABLE(PLX_MOTION_ROW) };
enum plx_track_status { PLX_TRACK_TABLE(PLX_TRACK_ROW) };
enum plx_size_class { PLX_SIZE_TABLE(PLX_SIZE_ROW) };
enum plx_cell_kind { PLX_CELL_TABLE(PLX_CELL_ROW) };
enum plx_verdict_kind { PLX_VERDICT_TABLE(PLX_VERDICT_ROW) };
enum plx_reason_bit { PLX_REASON_TABLE(PLX_REASON_ROW) };
enum plx_location_state { PLX_LOCATION_TABLE(PLX_LOCATION_ROW) };

/* clang-format on */

#endif
