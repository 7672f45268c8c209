/* SPDX-License-Identifier: Apache-2.0 */
/* Which record continues a track, on records that are made up: the overlap of boxes in the picture, another shape, and what a
 * match costs. */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/tracks/track.h"
#include "core/tracks/tracks.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

static const struct plx_calibration_info calibration = {512, 400, 320, 200, 320, 0.12};
static const struct plx_track_params params = {.min_hits = 3, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1};
static const struct plx_motion_info unknown_motion;
static const struct plx_track_cover open_view;
static uint64_t seed;

static double between(double low, double high)
{
    return low + (high - low) * random_below(&seed, 1000001) / 1e6;
}

static int setup(void **state)
{
    (void)state;
    seed = test_seed();
    return 0;
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-6))
        fail_msg("%.12g, expected %.12g", got, expected);
}

/* --- overlap -------------------------------------------------------------------------------------------------------------- */

/* 4 m ahead, 100 by 200 pixels about the principal point, which is the middle of the box. */
static const struct plx_obstacle box = {.x = 270, .y = 100, .width = 100, .height = 200, .position_m = {0, 0, 4}};

static struct plx_track track_of(const struct plx_obstacle *obstacle, const struct plx_track_cover *cover)
{
    const struct plx_track_camera camera = {0};
    struct plx_track track;
    plx_track_begin(&track, 1, &camera, &calibration, obstacle, cover);
    return track;
}

static void boxes_share_a_part_of_their_union(void **state)
{
    (void)state;
    static const struct {
        int x, y, width, height; /* beside the box of the track */
        double share;
    } cases[] = {
        {0, 0, 0, 0, 1},         {50, 0, 0, 0, 1.0 / 3},
        {-50, 0, 0, 0, 1.0 / 3}, {0, 50, 0, 0, 0.6},
        {0, -50, 0, 0, 0.6},     {0, 0, 100, 0, 0.5},
        {0, 0, -50, -100, 0.25}, {20, 100, 0, 0, 0.8 * 0.5 / (2 - 0.4)},
        {100, 0, 0, 0, 0},       {-100, 0, 0, 0, 0},
        {0, 200, 0, 0, 0},       {101, 201, 0, 0, 0}, /* apart in both directions is no overlap */
        {0, 0, -100, -200, 0},
    };
    const struct plx_track track = track_of(&box, &open_view);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_obstacle now = box;
        now.x += cases[i].x;
        now.y += cases[i].y;
        now.width += cases[i].width;
        now.height += cases[i].height;
        assert_near(plx_track_overlap(&track, &calibration, &now, &open_view), cases[i].share);
    }
}

static void there_is_no_overlap_behind_the_camera_or_without_a_box(void **state)
{
    (void)state;
    struct plx_track track = track_of(&box, &open_view);
    for (int i = 0; i < 2; i++) {
        track.state.position[2] = i - 1;
        assert_near(plx_track_overlap(&track, &calibration, &box, &open_view), 0);
    }
    struct plx_obstacle none = {.position_m = {0, 0, 4}};
    track = track_of(&none, &open_view);
    assert_near(plx_track_overlap(&track, &calibration, &none, &open_view), 0);
    for (int i = 0; i < 2; i++) {
        track = track_of(&box, &open_view);
        track.last.position_m[2] = (float)(i - 1);
        assert_near(plx_track_overlap(&track, &calibration, &box, &open_view), 0);
    }
}

/* Each edge of a box is so many metres beside the tracked point, and goes with it. */
static double project(double edge_px, double then_px_per_m, double then_m, double centre_px, double focal, double now_m,
                      double z)
{
    const double beside_m = (edge_px - centre_px) / then_px_per_m - then_m;
    return (now_m + beside_m) * focal / z + centre_px;
}

