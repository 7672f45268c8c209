/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration: one struct, filled from one table of keys (config/schema.c), YAML files and `--set key=value`. */
#ifndef PLX_CONFIG_CONFIG_H
#define PLX_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdio.h>

#include "core/geometry/calibration.h"
#include "core/pipeline/pipeline.h"
#include "core/source/camera_options.h"
#include "core/source/exposure.h"
#include "gpu/gpu.h"

enum plx_backend_kind { PLX_BACKEND_AUTO, PLX_BACKEND_CPU, PLX_BACKEND_GPU };
enum plx_replay_rate { PLX_REPLAY_RECORDED, PLX_REPLAY_FIXED, PLX_REPLAY_MAXIMUM };

enum plx_scene_kind { PLX_SCENE_DEMO, PLX_SCENE_STREET, PLX_SCENE_WALL };

struct plx_config {
    struct {
        enum plx_source_type type;
        int width, height;         /* pixels of one eye; replay ignores them */
        double rate_hz;            /* replay: only for PLX_REPLAY_FIXED */
        char path[4096];           /* replay: a KITTI-style directory or one with left/ and right/, or an MCAP file */
        char topic[PLX_EYES][256]; /* replay of an MCAP file; "" = those of `parallax record` */
        enum plx_replay_rate replay_rate;
        bool loop;
        int bits;                          /* replay: that the samples of 16-bit pictures use */
        enum plx_scene_kind scene;         /* synthetic */
        int seed;                          /* synthetic */
        double noise;                      /* synthetic: standard deviation of the camera noise, grey levels */
        double pair_tolerance_ms;          /* 0: a quarter of the period */
        struct plx_camera_options cameras; /* v4l2, but for size and rate, which are above */
    } source;
    char calibration[4096];         /* file, or two separated by a comma (ROS left,right); "" = the source's own; see below */
    double calibration_scale;       /* metres per unit of its translation; 1 where it is in metres */
    double rectify_alpha;           /* 0..1 */
    char calibration_history[4000]; /* file of corrections; "" = none is kept */
    enum plx_backend_kind backend;
    enum plx_gpu_memory gpu_memory;
    int threads; /* 0 = all */
    struct {
        int realtime_priority; /* SCHED_FIFO priority of its threads, 1..99; 0 = ordinary priority */
        char cpus[256];        /* processors that the engine may use, "2-3,5"; "" = all */
    } engine;
    struct {
        char hint_user[64]; /* who may call plx_motion_hint; "" = nobody */
    } motion;
    struct plx_exposure_params exposure;
    struct {
        char socket[108];
        char group[64]; /* the socket's group; "" = leave as it is */
        int slots;      /* ring, 4..64 */
        int max_clients;
    } publish;
    struct {
        char directory[4000]; /* "" = none is written */
    } blackbox;
    struct { /* for parallax-recorder */
        char directory[4000];
        char socket[108];
        double seconds; /* before a fault */
        int memory_mb;
        char flags[512]; /* names of health flags that are faults, see plx_health_flags_parse */
        int keep;        /* files */
    } recorder;
    struct { /* for parallax-ros, which checks them */
        char name_space[128], frame_prefix[64];
        char topics[256];  /* words, separated by commas; "" = all */
        char rename[2048]; /* OLD=NEW,... */
        int slow_percent;
    } ros;
    struct { /* for parallax-web, which checks them */
        char listen[64];
        char token_file[4000];
        char names[512], origins[512]; /* separated by commas */
    } web;
    struct plx_pipeline_params pipeline;
};

/* Every key at its default: of the pipeline from core (plx_pipeline_params_default), of the others from their rows in schema.c.
 */
void plx_config_default(struct plx_config *ret_config);

/* Reads PATH over the defaults into *ret_config, which is untouched on failure. Unknown key, wrong type, out of range,
 * duplicate key, bad YAML: FORMAT or RANGE, with `file:line:column: what, expected what; nearest key` in MESSAGE. NOT_FOUND,
 * PERMISSION, IO. An empty file is all defaults. */
int plx_config_load(const char *path, struct plx_config *ret_config, struct plx_error_message *message);

/* Sets one key ("match.paths=4"), as on the command line; unchanged on failure. "match=classic" applies a preset. */
int plx_config_set(struct plx_config *config, const char *assignment, struct plx_error_message *message);

