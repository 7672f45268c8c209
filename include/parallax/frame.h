/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published record: what Parallax knows about one stereo pair. Plain data of fixed layout and fixed-width types,
 * little endian, the same for every language that maps it. A frame is this header followed by its planes, each at
 * plane[i].offset bytes from the start of the header. Axes are REP-103 optical: x right, y down, z forward, metres.
 */
#ifndef PARALLAX_FRAME_H
#define PARALLAX_FRAME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_ABI_VERSION 4u
#define PLX_MAX_OBSTACLES 256
#define PLX_HISTOGRAM_BINS 256
#define PLX_ZONES 8          /* histogram zones per axis */
#define PLX_DISPARITY_ONE 16 /* disparity is unsigned 12.4 fixed point: 16 units are one pixel */
#define PLX_DISPARITY_INVALID 0xFFFFu
#define PLX_COLUMN_WIDTH 4           /* pixels of a column of the scan and of stixels; the last one may be narrower */
#define PLX_COLUMN_STIXELS 8         /* largest number of a column */
#define PLX_SCAN_NOTHING_FREE 0xFFFF /* plx_scan.free where no ground is seen */

enum plx_eye { PLX_LEFT = 0, PLX_RIGHT = 1, PLX_EYES = 2 };

/* The planes of a frame; a plane that the configuration switches off has width 0. A frame with PLX_HEALTH_NOT_CALIBRATED is
 * raw: it has LEFT, RIGHT and HISTOGRAM only, and both pictures are as captured, in 8-bit grey. */
enum plx_plane_id {
    PLX_PLANE_LEFT,      /* u8  [height][width] rectified left image */
    PLX_PLANE_DISPARITY, /* u16 [height][width] strict disparity, relative to min_disparity, 0xFFFF = invalid */
    PLX_PLANE_DENSE,     /* u16 [height][width] dense disparity: occlusions filled along the row */
    PLX_PLANE_FILLED, /* u8  [height][width] 1 where DENSE holds a filled value, else 0; 0 in a row without any valid pixel */
    PLX_PLANE_CONFIDENCE, /* u8  [height][width] 0 (none) .. 255 */
    PLX_PLANE_LABELS,    /* u16 [height][width] 0 = none, n = region n, i.e. the obstacle whose label is n; 0xFFFF = unpublished
                            region */
    PLX_PLANE_HISTOGRAM, /* u32 [2 * (1 + 64)][256]: left whole, left zones row by row, right whole, right zones; raw luma */
    PLX_PLANE_RIGHT,     /* u8  [height][width] rectified right image; off unless publish.right is set (recording needs it) */
    PLX_PLANE_SCAN,      /* struct plx_scan [1][columns], columns = width / PLX_COLUMN_WIDTH, rounded up */
    PLX_PLANE_STIXELS,   /* struct plx_stixel [columns][PLX_COLUMN_STIXELS], nearest first, unused ones all 0 */
    PLX_PLANE_COUNT
};

struct plx_plane {
    uint32_t offset;        /* bytes from the start of struct plx_frame */
    uint32_t pitch;         /* bytes from one row to the next */
    uint32_t width, height; /* elements */
    uint32_t element;       /* bytes of one element: 1, 2, 4, 8 or 16 */
    uint32_t reserved;
};

/* What the service is doing. */
enum plx_state {
    PLX_STATE_STARTING = 0,
    PLX_STATE_RUNNING = 1,
    PLX_STATE_DEGRADED = 2,   /* running, with at least one health flag set */
    PLX_STATE_RECOVERING = 3, /* no fresh frames; the engine or a camera is being brought back */
    PLX_STATE_FAILED = 4,
    PLX_STATE_STOPPED = 5 /* an orderly end */
};

