/* SPDX-License-Identifier: Apache-2.0 */
/* The table of budgets in docs/service.md holds for every step that a thread of the engine can take. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/checks/health_table.h"
#include "tests/cmocka.h"

#define PERIOD_NS (100 * PLX_NS_PER_S) /* so long that every multiple of it is longer than the fixed time */

/* The rows of the page, in its order, and the steps that each one is for; -1 ends them. */
static const struct {
    const char *words;
    int steps[PLX_STAGE_COUNT + 2];
} rows[] = {
    {"each stage; publishing", {-2}}, /* all stages, and PLX_WATCHED_PUBLISH */
    {"asking the source for a pair", {PLX_WATCHED_SOURCE, -1}},
    {"the start, from fork to the first frame; opening the GPU", {PLX_WATCHED_START, PLX_WATCHED_GPU, -1}},
    {"one call of a camera driver", {PLX_WATCHED_DRIVER_CALL, -1}},
    {"one round of the camera thread", {PLX_WATCHED_CAMERAS, -1}},
    {"decoding one picture", {PLX_WATCHED_DECODE, -1}},
    {"reading one recorded or synthetic pair", {PLX_WATCHED_FEED, -1}},
    {"reading the sensors of the machine", {PLX_WATCHED_SENSORS, -1}},
    {"the interval between two pictures of a camera", {PLX_WATCHED_LEFT, PLX_WATCHED_RIGHT, -1}},
};

/* What a cell such as "100 ms, 2 periods" promises. */
static int64_t promised_ns(const char *cell, int64_t period_ns)
{
    char unit[8] = "", *end;
    const double time = strtod(cell, &end);
    int periods = 0;
    if (strstr(cell, "never"))
        return INT64_MAX;
    assert_int_equal(sscanf(end, " %7[a-z], %d period", unit, &periods), strchr(cell, ',') ? 2 : 1);
    const int64_t fixed_ns = (int64_t)(time * (double)(strcmp(unit, "ms") == 0 ? PLX_NS_PER_MS : PLX_NS_PER_S) + 0.5);
    return fixed_ns > periods * period_ns ? fixed_ns : periods * period_ns;
}

static void check(int step, const char *words, const char *warn, const char *fatal)
{
    const int64_t a_day_ns = 24 * 3600 * PLX_NS_PER_S;
    for (int long_period = 0; long_period < 2; long_period++) {
        const int64_t period_ns = long_period * PERIOD_NS, fatal_ns = promised_ns(fatal, period_ns);
        if (plx_budget_warn_ns(step, period_ns) != promised_ns(warn, period_ns))
            fail_msg("docs/service.md, %s: warn after %s; the program warns after %lld ns", words, warn,
                     (long long)plx_budget_warn_ns(step, period_ns));
        if (fatal_ns == INT64_MAX ? plx_budget_fatal_ns(step, period_ns) < a_day_ns
                                  : plx_budget_fatal_ns(step, period_ns) != fatal_ns)
            fail_msg("docs/service.md, %s: fatal after %s; the program says %lld ns", words, fatal,
                     (long long)plx_budget_fatal_ns(step, period_ns));
    }
    const uint32_t health = step == PLX_WATCHED_LEFT      ? PLX_HEALTH_CAMERA_LOST_LEFT
                            : step == PLX_WATCHED_RIGHT   ? PLX_HEALTH_CAMERA_LOST_RIGHT
                            : step == PLX_WATCHED_SENSORS ? 0
                                                          : PLX_HEALTH_LATE;
    assert_int_equal(plx_budget_health(step), health);
}

static void budgets_are_those_of_the_page(void **state)
{
    (void)state;
    static const char head[] = "| step; flag `late` unless said | warn | fatal |";
    char line[1024] = "", words[160], warn[160], fatal[160];
    bool seen[PLX_WATCHED_COUNT] = {false};
    FILE *in = fopen(PLX_SOURCE_DIR "/docs/service.md", "re");

    assert_non_null(in);
    while (strncmp(line, head, strlen(head)) != 0)
        assert_non_null(fgets(line, sizeof line, in));
    assert_non_null(fgets(line, sizeof line, in)); /* |---| */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_non_null(fgets(line, sizeof line, in));
        assert_int_equal(sscanf(line, "| %159[^|]| %159[^|]| %159[^|]|", words, warn, fatal), 3);
        if (!strstr(words, rows[i].words))
            fail_msg("docs/service.md: \"%s\", expected the row \"%s\"", words, rows[i].words);
        const bool is_of_stages = rows[i].steps[0] == -2;
        for (int step = 0; step < PLX_WATCHED_COUNT; step++) {
            bool is_here = is_of_stages && (step < PLX_STAGE_COUNT || step == PLX_WATCHED_PUBLISH);
            for (int k = 0; !is_of_stages && rows[i].steps[k] >= 0; k++)
                is_here = is_here || rows[i].steps[k] == step;
            if (!is_here)
                continue;
            check(step, words, warn, fatal);
            seen[step] = true;
        }
    }
    assert_non_null(fgets(line, sizeof line, in));
    assert_true(line[0] != '|'); /* no other row */
    for (int step = 0; step < PLX_WATCHED_COUNT; step++)
        if (!seen[step])
            fail_msg("docs/service.md has no row for %s", plx_budget_name(step));
    fclose(in);
}

/* Numbers as from a file of another version, or a damaged one. */
static void every_number_has_words(void **state)
{
    (void)state;
    for (int thread = 0; thread < PLX_THREAD_COUNT; thread++)
        assert_string_not_equal(plx_budget_thread(thread), "a thread");
    assert_string_equal(plx_budget_thread(PLX_THREAD_COUNT), "a thread");
    assert_string_equal(plx_budget_thread(-1), "a thread");
    assert_string_equal(plx_budget_name(PLX_WATCHED_COUNT), plx_budget_name(PLX_WATCHED_START));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_are_those_of_the_page),
        cmocka_unit_test(every_number_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
