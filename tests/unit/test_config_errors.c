/* SPDX-License-Identifier: Apache-2.0 */
/* Bad configurations: one sentence with the exact place, the right code, and nothing changed. */
#include "config/config.h"

#include <string.h>

#include <parallax/error.h>

#include "config/text.h"
#include "config/yaml.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

static struct scratch scratch;

static int setup(void **state)
{
    *state = &scratch;
    return scratch_begin(&scratch, "c.yaml");
}

/* Loading what the scratch file holds fails with ERROR and `path` + SENTENCE, and leaves the configuration alone. */
static void assert_refused(int error, const char *sentence)
{
    static struct plx_config config, before;
    struct plx_error_message message = {""};
    char expected[sizeof message.text];
    memset(&config, 0x5A, sizeof config);
    memset(&before, 0x5A, sizeof before);
    int result = plx_config_load(scratch.path, &config, &message);
    snprintf(expected, sizeof expected, "%s%s", scratch.path, sentence);
    if (result != error || strncmp(message.text, expected, strlen(expected)) != 0)
        fail_msg("%d \"%s\", not %d \"%s\"", result, message.text, error, expected);
    assert_memory_equal(&config, &before, sizeof config);
    assert_null(strpbrk(message.text, "\n\t"));
}

static const struct {
    const char *text;
    int error;
    const char *sentence; /* its beginning, behind the path */
} refused[] = {
    /* unknown keys, and what was meant */
    {"match:\n  pahts: 4\n", PLX_ERR_FORMAT, ":2:3: unknown key \"match.pahts\"; did you mean \"match.paths\"?"},
    {"threads: 2\nmach: classic\n", PLX_ERR_FORMAT, ":2:1: unknown key \"mach\"; did you mean \"match\"?"},
    {"paths: 4\n", PLX_ERR_FORMAT, ":1:1: unknown key \"paths\"; did you mean \"match.paths\"?"},
    {"obstacles: {range_max: 9}\n", PLX_ERR_FORMAT,
     ":1:13: unknown key \"obstacles.range_max\"; did you mean \"obstacles.range_max_m\"?"},
    {"source: {max_gain: 9}\n", PLX_ERR_FORMAT, ":1:10: unknown key \"source.max_gain\"; did you mean \"exposure.max_gain\"?"},
    {"\"th\\nreads\": 4\n", PLX_ERR_FORMAT, ":1:1: unknown key \"th?reads\"; did you mean \"threads\"?"},
/* zones */
#define MOUNT "mount: {z_m: 1}\n"
#define SQUARE "[[1, 0], [2, 0], [2, 1], [1, 1]]"
    {"zones: [{name: a, polygon: " SQUARE "}]\n", PLX_ERR_RANGE, ":1:8: zones lie on the ground"},
    {MOUNT "stixels: {enabled: false}\nzones: [{name: a, polygon: " SQUARE "}]\n", PLX_ERR_RANGE, ":3:8: zones need the map"},
    {MOUNT "zones: front\n", PLX_ERR_FORMAT, ":2:8: zones is \"front\"; expected a list of at most 16 zones"},
    {MOUNT "zones:\n", PLX_ERR_FORMAT, ":2:7: zones has no value; expected a list of at most 16 zones"},
    {MOUNT "zones: [front]\n", PLX_ERR_FORMAT, ":2:9: a zone is \"front\"; expected keys and values"},
    {MOUNT "zones: [{name: a}]\n", PLX_ERR_FORMAT, ":2:9: a zone has no polygon"},
    {MOUNT "zones: [{polygon: " SQUARE "}]\n", PLX_ERR_FORMAT, ":2:9: a zone has no name"},
    {MOUNT "zones: [{name: a b, polygon: " SQUARE "}]\n", PLX_ERR_FORMAT, ":2:16: name is \"a b\"; expected 1 to 23 letters"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [2, 0]]}]\n", PLX_ERR_FORMAT, ":2:28: polygon is a list; expected a list of 3"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [2, 0], [2]]}]\n", PLX_ERR_FORMAT, ":2:45: a point of polygon is a list"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [2, 0], [2, x]]}]\n", PLX_ERR_FORMAT,
     ":2:49: y of a point is \"x\"; expected a number from -5 to 5"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [4, 4], [2, 2]]}]\n", PLX_ERR_RANGE,
     ":2:37: a point of polygon is 5.66 m from the robot's base; expected at most 5 m"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [2, 0], [3, 0]]}]\n", PLX_ERR_RANGE,
     ":2:45: two edges of polygon run back over each other: from [1, 0] to [2, 0] and from [3, 0] to [1, 0]; expected the "
     "points in order around the zone"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [2, 0], [2, 0.01]]}]\n", PLX_ERR_RANGE,
     ":2:28: polygon has 0.0050 m2; expected 0.01 or more"},
    {MOUNT
     "zones: [{name: a, polygon: [[1, 0], [1, 1], [3, 2], [3, -1]]}, {name: b, polygon: [[1, 0], [1, 1], [3, -1], [3, 2]]}]\n",
     PLX_ERR_RANGE,
     ":2:109: two edges of polygon cross: from [1, 1] to [3, -1] and from [3, 2] to [1, 0]; expected the points"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [2, 0], [2, 1], [1, 0], [2, 0], [2, 1]]}]\n", PLX_ERR_RANGE,
     ":2:53: points 1 and 4 of polygon are the same, [1, 0]; expected each point once"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [2, 0], [2, 1], [1, 0]]}]\n", PLX_ERR_RANGE,
     ":2:53: points 1 and 4 of polygon are the same, [1, 0]; expected each point once"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [2, 0], [2, 0.0005], [2, 1]]}]\n", PLX_ERR_RANGE,
     ":2:45: points 2 and 3 of polygon are the same"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [3, 0], [3, 1], [2, 0], [1, 1]]}]\n", PLX_ERR_RANGE,
     ":2:45: two edges of polygon touch: from [1, 0] to [3, 0] and from [3, 1] to [2, 0]"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [3, 0], [3, 1], [2.5, 0], [1.5, 0], [1, 1]]}]\n", PLX_ERR_RANGE,
     ":2:45: two edges of polygon touch: from [1, 0] to [3, 0] and from [3, 1] to [2.5, 0]"},
    {MOUNT "zones: [{name: a, polygon: [[1, 0], [3, 0], [2, 0], [2, 1]]}]\n", PLX_ERR_RANGE,
     ":2:37: two edges of polygon run back over each other: from [1, 0] to [3, 0] and from [3, 0] to [2, 0]"},
    {MOUNT "map: {front_m: 0.6, back_m: 0.5, width_m: 0.6}\nzones: [{name: a, polygon: " SQUARE "},\n"
           "  {name: b, polygon: [[0, -0.3], [0.6, -0.3], [0.6, 0.3]]}]\n",
     PLX_ERR_RANGE, ":4:3: zone \"b\" lies wholly in the rectangle of the robot itself (map.front_m, map.back_m, map.width_m)"},
    {MOUNT "zones: [{name: a, polygon: " SQUARE ", height_m: [1, 0.5]}]\n", PLX_ERR_FORMAT,
     ":2:76: height_m is \"0.5\"; expected a second number above the first"},
    {MOUNT "zones: [{name: a, polygon: " SQUARE ", occupied: go}]\n", PLX_ERR_FORMAT,
     ":2:72: occupied is \"go\"; expected stop or slow"},
    {MOUNT "zones: [{name: a, polygon: " SQUARE ", frames: 1.5}]\n", PLX_ERR_FORMAT,
     ":2:70: frames is \"1.5\"; expected a whole"},
    {MOUNT "zones: [{name: a, polygon: " SQUARE ", colour: red}]\n", PLX_ERR_FORMAT, ":2:62: unknown key \"colour\" of a zone"},
    {MOUNT "zones: [{name: a, polygon: " SQUARE "}, {name: a, polygon: " SQUARE "}]\n", PLX_ERR_FORMAT,
     ":2:63: zone \"a\" is there twice"},
    {"verdict: {stop_flags: \"frozen,smelly\"}\n", PLX_ERR_RANGE,
     ":1:23: verdict.stop_flags is \"frozen,smelly\"; expected names of health flags"},
    /* wrong types */
    {"threads: two\n", PLX_ERR_FORMAT, ":1:10: threads is \"two\"; expected a whole number from 0 to 256"},
    {"threads: \"2\"\n", PLX_ERR_FORMAT, ":1:10: threads is \"2\"; expected a whole number"},
    {"threads: 2.5\n", PLX_ERR_FORMAT, ":1:10: threads is \"2.5\"; expected a whole number"},
    {"threads: 0x10\n", PLX_ERR_FORMAT, ":1:10: threads is \"0x10\"; expected a whole number"},
    {"threads:\n", PLX_ERR_FORMAT, ":1:9: threads has no value; expected a whole number"},
    {"threads: [2]\n", PLX_ERR_FORMAT, ":1:10: threads is \"[...]\"; expected a whole number"},
    {"threads: {a: 2}\n", PLX_ERR_FORMAT, ":1:10: threads has keys below it; expected a whole number"},
    {"source: 2\n", PLX_ERR_FORMAT, ":1:9: source is a section; expected its keys below it"},
    {"source:\n  loop: yes\n", PLX_ERR_FORMAT, ":2:9: source.loop is \"yes\"; expected true or false"},
    {"source: {rate_hz: .nan}\n", PLX_ERR_FORMAT, ":1:19: source.rate_hz is \".nan\"; expected a number from 0 to 1000"},
    {"source: {rate_hz: nan}\n", PLX_ERR_FORMAT, ":1:19: source.rate_hz is \"nan\"; expected a number"},
    {"source: {rate_hz: 1e999}\n", PLX_ERR_FORMAT, ":1:19: source.rate_hz is \"1e999\"; expected a number"},
    {"source: {path: \"a\\tb\"}\n", PLX_ERR_FORMAT, ":1:16: source.path holds a control character or no UTF-8"},
    {"source: {path: \"a\\Lb\"}\n", PLX_ERR_FORMAT, ":1:16: source.path holds a control character or no UTF-8"},
    {"source: {path: \"\\uFFFE\"}\n", PLX_ERR_FORMAT, ":1:16: source.path holds a control character or no UTF-8"},
    {"exposure:\n  tile_weights: [1, 2]\n", PLX_ERR_FORMAT,
     ":2:17: exposure.tile_weights has 2 items; expected a list of 64 whole numbers from 0 to 255"},
    {"- threads\n", PLX_ERR_FORMAT, ":1:1: not a configuration"},
    {"threads\n", PLX_ERR_FORMAT, ":1:1: not a configuration"},
    /* out of range */
    {"threads: 257\n", PLX_ERR_RANGE, ":1:10: threads is \"257\"; expected a whole number from 0 to 256"},
    {"threads: 99999999999999999999\n", PLX_ERR_RANGE, ":1:10: threads is \"99999999999999999999\"; expected"},
    {"source:\n  bits: 17\n", PLX_ERR_RANGE, ":2:9: source.bits is \"17\"; expected a whole number from 9 to 16"},
    {"source: {bits: 8}\n", PLX_ERR_RANGE, ":1:16: source.bits is \"8\"; expected a whole number from 9 to 16"},
    {"match:\n  paths: 6\n", PLX_ERR_RANGE, ":2:10: match.paths is \"6\"; expected 4 or 8"},
    {"match: clasic\n", PLX_ERR_RANGE, ":1:8: match.preset is \"clasic\"; expected default or classic"},
    {"match: {disparities: 100}\n", PLX_ERR_RANGE, ":1:22: match.disparities is \"100\"; expected 64, 128 or 256"},
    {"obstacles:\n  open_size_px: 4\n", PLX_ERR_RANGE,
     ":2:17: obstacles.open_size_px is \"4\"; expected an odd number from 1 to 31"},
    {"ground: {tolerance_px: 0.3}\n", PLX_ERR_RANGE,
     ":1:24: ground.tolerance_px is \"0.3\"; expected a multiple of 0.0625 from 0.0625 to 255.9375"},
    {"match: {median_right: valid_5x5}\n", PLX_ERR_RANGE, ":1:23: match.median_right is \"valid_5x5\"; expected none or 3x3"},
    {"exposure: {flicker_hz: 55}\n", PLX_ERR_RANGE, ":1:24: exposure.flicker_hz is \"55\"; expected 0, 50 or 60"},
    {"rectify_alpha: -0.1\n", PLX_ERR_RANGE, ":1:16: rectify_alpha is \"-0.1\"; expected a number from 0 to 1"},
    /* duplicates */
    {"threads: 2\nbackend: cpu\nthreads: 3\n", PLX_ERR_FORMAT, ":3:1: key \"threads\" is given twice, first at line 1"},
    {"match: {paths: 4, paths: 8}\n", PLX_ERR_FORMAT, ":1:19: key \"paths\" is given twice, first at line 1"},
    {"match.paths: 4\nmatch: {paths: 8}\n", PLX_ERR_FORMAT, ":2:9: key \"match.paths\" is given twice, first at line 1"},
    {"match:\n  paths: 4\nmatch:\n  p2: 100\n", PLX_ERR_FORMAT, ":3:1: key \"match\" is given twice, first at line 1"},
    /* bad or unwanted YAML */
    {"match:\n\tpaths: 4\n", PLX_ERR_FORMAT, ":2:1: a tab character; expected spaces"},
    {"# \xC3\xA4\nbackend: cpu\n\tthreads: 4\n", PLX_ERR_FORMAT, ":3:1: a tab character; expected spaces"},
    {"match: {paths: 4\n", PLX_ERR_FORMAT, ":2:1: did not find expected ',' or '}'"},
    {"source: {path: \"abc\n", PLX_ERR_FORMAT, ":2:1: found unexpected end of stream"},
    {"threads: @2\n", PLX_ERR_FORMAT, ":1:10: found character that cannot start any token"},
    {"threads: 2\n---\nthreads: 3\n", PLX_ERR_FORMAT, ":2:1: a second document"},
    {"threads: &n 2\n", PLX_ERR_FORMAT, ":1:10: an anchor or alias"},
    {"a: &n {b: 1}\nc: *n\n", PLX_ERR_FORMAT, ":1:4: an anchor or alias"},
    {"threads: *n\n", PLX_ERR_FORMAT, ":1:10: an anchor or alias"},
    {"? [a]\n: 2\n", PLX_ERR_FORMAT, ":1:3: a key that is a list or a map"},
    {"threads: \xFF\n", PLX_ERR_FORMAT, ":1:10: invalid leading UTF-8 octet; expected YAML in UTF-8"},
    {"# \xC3\xA4\xC3\xA4 \xC3(\n", PLX_ERR_FORMAT, ":1:7: invalid trailing UTF-8 octet; expected YAML in UTF-8"},
    {"threads: \x01\n", PLX_ERR_FORMAT, ":1:10: control characters are not allowed"},
    {"source: {path: \"a\\0b\"}\n", PLX_ERR_FORMAT, ":1:16: a zero byte in a text"},
    {"\xFF\xFEt\0h\0", PLX_ERR_FORMAT, ":1:1: invalid leading UTF-8 octet"},
    /* combinations: at the key that is wrong, or at the whole file where it has its default */
    {"source: {type: replay}\n", PLX_ERR_RANGE, ":1:16: source.type is replay and source.path is empty"},
    {"source: {type: replay, path: /x, replay_rate: fixed, rate_hz: 0}\n", PLX_ERR_RANGE,
     ":1:47: source.replay_rate is fixed and source.rate_hz is 0"},
    {"source: {type: v4l2}\n", PLX_ERR_RANGE, ":1:16: source.type is v4l2 and source.left is empty"},
    {"source: {rate_hz: 0.05}\n", PLX_ERR_RANGE, ":1:19: source.rate_hz is less than 0.1; expected that or more, or 0"},
    {"source: {crop_width: 64}\n", PLX_ERR_RANGE, ":1:22: source.crop_width is set and source.crop_height is 0"},
    {"engine: {cpus: \"0,2-\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors below 1024; expected"},
    {"engine: {cpus: \"3-2\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors"},
    {"engine: {cpus: \"1024\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors"},
    {"engine: {cpus: \"1 2\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors"},
    {"engine: {cpus: \"1,\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors"},
    {"engine: {cpus: \",1\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors"},
    {"engine: {cpus: \"1,,2\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors"},
    {"engine: {cpus: \"-2\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors"},
    {"engine: {cpus: \"1-2-3\"}\n", PLX_ERR_RANGE, ":1:16: engine.cpus is no list of processors"},
    {"engine: {realtime_priority: 100}\n", PLX_ERR_RANGE,
     ":1:29: engine.realtime_priority is \"100\"; expected a whole number from 0 to 99"},
    {"publish: {socket: \"\"}\n", PLX_ERR_RANGE, ":1:19: publish.socket is empty"},
    {"obstacles: {range_min_m: 5, range_max_m: 5}\n", PLX_ERR_RANGE,
     ":1:26: obstacles.range_min_m is 5; expected less than range_max_m (5)"},
    {"obstacles: {range_max_m: 0.1}\n", PLX_ERR_RANGE, ": obstacles.range_min_m is 0.3; expected less than range_max_m (0.1)"},
    {"match: {p2_min: 100, p2: 90}\n", PLX_ERR_RANGE, ":1:17: match.p2_min is 100; expected at most p2 (90)"},
    {"match:\n  p1_diagonal: 33\n", PLX_ERR_RANGE, ":2:16: match.p1_diagonal is 33; expected at most p2_min (32)"},
    {"source: {width: 64}\nmatch: {disparities: 128}\n", PLX_ERR_RANGE,
     ":2:22: match.disparities is 128; expected at most the image's width of 64 pixels"},
};

