/* SPDX-License-Identifier: Apache-2.0 */
/* Odometry that a robot program gives to the real service: who may, what is refused, and what becomes of it. */
#define WIDTH 320
#define HEIGHT 240
#include "tests/system/service.h"

#include <math.h>
#include <poll.h>
#include <pwd.h>

#include "tests/motion_scene.h"

#define PAIRS 16
#define JUMP 10 /* the pair before which the camera turns at once */
#define TURN_RAD 0.4

static struct plx_motion_hint turn(double radians, int64_t interval_ns)
{
    const double sine = sin(radians), cosine = cos(radians);
    const int64_t now = plx_now_ns();
    return (struct plx_motion_hint){now - interval_ns, now, {{cosine, 0, sine, 0, 1, 0, -sine, 0, cosine}, {0, 0, 0}}};
}

/* "motion.hint_user=NAME" of the test's own user. */
static const char *own_user(void)
{
    static char key[128];
    const struct passwd *user = getpwuid(geteuid());
    assert_non_null(user);
    snprintf(key, sizeof key, "motion.hint_user=%s", user->pw_name);
    return key;
}

static void only_the_named_user_may(void **state)
{
    (void)state;
    const char *const other = geteuid() == 0 ? "motion.hint_user=nobody" : "motion.hint_user=root";
    const char *const keys[] = {"motion.hint_user=", other, own_user()};

    for (size_t i = 0; i < 3; i++) {
        const char *const args[] = {SMALL, "--set", keys[i], NULL};
        make(NULL);
        daemon_start(&daemon_, args);
        struct plx_client *client = connect_client();
        running_frame(client, START_MS);
        const struct plx_motion_hint hint = turn(0.01, PLX_NS_PER_S / 20);
        assert_int_equal(plx_motion_hint(client, &hint), i == 2 ? 0 : PLX_ERR_PERMISSION);
        assert_int_equal(plx_motion_hint(client, &hint), i == 2 ? 0 : PLX_ERR_PERMISSION);
        assert_int_not_equal(plx_state(client), PLX_STATE_STOPPED); /* the connection stays */
        plx_disconnect(client);
        stop_daemon();
        clean(NULL);
    }
}

static void bad_hints_are_refused(void **state)
{
    (void)state;
    const char *const args[] = {SMALL, "--set", own_user(), NULL};
    const struct plx_motion_hint good = turn(0.01, PLX_NS_PER_S / 20);
    struct plx_motion_hint bad = good;

    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    assert_int_equal(plx_motion_hint(NULL, &good), PLX_ERR_ARG);
    assert_int_equal(plx_motion_hint(client, NULL), PLX_ERR_ARG);
    bad.motion.rotation[0] = (double)NAN;
    assert_int_equal(plx_motion_hint(client, &bad), PLX_ERR_RANGE);
    bad = good;
    bad.motion.translation[1] = 1e300;
    assert_int_equal(plx_motion_hint(client, &bad), PLX_ERR_RANGE);
    assert_int_equal(plx_motion_hint(client, &good), 0);
    plx_disconnect(client);
    stop_daemon();
}

/* Many more than anybody needs: the service refuses what is too much, and gives frames. */
static void a_flood_of_hints_is_limited(void **state)
{
    (void)state;
    const char *const args[] = {SMALL, "--set", own_user(), NULL};
    int taken = 0, refused = 0;

    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    for (int i = 0; i < 2000; i++) {
        const struct plx_motion_hint hint = turn(0.01, PLX_NS_PER_S / 20);
        const int result = plx_motion_hint(client, &hint);
        taken += result == 0;
        refused += result == PLX_ERR_BUSY;
    }
    assert_int_equal(taken + refused, 2000);
    assert_true(taken > 0 && refused > 0);
    running_frame(client, START_MS);
    plx_disconnect(client);
    stop_daemon();
}

