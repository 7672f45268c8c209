/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a robot sees of low things and of drops that are none, in rendered scenes (tests/robot.h), each frame another:
 *
 *   bench_low boxes [FRAMES]   boxes 10 cm high, 10 and 40 cm wide, 2 m ahead: does free ground end at them, is there a stixel
 *   bench_low posts [FRAMES]   posts of 5 cm x 40 cm, 1 to 4 m ahead
 *   bench_low slopes [FRAMES]  false drops on level ground, and on ground that rises and falls by up to 8 degrees, 10 seeds
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "tests/robot.h"

#define NEAR_M 0.15 /* an end of free ground so far behind a face is at the face */
#define SEEDS 10
#define APPROACH 20 /* frames in which the robot comes nearer to a slope */

/* Equally distributed, the same at every run. */
static double within(uint64_t *random, double low, double high)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(*random >> 40) / 16777216.0;
}

static void run(struct runner *runner, const struct plx_scene *scene, int frame)
{
    runner_draw(runner, scene, 0, (uint32_t)frame);
    if (runner_run(runner, PLX_NS_PER_S + frame * 33333333LL) < 0)
        exit(1);
}

static void destroy(struct plx_stages *stages, struct runner *runner)
{
    runner_destroy(runner);
    stages->ops->destroy(stages);
}

/* --- things ------------------------------------------------------------------------------------------------------------ */

/* The columns of the scan that lie wholly on the front of the thing, at its foot (a column more at either end touches it); and
 * its depth there and at its top. */
struct front {
    int begin, end;
    double foot_z, top_z;
};

static struct front front_of(const struct plx_scene *scene)
{
    const struct plx_scene_object *thing = &scene->object[0];
    const double c = cos(scene->pitch_rad), s = sin(scene->pitch_rad), h = scene->camera_height_m;
    const double foot = thing->z * c + h * s, top = foot - thing->height * s;
    const double left = 319.5 + ROBOT_FOCAL * (thing->x - 0.5 * thing->width) / foot;
    const double right = 319.5 + ROBOT_FOCAL * (thing->x + 0.5 * thing->width) / foot;
    return (struct front){(int)ceil((left + 0.5) / 4), (int)floor((right + 0.5) / 4), foot, top};
}

/* Of the columns wholly on a thing in one frame, how many end free ground at it; of all that touch it, how many show it. */
struct seen {
    int columns, ends, shows;
};

static bool shows(const struct plx_scan *scan, const struct plx_stixel *stixel, const struct front *front)
{
    const double least = 16 * ROBOT_FOCAL * ROBOT_BASELINE / (1.1 * front->foot_z);
    const double most = 16 * ROBOT_FOCAL * ROBOT_BASELINE / (0.9 * front->top_z);
    bool shown = scan->nearest >= least && scan->nearest <= most;
    for (int i = 0; i < scan->stixels && i < PLX_COLUMN_STIXELS; i++)
        shown |= stixel[i].near_disparity >= least && stixel[i].near_disparity <= most;
    return shown;
}

static struct seen look(const struct runner *runner, const struct plx_scene *scene)
{
    const struct plx_image scan = plx_pipeline_plane(runner->frame, PLX_PLANE_SCAN);
    const struct plx_image stixels = plx_pipeline_plane(runner->frame, PLX_PLANE_STIXELS);
    const struct front front = front_of(scene);
    struct seen seen = {0};
    for (int x = front.begin - 1; x <= front.end; x++) {
        const struct plx_scan *column = (const struct plx_scan *)scan.data + x;
        const bool whole = x >= front.begin && x < front.end;
        seen.columns += whole;
        seen.ends += whole && robot_ahead(scene, column->free) <= scene->object[0].z + NEAR_M;
        seen.shows += shows(column, plx_row(&stixels, x), &front);
    }
    return seen;
}

static void measure_thing(int camera, double min_height_m, struct plx_scene_object thing, int frames)
{
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    struct seen all = {0};
    int most = 0, every = 0, shown = 0, drops = 0;
    uint64_t random = 1;
    robot_scene(camera, 1, &scene);
    scene.object_count = 1;
    robot_create(&scene, min_height_m, &stages, &runner);
    for (int frame = 0; frame < frames; frame++) {
        scene.seed = 1 + (uint64_t)frame;
        scene.object[0] = thing;
        scene.object[0].x = within(&random, -0.3, 0.3) * thing.z;
        run(&runner, &scene, frame);
        const struct seen seen = look(&runner, &scene);
        all.columns += seen.columns;
        all.ends += seen.ends;
        most += 2 * seen.ends >= seen.columns;
        every += seen.ends == seen.columns;
        shown += seen.shows > 0;
        drops += robot_drops(&runner) > 0;
    }
    printf(
        "camera %d, min_height %.2f, %2.0f cm wide, %2.0f cm high, %.1f m ahead: free ends in all columns in %d of %d frames,"
        " in half of them in %d, in %.1f %% of columns; stixel in %d frames; drops in %d\n",
        camera, min_height_m, 100 * thing.width, 100 * thing.height, thing.z, every, frames, most,
        100.0 * all.ends / all.columns, shown, drops);
    fflush(stdout);
    destroy(stages, &runner);
}