/* Names that people try, and the key that the error names. */
static const struct {
    const char *tried, *key;
} misnamed[] = {
    {"source.kind", "source.type"},
    {"engine.sched_fifo", "engine.realtime_priority"},
    {"prefilter.x", "prefilter.width"},
    {"prefilter.y", "prefilter.height"},
    {"match.set", "match.preset"},
    {"match.invalid_frame", "match.invalid_border"},
    {"obstacles.open", "obstacles.open_size_px"},
    {"obstacles.close", "obstacles.close_size_px"},
    {"tracks.confirm", "tracks.min_hits"},
    {"tracks.lose_after", "tracks.max_missed"},
};

static void a_list_of_processors_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int cpu[8], count;
    } lists[] = {{"0", {0}, 1},      {"9", {9}, 1},   {"0,2-4", {0, 2, 3, 4}, 4},
                 {"0-1", {0, 1}, 2}, {"3-3", {3}, 1}, {"10,9,1023", {9, 10, 1023}, 3}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        bool listed[PLX_MAX_CPUS];
        int next = 0;
        memset(listed, true, sizeof listed); /* earlier contents do not count */
        assert_true(plx_cpus_parse(lists[i].text, listed));
        for (int cpu = 0; cpu < PLX_MAX_CPUS; cpu++)
            if (listed[cpu]) {
                assert_true(next < lists[i].count);
                assert_int_equal(cpu, lists[i].cpu[next++]);
            }
        assert_int_equal(next, lists[i].count);
    }
    bool untouched[PLX_MAX_CPUS] = {[5] = true};
    assert_false(plx_cpus_parse("1,", untouched));
    assert_true(untouched[5] && !untouched[1]);
}

