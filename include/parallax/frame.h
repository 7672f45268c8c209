/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published record: what Parallax knows about one stereo pair. Plain data of fixed layout and fixed-width types,
 * little endian, the same for every language that maps it. A frame is this header followed by its planes, each at
 * plane[i].offset bytes from the start of the header. Axes are REP-103 optical: x right, y down, z forward, metres.
 */
#ifndef PARALLAX_FRAME_H
#define PARALLAX_FRAME_H

#include <stdint.h>

#include <parallax/vocabulary.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_ABI_VERSION 9u
#define PLX_MAX_OBSTACLES 256
#define PLX_HISTOGRAM_BINS 256
#define PLX_HISTOGRAM_TILES 8 /* histogram zones per axis */
/* Rows of one eye in the histogram plane: the whole image, then its tiles. */
#define PLX_HISTOGRAM_EYE_ROWS (1 + PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES)
#define PLX_DISPARITY_ONE 16 /* disparity is unsigned 12.4 fixed point: 16 units are one pixel */
#define PLX_DISPARITY_INVALID 0xFFFFu
#define PLX_COLUMN_WIDTH 4           /* pixels of a column of the scan and of stixels; the last one may be narrower */
#define PLX_COLUMN_STIXELS 8         /* largest number of a column */
#define PLX_SCAN_NOTHING_FREE 0xFFFF /* plx_scan.free where no ground is seen */
#define PLX_OUTLINE_PARTS 16         /* parts of an obstacle's outline */
#define PLX_MAP_CELLS 200            /* cells of the map in each direction */
#define PLX_MAP_CELL_M 0.05          /* width of a cell */
#define PLX_CELL_AGE_S 0.125         /* unit of plx_cell.age */
#define PLX_CELL_HEIGHT_M 0.02       /* unit of plx_cell.foot and top */
#define PLX_MAX_ZONES 16
#define PLX_ZONE_POINTS 16
#define PLX_ZONE_NAME 24 /* bytes, with the end */

enum plx_eye { PLX_LEFT = 0, PLX_RIGHT = 1, PLX_EYES = 2 };