static void measure_boxes(int frames)
{
    static const double heights[] = {0.25, 0};
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
        for (int h = 0; h < 2; h++)
            for (int wide = 0; wide < 2; wide++)
                measure_thing(camera, heights[h],
                              (struct plx_scene_object){.z = 2, .width = wide ? 0.4 : 0.1, .height = 0.1, .depth = 0.1},
                              frames);
}

static void measure_posts(int frames)
{
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
        for (int z = 1; z <= 4; z++)
            measure_thing(camera, 0.25, (struct plx_scene_object){.z = z, .width = 0.05, .height = 0.4, .depth = 0.05}, frames);
}

/* --- ground that is no drop -------------------------------------------------------------------------------------------- */

/* The kinds of ground: from Z on it falls or rises by 8 degrees or less, for ever or up to level ground again. */
enum kind { LEVEL, FALLS, RISES, FALLS_AND_ENDS, RISES_AND_ENDS, CREST, ROCKS, KINDS };

static const char *const kind_name[KINDS] = {"level",
                                             "falls",
                                             "rises",
                                             "falls to level ground",
                                             "rises to level ground",
                                             "rises and falls",
                                             "level, the robot rocks by 3 degrees"};

static void shape(enum kind kind, double slope, double z, double length, struct plx_scene *scene)
{
    const double first = kind == RISES || kind == RISES_AND_ENDS || kind == CREST ? -slope : slope;
    scene->step_count = kind == LEVEL || kind == ROCKS ? 0 : kind == FALLS || kind == RISES ? 1 : 2;
    scene->step[0] = (struct plx_scene_step){z, 0, first};
    scene->step[1] = (struct plx_scene_step){z + length, first * length, kind == CREST ? slope / 2 : 0};
    if (kind == CREST)
        scene->step[0].slope = first / 2, scene->step[1].depth = first / 2 * length;
}

/* The robot comes near to one slope after another; columns with false drops, and in RET_FRAMES the frames. */
static int measure_ground(enum kind kind, int camera, uint64_t seed, int frames, int *ret_frames)
{
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    uint64_t random = seed;
    double slope = 0, length = 0, begin = 0;
    int columns = 0;
    robot_scene(camera, seed, &scene);
    const double pitch = scene.pitch_rad;
    robot_create(&scene, 0.25, &stages, &runner);
    for (int frame = 0; frame < frames; frame++) {
        if (frame % APPROACH == 0) {
            scene.seed = seed + (uint64_t)frame * SEEDS;
            scene.noise = within(&random, 0.5, 4);
            slope = tan(8 * ROBOT_DEGREE) * fmin(1, within(&random, 0.3, 1.6)); /* of all, half are as steep as can be */
            length = within(&random, 0.3, 3);
            begin = within(&random, 2.5, 5);
        }
        const double part = (double)(frame % APPROACH) / APPROACH;
        shape(kind, slope, begin - (begin - 0.3) * part, length, &scene);
        if (kind == ROCKS) {
            scene.pitch_rad = pitch + 3 * ROBOT_DEGREE * sin(2 * M_PI * part);
            scene.roll_rad = 3 * ROBOT_DEGREE * sin(4 * M_PI * part);
        }
        run(&runner, &scene, frame);
        const int here = robot_drops(&runner);
        columns += here;
        *ret_frames += here > 0;
    }
    destroy(stages, &runner);
    return columns;
}

static void measure_slopes(int frames)
{
    const int each = (frames + SEEDS * KINDS * ROBOT_CAMERAS - 1) / (SEEDS * KINDS * ROBOT_CAMERAS);
    int total = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        int columns = 0, bad = 0;
        for (int seed = 0; seed < SEEDS; seed++)
            for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
                columns += measure_ground((enum kind)kind, camera, 1 + (uint64_t)seed, each, &bad);
        printf("%-36s false drops in %d of %d frames, %d columns\n", kind_name[kind], bad, each * SEEDS * ROBOT_CAMERAS,
               columns);
        fflush(stdout);
        total += bad;
    }
    printf("all: false drops in %d of %d frames\n", total, each * SEEDS * KINDS * ROBOT_CAMERAS);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int frames = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(what, "boxes"))
        measure_boxes(frames > 0 ? frames : 300);
    else if (!strcmp(what, "posts"))
        measure_posts(frames > 0 ? frames : 125);
    else if (!strcmp(what, "slopes"))
        measure_slopes(frames > 0 ? frames : 36000);
    else
        return fprintf(stderr, "usage: bench_low boxes|posts|slopes [FRAMES]\n"), 2;
    return 0;
}