/* Messages of frames lie before the answer: a program that polls must learn of them all the same. */
static void a_hint_leaves_the_descriptor_readable(void **state)
{
    (void)state;
    const char *const args[] = {SMALL, "--set", own_user(), NULL};

    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    struct pollfd readable = {.fd = plx_fd(client), .events = POLLIN};
    for (int i = 0; i < 4; i++)
        running_frame(client, START_MS);
    kill(engine_of(&daemon_), SIGSTOP);
    assert_int_equal(poll(&readable, 1, patience_ms()), 1); /* their messages are there, and none follows */
    const struct plx_motion_hint hint = turn(0.01, PLX_NS_PER_S / 20);
    assert_int_equal(plx_motion_hint(client, &hint), 0);
    assert_int_equal(poll(&readable, 1, 0), 1);
    kill(engine_of(&daemon_), SIGCONT);
    plx_disconnect(client);
    stop_daemon();
}

static void a_hint_finds_the_service_again(void **state)
{
    (void)state;
    const char *const args[] = {SMALL, "--set", own_user(), NULL};
    const int64_t begin_ms = now_ms();
    int result;

    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    stop_daemon();
    struct plx_motion_hint hint = turn(0.01, PLX_NS_PER_S / 20);
    assert_int_equal(plx_motion_hint(client, &hint), PLX_ERR_LOST);
    assert_int_equal(plx_motion_hint(client, &hint), PLX_ERR_LOST);
    daemon_start(&daemon_, args);
    while ((result = plx_motion_hint(client, &hint)) != 0 && !is_late(begin_ms, START_MS)) {
        assert_true(result == PLX_ERR_LOST || result == PLX_ERR_BUSY || result == PLX_ERR_TIMEOUT);
        usleep(10000);
    }
    assert_int_equal(result, 0);
    plx_disconnect(client);
    stop_daemon();
}

/* A street from a camera that stands, and turns at once before pair JUMP. */
static void draw(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    static uint16_t unused[HEIGHT][WIDTH];
    const struct plx_image image = {pixels, WIDTH, HEIGHT, WIDTH, PLX_U8};
    const struct plx_image disparity = {unused, WIDTH, HEIGHT, sizeof unused[0], PLX_U16};
    struct plx_pose pose = turn(pair < JUMP ? 0 : TURN_RAD, 1).motion;
    struct plx_pose right = PLX_POSE_IDENTITY;
    struct motion_scene street;
    struct plx_scene demo; /* whose calibration write_replay writes */
    uint64_t noise = 2 * (uint64_t)pair + eye + 1;

    plx_scene_demo(WIDTH, HEIGHT, 1, &demo);
    motion_scene_init(&street, WIDTH, HEIGHT);
    street.calibration = demo.calibration;
    right.translation[0] = eye == PLX_RIGHT ? demo.calibration.baseline_m : 0;
    plx_pose_compose(&pose, &right, &pose);
    motion_scene_render(&street, &pose, 0, &noise, &image, &disparity);
}

/* Replays the street, with the turn in hints all the time if HINTED. Returns true if every motion after the first was known. */
static bool replay(bool hinted)
{
    char key[160];
    const char *const args[] = {SMALL, "--set", "source.type=replay", "--set", "source.replay_rate=recorded", "--set",
                                key,   "--set", own_user(),           NULL};
    bool known = true;
    uint32_t last = 0;
    struct plx_view view;

    snprintf(key, sizeof key, "source.path=%s", daemon_.directory);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    while (daemon_wait(&daemon_, 0) < 0) {
        const struct plx_motion_hint hint = turn(TURN_RAD, (int64_t)(PAIR_S * PLX_NS_PER_S));
        if (hinted)
            plx_motion_hint(client, &hint); /* fails at the end of the service */
        if (plx_next(client, 10, &view) < 0)
            continue;
        const struct plx_motion_info motion = view.frame->motion;
        const uint32_t pair = view.frame->capture[PLX_LEFT].sequence;
        if (plx_release(client, &view) < 0)
            continue;
        known = known && (motion.valid || pair == 0);
        last = pair;
    }
    assert_true(last > JUMP);
    plx_disconnect(client);
    return known;
}

static void the_engine_begins_its_search_at_the_hint(void **state)
{
    (void)state;
    write_replay(PAIRS, draw);
    assert_false(replay(false));
    assert_true(replay(true));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_named_user_may), TEST(bad_hints_are_refused),
        TEST(a_flood_of_hints_is_limited),         TEST(a_hint_leaves_the_descriptor_readable),
        TEST(a_hint_finds_the_service_again),      TEST(the_engine_begins_its_search_at_the_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
