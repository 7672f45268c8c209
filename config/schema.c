/* SPDX-License-Identifier: Apache-2.0 */
/* Every key of the configuration, in the order of the data's way. */
#include "config/schema.h"

#include <parallax/region.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) .offset = offsetof(struct plx_config, field), .size = sizeof(((struct plx_config *)0)->field)
#define WHOLE PLX_WHOLE
#define REAL PLX_REAL
#define LIVE .reloadable = true

_Static_assert(sizeof(enum plx_source_type) == sizeof(int), "words are stored as int");

static const struct plx_word source_words[] = {
    {"synthetic", PLX_SOURCE_SYNTHETIC}, {"replay", PLX_SOURCE_REPLAY}, {"v4l2", PLX_SOURCE_V4L2}, {NULL, 0}};
static const struct plx_word replay_words[] = {
    {"recorded", PLX_REPLAY_RECORDED}, {"fixed", PLX_REPLAY_FIXED}, {"maximum", PLX_REPLAY_MAXIMUM}, {NULL, 0}};
static const struct plx_word gain_words[] = {{"linear", PLX_GAIN_LINEAR}, {"db", PLX_GAIN_DB}, {NULL, 0}};
static const struct plx_word backend_words[] = {
    {"auto", PLX_BACKEND_AUTO}, {"cpu", PLX_BACKEND_CPU}, {"gpu", PLX_BACKEND_GPU}, {NULL, 0}};
static const struct plx_word memory_words[] = {{"auto", PLX_GPU_MEMORY_AUTO},
                                               {"mapped", PLX_GPU_MEMORY_MAPPED},
                                               {"managed", PLX_GPU_MEMORY_MANAGED},
                                               {"copied", PLX_GPU_MEMORY_COPIED},
                                               {NULL, 0}};
static const struct plx_word preset_words[] = {
    {"default", PLX_MATCH_PRESET_DEFAULT}, {"classic", PLX_MATCH_PRESET_CLASSIC}, {NULL, 0}};
static const struct plx_word census_words[] = {{"symmetric_9x7", PLX_CENSUS_SYMMETRIC_9X7},
                                               {"symmetric_7x5", PLX_CENSUS_SYMMETRIC_7X5},
                                               {"full_9x7", PLX_CENSUS_FULL_9X7},
                                               {"checker_9x7", PLX_CENSUS_CHECKER_9X7},
                                               {NULL, 0}};
static const struct plx_word subpixel_words[] = {
    {"none", PLX_SUBPIXEL_NONE}, {"parabola", PLX_SUBPIXEL_PARABOLA}, {"blend", PLX_SUBPIXEL_BLEND}, {NULL, 0}};
static const struct plx_word median_words[] = {
    {"none", PLX_MEDIAN_NONE}, {"3x3", PLX_MEDIAN_3X3}, {"valid_5x5", PLX_MEDIAN_VALID_5X5}, {NULL, 0}};

