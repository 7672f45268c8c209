/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a robot sees of low things and of drops that are none, in rendered scenes (tests/robot.h), each frame another:
 *
 *   bench_low boxes [FRAMES]   boxes 10 cm high, 10 and 40 cm wide, 2 m ahead, with obstacles.min_height_m 0: does free ground
 *                              end at them, is there a stixel; 300 frames each
 *   bench_low posts [FRAMES]   posts of 5 cm x 40 cm, 1 to 4 m ahead; 125 frames each
 *   bench_low slopes [FRAMES]  false drops on level ground, and on ground that rises and falls by up to 8 degrees, with 10
 *                              seeds; 2800 frames in all, 36000 take a night on a small machine
 *   bench_low stops [FRAMES]   stops of a zone for a post of 5 cm x 40 cm in it, 2 to 4 m ahead; 1200 frames in all
 *   bench_low street [FRAMES]  stops of a zone of 2 to 5 m ahead while nothing is in it, along the street at 10 frames a
 * second, with 10 seeds; 1000 frames in all, 36000 are an hour bench_low                  all of them
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "drivers/synthetic/raycast.h"
#include "tests/robot.h"

#define SEEDS 10

static int first_seed = 1, last_seed = SEEDS;

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
    robot_create(&scene, min_height_m, NULL, &stages, &runner);
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
    const int seeds = last_seed - first_seed + 1;
    int total = 0;
    for (int ground = 0; ground < ROBOT_GROUNDS; ground++) {
        int bad = 0, columns = 0;
        for (int seed = first_seed; seed <= last_seed; seed++)
            for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
                bad += robot_false_drops((enum robot_ground)ground, camera, (uint64_t)seed, each, &columns);
        printf("%-36s false drops in %d of %d frames, %d columns\n", ground_name[ground], bad, each * seeds * ROBOT_CAMERAS,
               columns);
        fflush(stdout);
        total += bad;
    }
    printf("all: false drops in %d of %d frames\n", total, each * seeds * ROBOT_GROUNDS * ROBOT_CAMERAS);
}

/* --- a street with nothing in the way ---------------------------------------------------------------------------------- */

#define ZONE_NEAR_M 2.0
#define ZONE_FAR_M 5.0
#define TRUTH_STEP_M 0.05
#define RATE 10

static bool is_in(const struct plx_scene_object *object, double time_s, double x, double z)
{
    double middle, front, vx, vz;
    plx_ray_object_at(object, time_s, &middle, &front, &vx, &vz);
    return fabs(x - middle) <= object->width / 2 && z >= front && z <= front + object->depth;
}

/* True if a thing of SCENE lies in the zone, wider by MARGIN_M. */
static bool is_blocked(const struct plx_scene *scene, double time_s, double margin_m)
{
    struct plx_pose camera;
    plx_scene_camera(scene, time_s, &camera);
    const double *r = camera.rotation, length = hypot(r[2], r[8]), s = r[2] / length, c = r[8] / length;
    for (double ahead = ZONE_NEAR_M - margin_m; ahead <= ZONE_FAR_M + margin_m; ahead += TRUTH_STEP_M)
        for (double right = -ROBOT_ZONE_SIDE_M - margin_m; right <= ROBOT_ZONE_SIDE_M + margin_m; right += TRUTH_STEP_M)
            for (int i = 0; i < scene->object_count; i++)
                if (is_in(&scene->object[i], time_s, camera.translation[0] + s * ahead + c * right,
                          camera.translation[2] + c * ahead - s * right))
                    return true;
    return false;
}

struct stops {
    int clear, stopped, blocked, missed, events;
};