static void an_unknown_key_leads_to_the_key_that_was_meant(void **state)
{
    (void)state;
    struct plx_config config;
    plx_config_default(&config);
    for (size_t i = 0; i < sizeof misnamed / sizeof *misnamed; i++) {
        const int section = (int)strcspn(misnamed[i].tried, ".");
        char text[256], sentence[256];
        struct plx_error_message message;
        snprintf(text, sizeof text, "%.*s:\n  %s: 1\n", section, misnamed[i].tried, misnamed[i].tried + section + 1);
        snprintf(sentence, sizeof sentence, ":2:3: unknown key \"%s\"; did you mean \"%s\"?", misnamed[i].tried,
                 misnamed[i].key);
        assert_int_equal(scratch_write(&scratch, text, strlen(text)), 0);
        assert_refused(PLX_ERR_FORMAT, sentence);
        snprintf(text, sizeof text, "%s=1", misnamed[i].tried);
        assert_int_equal(plx_config_set(&config, text, &message), PLX_ERR_FORMAT);
        assert_string_equal(message.text, sentence + strlen(":2:3: "));
    }
}

static void each_mistake_has_its_place_and_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(scratch_write(&scratch, refused[i].text, strlen(refused[i].text)), 0);
        assert_refused(refused[i].error, refused[i].sentence);
    }
}

