/* SPDX-License-Identifier: Apache-2.0 */
/* Every key of the configuration, in the order of the data flow. Robot builders set the place of cameras and robot, rates,
 * limits, zones and files; a number that suits all robots is EXPERT. */
#include "config/schema.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "core/source/source.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MEMBER(field) ((struct plx_config *)0)->field
#define PLACE(field) .offset = offsetof(struct plx_config, field), .size = sizeof(MEMBER(field))
/* clang-format off */
#define FIELD(field) PLACE(field), .type = _Generic(MEMBER(field), int: PLX_KEY_INT, uint32_t: PLX_KEY_INT, \
    double: PLX_KEY_REAL, bool: PLX_KEY_BOOL, char *: PLX_KEY_TEXT, uint8_t *: PLX_KEY_BYTES, \
    double *: PLX_KEY_REALS)
/* clang-format on */
#define PIXELS(field) PLACE(field), .type = PLX_KEY_PX
#define WORD(field, list) PLACE(field), .type = PLX_KEY_WORD, .words = list
#define FLAGS(field) PLACE(field), .type = PLX_KEY_FLAGS
#define WHOLE PLX_WHOLE
#define REAL PLX_REAL
#define INITIAL(text) .initial = text
#define LIVE .reloadable = true
#define FIXED .fixed = true
#define EXPERT .expert = true

_Static_assert(sizeof(enum plx_source_type) == sizeof(int), "words are stored as int");

static const struct plx_word source_words[] = {
    {"synthetic", PLX_SOURCE_SYNTHETIC}, {"replay", PLX_SOURCE_REPLAY}, {"v4l2", PLX_SOURCE_V4L2}, {NULL, 0}};
static const struct plx_word replay_words[] = {
    {"recorded", PLX_REPLAY_RECORDED}, {"fixed", PLX_REPLAY_FIXED}, {"maximum", PLX_REPLAY_MAXIMUM}, {NULL, 0}};
static const struct plx_word scene_words[] = {
    {"demo", PLX_SCENE_DEMO}, {"street", PLX_SCENE_STREET}, {"wall", PLX_SCENE_WALL}, {NULL, 0}};
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
                                               {"symmetric_5x5", PLX_CENSUS_SYMMETRIC_5X5},
                                               {"full_9x7", PLX_CENSUS_FULL_9X7},
                                               {"checker_9x7", PLX_CENSUS_CHECKER_9X7},
                                               {NULL, 0}};
static const struct plx_word subpixel_words[] = {
    {"none", PLX_SUBPIXEL_NONE}, {"parabola", PLX_SUBPIXEL_PARABOLA}, {"blend", PLX_SUBPIXEL_BLEND}, {NULL, 0}};
static const struct plx_word median_words[] = {
    {"none", PLX_MEDIAN_NONE}, {"3x3", PLX_MEDIAN_3X3}, {"valid_5x5", PLX_MEDIAN_VALID_5X5}, {NULL, 0}};

static const struct plx_word method_words[] = {
    {"regions", PLX_OBSTACLES_OF_REGIONS}, {"stixels", PLX_OBSTACLES_OF_STIXELS}, {NULL, 0}};
static const struct plx_word correction_words[] = {{"off", PLX_CORRECTION_OFF},
                                                   {"propose", PLX_CORRECTION_PROPOSE},
                                                   {"rows", PLX_CORRECTION_ROWS},
                                                   {"all", PLX_CORRECTION_ALL},
                                                   {NULL, 0}};
static const struct plx_word motion_words[] = {{"visual", PLX_MOTION_VISUAL}, {"none", PLX_MOTION_NONE}, {NULL, 0}};

