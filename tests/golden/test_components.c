/* SPDX-License-Identifier: Apache-2.0 */
/* Labelling of real binary images: components, and the largest one, as info.txt has them from OpenCV; each label against flood
 * fill. Disparity is the same everywhere, so that only the mask joins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "drivers/files/picture.h"
#include "oracle/components.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/golden/golden.h"

static const char folder[] = PLX_TEST_DATA "/ccl";

struct expected {
    char name[64];
    unsigned components8, largest8;
};

static void check(const struct expected *expected, const struct plx_image *mask)
{
    const struct plx_limits limits = {mask->width, mask->height, 64, 1};
    const struct plx_label_params params = {.max_step = 16, .min_area = 1};
    struct plx_image disparity = test_image_new(mask->width, mask->height, PLX_U16, 0);
    struct plx_image labels = test_image_new(mask->width, mask->height, PLX_U32, 0);
    struct plx_image flooded = test_image_new(mask->width, mask->height, PLX_U32, 0);
    struct plx_stages *stages;
    uint32_t count, wanted, largest = 0;

    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    assert_int_equal(stages->ops->label(stages, mask, &disparity, &params, &labels, &count), 0);
    for (int y = 0; y < mask->height; y++)
        for (int x = 0; x < mask->width; x++)
            largest += ((const uint32_t *)plx_row(&labels, y))[x] == 1;
    print_message("%-24s %u components, the largest has %u px\n", expected->name, count, largest);
    assert_int_equal(count, expected->components8);
    assert_int_equal(largest, expected->largest8);
    oracle_label(mask, &disparity, &params, &flooded, &wanted);
    assert_int_equal(count, wanted);
    assert_true(test_image_equal(&labels, &flooded));

    stages->ops->destroy(stages);
    test_image_free(&disparity);
    test_image_free(&labels);
    test_image_free(&flooded);
}

/* The images that are here, of those that info.txt lists. */
static void components_of_real_images(void **state)
{
    (void)state;
    char line[512], path[512];
    int checked = 0;
    snprintf(path, sizeof path, "%s/info.txt", folder);
    FILE *info = fopen(path, "r");
    assert_non_null(info);
    while (fgets(line, sizeof line, info)) {
        struct expected expected;
        struct plx_image mask;
        if (sscanf(line, "%63s %*s fg %*s components4 %*u components8 %u largest8 %u", expected.name, &expected.components8,
                   &expected.largest8) != 3)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, expected.name);
        if (plx_png_read(path, &mask, NULL) < 0)
            continue;
        check(&expected, &mask);
        free(mask.data);
        checked++;
    }
    fclose(info);
    assert_true(checked > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(components_of_real_images)};
    return golden_run(tests, NULL, NULL);
}
