/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a pipeline's frames: which steps act, which image each reads, what is complete when; and the diagram of
 * docs/stages.md, which is drawn from it. After a change of core/pipeline/steps.c, PLX_UPDATE_DOCS=1
 * build/release/bin/test_plan draws it again.
 */
#include "core/pipeline/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "config/file.h"
#include "core/pipeline/pipeline.h"
#include "tests/cmocka.h"

#define PAGE PLX_SOURCE_DIR "/docs/stages.md"
#define BEGIN "<!-- steps begin -->\n"
#define END "<!-- steps end -->\n"

static struct plx_pipeline_params params;
static struct plx_frame_kind kind;
static struct plx_plan plan;

static int setup(void **state)
{
    (void)state;
    plx_pipeline_params_default(&params);
    kind = (struct plx_frame_kind){.params = &params};
    return 0;
}

/* The step NAME of the plan, or NULL. */
static const struct plx_step *find(const char *name)
{
    for (int i = 0; i < plan.first[PLX_STEP_PLACES]; i++)
        if (strcmp(plan.step[i].name, name) == 0)
            return &plan.step[i];
    return NULL;
}

static const struct plx_step *make_and_find(const char *name)
{
    plx_plan_make(&kind, &plan);
    return find(name);
}

/* --- tests -----------------------------------------------------------------------------------------------------------------
 */

/* Every image that a step reads was written by a step before it, or outlives the frame. */
static void steps_read_what_is_there(void **state)
{
    (void)state;
    bool written[PLX_IMAGES] = {[PLX_IMAGE_NONE] = true, [PLX_IMAGE_HISTORY] = true};

    params.colour.enabled = true;
    params.speckle.max_size = 50;
    params.temporal.max_step = 16;
    params.prefilter_width = 3;
    plx_plan_make(&kind, &plan);
    for (int i = 0; i < plan.first[PLX_STEP_PLACES]; i++) {
        for (int k = 0; k < PLX_STEP_IMAGES; k++)
            if (!written[plan.step[i].in[k]])
                fail_msg("step \"%s\" reads image %d, which no step before it has written", plan.step[i].name,
                         plan.step[i].in[k]);
        for (int k = 0; k < PLX_STEP_IMAGES; k++)
            written[plan.step[i].out[k]] = true;
    }
    for (int id = PLX_IMAGE_PLANES; id < PLX_IMAGES; id++)
        if (plan.image[id].completed_by >= 0)
            assert_true(plan.image[id].is_used);
}

/* A step that does not act passes its input on, through as many such steps as there are. */
static void names_of_idle_steps_mean_one_image(void **state)
{
    (void)state;
    assert_int_equal(make_and_find("local mean")->in[0], PLX_IMAGE_CHECKED);
    assert_null(find("speckle"));
    assert_null(find("temporal"));

    params.temporal.max_step = 16;
    assert_int_equal(make_and_find("temporal")->in[0], PLX_IMAGE_CHECKED);
    assert_int_equal(find("local mean")->in[0], PLX_IMAGE_STABLE);

    params.match.local_mean = params.match.cross_validate = false;
    assert_int_equal(make_and_find("temporal")->out[0], PLX_IMAGE(DISPARITY));
    assert_int_equal(find("ground")->in[0], PLX_IMAGE(DISPARITY));

    params.refine = false;
    assert_int_equal(make_and_find("check")->out[0], PLX_IMAGE(DISPARITY));
    assert_int_equal(plan.image[PLX_IMAGE(DISPARITY)].completed_by, find("check") - &plan.step[plan.first[PLX_STEP_BACKEND]]);
}

/* How many steps of the backend the step NAME, beside it, waits for. */
static int begins_after(const char *name)
{
    return plan.beside_after[find(name) - &plan.step[plan.first[PLX_STEP_BESIDE]]];
}

/* Rectified pictures are converted into the planes at once. */
static void identity_needs_no_grey(void **state)
{
    (void)state;
    assert_int_equal(make_and_find("rectify left")->in[0], PLX_IMAGE_GREY_LEFT);
    assert_int_equal(begins_after("check pictures"), find("histogram") - find("convert") + 1);
    assert_int_equal(begins_after("motion"), find("corner disparities") - find("convert") + 1);
    assert_int_equal(begins_after("drift"), begins_after("motion")); /* in order: not before motion */

    kind.identity[PLX_LEFT] = true;
    assert_null(make_and_find("rectify left"));
    assert_int_equal(find("convert")->out[PLX_LEFT], PLX_IMAGE(LEFT));
    assert_int_equal(find("convert")->out[PLX_RIGHT], PLX_IMAGE_GREY_RIGHT);
    kind.identity[PLX_RIGHT] = true;
    assert_int_equal(make_and_find("convert")->out[PLX_RIGHT], PLX_IMAGE(RIGHT));
    assert_int_equal(begins_after("check sharpness"), 4); /* convert, checksum, histogram, sharpness */
}

/* Segments fill the stixels, which are complete only then; without them obstacles are regions. */
static void obstacles_are_made_of_what_there_is(void **state)
{
    (void)state;
    const struct plx_step *segments = make_and_find("segments");
    assert_int_equal(segments->in[0], PLX_IMAGE(DENSE));
    assert_int_equal(plan.image[PLX_IMAGE(STIXELS)].completed_by, segments - &plan.step[plan.first[PLX_STEP_BACKEND]]);

    params.dense = false;
    assert_int_equal(make_and_find("segments")->in[0], PLX_IMAGE_CHECKED);
    assert_int_equal(find("regions")->in[1], PLX_IMAGE_CHECKED);

    params.stixels = false;
    assert_null(make_and_find("segments"));
    assert_non_null(find("label"));
    assert_non_null(find("regions"));
    assert_null(find("map"));

    params.obstacles = false;
    assert_null(make_and_find("regions"));
    assert_null(find("tracks"));
}