/* Checks combinations of keys. Called by plx_config_load; to be called after the last plx_config_set. */
int plx_config_check(const struct plx_config *config, struct plx_error_message *message);

/* RANGE, with a sentence that names the key, if PARAMS are not fit for rectified pictures of that size. */
int plx_config_check_pipeline(const struct plx_pipeline_params *params, int width, int height,
                              struct plx_error_message *message);

/* Where a configuration comes from: a file, then assignments of the command line. */
struct plx_config_source {
    const char *path;        /* NULL = the built-in defaults */
    char *const *assignment; /* `key=value`s of the command line, applied after the file */
    int assignments;
};

/* Reads and checks it. *ret_config is untouched on failure. Errors as plx_config_load. One thread at a time. */
int plx_config_read(const struct plx_config_source *config_source, struct plx_config *ret_config,
                    struct plx_error_message *message);

/* plx_fail with `file:line:column: ` of the value of KEY before the sentence; the file alone where the file does not have the
 * key, nothing where there is no file. One thread at a time. */
int plx_config_fail(const struct plx_config_source *config_source, const char *key, struct plx_error_message *message,
                    int error, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Writes every key with its value, default, range and help as YAML that plx_config_load reads back. IO. */
int plx_config_dump(const struct plx_config *config, FILE *out);

/* The same without the expert keys that have their default. The text loads as CONFIG too. IO. */
int plx_config_dump_common(const struct plx_config *config, FILE *out);

/* Gives the top-level key KEY a VALUE in the file at PATH and leaves all other text as it is; the new file replaces the old one
 * at once. FORMAT: it cannot be done without changing more; ARG (VALUE has quotes), and errors as plx_config_load. One thread
 * at a time. */
int plx_config_edit(const char *path, const char *key, const char *value, struct plx_error_message *message);

/* True if every key has the same value in A and B. */
bool plx_config_equals(const struct plx_config *a, const struct plx_config *b);

/* True if going from A to B needs no restart of the engine; otherwise *ret_key names the first key that does. */
bool plx_config_reloadable(const struct plx_config *a, const struct plx_config *b, const char **ret_key);

/* The first key whose values differ and which only a restart of the service changes; NULL if there is none. */
const char *plx_config_fixed_difference(const struct plx_config *a, const struct plx_config *b);

/* The value of the key calibration that asks for raw pictures, whatever the source knows. */
#define PLX_CALIBRATION_NONE "none"

/* How to read a calibration. */
struct plx_calibration_options {
    double alpha;      /* argument of plx_calibration_rectify, for a computed rectification */
    double scale;      /* metres per unit of the file's translation; 1 where it is in metres */
    int width, height; /* raw pictures of the source, for files that do not say their size; 0, 0 = unknown */
};

/* Reads a calibration: OpenCV FileStorage YAML, a Kalibr camchain, two ROS camera_info or EuRoC files "left.yaml,right.yaml"
 * (the kind is recognised from the content), then computes the rectification if the file has none. Every number is checked.
 * FORMAT, RANGE, UNSUPPORTED with file:line:column in MESSAGE; NOT_FOUND, PERMISSION, IO. */
int plx_calibration_read(const char *path, const struct plx_calibration_options *options,
                         struct plx_stereo_calibration *ret_calibration, struct plx_error_message *message);

/* Reads what lies beside the pictures of a recording in DIRECTORY: EuRoC's cam0/sensor.yaml and cam1/sensor.yaml, also inside
 * of mav0. NOT_FOUND: there is nothing. The same errors else. */
int plx_calibration_read_beside(const char *directory, const struct plx_calibration_options *options,
                                struct plx_stereo_calibration *ret_calibration, struct plx_error_message *message);

/* Writes CALIBRATION as OpenCV FileStorage YAML, which plx_calibration_read reads back bit by bit. IO, PERMISSION, NOT_FOUND;
 * UNSUPPORTED: cameras of two sizes. */
int plx_calibration_save(const char *path, const struct plx_stereo_calibration *calibration, struct plx_error_message *message);

/* The same into OUT, whose errors are the caller's to see. PATH: for the message. UNSUPPORTED as above. */
int plx_calibration_write(FILE *out, const char *path, const struct plx_stereo_calibration *calibration,
                          struct plx_error_message *message);

#endif