/* TEXT with COUNT times MORE behind it. */
static void write_many(const char *text, const char *more, size_t count)
{
    FILE *out = fopen(scratch.path, "we");
    assert_non_null(out);
    fputs(text, out);
    for (size_t i = 0; i < count; i++)
        fputs(more, out);
    assert_int_equal(fclose(out), 0);
}

static void size_and_depth_are_bounded(void **state)
{
    (void)state;
    write_many("", "[", 100000);
    assert_refused(PLX_ERR_RANGE, ":1:17: nested more than 16 deep");
    write_many("a: ", "x", PLX_YAML_MAX_SCALAR + 1);
    assert_refused(PLX_ERR_RANGE, ":1:4: a text of more than 65536 bytes");
    write_many("a: [", "1,", PLX_YAML_MAX_NODES);
    assert_refused(PLX_ERR_RANGE, ":1:");
    write_many("#", "x", PLX_YAML_MAX_BYTES);
    assert_refused(PLX_ERR_RANGE, ": is larger than 4194304 bytes");
    write_many("", "k: 1\n", 100000);
    assert_refused(PLX_ERR_FORMAT, ":2:1: key \"k\" is given twice");
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    unlink(scratch.path);
    assert_refused(PLX_ERR_NOT_FOUND, ": cannot be opened: No such file or directory");
    assert_int_equal(mkdir(scratch.path, 0700), 0);
    assert_refused(PLX_ERR_FORMAT, ": is not a regular file");
    rmdir(scratch.path);
    assert_int_equal(mkfifo(scratch.path, 0600), 0);
    assert_refused(PLX_ERR_FORMAT, ": is not a regular file");
    unlink(scratch.path);
    if (geteuid() == 0)
        return; /* root may read everything */
    assert_int_equal(scratch_write(&scratch, "", 0), 0);
    assert_int_equal(chmod(scratch.path, 0), 0);
    assert_refused(PLX_ERR_PERMISSION, ": cannot be opened: Permission denied");
    assert_int_equal(unlink(scratch.path), 0); /* the next test writes one of its own */
}