/* Health flags: a set bit is a fault. */
enum plx_health {
    PLX_HEALTH_CAMERA_LOST_LEFT = 1u << 0,
    PLX_HEALTH_CAMERA_LOST_RIGHT = 1u << 1,
    PLX_HEALTH_NO_FRAMES = 1u << 2,
    PLX_HEALTH_DROPPED = 1u << 3,   /* gaps in a camera's sequence numbers */
    PLX_HEALTH_DESYNC = 1u << 4,    /* left and right were not taken at the same time */
    PLX_HEALTH_TIMESTAMP = 1u << 5, /* backward or wild timestamps */
    PLX_HEALTH_FROZEN = 1u << 6,    /* the picture does not change at all */
    PLX_HEALTH_DARK = 1u << 7,      /* covered, or too dark to see */
    PLX_HEALTH_OVEREXPOSED = 1u << 8,
    PLX_HEALTH_BRIGHTNESS_MISMATCH = 1u << 9,
    PLX_HEALTH_MISALIGNED = 1u << 10, /* rows no longer match: calibration drift */
    PLX_HEALTH_LATE = 1u << 11,
    PLX_HEALTH_OVERLOAD = 1u << 12, /* pairs are skipped because processing takes longer than the period */
    PLX_HEALTH_GPU_FALLBACK = 1u << 13,
    PLX_HEALTH_GROUND_LOST = 1u << 14,
    PLX_HEALTH_BUFFER_ERROR = 1u << 15,
    PLX_HEALTH_NOT_CALIBRATED = 1u << 16,  /* raw mode: the images are not rectified, and there is no disparity */
    PLX_HEALTH_MEMORY_PRESSURE = 1u << 17, /* the machine is short of memory, and processes wait for it */
    PLX_HEALTH_HOT = 1u << 18              /* the machine is too hot, or its clocks are throttled */
};

/* Why a frame cannot show obstacles: where a bit is set, an empty list does not mean that nothing stands there. */
enum plx_blind {
    PLX_BLIND_NOT_CALIBRATED = 1u << 0, /* raw mode */
    PLX_BLIND_OBSTACLES_OFF = 1u << 1,  /* the configuration switches their detection off */
    PLX_BLIND_NO_GROUND = 1u << 2,      /* they are found by their height above the ground, which is not found */
    PLX_BLIND_NO_PICTURE = 1u << 3      /* a camera's picture is dark, overexposed or frozen */
};

/* Where the pictures come from. Only PLX_SOURCE_V4L2 shows the world as it is now. */
enum plx_source_type { PLX_SOURCE_SYNTHETIC = 0, PLX_SOURCE_REPLAY = 1, PLX_SOURCE_V4L2 = 2 };

enum plx_clock { PLX_CLOCK_MONOTONIC = 0, PLX_CLOCK_REALTIME = 1, PLX_CLOCK_DEVICE = 2, PLX_CLOCK_FILE = 3 };

/* How a camera's pictures come into the memory that is worked on. */
enum plx_memory {
    PLX_MEMORY_NONE = 0,    /* no camera */
    PLX_MEMORY_USERPTR = 1, /* the camera writes there itself */
    PLX_MEMORY_DMABUF = 2,  /* likewise, through a shared buffer */
    PLX_MEMORY_MMAP = 3     /* one copy from the driver's memory */
};

/* Stages whose time is published, in the order of the data. */
enum plx_stage {
    PLX_STAGE_CONVERT,
    PLX_STAGE_HISTOGRAM,
    PLX_STAGE_RECTIFY,
    PLX_STAGE_PREFILTER,
    PLX_STAGE_CENSUS,
    PLX_STAGE_SGM,
    PLX_STAGE_CHECK,
    PLX_STAGE_REFINE,
    PLX_STAGE_GROUND,
    PLX_STAGE_COLUMNS,
    PLX_STAGE_OBSTACLES,
    PLX_STAGE_MOTION,
    PLX_STAGE_TRACKS,
    PLX_STAGE_COUNT
};

/* One eye's capture. */
struct plx_capture_info {
    int64_t capture_ns;      /* CLOCK_MONOTONIC; middle of exposure where the source knows it */
    int64_t clock_offset_ns; /* measured: CLOCK_MONOTONIC minus the source's clock */
    uint32_t clock;          /* enum plx_clock of the source */
    uint32_t sequence;       /* the camera's own frame number */
    uint64_t dropped;        /* frames missing from that numbering since start */
    uint32_t exposure_us;    /* in force in this picture; 0 = unknown */
    float gain;              /* linear, 1 = none, in force in this picture; 0 = unknown */
    uint32_t masked;         /* rectified pixels that lie outside the raw image */
    uint32_t memory;         /* enum plx_memory */
};

/* Pinhole model of the rectified left image, pixels; baseline in metres. All zeros in a raw frame. */
struct plx_calibration_info {
    double fx, fy, cx, cy;
    double cx_right; /* differs from cx only where the rectification does not share it */
    double baseline_m;
};

struct plx_ground_info {
    uint32_t valid; /* 0: no ground found; the other numbers are 0 */
    float camera_height_m;
    float pitch_rad;    /* positive: the camera looks down */
    float roll_rad;     /* positive: the camera is turned clockwise about its view axis */
    float normal[3];    /* unit normal of the plane in camera axes, pointing down, into the ground */
    float inlier_ratio; /* of the pixels that voted */
};

