/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a robot sees of low things and of drops that are none, in rendered scenes (tests/robot.h), each frame another:
 *
 *   bench_low boxes [FRAMES]   boxes 10 cm high, 10 and 40 cm wide, 2 m ahead: does free ground end at them, is there a stixel;
 *                            obstacles.min_height_m 0
 *   bench_low posts [FRAMES]   posts of 5 cm x 40 cm, 1 to 4 m ahead
 *   bench_low slopes [FRAMES]  false drops on level ground, and on ground that rises and falls by up to 8 degrees, 10 seeds
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/robot.h"

#define NEAR_M 0.15 /* an end of free ground so far behind a face is at the face */
#define SEEDS 10

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
        scene.object[0].x = robot_random(&random, -0.3, 0.3) * thing.z;
        robot_see(&runner, &scene, frame);
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
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
        for (int wide = 0; wide < 2; wide++)
            measure_thing(camera, 0, (struct plx_scene_object){.z = 2, .width = wide ? 0.4 : 0.1, .height = 0.1, .depth = 0.1},
                          frames);
}

static void measure_posts(int frames)
{
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
        for (int z = 1; z <= 4; z++)
            measure_thing(camera, 0.25, (struct plx_scene_object){.z = z, .width = 0.05, .height = 0.4, .depth = 0.05}, frames);
}

/* --- ground that is no drop -------------------------------------------------------------------------------------------- */

static const char *const ground_name[ROBOT_GROUNDS] = {"level",
                                                       "falls",
                                                       "rises",
                                                       "falls to level ground",
                                                       "rises to level ground",
                                                       "rises and falls by half of that",
                                                       "level, the robot rocks by 3 degrees"};

static void measure_slopes(int frames)
{
    const int each = (frames + SEEDS * ROBOT_GROUNDS * ROBOT_CAMERAS - 1) / (SEEDS * ROBOT_GROUNDS * ROBOT_CAMERAS);
    int total = 0;
    for (int ground = 0; ground < ROBOT_GROUNDS; ground++) {
        int bad = 0, columns = 0;
        for (int seed = 1; seed <= SEEDS; seed++)
            for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
                bad += robot_false_drops((enum robot_ground)ground, camera, (uint64_t)seed, each, &columns);
        printf("%-36s false drops in %d of %d frames, %d columns\n", ground_name[ground], bad, each * SEEDS * ROBOT_CAMERAS,
               columns);
        fflush(stdout);
        total += bad;
    }
    printf("all: false drops in %d of %d frames\n", total, each * SEEDS * ROBOT_GROUNDS * ROBOT_CAMERAS);
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