const struct plx_key plx_keys[] = {
    {"source.type", PLX_KEY_WORD, FIELD(source.type), .words = source_words, .other_name = "source.kind",
     .help = "source of pictures: the synthetic scene, recorded files, or cameras"},
    {"source.path", PLX_KEY_TEXT, FIELD(source.path),
     .help = "replay: a KITTI-style directory (image_0, image_1, times.txt), or one with left and right"},
    {"source.replay_rate", PLX_KEY_WORD, FIELD(source.replay_rate), .words = replay_words,
     .help = "replay: at the recorded times, at rate_hz, or as fast as the service takes pairs"},
    {"source.loop", PLX_KEY_BOOL, FIELD(source.loop), .help = "replay: start again after the last pair"},
    {"source.rate_hz", PLX_KEY_REAL, FIELD(source.rate_hz), REAL(0, 1000),
     .help = "pairs per second; 0 = synthetic: no pause, v4l2: the camera's setting; replay: if replay_rate is fixed"},
    {"source.width", PLX_KEY_INT, FIELD(source.width), WHOLE(16, PLX_MAX_SIDE),
     .help = "synthetic, v4l2: picture width of one eye, pixels"},
    {"source.height", PLX_KEY_INT, FIELD(source.height), WHOLE(16, PLX_MAX_SIDE),
     .help = "synthetic, v4l2: picture height, pixels"},
    {"source.seed", PLX_KEY_INT, FIELD(source.seed), WHOLE(0, 2147483647), .help = "synthetic: seed of texture and noise"},
    {"source.noise_levels", PLX_KEY_REAL, FIELD(source.noise), REAL(0, 64),
     .help = "synthetic: standard deviation of the camera noise, grey levels"},
    {"source.left", PLX_KEY_TEXT, FIELD(source.camera[PLX_LEFT]),
     .help = "v4l2: left camera, as `parallax cameras` prints it: /dev/v4l/by-path/... or card=,driver=,serial=,bus="},
    {"source.right", PLX_KEY_TEXT, FIELD(source.camera[PLX_RIGHT]),
     .help = "v4l2: right camera, likewise; empty = the left camera gives both eyes side by side"},
    {"source.format", PLX_KEY_TEXT, FIELD(source.format),
     .help = "v4l2: pixel format, four characters such as GREY or MJPG; empty = the best that the camera offers"},
    {"source.crop_x", PLX_KEY_INT, FIELD(source.crop_x), WHOLE(0, 65535), .help = "v4l2: first sensor column of the crop"},
    {"source.crop_y", PLX_KEY_INT, FIELD(source.crop_y), WHOLE(0, 65535), .help = "v4l2: first sensor row of the crop"},
    {"source.crop_width", PLX_KEY_INT, FIELD(source.crop_width), WHOLE(0, 65535),
     .help = "v4l2: width of the crop, sensor columns; 0 = the camera keeps its crop"},
    {"source.crop_height", PLX_KEY_INT, FIELD(source.crop_height), WHOLE(0, 65535),
     .help = "v4l2: height of the crop, sensor rows"},
    {"source.msb_aligned", PLX_KEY_BOOL, FIELD(source.msb_aligned),
     .help = "v4l2: 10- and 12-bit samples are in the high bits of their 16, as some Jetson drivers write them"},
    {"source.controls", PLX_KEY_TEXT, FIELD(source.controls),
     .help = "v4l2: name=value,...: controls of both cameras, set in this order before the format"},
    {"source.exposure_control", PLX_KEY_TEXT, FIELD(source.exposure_control),
     .help = "v4l2: control of the exposure time, by name or number; empty = a known control"},
    {"source.exposure_unit_us", PLX_KEY_REAL, FIELD(source.exposure_unit_us), REAL(0, 1e6),
     .help = "v4l2: microseconds per unit of the exposure control; 0 = the unit of a known control"},
    {"source.exposure_delay", PLX_KEY_INT, FIELD(source.exposure_delay), WHOLE(0, 4),
     .help = "v4l2: pictures from setting the exposure time to its effect"},
    {"source.gain_control", PLX_KEY_TEXT, FIELD(source.gain_control),
     .help = "v4l2: control of the gain, by name or number; empty = a known control"},
    {"source.gain_unit", PLX_KEY_WORD, FIELD(source.gain_unit), .words = gain_words,
     .help = "v4l2: scale of the gain control: linear factor or dB"},
    {"source.gain_step", PLX_KEY_REAL, FIELD(source.gain_step), REAL(0, 1000),
     .help = "v4l2: gain, factor or dB, per unit of the gain control; 0 = a known control's, else 1 / its minimum"},
    {"source.gain_delay", PLX_KEY_INT, FIELD(source.gain_delay), WHOLE(0, 4),
     .help = "v4l2: pictures from setting the gain to its effect"},
    {"source.restore_controls", PLX_KEY_BOOL, FIELD(source.restore_controls),
     .help = "v4l2: restore all changed controls when the engine ends"},
    {"source.readout_ms", PLX_KEY_REAL, FIELD(source.readout_ms), REAL(0, 1000),
     .help = "v4l2: sensor readout time, subtracted from end-of-frame stamps; 0 = unknown, stamps are not corrected"},
    {"source.pair_tolerance_ms", PLX_KEY_REAL, FIELD(source.pair_tolerance_ms), REAL(0, 1000),
     .help = "largest difference of left and right capture times within a pair; 0 = a quarter of the period"},

    {"calibration", PLX_KEY_TEXT, FIELD(calibration),
     .help = "file, or two ROS camera_info files: left,right; empty = the source's own, else raw mode; none = raw mode"},
    {"calibration_scale", PLX_KEY_REAL, FIELD(calibration_scale), REAL(1e-6, 1e6),
     .help = "metres per unit of the calibration's translation: 0.001 for millimetres, 0.025 for 25 mm squares"},
    {"rectify_alpha", PLX_KEY_REAL, FIELD(rectify_alpha), REAL(0, 1),
     .help = "computed rectification: 0 = only valid pixels, 1 = every pixel of the raw pictures"},
    {"backend", PLX_KEY_WORD, FIELD(backend), .words = backend_words,
     .help = "processor of the stages; auto = the GPU if there is one"},
    {"gpu.memory", PLX_KEY_WORD, FIELD(gpu_memory), .words = memory_words,
     .help = "memory that GPU and CPU share (service.md); auto = mapped if both use one memory, else copied"},
    {"threads", PLX_KEY_INT, FIELD(threads), WHOLE(0, 256),
     .help = "CPU threads of the stages; 0 = one for each processor that the engine may use"},

    {"engine.realtime_priority", PLX_KEY_INT, FIELD(engine.realtime_priority), WHOLE(0, 99), .other_name = "engine.sched_fifo",
     .help = "real-time priority (SCHED_FIFO) of the engine's threads; 0 = ordinary priority"},
    {"engine.cpus", PLX_KEY_TEXT, FIELD(engine.cpus),
     .help = "processors that the engine may use, such as 2-3,5; empty = all of the service's processors"},

    {"prefilter.width", PLX_KEY_INT, FIELD(pipeline.prefilter_width), .other_name = "prefilter.x",
     .help = "width of the smoothing window after rectification, pixels; 1 = off"},
    {"prefilter.height", PLX_KEY_INT, FIELD(pipeline.prefilter_height), .other_name = "prefilter.y",
     .help = "height of the smoothing window, pixels; 1 = off"},
    {"prefilter.gaussian", PLX_KEY_BOOL, FIELD(pipeline.prefilter_gaussian), .help = "Gaussian weights; false = box"},

    {"match.preset", PLX_KEY_PRESET, .words = preset_words, .other_name = "match.set",
     .help = "preset of the match keys, which other match keys change; without disparities, min_disparity and paths"},
    {"match.disparities", PLX_KEY_INT, FIELD(pipeline.match.disparities),
     .help = "number of disparity candidates, whole pixels"},
    {"match.min_disparity", PLX_KEY_INT, FIELD(pipeline.match.min_disparity), .help = "smallest disparity searched, pixels"},
    {"match.paths", PLX_KEY_INT, FIELD(pipeline.match.paths), .help = "number of aggregation paths"},
    {"match.smooth", PLX_KEY_BOOL, FIELD(pipeline.match.smooth), .help = "smooth both images before census and gradient"},
    {"match.census", PLX_KEY_WORD, FIELD(pipeline.match.census), .words = census_words, .help = "shape of the census window"},
    {"match.census_zero_border", PLX_KEY_BOOL, FIELD(pipeline.match.census_zero_border),
     .help = "census is 0 where its window leaves the image; false = coordinates are clamped"},
    {"match.gradient_cap", PLX_KEY_INT, FIELD(pipeline.match.gradient_cap),
     .help = "upper limit of the gradient difference in the matching cost; 0 = no gradient"},
    {"match.p1_straight", PLX_KEY_INT, FIELD(pipeline.match.p1_straight),
     .help = "penalty of a disparity step of 1 along rows and columns; at most p2_min"},
    {"match.p1_diagonal", PLX_KEY_INT, FIELD(pipeline.match.p1_diagonal),
     .help = "penalty of a disparity step of 1 along diagonals; at most p2_min"},
    {"match.p2", PLX_KEY_INT, FIELD(pipeline.match.p2), .help = "largest penalty of a larger disparity step"},
    {"match.p2_min", PLX_KEY_INT, FIELD(pipeline.match.p2_min),
     .help = "smallest penalty of a larger step, across an edge of the picture"},
    {"match.p2_scale", PLX_KEY_INT, FIELD(pipeline.match.p2_scale),
     .help = "grey-level step that halves the penalty p2; 0 = p2 everywhere"},
    {"match.uniqueness_permille", PLX_KEY_INT, FIELD(pipeline.match.uniqueness),
     .help = "a candidate is valid if best * 1000 <= second best * this value; 0 = off"},
    {"match.subpixel", PLX_KEY_WORD, FIELD(pipeline.match.subpixel), .words = subpixel_words,
     .help = "interpolation between whole disparities"},
    {"match.median_left", PLX_KEY_WORD, FIELD(pipeline.match.median_left), .words = median_words,
     .help = "median of the left disparity"},
    {"match.median_right", PLX_KEY_WORD, FIELD(pipeline.match.median_right), .words = median_words,
     .help = "median of the right disparity, which the left-right check uses"},
    {"match.lr_max_diff", PLX_KEY_INT, FIELD(pipeline.match.lr_max_diff),
     .help = "left-right check: largest difference of left and right disparity, pixels; -1 = no check"},
    {"match.lr_round", PLX_KEY_BOOL, FIELD(pipeline.match.lr_round),
     .help = "left-right check: round the disparity to whole pixels; false = truncate"},
    {"match.invalid_border", PLX_KEY_BOOL, FIELD(pipeline.match.invalid_border), .other_name = "match.invalid_frame",
     .help = "mark the outermost rows and columns invalid"},

    {"refine.enabled", PLX_KEY_BOOL, FIELD(pipeline.refine), .help = "false = all refinement is off"},
    {"refine.dense", PLX_KEY_BOOL, FIELD(pipeline.dense), .help = "publish a dense disparity beside the strict one"},
    {"refine.confidence", PLX_KEY_BOOL, FIELD(pipeline.confidence), .help = "publish the confidence of each pixel"},
    {"refine.speckle_size_px", PLX_KEY_INT, FIELD(pipeline.speckle.max_size),
     .help = "disparity regions up to this area are removed; 0 = off"},
    {"refine.speckle_step_px", PLX_KEY_PX, FIELD(pipeline.speckle.max_step),
     .help = "largest disparity step within such a region"},
    {"refine.temporal_step_px", PLX_KEY_PX, FIELD(pipeline.temporal.max_step),
     .help = "largest change of a disparity that is blended with the last frame; 0 = off"},
    {"refine.temporal_weight", PLX_KEY_INT, FIELD(pipeline.temporal.weight),
     .help = "weight of the new disparity in the temporal blend, of 256"},

    {"ground.enabled", PLX_KEY_BOOL, FIELD(pipeline.ground), .help = "find the ground plane"},
    {"ground.tolerance_px", PLX_KEY_PX, FIELD(pipeline.ground_tolerance),
     .help = "how far ground may be from the plane, or 1/32 of its own disparity"},

    {"obstacles.enabled", PLX_KEY_BOOL, FIELD(pipeline.obstacles), .help = "find obstacles"},
    {"obstacles.range_min_m", PLX_KEY_REAL, FIELD(pipeline.obstacle.range_min_m), .help = "nearest distance of an obstacle"},
    {"obstacles.range_max_m", PLX_KEY_REAL, FIELD(pipeline.obstacle.range_max_m), .help = "farthest distance of an obstacle"},
    {"obstacles.min_height_m", PLX_KEY_REAL, FIELD(pipeline.obstacle.min_height_m),
     .help = "lowest height above ground of an obstacle's pixels; its top must be 0.1 m above that"},
    {"obstacles.max_height_m", PLX_KEY_REAL, FIELD(pipeline.obstacle.max_height_m),
     .help = "greatest height above ground of an obstacle's pixels"},
    {"obstacles.open_size_px", PLX_KEY_INT, FIELD(pipeline.obstacle.open_size), .other_name = "obstacles.open",
     .help = "width and height of the opening that removes narrow regions; 1 = off"},
    {"obstacles.close_size_px", PLX_KEY_INT, FIELD(pipeline.obstacle.close_size), .other_name = "obstacles.close",
     .help = "width and height of the closing that fills small holes; 1 = off"},
    {"obstacles.max_step_px", PLX_KEY_PX, FIELD(pipeline.obstacle.max_step),
     .help = "largest disparity step between neighbours of one obstacle"},
    {"obstacles.min_area_px", PLX_KEY_INT, FIELD(pipeline.obstacle.min_area), .help = "smallest area of an obstacle"},

    {"tracks.min_hits", PLX_KEY_INT, FIELD(pipeline.track.min_hits), .other_name = "tracks.confirm",
     .help = "matches after which a new track counts as tracked"},
    {"tracks.max_missed", PLX_KEY_INT, FIELD(pipeline.track.max_missed), .other_name = "tracks.lose_after",
     .help = "frames without a match after which a track ends"},
    {"tracks.gate_m", PLX_KEY_REAL, FIELD(pipeline.track.gate_m),
     .help = "largest distance of an obstacle from the track's prediction"},
    {"tracks.accel_mps2", PLX_KEY_REAL, FIELD(pipeline.track.accel_mps2),
     .help = "expected acceleration of obstacles, standard deviation"},

    {"exposure.enabled", PLX_KEY_BOOL, FIELD(exposure.enabled), LIVE, .help = "control exposure time and gain of the cameras"},
    {"exposure.target", PLX_KEY_REAL, FIELD(exposure.target), LIVE, .help = "target mean brightness, share of full scale"},
    {"exposure.highlight_limit", PLX_KEY_REAL, FIELD(exposure.highlight_limit), LIVE,
     .help = "largest share of overexposed pixels"},
    {"exposure.dead_band_stops", PLX_KEY_REAL, FIELD(exposure.dead_band), LIVE,
     .help = "brightness errors below this are not corrected"},
    {"exposure.damping", PLX_KEY_REAL, FIELD(exposure.damping), LIVE,
     .help = "share of the brightness error that one step corrects"},
    {"exposure.max_exposure_us", PLX_KEY_INT, FIELD(exposure.max_exposure_us), LIVE,
     .help = "longest exposure time; limits motion blur"},
    {"exposure.max_gain", PLX_KEY_REAL, FIELD(exposure.max_gain), LIVE, .help = "largest gain, linear"},
    {"exposure.flicker_hz", PLX_KEY_INT, FIELD(exposure.flicker_hz), LIVE,
     .help = "mains frequency of the lamps: exposure times are whole periods of their light; 0 = ignored"},
    {"exposure.zone_weights", PLX_KEY_BYTES, FIELD(exposure.zone_weight), WHOLE(0, 255), LIVE,
     .help = "weights of the 8 x 8 zones of the picture, row by row; all 0 = equal weights"},

    {"publish.socket", PLX_KEY_TEXT, FIELD(publish.socket), .help = "path of the socket that clients connect to"},
    {"publish.group", PLX_KEY_TEXT, FIELD(publish.group), .help = "group that may connect; empty = the service's own"},
    {"publish.slots", PLX_KEY_INT, FIELD(publish.slots), WHOLE(PLX_REGION_MIN_SLOTS, PLX_REGION_MAX_SLOTS),
     .help = "slots of the ring: frames in shared memory"},
    {"publish.max_clients", PLX_KEY_INT, FIELD(publish.max_clients), WHOLE(1, 1024),
     .help = "largest number of clients at a time"},
    {"publish.right", PLX_KEY_BOOL, FIELD(pipeline.right), .help = "publish the rectified right picture too, for recording"},
    {"blackbox.directory", PLX_KEY_TEXT, FIELD(blackbox.directory),
     .help = "directory of the black box and its copies; empty = no black box"},
};
const int plx_key_count = COUNT(plx_keys);

void plx_config_default(struct plx_config *ret_config)
{
    *ret_config = (struct plx_config){
        .source = {.type = PLX_SOURCE_SYNTHETIC,
                   .width = 640,
                   .height = 480,
                   .rate_hz = 30,
                   .seed = 1,
                   .noise = 2,
                   .exposure_delay = 2,
                   .gain_delay = 1},
        .calibration_scale = 1,
        .exposure = {.enabled = true,
                     .target = 0.45,
                     .highlight_limit = 0.02,
                     .dead_band = 0.05,
                     .damping = 0.7,
                     .max_exposure_us = 15000,
                     .max_gain = 16},
        .publish = {.socket = "/run/parallax/parallax.sock", .slots = 8, .max_clients = 128},
        .blackbox = {.directory = "/var/lib/parallax/blackbox"},
    };
    plx_pipeline_params_default(&ret_config->pipeline);
}
