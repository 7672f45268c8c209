/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax run` on real pairs: its files against stored results, its accuracy table, and the motion of a sequence. */
#include <math.h>

#include <cjson/cJSON.h>
#include <glob.h>
#include <parallax/frame.h>

#include "drivers/files/picture.h"
#include "tests/cmocka.h"
#include "tests/command.h"
#include "tests/golden/golden.h"
#include "tests/unit/files.h"

#define LIBSGM_INVALID 65520
static const char stereo[] = PLX_TEST_DATA "/stereo";

static struct plx_image read_values(const char *path)
{
    struct plx_image image;
    struct plx_error_message message;
    if (plx_picture_read(path, PLX_U16, &image, &message) < 0)
        fail_msg("%s", message.text);
    return image;
}

/* Pixels that differ, FRAME of them on each side left out; INVALID is how the golden file says so. */
static int count_different(const char *path, const char *golden_path, int frame, uint16_t invalid)
{
    struct plx_image image = read_values(path), golden = read_values(golden_path);
    int different = 0;
    assert_true(plx_same_size(&image, &golden));
    for (int y = frame; y < image.height - frame; y++) {
        const uint16_t *row = plx_row(&image, y), *golden_row = plx_row(&golden, y);
        for (int x = frame; x < image.width - frame; x++)
            different += row[x] != (golden_row[x] == invalid ? PLX_DISPARITY_INVALID : golden_row[x]);
    }
    free(image.data);
    free(golden.data);
    return different;
}

/* Every golden file NAME_D64_p8.png, made by a command of its own. */
static void classic_equals_libsgm(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob(PLX_TEST_DATA "/golden/*_p[48].png", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1, *mark = strstr(name, "_D");
        char left[512], right[512], disparities[8], paths[8];
        struct command command;
        assert_non_null(mark);
        assert_int_equal(sscanf(mark, "_D%7[0-9]_p%7[0-9]", disparities, paths), 2);
        snprintf(left, sizeof left, "%s/%.*s/left.png", stereo, (int)(mark - name), name);
        snprintf(right, sizeof right, "%s/%.*s/right.png", stereo, (int)(mark - name), name);
        const char *output = files_path("classic.png");
        command_succeed(&command, "run", left, right, "--max-disparity", disparities, "--paths", paths, "--set",
                        "match=classic", "--raw", "--output", output);
        command_free(&command);
        int different = count_different(output, found.gl_pathv[i], 1, LIBSGM_INVALID);
        if (different > 0)
            fail_msg("%s: %d pixels differ", name, different);
    }
    print_message("    %zu files\n", found.gl_pathc);
    globfree(&found);
}

/* The same by directory: one command for all pairs. */
static void default_equals_its_reference(void **state)
{
    (void)state;
    static const char *const disparities[] = {"64", "128"};
    for (int i = 0; i < 2; i++) {
        char pattern[512], output[512];
        struct command command;
        glob_t found;
        snprintf(pattern, sizeof pattern, PLX_TEST_DATA "/golden_depth/*_D%s_strict.png", disparities[i]);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        snprintf(output, sizeof output, "%s/all_%s", files_directory, disparities[i]);
        command_succeed(&command, "run", stereo, "--max-disparity", disparities[i], "--raw", "--output", output, "--set",
                        "match.facing=false"); /* which the references lack */
        command_free(&command);
        for (size_t k = 0; k < found.gl_pathc; k++) {
            char path[1024];
            const char *name = strrchr(found.gl_pathv[k], '/') + 1;
            snprintf(path, sizeof path, "%s/%.*s.png", output, (int)(strstr(name, "_D") - name), name);
            int different = count_different(path, found.gl_pathv[k], 0, PLX_DISPARITY_INVALID);
            if (different > 0)
                fail_msg("%s: %d pixels differ", name, different);
        }
        print_message("    D = %s: %zu files\n", disparities[i], found.gl_pathc);
        globfree(&found);
    }
}

static double number(const cJSON *item, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, key);
    assert_true(cJSON_IsNumber(value));
    return value->valuedouble;
}

static const char *parameters(const cJSON *item)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "parameters"));
}

/* On each pair `default` is better than `classic` in every column, and dense leaves nothing out. */
static void accuracy_table_of_both_sets(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "run", stereo, "--gt", "gt.png", "--mask", "nonocc.png", "--json");
    cJSON *list = cJSON_Parse(command.out);
    command_free(&command);
    assert_true(cJSON_IsArray(list));
    int rows = cJSON_GetArraySize(list);
    assert_true(rows >= 3 && rows % 3 == 0);
    for (int i = 0; i < rows; i += 3) {
        const cJSON *classic = cJSON_GetArrayItem(list, i), *strict = cJSON_GetArrayItem(list, i + 1);
        const cJSON *dense = cJSON_GetArrayItem(list, i + 2);
        assert_string_equal(parameters(classic), "classic");
        assert_string_equal(parameters(strict), "default, strict");
        assert_string_equal(parameters(dense), "default, dense");
        assert_true(number(strict, "density_percent") > number(classic, "density_percent"));
        assert_true(number(strict, "bad1_percent") < number(classic, "bad1_percent"));
        assert_true(number(strict, "bad3_or_invalid_percent") < number(classic, "bad3_or_invalid_percent"));
        assert_true(number(dense, "density_percent") > 99.99);
        assert_true(number(dense, "bad3_or_invalid_percent") < number(strict, "bad3_or_invalid_percent"));
    }
    cJSON_Delete(list);

    command_succeed(&command, "run", stereo, "--gt", "gt.png", "--mask", "nonocc.png");
    assert_non_null(strstr(command.out, "libSGM 3.1"));
    assert_non_null(strstr(command.out, "mean of 2 KITTI"));
    command_free(&command);
}

/* On the pairs of KITTI that no table was fitted on, which are every second one: a class of probability is right as often as it
 * says, and the errors are covered. The bars lie 2 points above what docs/matching.md says. */
static void disparities_are_as_sure_as_they_say(void **state)
{
    (void)state;
    static const char dataset[] = PLX_TEST_DATA "/kitti_dev";
    double said[10] = {0}, right[10] = {0}, share[10] = {0}, sigma = 0, bound = 0;
    struct command command;
    command_succeed(&command, "run", dataset, "--gt", "gt.png", "--set", "match=default", "--json");
    cJSON *list = cJSON_Parse(command.out);
    const int pairs = cJSON_GetArraySize(list) / 2;
    command_free(&command);
    assert_true(pairs >= 10);
    for (int i = 0; i < pairs; i++) {
        const cJSON *pair = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list, 2 * i + 1), "confidence");
        const cJSON *classes = cJSON_GetObjectItemCaseSensitive(pair, "classes");
        assert_int_equal(cJSON_GetArraySize(classes), 10);
        for (int k = 0; k < 10; k++) {
            const cJSON *class = cJSON_GetArrayItem(classes, k);
            const double pixels = number(class, "share_percent") / 100;
            if (pixels == 0)
                continue;
            said[k] += pixels * number(class, "said_percent");
            right[k] += pixels * number(class, "right_percent");
            share[k] += pixels;
        }
        sigma += number(pair, "sigma_covers_percent") / pairs;
        bound += number(pair, "bound_covers_percent") / pairs;
    }
    for (int k = 0; k < 10; k++)
        if (share[k] >= 0.01 * pairs) {
            print_message("    said %.1f %%, is %.1f %%\n", said[k] / share[k], right[k] / share[k]);
            assert_true(fabs(said[k] - right[k]) <= 6 * share[k]);
        }
    print_message("    %.1f %% within sigma, %.1f %% within the bound\n", sigma, bound);
    assert_true(sigma >= 64 && sigma <= 74 && bound >= 92 && bound <= 98);
    cJSON_Delete(list);
}

/* The output without --raw, compared with itself by --gt, has no error but its missing pixels. */
static void output_is_ground_truth_of_itself(void **state)
{
    (void)state;
    static const char left[] = PLX_TEST_DATA "/stereo/teddy/left.png", right[] = PLX_TEST_DATA "/stereo/teddy/right.png";
    struct command command;
    const char *output = files_path("teddy.png");
    command_succeed(&command, "run", left, right, "--output", output);
    command_free(&command);
    command_succeed(&command, "run", left, right, "--gt", output, "--json");
    cJSON *list = cJSON_Parse(command.out);
    const cJSON *accuracy = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list, 0), "accuracy");
    assert_true(number(accuracy, "density_percent") == 100);
    assert_true(number(accuracy, "bad1_percent") == 0);
    cJSON_Delete(list);
    command_free(&command);
    command_succeed(&command, "run", left, right, "--gt", output, "--gt-scale", "128", "--json");
    list = cJSON_Parse(command.out);
    accuracy = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list, 0), "accuracy");
    assert_true(number(accuracy, "bad1_percent") > 99);
    cJSON_Delete(list);
    command_free(&command);
}

/* The figures of `run --truth lidar` with obstacles made of RECORDS; the caller deletes them. */
static cJSON *lidar_figures(const char *records)
{
    static const char dataset[] = PLX_TEST_DATA "/kitti_dev";
    struct command command;
    command_succeed(&command, "run", dataset, "--truth", "lidar", "--max-disparity", "128", "--set", records, "--set",
                    "mount.x_m=-5", "--set", "mount.z_m=1.65", "--json"); /* the middle of the map, 5 m ahead */
    cJSON *figures = cJSON_Parse(command.out);
    command_free(&command);
    assert_true(number(figures, "frames_scored") >= 18);
    assert_true(number(figures, "ground_found") == number(figures, "frames_scored"));
    assert_true(number(figures, "ground_height_median") <= 0.04);
    assert_true(number(figures, "things_found") >= 80);
    assert_true(number(figures, "stixels_recall") >= 90.5);
    assert_true(number(figures, "stixels_clear_claimed") <= 0.25);
    assert_true(number(figures, "scan_right") >= 92);
    assert_true(number(figures, "scan_missed") <= 3);
    assert_true(number(figures, "scan_phantom") <= 1.8);
    assert_true(number(figures, "scan_free_covered") >= 99); /* 99.3 if verges that fall away were free */
    assert_true(number(figures, "scan_free_beyond") <= 3.8);
    assert_true(number(figures, "map_ghosts") <= 0.5);
    assert_true(number(figures, "map_missing") <= 2.5);
    assert_true(number(figures, "map_lacking") <= 4.5);
    assert_true(number(figures, "map_lacking_free") <= 3);
    assert_true(number(figures, "locate_boxes") >= 200);
    assert_true(number(figures, "locate_known") >= 54);
    assert_true(number(figures, "locate_known_5") >= 86);
    assert_true(number(figures, "locate_known_5") >= number(figures, "locate_known_median_5") + 3);
    assert_true(number(figures, "locate_p95") <= 15);
    assert_true(number(figures, "locate_sigma") >= 60 && number(figures, "locate_sigma") <= 76);
    return figures;
}

/* Facades and parked cars, which stand along the way, are in the list; little of the road is. */
static void obstacles_agree_with_lidar(void **state)
{
    (void)state;
    cJSON *figures = lidar_figures("obstacles.method=regions");
    assert_true(number(figures, "labels_recall") >= 83);
    assert_true(number(figures, "labels_clear_claimed") <= 0.55);
    assert_true(number(figures, "labels_scan_right") >= 81);
    cJSON_Delete(figures);
}

static void obstacles_of_stixels_agree_with_lidar(void **state)
{
    (void)state;
    cJSON *figures = lidar_figures("obstacles.method=stixels");
    assert_true(number(figures, "labels_recall") >= 87);
    assert_true(number(figures, "labels_clear_claimed") <= 0.25);
    assert_true(number(figures, "outline_right") >= 91.5);
    assert_true(number(figures, "outline_missed") <= 3.5);
    assert_true(number(figures, "outline_phantom") <= 1.8);
    assert_true(number(figures, "records_joined_fitting") <= 3.1);
    cJSON_Delete(figures);
}

/* Drift of the ego-motion over 24 pairs, and the tracks of a street in which all things stand. The first half of the true poses
 * is interpolated, so their rotation does not count. */
static void expect_sequence(const char *records, const char *correction, double max_drift_percent)
{
    static const char dataset[] = PLX_TEST_DATA "/sequence/kitti_seq1";
    struct command command;
    command_succeed(&command, "run", dataset, "--max-disparity", "128", "--truth", "poses", "--set", records, "--set",
                    correction, "--json");
    cJSON *json = cJSON_Parse(command.out);
    assert_non_null(json);
    const double drift = cJSON_GetObjectItem(json, "drift_percent")->valuedouble;
    print_message("    drift %.2f %%, %.2f ms a frame\n", drift, cJSON_GetObjectItem(json, "motion_ms")->valuedouble);
    assert_int_equal(cJSON_GetObjectItem(json, "frames")->valueint, 24);
    assert_int_equal(cJSON_GetObjectItem(json, "valid")->valueint, 23);
    assert_int_equal(cJSON_GetObjectItem(json, "breaks")->valueint, 0);
    assert_true(cJSON_GetObjectItem(json, "way_m")->valuedouble > 20 && drift <= max_drift_percent);
    const cJSON *frames = cJSON_GetObjectItem(json, "frame");
    double degrees = 0;
    for (int i = 1; i < 24; i++) {
        const cJSON *frame = cJSON_GetArrayItem(frames, i);
        assert_true(cJSON_IsTrue(cJSON_GetObjectItem(frame, "truth_interpolated")) == (i < 12));
        degrees += i < 12 ? 0 : number(frame, "error_degrees") / 12;
    }
    assert_true(degrees <= 0.04);
    assert_int_equal(number(json, "truth_measured"), 12);
    assert_true(number(json, "covered_percent") >= 91); /* 11 of 12: 95 % are expected */
    /* The true poses are matched best with -0.16 + 1.55 x^2 px */
    const cJSON *offset = cJSON_GetObjectItem(json, "drift");
    assert_true(fabs(number(offset, "disparity_offset_px") + 0.16) < 0.16 &&
                number(offset, "disparity_offset_deviation_px") < 0.1);
    assert_true(fabs(number(offset, "curve_px") - 1.55) < 0.5 && number(offset, "side_px") > 0.8);
    assert_true(number(offset, "residual_px") <= 0.15 && number(offset, "epipolar_error_px") >= 0.2); /* bend of -0.5 degrees */
    /* It is measured, but 2.4 s are too short a time to correct it. */
    assert_int_equal(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "correction"), "number")->valueint, 0);

    const cJSON *tracks = cJSON_GetObjectItem(json, "tracks");
    print_message("    id changes %.1f %%, world velocity median %.2f, p95 %.2f m/s\n", number(tracks, "id_changes_percent"),
                  number(tracks, "world_velocity_median_mps"), number(tracks, "world_velocity_p95_mps"));
    assert_true(number(tracks, "id_changes_percent") <= 5);
    assert_true(number(tracks, "tracked") >= 100 && number(tracks, "moving") == 0);
    assert_true(number(tracks, "world_velocity_median_mps") <= 0.05 && number(tracks, "world_velocity_p95_mps") <= 0.5);
    cJSON_Delete(json);
    command_free(&command);
}

static void motion_of_a_sequence(void **state)
{
    (void)state;
    expect_sequence("obstacles.method=regions", "calibration_correction=off", 1.1);
}

static void tracks_of_stixels(void **state)
{
    (void)state;
    expect_sequence("obstacles.method=stixels", "calibration_correction=off", 1.1);
    expect_sequence("obstacles.method=stixels", "calibration_correction=rows", 0.95);
}

/* The same measures by the pipeline's own motion, after the pairs of a sequence, and after no others. */
static void steadiness_of_a_sequence(void **state)
{
    (void)state;
    static const char dataset[] = PLX_TEST_DATA "/sequence/kitti_seq1", pairs[] = PLX_TEST_DATA "/kitti_dev";
    unsigned int tracks, one_frame, shown, shown_short;
    struct command command;
    command_succeed(&command, "run", dataset, "--max-disparity", "128", "--obstacles");
    const char *line = strstr(command.out, "\ntracks  ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, " tracks %u, %u of one frame", &tracks, &one_frame), 2);
    line = strstr(line, "\nshown in a list");
    assert_non_null(line);
    assert_int_equal(sscanf(line, " shown in a list %u, %u of them", &shown, &shown_short), 2);
    assert_true(tracks > shown && shown > shown_short && tracks > one_frame && one_frame > 0);
    assert_non_null(strstr(command.out, "\nid changes"));
    assert_non_null(strstr(line, " moving; p95 "));
    command_free(&command);
    command_succeed(&command, "run", pairs, "--max-disparity", "128", "--obstacles");
    assert_null(strstr(command.out, "\ntracks  "));
    command_free(&command);
}

/* Links NAME of the pair in FOLDER as picture NUMBER below PLACE. */
static void link_picture(const char *folder, const char *name, const char *place, int number)
{
    char from[512], to[64];
    snprintf(from, sizeof from, "%s/%s", folder, name);
    snprintf(to, sizeof to, "%s/%06d.png", place, number);
    assert_int_equal(symlink(from, files_path(to)), 0);
}

/* A sequence of the pairs of one recording day, one a second after the other, ROUNDS times; truth in the last round. */
static void make_sequence(int rounds)
{
    static const char day[] = PLX_TEST_DATA "/kitti_dev/000000/calib.txt";
    glob_t found;
    int number = 0;
    assert_int_equal(glob(PLX_TEST_DATA "/kitti_dev/0*", 0, NULL, &found), 0);
    assert_int_equal(mkdir(files_path("image_0"), 0755) | mkdir(files_path("image_1"), 0755) | mkdir(files_path("gt"), 0755),
                     0);
    assert_int_equal(symlink(day, files_path("calib.txt")), 0);
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char same[1200];
            snprintf(same, sizeof same, "cmp -s %s/calib.txt %s", found.gl_pathv[i], day);
            if (system(same) != 0)
                continue;
            link_picture(found.gl_pathv[i], "left.png", "image_0", number);
            link_picture(found.gl_pathv[i], "right.png", "image_1", number);
            if (round == rounds - 1)
                link_picture(found.gl_pathv[i], "gt.png", "gt", number);
            number++;
        }
    globfree(&found);
    FILE *times = fopen(files_path("times.txt"), "w");
    assert_non_null(times);
    for (int i = 0; i < number; i++)
        fprintf(times, "%d\n", i);
    assert_int_equal(fclose(times), 0);
}

/* Errors of the 22 pairs of KITTI, each of which has its calibration beside it. */
static int errors_of_pairs(const char *correction, double ret_percent[32])
{
    struct command command;
    int count = 0;
    command_succeed(&command, "run", (PLX_TEST_DATA "/kitti_dev"), "--gt", "gt.png", "--set", correction, "--json");
    cJSON *list = cJSON_Parse(command.out);
    const cJSON *pair;
    cJSON_ArrayForEach (pair, list) {
        assert_true(count < 32);
        ret_percent[count++] =
            cJSON_GetObjectItem(cJSON_GetObjectItem(pair, "accuracy"), "bad3_or_invalid_percent")->valuedouble;
    }
    cJSON_Delete(list);
    command_free(&command);
    return count;
}

/* Pairs of one calibration correct later ones, but not the only pair of another calibration. */
static void pairs_of_one_camera_learn_from_each_other(void **state)
{
    (void)state;
    enum { PAIRS = 22, ALONE = 20 };
    double before[32] = {0}, after[32] = {0}, sum[2] = {0};
    int changed = 0;
    assert_int_equal(errors_of_pairs("calibration_correction=off", before), PAIRS);
    assert_int_equal(errors_of_pairs("calibration_correction=rows", after), PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        if (before[i] == after[i])
            continue;
        changed++;
        sum[0] += before[i];
        sum[1] += after[i];
    }
    print_message("    %d pairs corrected: %.2f -> %.2f %%\n", changed, sum[0] / changed, sum[1] / changed);
    assert_true(before[0] == after[0] && before[ALONE] == after[ALONE]);
    assert_in_range(changed, 6, PAIRS - 4);
    assert_true(sum[1] < 0.95 * sum[0]);
}

static double mean_error(const char *correction)
{
    struct command command;
    double sum = 0;
    int count = 0;
    command_succeed(&command, "run", files_directory, "--gt", files_path("gt"), "--set", correction, "--json");
    cJSON *list = cJSON_Parse(command.out);
    const cJSON *pair;
    cJSON_ArrayForEach (pair, list) {
        const cJSON *error = cJSON_GetObjectItem(cJSON_GetObjectItem(pair, "accuracy"), "bad3_or_invalid_percent");
        if (!cJSON_IsNumber(error))
            continue;
        sum += error->valuedouble;
        count++;
    }
    assert_true(count >= 3);
    cJSON_Delete(list);
    command_free(&command);
    return sum / count;
}

/* Rows that are learned from pictures make real depth better. */
static void corrected_rows_help_depth(void **state)
{
    (void)state;
    make_sequence(8);
    const double before = mean_error("calibration_correction=off"), after = mean_error("calibration_correction=rows");
    print_message("    off by more than 3 px, or without a disparity: %.2f %%, corrected %.2f %%\n", before, after);
    assert_true(after < 0.95 * before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_equals_libsgm),
        cmocka_unit_test(default_equals_its_reference),
        cmocka_unit_test(accuracy_table_of_both_sets),
        cmocka_unit_test(obstacles_agree_with_lidar),
        cmocka_unit_test(obstacles_of_stixels_agree_with_lidar),
        cmocka_unit_test(disparities_are_as_sure_as_they_say),
        cmocka_unit_test(output_is_ground_truth_of_itself),
        cmocka_unit_test(motion_of_a_sequence),
        cmocka_unit_test(tracks_of_stixels),
        cmocka_unit_test(steadiness_of_a_sequence),
        cmocka_unit_test(pairs_of_one_camera_learn_from_each_other),
        cmocka_unit_test(corrected_rows_help_depth),
    };
    return golden_run(tests, files_begin, files_end);
}