struct plx_plane {
    uint32_t offset;        /* bytes from the start of struct plx_frame */
    uint32_t pitch;         /* bytes from one row to the next */
    uint32_t width, height; /* elements */
    uint32_t element;       /* bytes of one element: 1, 2, 4, 8 or 16 */
    uint32_t reserved;
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

/* How the colour picture was made of the sensor's samples. */
struct plx_colour_info {
    float
        gain[3]; /* red, green and blue of the white balance, 1 to 8; 1 where the camera gives finished colours; 0: no colour */
    uint32_t
        known; /* 1: the white balance is configured or estimated, or the camera's own; 0: there was nothing to estimate yet */
};

struct plx_ground_info {
    uint32_t valid; /* 0: no ground found; the other numbers are 0 */
    float camera_height_m;
    float pitch_rad;    /* positive: the camera looks down */
    float roll_rad;     /* positive: the camera is turned clockwise about its view axis */
    float normal[3];    /* unit normal of the plane in camera axes, pointing down, into the ground */
    float inlier_ratio; /* share of the pixels that voted */
};

/* How well the rows of the rectified images match: the fit of an affine map to the vertical offsets of matched patches.
 * A positive error: a point lies lower in the right image. */
struct plx_alignment_info {
    uint32_t patches;            /* that the fit rests on; 0: not measured, and the other numbers are 0 */
    float epipolar_error_px;     /* offset at the centre of the image */
    float max_epipolar_error_px; /* largest absolute offset in the image */
    float pitch_rad; /* rotation of the right camera about its x axis that explains the error; positive: it looks up */
    float roll_rad;  /* about its view axis, from the change of the offset along a row; positive: clockwise */
    float scale;     /* size of the right image relative to the left one, from its change along a column; 1 = equal */
};

/* What the newest pictures say about the calibration. The rows of a match differ by fy (pitch (1 + y^2) - roll x - bend x y +
 * scale y) px, at (x, y) of the right picture from its principal point in focal lengths, as if the right camera were turned and
 * its picture scaled so. BEND looks like a yaw, but distortion does so too: rows say nothing about distances. The motion of the
 * newest frames does: disparities are disparity_offset_px + curve_px x^2 too small, so distances are too long. */
struct plx_drift_info {
    uint32_t matches;                           /* 0: the rows are not measured, and their numbers are 0 */
    float pitch_rad, roll_rad, bend_rad, scale; /* scale: 0 = equal */
    /* standard deviations */
    float pitch_deviation_rad, roll_deviation_rad, bend_deviation_rad, scale_deviation;
    float epipolar_error_px;             /* median of the rows' differences */
    float residual_px;                   /* likewise, less those numbers, each half of the matches judged by the other half's */
    float max_epipolar_error_px;         /* the largest difference that the numbers make at a match */
    float disparity_offset_px;           /* error of disparities in the middle of the picture */
    float disparity_offset_deviation_px; /* standard deviation; 0: not measured, the camera has hardly moved */
    float curve_px, curve_deviation_px;
    /* disparity_offset_px + curve_px x^2 at the side of the picture that is farther from the principal point */
    float side_px, side_deviation_px;
};

/* A correction of the calibration. Without it, a match at (x, y) of the right picture, from its principal point in focal
 * lengths, lies fy (pitch (1 + y^2) - roll x - bend x y + scale y) px too low, and disparity_offset_px + curve_px x^2 too far
 * right: disparities are so much too small. */
struct plx_correction {
    float pitch_rad, roll_rad, bend_rad, scale, disparity_offset_px, curve_px;
};

/* The corrections of the calibration, numbered since the calibration file is in use: what one of them was stays known. */
struct plx_correction_info {
    uint32_t number;               /* correction in force; 0: none, the calibration is as in its file */
    uint32_t proposed_number;      /* newest proposal that waits to be accepted; 0: none */
    struct plx_correction applied; /* in force */
    struct plx_correction proposed;
};

#define PLX_CONFIDENCES 256 /* values of a pixel in the confidence plane */

/* How far the disparities of PLX_PLANE_DISPARITY are from the truth, by the confidence of their pixels: measured on real pairs
 * with ground truth. Errors of neighbours are alike: the mean of a surface is hardly better than one of its pixels. */
struct plx_error_info {
    uint32_t known; /* 0: the settings of matching were never measured, or there is no confidence; all is 0 */
    uint32_t reserved;
    float sigma_px[PLX_CONFIDENCES]; /* 68 % of the errors are smaller; 0: not known */
    float bound_px[PLX_CONFIDENCES]; /* 95 % are */
};

/* A rigid motion. b_from_a: the point x in axes of a is rotation x + translation in axes of b; row-major, metres. */
struct plx_pose {
    double rotation[9];
    double translation[3];
};

/* Where the left camera is on the robot: in its base of REP-103, x forward, y left, z up, the origin on the ground. */
struct plx_mount_info {
    uint32_t known;    /* 1: the configuration has a mount, which the next six repeat; 0: they are 0 */
    uint32_t measured; /* 1: height, pitch and roll of the pose are those of this frame's ground, else those of the mount */
    float x_m, y_m, z_m;
    float roll_rad, pitch_rad, yaw_rad; /* clockwise about the view axis; down; to the left */
    struct plx_pose base_from_left;     /* moves points from axes of the left camera; all 0 without mount and ground */
};

/* Ego-motion: how the left camera moved. Its axes are the camera's: x right, y down, z forward; metres. */
struct plx_motion_info {
    uint32_t valid;         /* MOTION and COVARIANCE are known; 0 for the first frame */
    uint32_t source;        /* enum plx_motion_source */
    uint32_t corners;       /* corners in the key frame */
    uint32_t tracked;       /* those corners found in this frame */
    uint32_t inliers;       /* tracked corners that the motion explains */
    uint32_t breaks;        /* how often motion was lost for good, also with its engine: POSE lacks that motion */
    int64_t interval_ns;    /* time that MOTION covers: since the last frame whose motion was known */
    struct plx_pose motion; /* then_from_now: its translation is where the camera has gone in axes of the camera then */
    double covariance[36];  /* error of MOTION: translation (m), rotation vector (rad), axes of the camera now; row-major */
    struct plx_pose pose;   /* start_from_now; start: the camera of the epoch's first frame with this source */
};

/* Odometry of the robot (plx_motion_hint): how the left camera moved in an interval of 1 ms to 1 s, by at most 100 m and 90
 * degrees. */
struct plx_motion_hint {
    int64_t from_ns, to_ns; /* CLOCK_MONOTONIC, not negative; compared with capture_ns of the frames */
    struct plx_pose motion; /* then_from_now, as in plx_motion_info; then: at from_ns, now: at to_ns */
};

/* Where the plane PLX_PLANE_MAP lies. The axes of the map are level, x and y as the robot's base had them when the map began,
 * and it follows the robot in whole cells. Cell [row][column] is the square from ((origin_x + column), (origin_y + row)) cells
 * on. */
struct plx_map_info {
    uint32_t valid;             /* 0: there is no map in this frame, and the other numbers are 0 */
    uint32_t remembers;         /* 1: it holds what was seen before; 0: this frame only, as the motion is not known */
    int32_t origin_x, origin_y; /* cells */
    double x_m, y_m, yaw_rad;   /* robot's base in axes of the map; yaw to the left */
};

/* A zone of the configuration, and what the map says of it. */
struct plx_zone_info {
    char name[PLX_ZONE_NAME];
    uint32_t points;                   /* corners of its polygon; 0: there is no zone of this number */
    float polygon[PLX_ZONE_POINTS][2]; /* x and y in the robot's base, metres */
    uint32_t active;                   /* 1: it counts at this speed */
    uint32_t reasons;                  /* enum plx_reason_bit bits, filtered over time */
    uint32_t verdict;                  /* enum plx_verdict_kind: what the zone demands for these reasons; GO without any */
    float nearest_m; /* distance of its nearest occupied cell or drop from the base's origin; INFINITY: there is none */
    float known;     /* share of the cells that the cameras can see at all, 0 .. 1, that the map knows */
    float depth;     /* share of the columns towards it that show depth in this frame */
};

/* What the robot may do, by zones and faults. A frame of a recording or of `parallax run` has it too; a robot asks plx_verdict.
 */
struct plx_verdict_info {
    uint32_t verdict; /* enum plx_verdict_kind */
    uint32_t reasons; /* enum plx_reason_bit bits; 0 for GO */
    uint32_t faults;  /* enum plx_health bits that count for it */
    int32_t zone;     /* the zone that decides: the strictest, then that with the nearest thing; -1: none */
    float distance_m; /* nearest_m of that zone; INFINITY */
    float speed_mps;  /* by which zones were chosen; NAN: not known, all count */
    int64_t valid_ns; /* the verdict holds for this time after the left capture time */
};

/* The newest verdict of the service, see plx_verdict. */
struct plx_verdict_now {
    uint64_t sequence;           /* frame that the verdict was made from */
    int64_t capture_ns;          /* CLOCK_MONOTONIC, of the left picture */
    int64_t suspended_ns;        /* as in struct plx_frame */
    int64_t valid_ns;            /* the verdict holds for this time after the capture */
    uint32_t verdict, reasons;   /* enum plx_verdict_kind; enum plx_reason_bit bits */
    uint32_t faults;             /* enum plx_health bits that count for it */
    int32_t zone;                /* number of the zone that decides; -1: none */
    float distance_m, speed_mps; /* as in struct plx_verdict_info */
    char name[PLX_ZONE_NAME];    /* that zone's name; "": none */
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
    float nearest_sigma_m; /* its standard deviation; 0: not known */
    float position_m[3];   /* centroid of the interior, the part near the median disparity, at its refined disparity */
    float extent_m[3];     /* width, height, depth */
    float height_m;        /* top of the obstacle above ground; 0 when there is no ground */
    float valid_ratio;     /* area of the region over pixels of the box */
    float velocity_mps[3]; /* camera axes, relative to the camera */
    float velocity_variance[3];          /* (m/s)^2 */
    float confidence;                    /* 0..1 */
    float world_velocity_mps[3];         /* camera axes, relative to the ground: all 0 while motion is not known */
    float world_velocity_variance[3];    /* (m/s)^2; 0: world_velocity_mps is not known */
    float moving_sigmas;                 /* its way over the ground in the last seconds, in standard deviations */
    uint32_t moving;                     /* 1: it moves, with significance; 0: it stands, or nothing is known */
    float size_m[2];                     /* width and height, filtered over the life of the track */
    uint32_t size_class;                 /* enum plx_size_class */
    uint16_t outline[PLX_OUTLINE_PARTS]; /* the nearest thing of each part of the box, from left to right: disparity as in
                                            struct plx_scan, 0: none there reaches below 1.9 m. See plx_obstacle_nearest */
};

/* 1 if part PART of the outline of OBSTACLE and the pixel columns X .. X + WIDTH - 1 share a column. A part has at least one.
 */
static inline int plx_outline_meets(const struct plx_obstacle *obstacle, int part, int64_t x, int64_t width)
{
    const int64_t begin = obstacle->x + (int64_t)obstacle->width * part / PLX_OUTLINE_PARTS;
    const int64_t next = obstacle->x + (int64_t)obstacle->width * (part + 1) / PLX_OUTLINE_PARTS;
    return begin < x + width && (next > begin ? next : begin + 1) > x;
}

/* The outline's nearest disparity in the pixel columns X .. X + WIDTH - 1; 0 if there is none. */
static inline uint16_t plx_outline_nearest(const struct plx_obstacle *obstacle, int64_t x, int64_t width)
{
    uint16_t nearest = 0;
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
        if (plx_outline_meets(obstacle, part, x, width) && obstacle->outline[part] > nearest)
            nearest = obstacle->outline[part];
    return nearest;
}

/* Bits of plx_scan.known. */
#define PLX_SCAN_KNOWN 1u
#define PLX_SCAN_DROP 2u
#define PLX_SCAN_RISE 4u

/* What stands in one column of the image, and how far its ground is free. Disparities are 1/16 px above the disparity of
 * infinity: Z = 16 fx baseline / disparity. Like the disparity planes, they are drawn towards whole pixels, by up to 1/4 px. */
struct plx_scan {
    uint16_t nearest; /* disparity of the nearest thing that reaches below 1.9 m above the ground; 0: none, Z is infinite */
    uint16_t free;    /* disparity up to which ground is seen, without a long gap, and nothing stands on it;
                         PLX_SCAN_NOTHING_FREE: nowhere */
    uint16_t known;   /* PLX_SCAN_KNOWN: from the nearest ground that can be seen on, a thing or ground is seen; without it
                         something nearer than blind_within_m may stand there, whatever is seen behind it. PLX_SCAN_DROP: the
                         free ground ends where the ground falls away. PLX_SCAN_RISE: it ends at something low, which may have
                         no stixel */
    uint16_t stixels; /* number of stixels in this column */
};

/* A stixel: a thing in one column of the image that faces the camera. Disparities as in struct plx_scan. */
struct plx_stixel {
    uint16_t y0, y1;         /* first and last row */
    uint16_t disparity;      /* median; 0: there is no stixel */
    uint16_t near_disparity; /* nearest part up to 2 m above the ground, robust against outliers */
    int16_t top_mm, foot_mm; /* heights of its ends above the ground plane; 0 without ground */
    uint16_t support;        /* cells of 4 x 2 pixels whose disparity agrees */
    uint16_t label;          /* its obstacle's label, or 0; 0xFFFF: an unpublished region */
};

/* A cell of the map. */
struct plx_cell {
    uint8_t kind;      /* enum plx_cell_kind */
    uint8_t age;       /* since it was last seen, PLX_CELL_AGE_S; 255: longer; 0: in this frame */
    uint8_t foot, top; /* ends of what stands in an OCCUPIED cell: heights above the ground, PLX_CELL_HEIGHT_M */
};

/* A pixel of the colour picture: sRGB (IEC 61966-2-1). */
struct plx_rgb {
    uint8_t r, g, b;
};

/* Bytes of an element of plane ID. */
static inline uint32_t plx_plane_element(enum plx_plane_id id)
{
#define PLX_PLANE_BYTES(NAME, type) sizeof(type),
    static const uint32_t bytes[] = {PLX_PLANE_TABLE(PLX_PLANE_BYTES)};
#undef PLX_PLANE_BYTES
    return (unsigned)id < PLX_PLANE_COUNT ? bytes[id] : 0;
}

struct plx_frame {
    uint64_t sequence;      /* number in this epoch, from 1, without gaps */
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
    uint32_t width, height;             /* size of the rectified image; of the captured one in a raw frame */
    int32_t min_disparity;              /* pixels; true disparity = value / 16 + min_disparity */
    uint32_t disparities;               /* searched range, pixels */
    uint32_t stage_us[PLX_STAGE_COUNT]; /* how much longer the frame took because of each stage; sum: its whole time */
    uint32_t bytes;                     /* size of the frame: header and planes */
    struct plx_ground_info ground;
    struct plx_alignment_info alignment;
    struct plx_drift_info drift; /* what is left with the correction in force */
    struct plx_correction_info correction;
    uint32_t cpu_us;      /* processor time of all threads of the engine since its frame before; 0: unknown, its first one */
    float blind_within_m; /* nothing nearer is seen: disparities end there, or obstacles.range_min_m; 0 in a raw frame */
    struct plx_motion_info motion;
    struct plx_mount_info mount;
    struct plx_map_info map;
    struct plx_verdict_info verdict;
    struct plx_zone_info zone[PLX_MAX_ZONES];
    struct plx_colour_info colour;
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t region_count;   /* components found, published or not */
    uint32_t obstacle_count; /* entries in obstacle[] below, sorted by area, LOST tracks last */
    struct plx_obstacle obstacle[PLX_MAX_OBSTACLES];
    struct plx_error_info errors; /* the same in every frame of an epoch: after what short copies hold */
};

#ifdef __cplusplus
}
#endif
#endif