/* How well the rows of the rectified images match: the fit of an affine map to the vertical offsets of matched patches.
 * Positive rows: a point lies lower in the right image. */
struct plx_alignment_info {
    uint32_t patches; /* that the fit rests on; 0: not measured, and the other numbers are 0 */
    float rows;       /* offset at the centre of the image, pixels */
    float worst_rows; /* largest absolute offset in the image, pixels */
    float pitch_rad;  /* rotation of the right camera about its x axis that explains rows; positive: it looks up */
    float roll_rad;   /* about its view axis, from the change of the offset along a row; positive: clockwise */
    float scale;      /* size of the right image relative to the left one, from its change along a column; 1 = equal */
};

/* A rigid motion. b_from_a: the point x in axes of a is rotation x + translation in axes of b; row-major, metres. */
struct plx_pose {
    double rotation[9];
    double translation[3];
};

enum plx_motion_source {
    PLX_MOTION_NONE = 0,   /* switched off: all numbers are 0 */
    PLX_MOTION_VISUAL = 1, /* visual odometry of the left camera */
};

/* Ego-motion: how the left camera moved. Its axes are the camera's: x right, y down, z forward; metres. */
struct plx_motion_info {
    uint32_t valid;         /* MOTION and COVARIANCE are known; 0 for the first frame */
    uint32_t source;        /* enum plx_motion_source */
    uint32_t corners;       /* of the key frame */
    uint32_t tracked;       /* of those, found in this frame */
    uint32_t inliers;       /* of those, explained by the motion */
    uint32_t breaks;        /* how often motion was lost for good, also with its engine: POSE lacks that motion */
    int64_t interval_ns;    /* of MOTION: from the last frame whose motion was known */
    struct plx_pose motion; /* then_from_now: its translation is where the camera has gone in axes of the camera then */
    double covariance[36];  /* of MOTION's error: translation (m), rotation vector (rad), axes of the camera now; row-major */
    struct plx_pose pose;   /* start_from_now; start: the camera of the epoch's first frame with this source */
};

/* Odometry of the robot (plx_motion_hint): how the left camera moved in an interval of 1 ms to 1 s, by at most 100 m and 90
 * degrees. */
struct plx_motion_hint {
    int64_t from_ns, to_ns; /* CLOCK_MONOTONIC, not negative; compared with capture_ns of the frames */
    struct plx_pose motion; /* then_from_now, as in plx_motion_info; then: at from_ns, now: at to_ns */
};

enum plx_track_status { PLX_TRACK_NEW = 1, PLX_TRACK_TRACKED = 2, PLX_TRACK_LOST = 3 };

/* Of a track, by its filtered width and height, size_m. A class of measured size: it does not say what the thing is. A class
 * stays while the size is within 15 % of it. */
enum plx_size_class {
    PLX_SIZE_UNKNOWN = 0,
    PLX_SIZE_NARROW = 1, /* narrower than 0.35 m, higher than 1.2 m */
    PLX_SIZE_MEDIUM = 2, /* up to 1.2 m wide, at least 0.8 m high, and not narrow */
    PLX_SIZE_LARGE = 3,  /* wider than 1.2 m, up to 6 m; at least 0.8 m high */
    PLX_SIZE_LOW = 4,    /* up to 6 m wide, lower than 0.8 m */
    PLX_SIZE_WIDE = 5    /* wider than 6 m, of any height */
};

struct plx_obstacle {
    uint32_t label;      /* value in the label plane; 0 for a track that is LOST in this frame */
    uint32_t track;      /* stays with the obstacle while it is in view; never 0, never reused in an epoch */
    uint32_t status;     /* enum plx_track_status */
    uint32_t age_frames; /* since the track began */
    uint32_t area_px;
    int32_t x, y, width, height;  /* box in the rectified left image, pixels */
    float centroid_x, centroid_y; /* pixels */
    float disparity_median;       /* pixels, min_disparity included */
    float disparity_near;  /* 95th percentile, pixels, shifted by what refining moved the interior: the robust nearest part */
    float nearest_m;       /* distance z of that percentile */
    float position_m[3];   /* centroid of the interior, the part near the median disparity, at its refined disparity */
    float extent_m[3];     /* width, height, depth */
    float height_m;        /* top of the obstacle above ground; 0 when there is no ground */
    float valid_ratio;     /* area of the region over pixels of the box */
    float velocity_mps[3]; /* camera axes, relative to the camera */
    float velocity_variance[3];       /* (m/s)^2 */
    float confidence;                 /* 0..1 */
    float world_velocity_mps[3];      /* camera axes, relative to the ground: all 0 while motion is not known */
    float world_velocity_variance[3]; /* (m/s)^2; 0: world_velocity_mps is not known */
    float moving_sigmas;              /* its way over the ground in the last seconds, in standard deviations */
    uint32_t moving;                  /* 1: it moves, with significance; 0: it stands, or nothing is known */
    float size_m[2];                  /* width and height, filtered over the life of the track */
    uint32_t size_class;              /* enum plx_size_class */
};