static void a_box_goes_with_its_track(void **state)
{
    (void)state;
    int overlapping = 0;
    for (int i = 0; i < 2000; i++) {
        const struct plx_obstacle then = {.x = 200 + (int)random_below(&seed, 100),
                                          .y = 80 + (int)random_below(&seed, 100),
                                          .width = 20 + (int)random_below(&seed, 150),
                                          .height = 20 + (int)random_below(&seed, 150),
                                          .position_m = {(float)between(-1, 1), (float)between(-1, 1), (float)between(0.5, 6)}};
        const struct plx_track_cover cover = {.any = true, .hidden = {random_below(&seed, 2), random_below(&seed, 2)}};
        struct plx_track track = track_of(&then, random_below(&seed, 2) ? &cover : &open_view);
        struct plx_obstacle now = then;
        now.x += (int)random_below(&seed, 60) - 30;
        now.y += (int)random_below(&seed, 60) - 30;
        now.width += (int)random_below(&seed, 60) - 15;
        now.height += (int)random_below(&seed, 60) - 15;
        for (int k = 0; k < 3; k++)
            track.state.position[k] += between(-0.2, 0.2);
        track.last_x += between(-0.1, 0.1); /* the tracked point is no centroid where a side is hidden */
        track.partial = random_below(&seed, 2);
        for (int k = 0; k < PLX_TRACK_SIDES; k++) {
            track.sides.known[k] = random_below(&seed, 2);
            track.sides.reach_m[k] = between(0, 0.7);
        }

        const double z_then = (double)then.position_m[2], *p = track.state.position, *reach = track.sides.reach_m;
        const double scale_x = calibration.fx / z_then, scale_y = calibration.fy / z_then, y_then = (double)then.position_m[1];
        double left = project(then.x, scale_x, track.last_x, calibration.cx, calibration.fx, p[0], p[2]);
        double right = project(then.x + then.width, scale_x, track.last_x, calibration.cx, calibration.fx, p[0], p[2]);
        const double top = project(then.y, scale_y, y_then, calibration.cy, calibration.fy, p[1], p[2]);
        const double bottom = project(then.y + then.height, scale_y, y_then, calibration.cy, calibration.fy, p[1], p[2]);
        if (track.partial && track.sides.known[PLX_TRACK_LEFT])
            left = (p[0] - reach[PLX_TRACK_LEFT]) * calibration.fx / p[2] + calibration.cx;
        if (track.partial && track.sides.known[PLX_TRACK_RIGHT])
            right = (p[0] + reach[PLX_TRACK_RIGHT]) * calibration.fx / p[2] + calibration.cx;
        if (cover.hidden[PLX_TRACK_LEFT] && left < now.x)
            left = now.x;
        if (cover.hidden[PLX_TRACK_RIGHT] && right > now.x + now.width)
            right = now.x + now.width;
        const double wide = fmin(right, now.x + now.width) - fmax(left, now.x),
                     high = fmin(bottom, now.y + now.height) - fmax(top, now.y);
        const double both = wide > 0 && high > 0 ? wide * high : 0;
        const double predicted = right > left ? (right - left) * (bottom - top) : 0;
        assert_near(plx_track_overlap(&track, &calibration, &now, &cover), both / (predicted + now.width * now.height - both));
        overlapping += both > 0;
    }
    assert_true(overlapping > 1000);
}

static void sides_that_were_never_seen(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct plx_track_cover cover = {.any = i > 0, .hidden = {i & 1, i >> 1}};
        const struct plx_track track = track_of(&box, &cover);
        assert_int_equal(plx_track_unknown_sides(&track), (i & 1) + (i >> 1));
        assert_int_equal(track.partial, i > 0);
    }
}

/* A pole that joins the hedge beside it, before a camera that does not know its motion: the track goes there, and its velocity
 * stays. */
static void another_shape_is_where_it_is_measured_and_did_not_move_there(void **state)
{
    (void)state;
    const struct plx_track_camera camera = {0};
    struct plx_obstacle seen = box;
    seen.extent_m[0] = 0.3F;
    seen.extent_m[1] = 1.8F;
    struct plx_track track = track_of(&seen, &open_view);
    for (int i = 1; i < 10; i++) {
        if (i == 5) {
            seen.extent_m[0] = 2.5F;
            seen.position_m[0] += 1;
        }
        plx_track_predict(&track, &camera, false, 0.1, params.accel_mps2);
        plx_track_correct(&track, &camera, &calibration, &seen, &open_view);
        for (int k = 0; k < 3; k++) {
            assert_near(track.state.position[k], (double)seen.position_m[k]);
            assert_near(track.state.velocity[k], 0);
        }
    }
}

/* --- cost ----------------------------------------------------------------------------------------------------------------- */

