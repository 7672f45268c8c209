/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files damaged at random: whatever they hold, reading gives a checked result or one sentence, and never touches memory
 * that is not its own (run it with the asan preset). $PLX_TEST_SEED is the first seed, $PLX_TEST_ROUNDS their number.
 */
#include "config/config.h"

#include <math.h>
#include <string.h>

#include "tests/cmocka.h"
#include "tests/scratch.h"
#include "tests/unit/calibration_texts.h"

#define LARGEST 65536 /* bytes of a damaged file */

static struct scratch file, second;
static char dump[LARGEST];

static int setup(void **state)
{
    (void)state;
    struct plx_config defaults;
    plx_config_default(&defaults);
    FILE *out = fmemopen(dump, sizeof dump, "w");
    if (!out || plx_config_dump(&defaults, out) < 0)
        return -1;
    fclose(out);
    return scratch_begin(&file, "a.yaml") < 0 || scratch_begin(&second, "b.yaml") < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_end(&file);
    scratch_end(&second);
    return 0;
}

/* Puts PIECE in the place of CUT bytes at AT. */
static size_t splice(char *text, size_t size, size_t at, size_t cut, const char *piece, size_t length)
{
    if (cut > size - at)
        cut = size - at;
    if (size - cut + length > LARGEST)
        return size;
    memmove(text + at + length, text + at + cut, size - at - cut);
    memcpy(text + at, piece, length);
    return size - cut + length;
}

/* One to eight small accidents. */
static size_t damage(char *text, size_t size, uint64_t *seed)
{
    static const char *const piece[] = {
        "[",   "]",     "{",     "}",    ":",        "\n",   "\t",     "- ",     "&a ", "*a",       "!!opencv-matrix ",
        "\"",  "---\n", "%YAML", "nan",  ".inf",     "-",    "1e308",  "1e-308", "0",   "-1",       "999999999999",
        "|\n", "? ",    "null",  "\xFF", "\xC3\xA4", "true", "[[[[[[", "#",      "0.5", "rows: 3\n"};
    for (uint64_t n = 1 + scratch_random(seed) % 8; n > 0 && size > 0; n--) {
        const size_t at = scratch_random(seed) % size, other = scratch_random(seed) % size;
        const char *with = piece[scratch_random(seed) % (sizeof piece / sizeof *piece)];
        char copy[64];
        size_t length = size - other < sizeof copy ? size - other : scratch_random(seed) % sizeof copy;
        memcpy(copy, text + other, length);
        switch (scratch_random(seed) % 6) {
        case 0:
            size = scratch_random(seed) % 4 == 0 ? at : size; /* truncated */
            break;
        case 1:
            text[at] = (char)scratch_random(seed);
            break;
        case 2:
            size = splice(text, size, at, scratch_random(seed) % 32, "", 0);
            break;
        case 3:
            size = splice(text, size, at, 0, copy, length);
            break;
        default:
            size = splice(text, size, at, scratch_random(seed) % 5, with, strlen(with));
            break;
        }
    }
    return size;
}

static void write_damaged(const struct scratch *to, const char *text, uint64_t *seed)
{
    static char damaged[LARGEST];
    const size_t whole = strlen(text);
    memcpy(damaged, text, whole + 1);
    size_t size = damage(damaged, whole, seed);
    assert_int_equal(scratch_write(to, damaged, size), 0);
}

static uint64_t rounds(void)
{
    const char *text = getenv("PLX_TEST_ROUNDS");
    return text ? strtoull(text, NULL, 0) : 2000;
}

static void assert_told(int result, const struct plx_error_message *message, uint64_t seed)
{
    if (result < 0 && (message->text[0] == '\0' || strpbrk(message->text, "\n\r\t")))
        fail_msg("PLX_TEST_SEED=%llu: error %d says \"%s\"", (unsigned long long)seed, result, message->text);
}

static void damaged_configurations(void **state)
{
    (void)state;
    static struct plx_config config, untouched;
    const uint64_t first = scratch_seed();
    memset(&untouched, 0x5A, sizeof untouched);
    uint64_t loaded = 0;
    for (uint64_t i = first; i < first + rounds(); i++) {
        uint64_t seed = i;
        struct plx_error_message message = {""};
        write_damaged(&file, dump, &seed);
        config = untouched;
        int result = plx_config_load(file.path, &config, &message);
        assert_told(result, &message, i);
        if (result < 0)
            assert_memory_equal(&config, &untouched, sizeof config);
        else
            assert_int_equal(plx_config_check(&config, &message), 0);
        loaded += result == 0;
    }
    assert_true(loaded < rounds()); /* the damage does something */
}

static void damaged_calibrations(void **state)
{
    (void)state;
    static const struct plx_calibration_options options = {.scale = 1, .width = 640, .height = 480};
    static const char *const text[] = {OPENCV_TEXT, KALIBR_TEXT, ROS_LEFT_TEXT};
    char both[300];
    snprintf(both, sizeof both, "%s,%s", file.path, second.path);
    const uint64_t first = scratch_seed();
    for (uint64_t i = first; i < first + rounds(); i++) {
        uint64_t seed = i;
        struct plx_stereo_calibration calibration;
        struct plx_error_message message = {""};
        write_damaged(&file, text[i % 3], &seed);
        write_damaged(&second, ROS_RIGHT_TEXT, &seed);
        int result = plx_calibration_read(i % 3 == 2 ? both : file.path, &options, &calibration, &message);
        assert_told(result, &message, i);
        if (result < 0)
            continue;
        struct plx_calibration_info info;
        plx_calibration_info(&calibration, &info);
        if (!(info.baseline_m > 0) || !isfinite(info.fx) || !(info.fx > 0) || plx_calibration_check(&calibration, &message) < 0)
            fail_msg("PLX_TEST_SEED=%llu: a useless calibration was accepted", (unsigned long long)i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_configurations),
        cmocka_unit_test(damaged_calibrations),
    };
    return cmocka_run_group_tests_name("damaged files", tests, setup, teardown);
}
