/* SPDX-License-Identifier: Apache-2.0 */
/* What `parallaxd --check-config` says of zones: the drawing, which are out of view, and which begin before the cameras see
 * ground.
 */
#include "app/supervisor/zone_drawing.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/synthetic/scene.h"
#include "tests/cmocka.h"

#define MOUNT "mount.z_m=1"
#define PITCH "mount.pitch_deg=5.73"

/* The words for zones written as text; the caller frees them. */
static char *print_zones(const char *zones)
{
    static struct plx_config config; /* large */
    struct plx_stereo_calibration calibration;
    struct plx_error_message message = {""};
    struct plx_scene scene;
    const char *const set[] = {MOUNT, PITCH, zones};
    char *text = NULL;
    size_t size;

    plx_config_default(&config);
    for (int i = 0; i < 3; i++)
        if (plx_config_set(&config, set[i], &message) < 0)
            fail_msg("%s: %s", set[i], message.text);
    plx_scene_demo(320, 240, 1, &scene);
    plx_calibration_pinhole(320, 240, &scene.calibration, &calibration);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(plx_zone_drawing_print(&config, &calibration, out, &message), 0);
    fclose(out);
    return text;
}

/* The line about zone NAME. */
static void line_of(const char *text, const char *name, char ret_line[512])
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "zone %s: ", name);
    const char *at = strstr(text, wanted);
    assert_non_null(at);
    snprintf(ret_line, 512, "%.*s", (int)strcspn(at, "\n"), at);
}

static void zones_say_what_the_cameras_see_of_them(void **state)
{
    (void)state;
    char *text = print_zones("zones=[{name: near, polygon: [[0.3, -0.5], [4, -0.5], [4, 0.5], [0.3, 0.5]]},"
                             " {name: far, polygon: [[3, -0.3], [4, -0.3], [4, 0.3], [3, 0.3]], unknown: go},"
                             " {name: behind, polygon: [[-2, -0.5], [-1, -0.5], [-1, 0.5], [-2, 0.5]]},"
                             " {name: free, polygon: [[-2, -0.5], [-1, -0.5], [-1, 0.5], [-2, 0.5]], unknown: go}]");
    char line[512];
    double begins, seen;

    line_of(text, "near", line);
    const char *at = strstr(line, "; it begins at ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "; it begins at %lf m, and they see ground from %lf m on", &begins, &seen), 2);
    assert_true(begins > 0.25 && begins < 0.35);
    assert_true(seen > begins + 0.5 && seen < 3);
    assert_null(strstr(line, "unknown: go"));

    line_of(text, "far", line); /* begins where ground is seen, and is visible, whatever its unknown cells mean */
    assert_null(strstr(line, "begins"));
    assert_null(strstr(line, "unknown: go"));
    assert_null(strstr(line, "never looked at"));
    assert_non_null(strstr(line, "100 %"));

    line_of(text, "behind", line);
    assert_non_null(strstr(line, " 0 %"));
    assert_non_null(strstr(line, "never looked at before the robot has driven past it"));
    assert_null(strstr(line, "unknown: go"));

    line_of(text, "free", line);
    assert_non_null(strstr(line, "`unknown: go` calls it free until then"));

    /* the drawing: robot, what is seen of a zone and what is not */
    assert_non_null(strchr(text, '+'));
    assert_non_null(strchr(text, 'A'));
    assert_non_null(strchr(text, 'a'));
    assert_non_null(strchr(text, 'B'));
    assert_non_null(strstr(text, "   4.0 "));
    assert_non_null(strstr(text, "  -2.0 "));
    assert_null(strstr(text, "  -2.2 "));
    free(text);
}

/* A zone that begins hardly before the ground that is seen gets no such words; one much before it does. */
static void a_zone_begins_before_what_is_seen(void **state)
{
    (void)state;
    char *text = print_zones("zones=[{name: whole, polygon: [[0.3, -0.5], [4, -0.5], [4, 0.5], [0.3, 0.5]]}]");
    char line[512], zones[256];
    double begins, seen;

    line_of(text, "whole", line);
    assert_int_equal(sscanf(strstr(line, "; it"), "; it begins at %lf m, and they see ground from %lf m on", &begins, &seen),
                     2);
    free(text);
    for (int i = 0; i < 2; i++) {
        const double begin = seen + (i ? -0.3 : 0.15); /* to a tenth, and both are ahead of the camera, not beside it */
        snprintf(zones, sizeof zones, "zones=[{name: part, polygon: [[%g, -0.05], [4, -0.05], [4, 0.05], [%g, 0.05]]}]", begin,
                 begin);
        text = print_zones(zones);
        line_of(text, "part", line);
        assert_int_equal(strstr(line, "begins") != NULL, i == 1);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_say_what_the_cameras_see_of_them),
        cmocka_unit_test(a_zone_begins_before_what_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
