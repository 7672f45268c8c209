/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real pairs against stored results: `classic` against libSGM's own, everywhere but in the outermost pixel frame, and
 * `default`, strict and dense, on every pixel. Not one pixel may differ, with any instruction set of this machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glob.h>

#include <parallax/frame.h>

#include "cpu/internal.h"
#include "drivers/files/picture.h"
#include "oracle/matching.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/golden/golden.h"

#define LIBSGM_INVALID 65520

/* A golden file and the parameters in its name: NAME_D64_p8.png, NAME_D128_dense.png. */
struct golden {
    char pair[64], kind[16];
    int disparities;
    struct plx_image expected, grey[PLX_EYES];
};

static struct plx_image read_picture(const char *path, enum plx_type type)
{
    struct plx_image image;
    struct plx_error_message message;
    if (plx_picture_read(path, type, &image, &message) < 0)
        fail_msg("%s", message.text);
    return image;
}

static struct golden golden_load(const char *path)
{
    struct golden golden;
    char path_of_eye[512];
    const char *name = strrchr(path, '/') + 1, *mark = strstr(name, "_D");

    assert_non_null(mark);
    snprintf(golden.pair, sizeof golden.pair, "%.*s", (int)(mark - name), name);
    assert_int_equal(sscanf(mark, "_D%d_%15[a-z0-9]", &golden.disparities, golden.kind), 2);
    golden.expected = read_picture(path, PLX_U16);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(path_of_eye, sizeof path_of_eye, "%s/stereo/%s/%s.png", PLX_TEST_DATA, golden.pair, eye ? "right" : "left");
        golden.grey[eye] = read_picture(path_of_eye, PLX_U8);
        assert_true(plx_same_size(&golden.expected, &golden.grey[eye]));
    }
    return golden;
}

static void golden_free(struct golden *golden)
{
    free(golden->expected.data);
    for (int eye = 0; eye < PLX_EYES; eye++)
        free(golden->grey[eye].data);
}

static int count_differences(const struct plx_image *a, const struct golden *golden, bool frame)
{
    int differences = 0;
    for (int y = !frame; y < a->height - !frame; y++) {
        const uint16_t *got = plx_row(a, y), *expected = plx_row(&golden->expected, y);
        for (int x = !frame; x < a->width - !frame; x++) {
            const bool invalid = !frame && expected[x] == LIBSGM_INVALID;
            differences += got[x] != (invalid ? PLX_DISPARITY_INVALID : expected[x]);
        }
    }
    return differences;
}

static void compare(const char *path, bool classic)
{
    struct golden golden = golden_load(path);
    const int width = golden.expected.width, height = golden.expected.height;
    const bool dense = strcmp(golden.kind, "dense") == 0;
    struct plx_image plane[MATCHING_PLANES];
    struct plx_match match;

    (classic ? plx_match_classic : plx_match_default)(&match);
    match.disparities = golden.disparities;
    match.facing = false; /* which the references lack */
    if (classic)
        match.paths = atoi(golden.kind + 1);
    for (int i = 0; i < MATCHING_PLANES; i++)
        plane[i] = test_image_new(width, height, matching_type(&match, (enum matching_plane)i), 3);
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++) {
        const struct plx_limits limits = {width, height, golden.disparities, 1 + isa};
        struct plx_stages *stages;
        if (!plx_isa_kernels((enum plx_isa)isa))
            continue;
        assert_int_equal(plx_cpu_create_isa(&limits, (enum plx_isa)isa, &stages), 0);
        assert_int_equal(matching_run(stages, golden.grey, &match, plane), 0);
        const int differences = count_differences(&plane[dense ? MATCHING_DENSE : MATCHING_STRICT], &golden, !classic);
        printf("%s_D%d_%s, %s, %d threads: %d of %d pixels differ\n", golden.pair, golden.disparities, golden.kind,
               plx_isa_kernels((enum plx_isa)isa)->name, limits.threads, differences, width * height);
        stages->ops->destroy(stages);
        assert_int_equal(differences, 0);
    }
    for (int i = 0; i < MATCHING_PLANES; i++)
        test_image_free(&plane[i]);
    golden_free(&golden);
}

static void compare_all(const char *pattern, bool classic)
{
    glob_t files;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        compare(files.gl_pathv[i], classic);
    globfree(&files);
}

static void test_classic_equals_libsgm(void **state)
{
    (void)state;
    compare_all(PLX_TEST_DATA "/golden/*_D*_p[48].png", true);
}

static void test_default_equals_its_reference(void **state)
{
    (void)state;
    compare_all(PLX_TEST_DATA "/golden_depth/*_D*_*.png", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic_equals_libsgm),
        cmocka_unit_test(test_default_equals_its_reference),
    };
    return golden_run(tests, NULL, NULL);
}