static void assignments(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int error;
        const char *sentence;
    } wrong[] = {
        {"match", PLX_ERR_FORMAT, "\"match\" has no =; expected key=value, such as match.paths=4"},
        {"", PLX_ERR_FORMAT, "\"\" has no ="},
        {"=4", PLX_ERR_FORMAT, "unknown key \"\"; did you mean"},
        {"match.pats=4", PLX_ERR_FORMAT, "unknown key \"match.pats\"; did you mean \"match.paths\"?"},
        {"match.paths=5", PLX_ERR_RANGE, "match.paths is \"5\"; expected 4 or 8"},
        {"match.paths=", PLX_ERR_FORMAT, "match.paths is \"\"; expected 4 or 8"},
        {"match=best", PLX_ERR_RANGE, "match.preset is \"best\"; expected default or classic"},
        {"threads= 4", PLX_ERR_FORMAT, "threads is \" 4\"; expected a whole number"},
        {"source.path=\xE4", PLX_ERR_FORMAT, "source.path holds a control character or no UTF-8"},
        {"source.path=\xC0\xAF", PLX_ERR_FORMAT, "source.path holds a control character or no UTF-8"},
        {"source.path=\xE2\x82", PLX_ERR_FORMAT, "source.path holds a control character or no UTF-8"},
        {"source.path=\xFC\x80\x80\x80", PLX_ERR_FORMAT, "source.path holds a control character or no UTF-8"},
        {"source.path=a\x7F", PLX_ERR_FORMAT, "source.path holds a control character or no UTF-8"},
        {"source.path=\xED\xA0\x80", PLX_ERR_FORMAT, "source.path holds a control character or no UTF-8"},
        {"source.path=\xF8\x88\x80\x80\x80", PLX_ERR_FORMAT, "source.path holds a control character or no UTF-8"},
        {"zones=[{name: a, polygon: [[1, 0], [1, 1], [3, -1], [3, 2]]}]", PLX_ERR_RANGE,
         "zones:1:47: two edges of polygon cross"},
        {"exposure.tile_weights=[1,2]", PLX_ERR_FORMAT, "exposure.tile_weights has 2 items; expected a list of 64"},
    };
    struct plx_config config, before;
    plx_config_default(&config);
    before = config;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct plx_error_message message = {""};
        assert_int_equal(plx_config_set(&config, wrong[i].text, &message), wrong[i].error);
        if (strncmp(message.text, wrong[i].sentence, strlen(wrong[i].sentence)) != 0)
            fail_msg("\"%s\", not \"%s\"", message.text, wrong[i].sentence);
        assert_memory_equal(&config, &before, sizeof config);
    }
}