/* FIRST is seen, then those of NEXT, SECONDS later. Returns the index of the one that has its number, -1 if none. */
static int find_heir(const struct plx_obstacle *first, const struct plx_obstacle *next, int count, double seconds)
{
    struct plx_tracks *tracks;
    struct plx_obstacle list[PLX_MAX_OBSTACLES] = {*first};
    int listed = 1, heir = -1;
    assert_int_equal(plx_tracks_create(&params, &tracks), 0);
    plx_tracks_update(tracks, PLX_NS_PER_S, &calibration, &unknown_motion, list, &listed, PLX_MAX_OBSTACLES);
    const uint32_t track = list[0].track;
    memcpy(list, next, (size_t)count * sizeof *list);
    listed = count;
    plx_tracks_update(tracks, PLX_NS_PER_S + (int64_t)(seconds * 1e9), &calibration, &unknown_motion, list, &listed,
                      PLX_MAX_OBSTACLES);
    for (int k = 0; k < count; k++)
        if (list[k].track == track)
            heir = k;
    plx_tracks_destroy(tracks);
    return heir;
}

/* Squared standard deviations between FIRST, SECONDS later, and NOW. */
static double sigmas_between(const struct plx_obstacle *first, const struct plx_obstacle *now, double seconds)
{
    const struct plx_track_camera camera = {0};
    struct plx_track track = track_of(first, &open_view);
    double noise[9], position[3];
    plx_track_state_predict(&track.state, seconds, params.accel_mps2);
    for (int i = 0; i < 3; i++)
        position[i] = (double)now->position_m[i];
    plx_track_noise(&camera, &calibration, now, &track.size, 1, noise);
    return plx_track_state_distance(&track.state, position, noise);
}

/* FIRST, moved to the right until it is so many SIGMAS squared from FIRST; its box stays. */
static struct plx_obstacle move_by(const struct plx_obstacle *first, double sigmas, double seconds)
{
    struct plx_obstacle now = *first;
    double low = 0, high = 5;
    for (int i = 0; i < 60; i++) {
        now.position_m[0] = first->position_m[0] + (float)((low + high) / 2);
        *(sigmas_between(first, &now, seconds) < sigmas ? &low : &high) = (low + high) / 2;
    }
    return now;
}

static struct plx_obstacle without_box(struct plx_obstacle obstacle)
{
    obstacle.width = obstacle.height = 0;
    return obstacle;
}

/* Boxes that share nothing cost as much as a distance of 60 squared standard deviations. */
static void an_overlap_outweighs_a_distance(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct plx_obstacle next[2] = {move_by(&box, i ? 61 : 59, 0.03), box};
        next[1].x += 300; /* at the right place, in another part of the picture */
        assert_int_equal(find_heir(&box, next, 2, 0.03), i);
        /* Half of it for half of the union. */
        next[0] = move_by(&box, i ? 31 : 29, 0.03);
        next[1] = box;
        next[1].width *= 2;
        assert_int_equal(find_heir(&box, next, 2, 0.03), i);
    }
}

/* Five standard deviations, 0.3 m or 0.4 of the union: one of them is enough. */
static void a_match_is_likely_near_or_overlaps(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) { /* sure, as it was seen just now */
        struct plx_obstacle near = without_box(box);
        near.position_m[0] += i ? 0.301F : 0.299F;
        assert_true(sigmas_between(&box, &near, 0.01) > 26);
        assert_int_equal(find_heir(&box, &near, 1, 0.01), i ? -1 : 0);

        struct plx_obstacle overlapping = box;
        overlapping.position_m[0] += 0.5F;
        overlapping.height = i ? 78 : 82; /* 0.39 and 0.41 of the union */
        assert_int_equal(find_heir(&box, &overlapping, 1, 0.01), i ? -1 : 0);

        const struct plx_obstacle likely = move_by(&box, i ? 25.1 : 24.9, 0.03);
        const struct plx_obstacle boxless = without_box(likely);
        assert_true(likely.position_m[0] > 0.31F);
        assert_int_equal(find_heir(&box, &boxless, 1, 0.03), i ? -1 : 0);
    }
}

