/* SPDX-License-Identifier: Apache-2.0 */
/* How steady the list of obstacles is, beside the truth of the scene: bench_steady [SEED [FRAMES]] runs the demo scene (30 Hz)
 * and the street (6 Hz) through the pipeline. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "app/evaluate/steadiness.h"
#include "core/base/clock.h"
#include "core/motion/pose.h"
#include "cpu/cpu.h"
#include "tests/list_truth.h"
#include "tests/runner.h"

#define WIDTH 640
#define HEIGHT 480
#define FRAMES 300
/* What the list must have: objects of at least this height, between these distances, with so many pixels in view. */
#define MIN_HEIGHT_M 0.4
#define NEAR_M 1.0
#define FAR_M 15.0
#define MIN_PIXELS 400

/* Whether all records count, or the TRACKED ones. */
enum { ALL, TRACKED, KINDS };

struct counts {
    int looked_for, missed[KINDS];      /* objects, one for each frame */
    int false_records[KINDS];           /* on no object */
    int joined_frames;                  /* with a record on two objects */
    int id_changes;                     /* changes of the largest record on an object from one frame to the next */
    uint32_t id[PLX_SCENE_MAX_OBJECTS]; /* in the last frame; 0: it was not looked for */
};

static void check(int result, const char *what)
{
    if (result >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, plx_strerror(result));
    exit(1);
}

static bool is_looked_for(const struct plx_scene *scene, const struct list_truth *truth, int object)
{
    return scene->object[object].height >= MIN_HEIGHT_M && truth->nearest_m[object] > NEAR_M &&
           truth->nearest_m[object] < FAR_M && truth->pixels[object] >= MIN_PIXELS;
}

static void count_object(struct counts *counts, const struct plx_frame *frame, const struct list_owner *owner, int object)
{
    const struct plx_obstacle *largest = NULL;
    bool is_found[KINDS] = {false};
    for (uint32_t i = 0; i < frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &frame->obstacle[i];
        if (owner[i].object != object)
            continue;
        is_found[ALL] = true;
        is_found[TRACKED] |= o->status == PLX_TRACK_TRACKED;
        largest = !largest || o->area_px > largest->area_px ? o : largest;
    }
    counts->looked_for++;
    for (int kind = 0; kind < KINDS; kind++)
        counts->missed[kind] += !is_found[kind];
    if (!largest)
        return;
    counts->id_changes += counts->id[object] != 0 && counts->id[object] != largest->track;
    counts->id[object] = largest->track;
}

static void count_frame(struct counts *counts, const struct plx_scene *scene, const struct list_truth *truth,
                        struct plx_frame *frame)
{
    struct list_owner owner[PLX_MAX_OBSTACLES];
    bool is_joined = false;
    list_truth_find_owners(truth, frame, owner);
    for (uint32_t i = 0; i < frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &frame->obstacle[i];
        if (o->status == PLX_TRACK_LOST)
            continue;
        is_joined |= owner[i].is_joined;
        counts->false_records[ALL] += owner[i].object == LIST_TRUTH_NONE;
        counts->false_records[TRACKED] += owner[i].object == LIST_TRUTH_NONE && o->status == PLX_TRACK_TRACKED;
    }
    counts->joined_frames += is_joined;
    for (int object = 0; object < scene->object_count; object++) {
        if (is_looked_for(scene, truth, object))
            count_object(counts, frame, owner, object);
        else
            counts->id[object] = 0; /* it may come back as another */
    }
}

static void print(const char *name, const struct counts *c, int frames, struct plx_steadiness *steadiness)
{
    struct plx_steadiness_figures f;
    plx_steadiness_figures(steadiness, &f);
    printf("%s, %d frames: %u of %u tracks became TRACKED\n", name, frames, f.shown, f.tracks);
    plx_steadiness_print(steadiness);
    printf("missed             %d of %d things, %d without a TRACKED record\n", c->missed[ALL], c->looked_for,
           c->missed[TRACKED]);
    printf("false              %d records on no object, %d of them TRACKED\n", c->false_records[ALL],
           c->false_records[TRACKED]);
    printf("id changes         %d, of the largest record on each object\n", c->id_changes);
    printf("joined             %d frames with one record on two objects\n\n", c->joined_frames);
}

static void measure(const char *name, const struct plx_scene *scene, double rate_hz, int frames)
{
    struct counts counts = {0};
    struct list_truth truth;
    struct plx_steadiness *steadiness;
    struct plx_stages *stages;
    struct runner runner;

    list_truth_create(scene->width, scene->height, &truth);
    check(plx_steadiness_create(&steadiness), "steadiness");
    runner_create_for_scene(scene, PLX_OBSTACLES_OF_STIXELS, &stages, &runner);
    for (int i = 0; i < frames; i++) {
        const double time_s = i / rate_hz;
        runner_draw(&runner, scene, time_s, (uint32_t)i);
        check(runner_run(&runner, PLX_NS_PER_S + llround(time_s * PLX_NS_PER_S)), "pipeline");
        const struct plx_motion_info *motion = &runner.frame->motion;
        check(plx_steadiness_add(steadiness, runner.frame, motion->valid ? &motion->motion : NULL), "steadiness");
        list_truth_see(&truth, scene, time_s);
        count_frame(&counts, scene, &truth, runner.frame);
    }
    print(name, &counts, frames, steadiness);
    runner_destroy(&runner);
    stages->ops->destroy(stages);
    plx_steadiness_destroy(steadiness);
    list_truth_destroy(&truth);
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const int frames = argc > 2 ? atoi(argv[2]) : FRAMES;
    struct plx_scene scene;

    plx_scene_demo(WIDTH, HEIGHT, seed, &scene);
    measure("demo", &scene, 30, frames);
    plx_scene_street(WIDTH, HEIGHT, seed, &scene);
    measure("street", &scene, 6, frames);
    return 0;
}