static void planes_are_what_steps_write(void **state)
{
    (void)state;
    for (int id = 0; id < PLX_PLANE_COUNT; id++)
        assert_int_equal(plx_plan_has_plane(&kind, (enum plx_plane_id)id), id != PLX_PLANE_RIGHT && id != PLX_PLANE_COLOUR);
    params.right = params.colour.enabled = true;
    assert_true(plx_plan_has_plane(&kind, PLX_PLANE_RIGHT));
    assert_true(plx_plan_has_plane(&kind, PLX_PLANE_COLOUR));

    const struct plx_pipeline_params none = {.right = true, .colour.enabled = true};
    kind = (struct plx_frame_kind){.params = &none, .raw = true, .identity = {true, true}};
    for (int id = 0; id < PLX_PLANE_COUNT; id++)
        assert_int_equal(plx_plan_has_plane(&kind, (enum plx_plane_id)id),
                         id == PLX_PLANE_LEFT || id == PLX_PLANE_RIGHT || id == PLX_PLANE_HISTOGRAM);
    assert_non_null(make_and_find("check pictures"));
    assert_int_equal(plx_plan_steps(&plan, PLX_STEP_BACKEND), 3);
    assert_int_equal(begins_after("check pictures"), 3);
}

/* --- the diagram -----------------------------------------------------------------------------------------------------------
 */

#define STEPS_OF_LINE 6

/* A box with the steps of STAGE, a line of the page for each few. */
static void draw_stage(FILE *out, int stage)
{
    int steps = 0;

    for (int i = 0; i < plan.first[PLX_STEP_PLACES]; i++) {
        if ((int)plan.step[i].stage != stage)
            continue;
        if (steps == 0)
            fprintf(out, "    %s[\"<b>%s</b><br/>", plx_stage_word(stage), plx_stage_word(stage));
        fprintf(out, "%s%s", steps == 0 ? "" : steps % STEPS_OF_LINE == 0 ? ",\n        " : ", ", plan.step[i].name);
        steps++;
    }
    if (steps > 0)
        fputs("\"]\n", out);
}

/* An arrow for each pair of stages of which one reads what the other wrote last. */
static void draw_arrows(FILE *out)
{
    bool drawn[PLX_STAGE_COUNT][PLX_STAGE_COUNT] = {{false}};
    enum plx_stage writer[PLX_IMAGES];

    for (int id = 0; id < PLX_IMAGES; id++)
        writer[id] = PLX_NO_STAGE;
    for (int i = 0; i < plan.first[PLX_STEP_PLACES]; i++) {
        const struct plx_step *step = &plan.step[i];
        for (int k = 0; k < PLX_STEP_IMAGES && step->stage != PLX_NO_STAGE; k++) {
            const enum plx_stage from = writer[step->in[k]];
            if (from == PLX_NO_STAGE || from == step->stage || drawn[from][step->stage])
                continue;
            fprintf(out, "    %s --> %s\n", plx_stage_word((int)from), plx_stage_word((int)step->stage));
            drawn[from][step->stage] = true;
        }
        for (int k = 0; k < PLX_STEP_IMAGES && step->out[k]; k++)
            writer[step->out[k]] = step->stage;
    }
}

static void draw(FILE *out)
{
    params.speckle.max_size = 50;
    params.temporal.max_step = 16;
    plx_plan_make(&kind, &plan);
    fputs("```mermaid\nflowchart LR\n", out);
    for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
        draw_stage(out, stage);
    draw_arrows(out);
    fputs("```\n", out);
}

static void the_page_shows_the_steps(void **state)
{
    (void)state;
    struct plx_error_message message;
    char *page = NULL, *drawn = NULL;
    size_t size;

    FILE *out = open_memstream(&drawn, &size);
    assert_non_null(out);
    draw(out);
    fclose(out);
    assert_int_equal(plx_file_read(PAGE, 1 << 20, &page, &size, &message), 0);
    char *begin = strstr(page, BEGIN), *end = strstr(page, END);
    assert_true(begin && end && begin < end);
    begin += strlen(BEGIN);
    const bool is_same = (size_t)(end - begin) == strlen(drawn) && strncmp(begin, drawn, strlen(drawn)) == 0;
    if (!is_same && getenv("PLX_UPDATE_DOCS")) {
        FILE *file = fopen(PAGE, "w");
        assert_non_null(file);
        fprintf(file, "%.*s%s%s", (int)(begin - page), page, drawn, end);
        fclose(file);
    } else if (!is_same) {
        fail_msg("the diagram of %s is not that of the steps; PLX_UPDATE_DOCS=1 draws it again", PAGE);
    }
    free(drawn);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(steps_read_what_is_there, setup),
        cmocka_unit_test_setup(names_of_idle_steps_mean_one_image, setup),
        cmocka_unit_test_setup(identity_needs_no_grey, setup),
        cmocka_unit_test_setup(obstacles_are_made_of_what_there_is, setup),
        cmocka_unit_test_setup(planes_are_what_steps_write, setup),
        cmocka_unit_test_setup(the_page_shows_the_steps, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