/* 0.8 m beyond half of the larger extent; in all three directions together. */
static void nothing_matches_beyond_the_gate(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (int larger = 0; larger < 3; larger++)
            for (int i = 0; i < 2; i++)
                for (int sign = -1; sign < 2; sign += 2) {
                    struct plx_obstacle first = box, now = box;
                    first.extent_m[axis] = larger == 1 ? 1 : larger == 2 ? 0.5F : 0;
                    now.extent_m[axis] = larger == 2 ? 1 : larger == 1 ? 0.6F : 0;
                    now.position_m[axis] += (float)(sign * ((larger ? 0.5 : 0) + (i ? 0.81 : 0.79)));
                    assert_int_equal(find_heir(&first, &now, 1, 0.05), i ? -1 : 0);
                }
    for (int i = 0; i < 2; i++) {
        struct plx_obstacle now = box;
        for (int axis = 0; axis < 3; axis++)
            now.position_m[axis] += (float)((i ? 0.81 : 0.79) / sqrt(3));
        assert_int_equal(find_heir(&box, &now, 1, 0.05), i ? -1 : 0);
    }
}

#define STEP_NS (100 * PLX_NS_PER_MS)
#define SEEN 10 /* frames, */
#define LOST 3  /* and then nothing */
#define SPEED_MPS 2.5

/* The record of frame INDEX: it goes along AXIS, to the right or towards the camera. */
static struct plx_obstacle walk(int axis, int index)
{
    struct plx_obstacle now = {.position_m = {0, 0, 9}};
    now.position_m[axis] += (float)((axis == 2 ? -1 : 1) * SPEED_MPS * index / 10);
    return now;
}

/* What tracks.c knows of it at the frame in which it is seen again, if it went on. */
static struct plx_track walk_and_vanish(int axis)
{
    const struct plx_track_camera camera = {0};
    const struct plx_obstacle first = walk(axis, 0);
    struct plx_track track = track_of(&first, &open_view);
    for (int i = 1; i < SEEN; i++) {
        const struct plx_obstacle now = walk(axis, i);
        plx_track_predict(&track, &camera, false, 0.1, params.accel_mps2);
        plx_track_correct(&track, &camera, &calibration, &now, &open_view);
    }
    for (int i = 0; i <= LOST; i++)
        plx_track_predict(&track, &camera, false, 0.1, params.accel_mps2);
    return track;
}

/* A thing that was not called moving stands more likely, whatever its velocity: that it went on costs 20 more. */
static void it_stands_or_went_on(void **state)
{
    (void)state;
    const struct plx_track_camera camera = {0};
    for (int axis = 0; axis < 3; axis += 2)
        for (int i = 0; i < 2; i++) {
            const struct plx_track track = walk_and_vanish(axis);
            struct plx_track stands = track;
            struct plx_obstacle next[2] = {walk(axis, 0), walk(axis, 0)}; /* near where it was, and where it would be */
            for (int k = 0; k < 3; k++) {
                stands.state.position[k] -= track.state.velocity[k] * 0.1 * (LOST + 1);
                next[0].position_m[k] = (float)stands.state.position[k];
                next[1].position_m[k] = (float)track.state.position[k];
            }
            double low = 0, high = 2; /* so far from where it was that its distance is nearly 20 */
            for (int n = 0; n < 60; n++) {
                double noise[9], position[3];
                for (int k = 0; k < 3; k++)
                    position[k] = stands.state.position[k] - (k == 0 ? (low + high) / 2 : 0);
                next[0].position_m[0] = (float)position[0];
                plx_track_noise(&camera, &calibration, &next[0], &track.size, 1, noise);
                *(plx_track_state_distance(&stands.state, position, noise) < (i ? 20.2 : 19.8) ? &low : &high) =
                    (low + high) / 2;
            }
            struct plx_tracks *tracks;
            struct plx_obstacle list[PLX_MAX_OBSTACLES];
            uint32_t number = 0;
            int64_t now_ns = PLX_NS_PER_S;
            assert_int_equal(plx_tracks_create(&params, &tracks), 0);
            for (int frame = 0; frame <= SEEN + LOST; frame++, now_ns += STEP_NS) {
                int count = frame < SEEN ? 1 : frame < SEEN + LOST ? 0 : 2;
                list[0] = walk(axis, frame);
                if (count == 2)
                    memcpy(list, next, sizeof next);
                plx_tracks_update(tracks, now_ns, &calibration, &unknown_motion, list, &count, PLX_MAX_OBSTACLES);
                number = frame == 0 ? list[0].track : number;
            }
            assert_int_equal(list[i].track, number);
            assert_int_not_equal(list[1 - i].track, number);
            plx_tracks_destroy(tracks);
        }
}

