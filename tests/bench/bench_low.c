/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a robot sees of low things and of drops that are none, in rendered scenes (tests/robot.h), each frame another:
 *
 *   bench_low boxes [FRAMES]   boxes 10 cm high, 10 and 40 cm wide, 2 m ahead, with obstacles.min_height_m 0: does free ground
 *                              end at them, is there a stixel; 300 frames each
 *   bench_low posts [FRAMES]   posts of 5 cm x 40 cm, 1 to 4 m ahead; 125 frames each
 *   bench_low slopes [FRAMES]  false drops on level ground, and on ground that rises and falls by up to 8 degrees, with 10
 * seeds; 2800 frames in all, 36000 take a night on a small machine bench_low                  all of them
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/robot.h"

#define SEEDS 10

static void destroy(struct plx_stages *stages, struct runner *runner)
{
    runner_destroy(runner);
    stages->ops->destroy(stages);
}

/* --- things ------------------------------------------------------------------------------------------------------------ */

static void measure_thing(int camera, double min_height_m, struct plx_scene_object thing, int frames)
{
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    struct robot_seen all = {0};
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
        const struct robot_seen seen = robot_look(&runner, &scene);
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
    static const struct {
        const char *name;
        void (*measure)(int frames);
        int frames;
    } parts[] = {{"boxes", measure_boxes, 300}, {"posts", measure_posts, 125}, {"slopes", measure_slopes, 2800}};
    const int frames = argc > 2 ? atoi(argv[2]) : 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 2 || !strcmp(argv[1], parts[i].name))
            parts[i].measure(frames > 0 ? frames : parts[i].frames);
    return 0;
}