static void drive(uint64_t seed, int frames, struct stops *stops)
{
    const struct plx_zone_list zones = robot_zone(ZONE_NEAR_M, ZONE_FAR_M, 0.3, 0);
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    int clear_for = 0, blocked_for = 0;
    bool stopped = false;
    plx_scene_street(640, 480, seed, &scene);
    robot_create(&scene, 0.25, &zones, &stages, &runner);
    for (int frame = 0; frame < frames; frame++) {
        const double time_s = (double)frame / RATE + (double)seed; /* another part of the way with each seed */
        runner_draw(&runner, &scene, time_s, (uint32_t)frame);
        if (runner_run(&runner, PLX_NS_PER_S + (int64_t)frame * PLX_NS_PER_S / RATE) < 0)
            abort();
        clear_for = is_blocked(&scene, time_s, 0.25) ? 0 : clear_for + 1;
        blocked_for = is_blocked(&scene, time_s, -0.1) ? blocked_for + 1 : 0;
        const bool stops_now = runner.frame->zone[0].verdict == PLX_VERDICT_STOP;
        stops->clear += clear_for > ROBOT_FIRST;
        stops->stopped += clear_for > ROBOT_FIRST && stops_now;
        stops->events += clear_for > ROBOT_FIRST && stops_now && !stopped;
        stops->blocked += blocked_for > ROBOT_FIRST;
        stops->missed += blocked_for > ROBOT_FIRST && !stops_now;
        if (clear_for > ROBOT_FIRST && stops_now && !stopped)
            printf("    seed %d, %.1f s: reasons 0x%x, %.2f m ahead\n", (int)seed, time_s, runner.frame->zone[0].reasons,
                   (double)runner.frame->zone[0].nearest_m);
        stopped = stops_now;
    }
    destroy(stages, &runner);
}

/* Frames without a stop of FRAMES, for a post Z ahead that CAMERA begins to watch ROBOT_FIRST frames before. */
static int missed_stops(int camera, int z, uint64_t seed, int frames)
{
    const struct plx_zone_list zones = robot_zone(ZONE_NEAR_M, ZONE_FAR_M, 1, 0); /* behind a thing nothing is known */
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    uint64_t random = seed;
    int missed = 0;
    robot_scene(camera, seed, &scene);
    scene.object_count = 1;
    scene.object[0] = (struct plx_scene_object){
        .x = robot_random(&random, -0.5, 0.5), .z = z + 0.1, .width = 0.05, .height = 0.4, .depth = 0.05};
    robot_create(&scene, 0.25, &zones, &stages, &runner);
    for (int frame = 0; frame < ROBOT_FIRST + frames; frame++) {
        robot_see(&runner, &scene, frame);
        missed += frame >= ROBOT_FIRST && runner.frame->zone[0].verdict != PLX_VERDICT_STOP;
    }
    destroy(stages, &runner);
    return missed;
}

static void measure_stops(int frames)
{
    const int each = (frames + SEEDS * 3 * ROBOT_CAMERAS - 1) / (SEEDS * 3 * ROBOT_CAMERAS);
    const int seeds = last_seed - first_seed + 1;
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
        for (int z = 2; z <= 4; z++) {
            int missed = 0;
            for (int seed = first_seed; seed <= last_seed; seed++)
                missed += missed_stops(camera, z, (uint64_t)seed, each);
            printf("camera %d, post %d.1 m ahead: no stop in %d of %d frames\n", camera, z, missed, seeds * each);
            fflush(stdout);
        }
}

static void measure_street(int frames)
{
    struct stops stops = {0};
    for (int seed = first_seed; seed <= last_seed; seed++)
        drive((uint64_t)seed, (frames + SEEDS - 1) / SEEDS, &stops);
    printf("street: %d stops (%d frames) in %d frames with a clear zone; none in %d of %d frames with a thing in it\n",
           stops.events, stops.stopped, stops.clear, stops.missed, stops.blocked);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*measure)(int frames);
        int frames;
    } parts[] = {{"boxes", measure_boxes, 300},
                 {"posts", measure_posts, 125},
                 {"slopes", measure_slopes, 2800},
                 {"stops", measure_stops, 1200},
                 {"street", measure_street, 1000}};
    const int frames = argc > 2 ? atoi(argv[2]) : 0;
    if (argc > 3)
        first_seed = last_seed = atoi(argv[3]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 2 || !strcmp(argv[1], parts[i].name))
            parts[i].measure(frames > 0 ? frames : parts[i].frames);
    return 0;
}