/* A refusal that only the caller can judge. */
static void a_refused_key_has_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place;
    } file[] = {
        {"threads: 2\npublish:\n  slots: 12\n", ":3:10: publish.slots cannot"},
        {"publish.slots: 12\n", ":1:16: publish.slots cannot"},
        {"threads: 2\n", ": publish.slots cannot"}, /* its default was refused */
        {"publish: {slots: [\n", NULL},             /* replaced a moment ago by one that is no YAML */
    };
    const struct plx_config_source source = {.path = scratch.path};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        struct plx_error_message message = {""};
        assert_int_equal(scratch_write(&scratch, file[i].text, strlen(file[i].text)), 0);
        assert_int_equal(plx_config_fail(&source, "publish.slots", &message, PLX_ERR_UNSUPPORTED, "%s cannot", "publish.slots"),
                         PLX_ERR_UNSUPPORTED);
        const char *sentence = message.text;
        if (file[i].place) {
            assert_memory_equal(sentence, scratch.path, strlen(scratch.path));
            sentence += strlen(scratch.path);
        }
        assert_string_equal(sentence, file[i].place ? file[i].place : "publish.slots cannot");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_processors_is_read),
        cmocka_unit_test(an_unknown_key_leads_to_the_key_that_was_meant),
        cmocka_unit_test(each_mistake_has_its_place_and_sentence),
        cmocka_unit_test(size_and_depth_are_bounded),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(assignments),
        cmocka_unit_test(a_refused_key_has_its_place),
    };
    return cmocka_run_group_tests_name("config errors", tests, setup, scratch_teardown);
}
