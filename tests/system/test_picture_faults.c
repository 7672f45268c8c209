/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the picture through the real service: a recording that goes bad half way is flagged, in words too. */
#include "tests/system/service.h"

#include "core/words.h"

#define PAIRS 100
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

static void lower_right_by_two_rows(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    if (pair >= GOOD && eye == PLX_RIGHT)
        memmove(pixels[2], pixels[0], (size_t)(HEIGHT - 2) * WIDTH);
}

static const struct {
    void (*spoil)(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH]);
    uint32_t health;
} fault[] = {
    {leave, 0},
    {freeze, PLX_HEALTH_FROZEN},
    {freeze_lower_half, PLX_HEALTH_FROZEN},
    {darken, PLX_HEALTH_DARK},
    {blow_out, PLX_HEALTH_OVEREXPOSED},
    {darken_right, PLX_HEALTH_BRIGHTNESS_MISMATCH},
    {lower_right_by_two_rows, PLX_HEALTH_MISALIGNED},
};

#define PICTURE_FAULTS                                                                                                         \
    (PLX_HEALTH_FROZEN | PLX_HEALTH_DARK | PLX_HEALTH_OVEREXPOSED | PLX_HEALTH_BRIGHTNESS_MISMATCH | PLX_HEALTH_MISALIGNED)

static void check_fault(size_t row)
{
    char key[160];
    const char *const args[] = {SMALL, "--set", "source.kind=replay", "--set", "source.replay_rate=maximum", "--set",
                                key,   NULL};
    uint32_t seen = 0;
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
        if (plx_release(client, &view) < 0)
            continue;
        if (health && pair < GOOD)
            fail_msg("fault %zu: pair %u is good and has the flags 0x%x", row, pair, health);
        seen |= health;
        degraded = degraded || (health && state == PLX_STATE_DEGRADED);
    }
    assert_int_equal(code, 0);
    if (seen != fault[row].health)
        fail_msg("fault %zu: flags 0x%x, expected 0x%x (%s)", row, seen, fault[row].health,
                 fault[row].health ? plx_health_name(__builtin_ctz(fault[row].health)) : "none");
    assert_int_equal(degraded, fault[row].health != 0);
    plx_disconnect(client);
    clean(NULL);
}

static void each_fault_is_flagged_by_its_name_and_no_other(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof fault / sizeof fault[0]; row++)
        check_fault(row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_fault_is_flagged_by_its_name_and_no_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