/* The track that was seen whole goes on, if two are as near: a side that was never seen costs 2. */
static void a_track_that_knows_its_sides_goes_first(void **state)
{
    (void)state;
    const struct plx_obstacle near_thing = {.x = 300, .y = 100, .width = 100, .height = 200, .position_m = {0, 0, 4}};
    const struct plx_obstacle part = {.x = 350, .y = 100, .width = 100, .height = 200, .position_m = {-0.1F, 0, 8}};
    const struct plx_obstacle whole = {.x = 470, .y = 100, .width = 100, .height = 200, .position_m = {0.1F, 0, 8}};
    for (int i = 0; i < 2; i++) {
        /* Its box shares as much with both; it lies a little nearer to the part, by so many squared standard deviations. */
        struct plx_obstacle now = {.x = 410, .y = 100, .width = 100, .height = 200, .position_m = {0, 0, 8}};
        double low = 0, high = 0.1;
        for (int n = 0; n < 60; n++) {
            now.position_m[0] = (float)-(low + high) / 2;
            const double nearer = sigmas_between(&whole, &now, 0.02) - sigmas_between(&part, &now, 0.02);
            *(nearer < (i ? 2.1 : 1.9) ? &low : &high) = (low + high) / 2;
        }
        struct plx_tracks *tracks;
        struct plx_obstacle list[PLX_MAX_OBSTACLES] = {near_thing, part, whole};
        int count = 3;
        assert_int_equal(plx_tracks_create(&params, &tracks), 0);
        plx_tracks_update(tracks, PLX_NS_PER_S, &calibration, &unknown_motion, list, &count, PLX_MAX_OBSTACLES);
        const uint32_t expected = list[i ? 1 : 2].track;
        list[0] = now;
        count = 1;
        plx_tracks_update(tracks, PLX_NS_PER_S + 20 * PLX_NS_PER_MS, &calibration, &unknown_motion, list, &count,
                          PLX_MAX_OBSTACLES);
        assert_int_equal(list[0].track, expected);
        plx_tracks_destroy(tracks);
    }
}

/* 5 m straight ahead. The error of the disparity is 0.1 px for a thing that states nothing or up to 0.4 px, twice that for 0.8
 * px, and never above 0.4 px. Across it is the same. */
static void what_is_less_sure_has_a_larger_error(void **state)
{
    (void)state;
    static const struct {
        double stated_px, expected_px;
    } cases[] = {{0, 0.1}, {0.2, 0.1}, {0.4, 0.1}, {0.8, 0.2}, {1.2, 0.3}, {1.6, 0.4}, {20, 0.4}};
    const struct plx_track_camera camera = {0};
    const double metres_a_px = 25 / (calibration.fx * calibration.baseline_m);
    struct plx_obstacle thing = {.nearest_m = 5, .position_m = {0, 0, 5}, .extent_m = {1, 1, 0}};
    double first[9], noise[9];

    const struct plx_track track = track_of(&thing, &open_view);
    plx_track_noise(&camera, &calibration, &thing, &track.size, 1, first);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        thing.nearest_sigma_m = (float)(cases[i].stated_px * metres_a_px);
        plx_track_noise(&camera, &calibration, &thing, &track.size, 1, noise);
        const double along = cases[i].expected_px * metres_a_px, least = 0.1 * metres_a_px;
        assert_float_equal(noise[8] - first[8], along * along - least * least, 1e-6 * along * along);
        assert_float_equal(noise[0], first[0], 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_share_a_part_of_their_union),
        cmocka_unit_test(there_is_no_overlap_behind_the_camera_or_without_a_box),
        cmocka_unit_test(a_box_goes_with_its_track),
        cmocka_unit_test(sides_that_were_never_seen),
        cmocka_unit_test(another_shape_is_where_it_is_measured_and_did_not_move_there),
        cmocka_unit_test(an_overlap_outweighs_a_distance),
        cmocka_unit_test(a_match_is_likely_near_or_overlaps),
        cmocka_unit_test(nothing_matches_beyond_the_gate),
        cmocka_unit_test(it_stands_or_went_on),
        cmocka_unit_test(a_track_that_knows_its_sides_goes_first),
        cmocka_unit_test(what_is_less_sure_has_a_larger_error),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