const struct plx_key plx_keys[] = {
    {"source.type", "source of pictures: the synthetic scene, recorded files, or cameras", WORD(source.type, source_words),
     INITIAL("synthetic"), .other_name = "source.kind"},
    {"source.path", "replay: a KITTI-style directory (image_0, image_1, times.txt), one with left and right, or an MCAP file",
     FIELD(source.path)},
    {"source.left_topic",
     "replay of an MCAP file: topic of the left pictures, beside its camera_info; empty = that of parallax",
     FIELD(source.topic[PLX_LEFT])},
    {"source.right_topic", "replay of an MCAP file: topic of the right pictures", FIELD(source.topic[PLX_RIGHT])},
    {"source.replay_rate", "replay: at the recorded times, at rate_hz, or as fast as the service takes pairs",
     WORD(source.replay_rate, replay_words)},
    {"source.loop", "replay: start again after the last pair", FIELD(source.loop)},
    {"source.bits", "replay: low bits that the samples of 16-bit pictures use, such as 10", FIELD(source.bits), INITIAL("16"),
     WHOLE(9, 16)},
    {"source.rate_hz", "pairs per second, from 0.1; 0 = no pause (synthetic), camera's setting (v4l2); for replay_rate: fixed",
     FIELD(source.rate_hz), INITIAL("30"), REAL(0, PLX_SOURCE_MAX_RATE_HZ)},
    {"source.width", "synthetic, v4l2: picture width of one eye, pixels", FIELD(source.width), INITIAL("640"),
     WHOLE(16, PLX_MAX_SIDE)},
    {"source.height", "synthetic, v4l2: picture height, pixels", FIELD(source.height), INITIAL("480"), WHOLE(16, PLX_MAX_SIDE)},
    {"source.scene", "synthetic: a standing camera, one that drives along a street, or one before a wall",
     WORD(source.scene, scene_words)},
    {"source.seed", "synthetic: seed of texture and noise", FIELD(source.seed), INITIAL("1"), WHOLE(0, 2147483647), EXPERT},
    {"source.noise_levels", "synthetic: standard deviation of the camera noise, grey levels", FIELD(source.noise), INITIAL("2"),
     REAL(0, 64), EXPERT},
    {"source.left", "v4l2: left camera, as `parallax cameras` prints it: /dev/v4l/by-path/... or card=,driver=,serial=,bus=",
     FIELD(source.cameras.camera[PLX_LEFT])},
    {"source.right", "v4l2: right camera, likewise; empty = the left camera gives both eyes side by side",
     FIELD(source.cameras.camera[PLX_RIGHT])},
    {"source.format", "v4l2: pixel format, four characters such as GREY or MJPG; empty = the best that the camera offers",
     FIELD(source.cameras.format)},
    {"source.crop_x", "v4l2: first sensor column of the crop", FIELD(source.cameras.crop_x), WHOLE(0, 65535)},
    {"source.crop_y", "v4l2: first sensor row of the crop", FIELD(source.cameras.crop_y), WHOLE(0, 65535)},
    {"source.crop_width", "v4l2: width of the crop, sensor columns; 0 = the camera keeps its crop",
     FIELD(source.cameras.crop_width), WHOLE(0, 65535)},
    {"source.crop_height", "v4l2: height of the crop, sensor rows", FIELD(source.cameras.crop_height), WHOLE(0, 65535)},
    {"source.msb_aligned",
     "v4l2: 10- and 12-bit samples are in the high bits of 16-bit words, as some Jetson drivers write them",
     FIELD(source.cameras.msb_aligned)},
    {"source.controls", "v4l2: name=value,...: controls of both cameras, set in this order before the format",
     FIELD(source.cameras.control.controls)},
    {"source.exposure_control", "v4l2: control of the exposure time, by name or number; empty = a known control",
     FIELD(source.cameras.control.exposure_control)},
    {"source.exposure_unit_us", "v4l2: microseconds per unit of the exposure control; 0 = the unit of a known control",
     FIELD(source.cameras.control.exposure_unit_us), REAL(0, 1e6)},
    {"source.exposure_delay", "v4l2: pictures from setting the exposure time to its effect",
     FIELD(source.cameras.control.exposure_delay), INITIAL("2"), WHOLE(0, 4)},
    {"source.gain_control", "v4l2: control of the gain, by name or number; empty = a known control",
     FIELD(source.cameras.control.gain_control)},
    {"source.gain_unit", "v4l2: scale of the gain control: linear factor or dB",
     WORD(source.cameras.control.gain_unit, gain_words)},
    {"source.gain_step",
     "v4l2: gain (factor or dB) per unit of the gain control; 0 = as for a known control, else 1 / its minimum",
     FIELD(source.cameras.control.gain_step), REAL(0, 1000)},
    {"source.gain_delay", "v4l2: pictures from setting the gain to its effect", FIELD(source.cameras.control.gain_delay),
     INITIAL("1"), WHOLE(0, 4)},
    {"source.restore_controls", "v4l2: restore all changed controls when the engine ends",
     FIELD(source.cameras.control.restore)},
    {"source.readout_ms", "v4l2: sensor readout time, subtracted from end-of-frame time stamps; 0 = unknown, no correction",
     FIELD(source.cameras.readout_ms), REAL(0, 1000)},
    {"source.pair_tolerance_ms",
     "largest difference of left and right capture times within a pair; 0 = a quarter of the period",
     FIELD(source.pair_tolerance_ms), REAL(0, 1000), EXPERT},

    {"calibration", "file, or two ROS camera_info files: left,right; empty = the source's own, else raw mode; none = raw mode",
     FIELD(calibration)},
    {"calibration_scale", "metres per unit of the calibration's translation: 0.001 for millimetres, 0.025 for 25 mm squares",
     FIELD(calibration_scale), INITIAL("1"), REAL(1e-6, 1e6)},
    {"rectify_alpha", "computed rectification: 0 = only valid pixels, 1 = every pixel of the raw pictures",
     FIELD(rectify_alpha), REAL(0, 1)},
    {"calibration_correction", "rows = rows are corrected, an offset of disparities is proposed; all = both are corrected",
     WORD(pipeline.correction, correction_words)},
    {"calibration_history", "file that keeps the corrections of the calibration; empty = they are lost with a restart",
     FIELD(calibration_history), INITIAL("/var/lib/parallax/calibration.json")},
    {"backend", "processor of the stages; auto = the GPU if there is one", WORD(backend, backend_words)},
    {"gpu.memory", "memory that GPU and CPU share (service.md); auto = mapped if both use one memory, else copied",
     WORD(gpu_memory, memory_words)},
    {"threads", "CPU threads of the stages; 0 = one for each processor that the engine may use", FIELD(threads), WHOLE(0, 256)},

    {"engine.realtime_priority", "real-time priority (SCHED_FIFO) of the engine's threads; 0 = ordinary priority",
     FIELD(engine.realtime_priority), WHOLE(0, 99), .other_name = "engine.sched_fifo"},
    {"engine.cpus", "processors that the engine may use, such as 2-3,5; empty = all of the service's processors",
     FIELD(engine.cpus)},

    {"colour.enabled", "publish the left picture in colour too (colour.md); the cameras must give colour",
     FIELD(pipeline.colour.enabled)},
    {"colour.temperature_k", "white balance of a mosaic: colour temperature of the light; 0 = estimated",
     FIELD(pipeline.colour.temperature_k), .other_name = "colour.white_balance"},
    {"colour.red_gain", "white balance of a mosaic: gain of red relative to green, in place of a temperature; 0 = not given",
     FIELD(pipeline.colour.red_gain)},
    {"colour.blue_gain", "the same of blue", FIELD(pipeline.colour.blue_gain)},
    {"colour.black_level", "sample of a mosaic that is black, in the sensor's units", FIELD(pipeline.colour.black_level)},
    {"colour.matrix", "rows of red, green and blue: from the sensor's colours to sRGB's", FIELD(pipeline.colour.matrix),
     REAL(-8, 8)},

    {"prefilter.width", "width of the smoothing window after rectification, pixels; 1 = off", FIELD(pipeline.prefilter_width),
     .other_name = "prefilter.x", EXPERT},
    {"prefilter.height", "height of the smoothing window, pixels; 1 = off", FIELD(pipeline.prefilter_height),
     .other_name = "prefilter.y", EXPERT},
    {"prefilter.gaussian", "Gaussian weights; false = box", FIELD(pipeline.prefilter_gaussian), EXPERT},

    {"match.preset", "sets all match keys but disparities, min_disparity and paths; other match keys in the file override it",
     .type = PLX_KEY_PRESET, .words = preset_words, .other_name = "match.set"},
    {"match.disparities", "number of disparity candidates, whole pixels", FIELD(pipeline.match.disparities)},
    {"match.min_disparity", "smallest disparity searched, pixels", FIELD(pipeline.match.min_disparity)},
    {"match.paths", "number of aggregation paths", FIELD(pipeline.match.paths)},
    {"match.smooth", "smooth both images before census and gradient", FIELD(pipeline.match.smooth), EXPERT},
    {"match.census", "shape of the census window", WORD(pipeline.match.census, census_words), EXPERT},
    {"match.census_zero_border", "census is 0 where its window leaves the image; false = coordinates are clamped",
     FIELD(pipeline.match.census_zero_border), EXPERT},
    {"match.gradient_cap", "upper limit of the difference of horizontal gradients in the matching cost; 0 = no gradients",
     FIELD(pipeline.match.gradient_cap), EXPERT},
    {"match.gradient_cap_y", "the same of vertical gradients; 0 = without them", FIELD(pipeline.match.gradient_cap_y), EXPERT},
    {"match.p1_straight", "penalty of a disparity step of 1 along rows and columns; at most p2_min",
     FIELD(pipeline.match.p1_straight), EXPERT},
    {"match.p1_diagonal", "penalty of a disparity step of 1 along diagonals; at most p2_min", FIELD(pipeline.match.p1_diagonal),
     EXPERT},
    {"match.p2", "largest penalty of a larger disparity step", FIELD(pipeline.match.p2), EXPERT},
    {"match.p2_min", "smallest penalty of a larger step, across an edge of the picture", FIELD(pipeline.match.p2_min), EXPERT},
    {"match.p2_scale", "grey-level step that halves the penalty p2; 0 = p2 everywhere", FIELD(pipeline.match.p2_scale), EXPERT},
    {"match.uniqueness_permille", "a pixel is valid if best cost * 1000 <= second best cost * this value; 0 = off",
     FIELD(pipeline.match.uniqueness), EXPERT},
    {"match.subpixel", "interpolation between whole disparities", WORD(pipeline.match.subpixel, subpixel_words), EXPERT},
    {"match.median_left", "median of the left disparity", WORD(pipeline.match.median_left, median_words), EXPERT},
    {"match.median_right", "median of the right disparity, which the left-right check uses",
     WORD(pipeline.match.median_right, median_words), EXPERT},
    {"match.lr_max_diff", "left-right check: largest difference of left and right disparity, pixels; -1 = no check",
     FIELD(pipeline.match.lr_max_diff), EXPERT},
    {"match.lr_round", "left-right check: round the disparity to whole pixels; false = truncate",
     FIELD(pipeline.match.lr_round), EXPERT},
    {"match.invalid_border", "mark the outermost rows and columns invalid", FIELD(pipeline.match.invalid_border),
     .other_name = "match.invalid_frame", EXPERT},
    {"match.repeats", "disparities are unknown where the texture repeats along the rows: bars, fences, tiles",
     FIELD(pipeline.match.repeats), EXPERT},
    {"match.facing", "on surfaces that face the camera, correct the fraction of a pixel by what the pictures say",
     FIELD(pipeline.match.facing), EXPERT},
    {"match.local_mean", "replace a disparity by the mean of those in a 7x7 window that are nearly equal",
     FIELD(pipeline.match.local_mean), EXPERT},
    {"match.cross_validate",
     "compare the strict disparity with the dense one: what differs is removed, what both confirm is added",
     FIELD(pipeline.match.cross_validate), EXPERT},

    {"refine.enabled", "speckle filter, temporal filter, dense disparity and confidence; false = none of them",
     FIELD(pipeline.refine)},
    {"refine.dense", "publish a dense disparity beside the strict one", FIELD(pipeline.dense)},
    {"refine.confidence", "publish the confidence of each pixel, and with it how sure distances are",
     FIELD(pipeline.confidence)},
    {"refine.speckle_size_px", "disparity regions up to this area are removed; 0 = off", FIELD(pipeline.speckle.max_size),
     EXPERT},
    {"refine.speckle_step_px", "largest disparity step within such a region", PIXELS(pipeline.speckle.max_step), EXPERT},
    {"refine.temporal_step_px", "largest change of a disparity that is blended with the last frame; 0 = off",
     PIXELS(pipeline.temporal.max_step), EXPERT},
    {"refine.temporal_weight", "weight of the new disparity in the temporal blend, in 1/256", FIELD(pipeline.temporal.weight),
     EXPERT},

    {"mount.x_m", "the left camera in the robot's base (x forward, y left, z up, origin on the ground): forward",
     FIELD(pipeline.mount.x_m)},
    {"mount.y_m", "the left camera in the robot's base: to the left", FIELD(pipeline.mount.y_m)},
    {"mount.z_m", "height of the left camera above the ground; 0 = the mount is not known", FIELD(pipeline.mount.z_m)},
    {"mount.roll_deg", "turn of the left camera about its view axis, clockwise", FIELD(pipeline.mount.roll_deg)},
    {"mount.pitch_deg", "how far the left camera looks down", FIELD(pipeline.mount.pitch_deg)},
    {"mount.yaw_deg", "how far the left camera looks to the left", FIELD(pipeline.mount.yaw_deg)},

    {"ground.enabled", "find the ground plane", FIELD(pipeline.ground)},
    {"ground.tolerance_px", "largest difference of ground from the plane; 1/32 of the disparity if larger",
     PIXELS(pipeline.ground_tolerance), EXPERT},

    {"stixels.enabled", "find stixels and the nearest thing of each column of pixels", FIELD(pipeline.stixels)},

    {"obstacles.enabled", "find obstacles", FIELD(pipeline.obstacles)},
    {"obstacles.method", "what an obstacle is: a connected region of the mask, or linked stixels (needs stixels)",
     WORD(pipeline.obstacle.method, method_words)},
    {"obstacles.range_min_m", "nearest distance of an obstacle", FIELD(pipeline.obstacle.range_min_m)},
    {"obstacles.range_max_m", "farthest distance of an obstacle", FIELD(pipeline.obstacle.range_max_m)},
    {"obstacles.min_height_m", "lowest height above ground of an obstacle's pixels; the obstacle's top must be 0.1 m higher",
     FIELD(pipeline.obstacle.min_height_m)},
    {"obstacles.max_height_m", "greatest height above ground of an obstacle's pixels", FIELD(pipeline.obstacle.max_height_m)},
    {"obstacles.min_drop_m", "by so much the ground falls at a drop (stairs, an edge, a pit); 0 = drops are not looked for",
     FIELD(pipeline.obstacle.min_drop_m)},
    {"obstacles.open_size_px", "regions: width and height of the opening that removes narrow ones; 1 = off",
     FIELD(pipeline.obstacle.open_size), .other_name = "obstacles.open", EXPERT},
    {"obstacles.close_size_px", "regions: width and height of the closing that fills small holes; 1 = off",
     FIELD(pipeline.obstacle.close_size), .other_name = "obstacles.close", EXPERT},
    {"obstacles.max_step_px", "regions: largest disparity step between neighbours of one obstacle",
     PIXELS(pipeline.obstacle.max_step), EXPERT},
    {"obstacles.min_area_px", "smallest area of an obstacle", FIELD(pipeline.obstacle.min_area), EXPERT},

    {"motion.source", "how the motion of the left camera is measured: visual odometry (motion.md); none = not at all",
     WORD(pipeline.motion, motion_words)},
    {"motion.hint_user", "user whose programs may give odometry to the search (plx_motion_hint); empty = nobody",
     FIELD(motion.hint_user), FIXED},

    {"tracks.min_hits", "matches after which a new track counts as tracked", FIELD(pipeline.track.min_hits),
     .other_name = "tracks.confirm", EXPERT},
    {"tracks.max_missed", "frames without a match after which a track ends; one that was seen in few frames ends sooner",
     FIELD(pipeline.track.max_missed), .other_name = "tracks.lose_after", EXPERT},
    {"tracks.gate_m", "largest distance of an obstacle from the track's prediction", FIELD(pipeline.track.gate_m), EXPERT},
    {"tracks.accel_mps2", "expected acceleration of obstacles, standard deviation", FIELD(pipeline.track.accel_mps2), EXPERT},

    {"map.enabled", "map of 10 x 10 m around the robot: free, occupied, drop (needs stixels)", FIELD(pipeline.map.enabled)},
    {"map.memory_s", "what was not seen for so long is unknown again; what stands out of view is not forgotten",
     FIELD(pipeline.map.memory_s)},
    {"map.front_m", "the robot itself: how far it reaches in front of the origin of its base", FIELD(pipeline.map.front_m)},
    {"map.back_m", "the robot itself: how far it reaches behind", FIELD(pipeline.map.back_m)},
    {"map.width_m", "the robot itself: its width", FIELD(pipeline.map.width_m)},

    {"zones", "zones on the ground that must be free (verdict.md)", PLACE(pipeline.zones), .type = PLX_KEY_ZONES},
    {"verdict.stop_flags", "health flags for which the verdict is stop", FLAGS(pipeline.verdict.stop_flags)},
    {"verdict.slow_flags", "health flags for which it is slow", FLAGS(pipeline.verdict.slow_flags)},
    {"verdict.reaction_ms", "a verdict holds for so long after its pair was captured; 0 = two periods and 100 ms",
     FIELD(pipeline.verdict.reaction_ms)},

    {"exposure.enabled", "control exposure time and gain of the cameras", FIELD(exposure.enabled), INITIAL("true"), LIVE},
    {"exposure.target", "target mean brightness, share of full scale", FIELD(exposure.target), INITIAL("0.45"), LIVE},
    {"exposure.highlight_limit", "largest share of overexposed pixels", FIELD(exposure.highlight_limit), INITIAL("0.02"), LIVE,
     EXPERT},
    {"exposure.dead_band_stops", "brightness errors below this are not corrected", FIELD(exposure.dead_band), INITIAL("0.05"),
     LIVE, EXPERT},
    {"exposure.damping", "share of the brightness error that one step corrects", FIELD(exposure.damping), INITIAL("0.7"), LIVE,
     EXPERT},
    {"exposure.max_exposure_us", "longest exposure time; limits motion blur", FIELD(exposure.max_exposure_us), INITIAL("15000"),
     LIVE},
    {"exposure.max_gain", "largest gain, linear", FIELD(exposure.max_gain), INITIAL("16"), LIVE},
    {"exposure.flicker_hz", "mains frequency of the lamps: exposure times are whole periods of their light; 0 = ignored",
     FIELD(exposure.flicker_hz), LIVE},
    {"exposure.tile_weights", "weights of the 8 x 8 tiles, row by row; all 0 = equal weights", FIELD(exposure.tile_weight),
     WHOLE(0, 255), LIVE, EXPERT},

    {"publish.socket", "path of the socket that clients connect to", FIELD(publish.socket), INITIAL(PLX_DEFAULT_SOCKET), FIXED},
    {"publish.group", "group that may connect; empty = the service's own", FIELD(publish.group), FIXED},
    {"publish.slots", "slots of the ring: frames in shared memory", FIELD(publish.slots), INITIAL("8"),
     WHOLE(PLX_SHM_MIN_SLOTS, PLX_SHM_MAX_SLOTS), FIXED},
    {"publish.max_clients", "largest number of clients at a time", FIELD(publish.max_clients), INITIAL("128"), WHOLE(1, 1024),
     FIXED},
    {"publish.right", "publish the rectified right picture too, for recording", FIELD(pipeline.right)},
    {"blackbox.directory", "directory of the black box and its copies; empty = no black box", FIELD(blackbox.directory),
     INITIAL("/var/lib/parallax/blackbox"), FIXED},

    {"recorder.directory", "flight recorder: directory of its files", FIELD(recorder.directory),
     INITIAL("/var/lib/parallax/recorder"), LIVE},
    {"recorder.socket", "flight recorder: path of the socket of `parallax snapshot --last`", FIELD(recorder.socket),
     INITIAL("/run/parallax-recorder/recorder.sock"), LIVE},
    {"recorder.seconds", "flight recorder: seconds before a fault that it writes", FIELD(recorder.seconds), INITIAL("10"),
     REAL(1, 3600), LIVE},
    {"recorder.memory_mb", "flight recorder: memory for pairs, MiB", FIELD(recorder.memory_mb), INITIAL("256"), WHOLE(1, 65536),
     LIVE},
    {"recorder.flags", "flight recorder: health flags that are faults, such as desync,frozen; empty = none",
     FIELD(recorder.flags), LIVE},
    {"recorder.keep", "flight recorder: number of files that are kept; the oldest are deleted", FIELD(recorder.keep),
     INITIAL("8"), WHOLE(1, 1000), LIVE},

    {"ros.namespace", "parallax-ros: namespace of the topics; empty = none", FIELD(ros.name_space), INITIAL("parallax"), LIVE},
    {"ros.topics", "parallax-ros: topics offered, such as left,scan,obstacles (ros2.md); empty = all", FIELD(ros.topics), LIVE},
    {"ros.rename", "parallax-ros: OLD=NEW,...: other names for topics; NEW that begins with / is outside of the namespace",
     FIELD(ros.rename), LIVE},
    {"ros.frame_prefix", "parallax-ros: begins the names of the coordinate frames link, left_optical_frame and scan",
     FIELD(ros.frame_prefix), INITIAL("parallax_"), LIVE},
    {"ros.slow_percent", "parallax-ros: Nav2's speed limit while the verdict is not go, % of the robot's speed",
     FIELD(ros.slow_percent), INITIAL("50"), WHOLE(1, 99), LIVE},

    {"web.listen", "parallax-web: address and port of the page, such as 127.0.0.1:8765", FIELD(web.listen),
     INITIAL("127.0.0.1:8765"), LIVE},
    {"web.token_file", "parallax-web: file with the token that browsers must know, which other machines need; empty = none",
     FIELD(web.token_file), LIVE},
    {"web.names", "parallax-web: further names of this machine in addresses, separated by commas", FIELD(web.names), LIVE},
    {"web.origins", "parallax-web: other sites whose pages may connect, such as https://app.foxglove.dev", FIELD(web.origins),
     LIVE},
};
const int plx_key_count = COUNT(plx_keys);

void plx_config_default(struct plx_config *ret_config)
{
    memset(ret_config, 0, sizeof *ret_config);
    plx_pipeline_params_default(&ret_config->pipeline);
    for (int i = 0; i < plx_key_count; i++) {
        const struct plx_written initial = {.item = &plx_keys[i].initial, .count = 1};
        if (plx_keys[i].initial && plx_value_parse(&plx_keys[i], &initial, ret_config, NULL) < 0)
            abort(); /* a wrong row in the table above */
    }
}
