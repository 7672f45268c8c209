/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the picture through the real service: a recording that goes bad half way is flagged, in words too. */
#define WIDTH 320
#define HEIGHT 240
#include "tests/system/service.h"

#include "core/base/text.h"
#include "tests/bend.h"
#include "tests/command.h"

#define PAIRS 130
#define GOOD 30 /* pairs before the fault begins */

static void leave(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    (void)pair, (void)eye, (void)pixels;
}

/* From the fault on, rows from FIRST on are those of the last good pair. */
static void keep_rows(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH], int first)
{
    static uint8_t kept[PLX_EYES][HEIGHT][WIDTH];

    if (pair < GOOD)
        memcpy(kept[eye], pixels, sizeof kept[eye]);
    else
        memcpy(pixels[first], kept[eye][first], (size_t)(HEIGHT - first) * WIDTH);
}

static void freeze(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    keep_rows(pair, eye, pixels, 0);
}

static void freeze_lower_half(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    keep_rows(pair, eye, pixels, HEIGHT / 2);
}

static void scale(uint8_t pixels[HEIGHT][WIDTH], int percent)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int value = pixels[y][x] * percent / 100;
            pixels[y][x] = (uint8_t)(value > 255 ? 255 : value);
        }
}

static void darken(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    (void)eye;
    scale(pixels, pair < GOOD ? 100 : 3);
}

static void blow_out(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    (void)eye;
    scale(pixels, pair < GOOD ? 100 : 1000);
}

static void darken_right(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    scale(pixels, pair < GOOD || eye == PLX_LEFT ? 100 : 60);
}

/* As a greasy lens: a mean over 7 x 7 pixels. */
static void smear_right(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    static uint8_t sharp[HEIGHT][WIDTH];

    if (pair < GOOD || eye == PLX_LEFT)
        return;
    memcpy(sharp, pixels, sizeof sharp);
    for (int y = 3; y < HEIGHT - 3; y++)
        for (int x = 3; x < WIDTH - 3; x++) {
            int sum = 0;
            for (int i = 0; i < 49; i++)
                sum += sharp[y + i / 7 - 3][x + i % 7 - 3];
            pixels[y][x] = (uint8_t)(sum / 49);
        }
}

static void bend_right(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH], struct bend bend)
{
    static uint8_t straight[HEIGHT][WIDTH];

    if (pair < GOOD || eye == PLX_LEFT)
        return;
    memcpy(straight, pixels, sizeof straight);
    bend_picture(straight[0], WIDTH, HEIGHT, bend, pixels[0]);
}

static void lower_right_by_two_rows(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    bend_right(pair, eye, pixels, (struct bend){2, 0, 1});
}

static void lower_right_by_eight_rows(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    bend_right(pair, eye, pixels, (struct bend){8, 0, 1});
}

static void raise_right_by_24_rows(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    bend_right(pair, eye, pixels, (struct bend){-24, 0, 1});
}

static void turn_right(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    bend_right(pair, eye, pixels, (struct bend){0, 2, 1});
}

static void enlarge_right(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    bend_right(pair, eye, pixels, (struct bend){0, 0, 1.03});
}

static const struct {
    void (*spoil)(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH]);
    uint32_t health;
    bool groundless;  /* no ground is looked for, whose loss would be a fault, too */
    struct bend bend; /* that the last frame must tell; scale 0: any */
} fault[] = {
    {leave, 0, false, {0, 0, 1}},
    {freeze, PLX_HEALTH_FROZEN, false, {0, 0, 0}},
    {freeze_lower_half, PLX_HEALTH_FROZEN, false, {0, 0, 0}},
    {darken, PLX_HEALTH_DARK, false, {0, 0, 0}},
    {blow_out, PLX_HEALTH_OVEREXPOSED, false, {0, 0, 0}},
    {darken_right, PLX_HEALTH_BRIGHTNESS_MISMATCH, false, {0, 0, 0}},
    {smear_right, PLX_HEALTH_BLURRED, true, {0, 0, 0}},
    {lower_right_by_two_rows, PLX_HEALTH_MISALIGNED, false, {2, 0, 1}},
    {lower_right_by_eight_rows, PLX_HEALTH_MISALIGNED, false, {8, 0, 1}},
    {lower_right_by_eight_rows, PLX_HEALTH_MISALIGNED, true, {8, 0, 1}},
    {raise_right_by_24_rows, PLX_HEALTH_MISALIGNED, true, {-24, 0, 1}},
    {turn_right, PLX_HEALTH_MISALIGNED, true, {0, 2, 1}},
    {enlarge_right, PLX_HEALTH_MISALIGNED, true, {0, 0, 1.03}},
};