/* What stands in one column of the image, and how far its ground is free. Disparities are 1/16 px above the disparity of
 * infinity: Z = 16 fx baseline / disparity. Like the disparity planes, they are drawn towards whole pixels, by up to 1/4 px. */
struct plx_scan {
    uint16_t nearest; /* disparity of the nearest thing that reaches below 1.9 m above the ground; 0: none, Z is infinite */
    uint16_t free;    /* disparity up to which ground is seen, without a long gap, and nothing stands on it;
                         PLX_SCAN_NOTHING_FREE: nowhere */
    uint16_t known;   /* 1: a thing or ground is seen; 0: nothing is known */
    uint16_t stixels; /* of this column */
};

/* A stixel: a thing in one column of the image that faces the camera. Disparities as in struct plx_scan. */
struct plx_stixel {
    uint16_t y0, y1;         /* first and last row */
    uint16_t disparity;      /* median; 0: there is no stixel */
    uint16_t near_disparity; /* of its nearest part up to 2 m above the ground, robust against outliers */
    int16_t top_mm, foot_mm; /* heights of its ends above the ground plane; 0 without ground */
    uint16_t support;        /* cells of 4 x 2 pixels whose disparity agrees */
    uint16_t reserved;
};

/* Bytes of an element of plane ID. */
static inline uint32_t plx_plane_element(enum plx_plane_id id)
{
    switch (id) {
    case PLX_PLANE_LEFT:
    case PLX_PLANE_RIGHT:
    case PLX_PLANE_FILLED:
    case PLX_PLANE_CONFIDENCE:
        return 1;
    case PLX_PLANE_DISPARITY:
    case PLX_PLANE_DENSE:
    case PLX_PLANE_LABELS:
        return 2;
    case PLX_PLANE_HISTOGRAM:
        return 4;
    case PLX_PLANE_SCAN:
        return sizeof(struct plx_scan);
    case PLX_PLANE_STIXELS:
        return sizeof(struct plx_stixel);
    case PLX_PLANE_COUNT:
        break;
    }
    return 0;
}

struct plx_frame {
    uint64_t sequence;      /* of this epoch, from 1, without gaps */
    uint64_t epoch;         /* one life of the region; increases with every start of the service */
    int64_t published_ns;   /* CLOCK_MONOTONIC */
    int64_t suspended_ns;   /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC when the pair was taken: how long the machine had slept */
    int64_t fresh_ns;       /* the frame is fresh for this time after the left capture time; see plx_is_fresh */
    int64_t skew_ns;        /* right capture time minus left */
    uint32_t state;         /* enum plx_state */
    uint32_t health;        /* enum plx_health bits */
    uint32_t source;        /* enum plx_source_type */
    uint32_t blind;         /* enum plx_blind bits; 0: obstacle[] is what stands in view. See plx_obstacles */
    uint64_t pairs_skipped; /* whole pairs dropped since start, because a newer one was there or they were too old */
    struct plx_capture_info capture[PLX_EYES];
    struct plx_calibration_info calibration;
    uint32_t width, height;             /* of the rectified image; of the captured one in a raw frame */
    int32_t min_disparity;              /* pixels; true disparity = value / 16 + min_disparity */
    uint32_t disparities;               /* searched range, pixels */
    uint32_t stage_us[PLX_STAGE_COUNT]; /* how much longer the frame took because of each stage; sum: its whole time */
    uint32_t bytes;                     /* of the frame: header and planes */
    struct plx_ground_info ground;
    struct plx_alignment_info alignment;
    struct plx_motion_info motion;
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t region_count;   /* components found, published or not */
    uint32_t obstacle_count; /* of obstacle[] below, sorted by area, LOST tracks last */
    struct plx_obstacle obstacle[PLX_MAX_OBSTACLES];
};

#ifdef __cplusplus
}
#endif
#endif