#define PICTURE_FAULTS                                                                                                         \
    (PLX_HEALTH_FROZEN | PLX_HEALTH_DARK | PLX_HEALTH_OVEREXPOSED | PLX_HEALTH_BRIGHTNESS_MISMATCH | PLX_HEALTH_MISALIGNED |   \
     PLX_HEALTH_BLURRED)

static void check_bend(size_t row, const struct plx_alignment_info *alignment)
{
    const struct bend bend = fault[row].bend;

    if (alignment->patches == 0 || fabs((double)alignment->epipolar_error_px - bend.rows) > 0.5 ||
        fabs((double)alignment->roll_rad * 180 / M_PI - bend.roll_deg) > 0.4 ||
        fabs((double)alignment->scale - bend.scale) > 0.008)
        fail_msg("fault %zu: measured %g rows, %g degrees, scale %g; the right camera is bent by %g rows, %g degrees, scale %g",
                 row, (double)alignment->epipolar_error_px, (double)alignment->roll_rad * 180 / M_PI, (double)alignment->scale,
                 bend.rows, bend.roll_deg, bend.scale);
}

static void check_fault(size_t row)
{
    char key[160];
    const char *const args[] = {SMALL,
                                "--set",
                                "source.type=replay",
                                "--set",
                                "source.replay_rate=maximum",
                                "--set",
                                "calibration_correction=off", /* it would mend some of them */
                                "--set",
                                key,
                                "--set",
                                fault[row].groundless ? "ground.enabled=false" : "ground.enabled=true",
                                NULL};
    uint32_t seen = 0;
    struct plx_alignment_info alignment = {0};
    bool degraded = false;
    struct plx_view view;

    make(NULL);
    write_replay(PAIRS, fault[row].spoil);
    snprintf(key, sizeof key, "source.path=%s", daemon_.directory);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    int code;
    while ((code = daemon_wait(&daemon_, 0)) < 0) {
        if (plx_next(client, 20, &view) < 0)
            continue;
        const uint32_t health = view.frame->health & PICTURE_FAULTS, state = view.frame->state;
        const uint32_t pair = view.frame->capture[PLX_LEFT].sequence;
        const struct plx_alignment_info measured = view.frame->alignment;
        if (plx_release(client, &view) < 0)
            continue;
        if (health && pair < GOOD)
            fail_msg("fault %zu: pair %u is good and has the flags 0x%x", row, pair, health);
        seen |= health;
        alignment = measured;
        degraded = degraded || (health && state == PLX_STATE_DEGRADED);
    }
    assert_int_equal(code, 0);
    if (seen != fault[row].health)
        fail_msg("fault %zu: flags 0x%x, expected 0x%x (%s)", row, seen, fault[row].health,
                 fault[row].health ? plx_health_name(__builtin_ctz(fault[row].health)) : "none");
    assert_int_equal(degraded, fault[row].health != 0);
    if (fault[row].bend.scale > 0)
        check_bend(row, &alignment);
    plx_disconnect(client);
    clean(NULL);
}

static void each_fault_is_flagged_by_its_name_and_no_other(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof fault / sizeof fault[0]; row++)
        check_fault(row);
}

/* From the first pair on. */
static void be_bent(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    lower_right_by_eight_rows(pair + GOOD, eye, pixels);
}

static void status_and_metrics_say_how_far_rows_are_off(void **state)
{
    (void)state;
    char key[160];
    const char *const args[] = {SMALL, "--set", "source.type=replay",         "--set", "source.loop=true", "--set",
                                key,   "--set", "calibration_correction=off", NULL};
    struct command command;

    make(NULL);
    write_replay(40, be_bent);
    snprintf(key, sizeof key, "source.path=%s", daemon_.directory);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    const int64_t begin_ms = now_ms();
    while (!(next_frame(client, START_MS).health & PLX_HEALTH_MISALIGNED))
        assert_false(is_late(begin_ms, START_MS));

    command_run(&command, (const char *const[]){"status", "--socket", daemon_.socket, NULL});
    assert_non_null(strstr(command.out, "px off, no depth can be trusted: calibrate again"));
    command_free(&command);
    command_run(&command, (const char *const[]){"status", "--json", "--socket", daemon_.socket, NULL});
    assert_non_null(strstr(command.out, "\"max_epipolar_error_px\""));
    command_free(&command);
    command_run(&command, (const char *const[]){"metrics", "--socket", daemon_.socket, NULL});
    const char *rows = strstr(command.out, "\nparallax_alignment_epipolar_error_pixels ");
    assert_non_null(rows);
    assert_float_equal(atof(rows + strlen("\nparallax_alignment_epipolar_error_pixels ")), 8, 0.5);
    assert_non_null(strstr(command.out, "\nparallax_alignment_roll_radians "));
    command_free(&command);
    plx_disconnect(client);
    stop_daemon();
    clean(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_fault_is_flagged_by_its_name_and_no_other),
                                       cmocka_unit_test(status_and_metrics_say_how_far_rows_are_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
