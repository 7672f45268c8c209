/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax calibrate`: the calibration of a stereo camera from recorded pairs of a chessboard. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include <parallax/error.h>

#include "app/calibrate/chessboard.h"
#include "app/calibrate/rig.h"
#include "app/calibrate/rig_check.h"
#include "app/cli/commands.h"
#include "app/cli/offline/pairs.h"
#include "app/cli/progress.h"
#include "app/exit.h"
#include "app/options.h"
#include "app/view/json.h"
#include "config/config.h"
#include "core/geometry/matrix3.h"

#define NAME "parallax calibrate"
#define UNCERTAIN 0.005 /* of the baseline's length: then more pairs are needed */
#define MOST_ROWS_PX 1.0
#define GOOD_ROWS_PX 0.2 /* of held-out pairs: less than matching itself errs */
#define BLOCKS 8         /* of neighbouring pairs, which are alike; every second one is held out */

struct options {
    const char *board, *model, *output;
    double square_m;
    bool json;
    struct plx_option_list set;
};

/* The boards that were found. */
struct boards {
    struct plx_board board;
    double (*corner)[2]; /* [pairs][PLX_EYES][corners] */
    struct plx_board_pair *pair;
    int *number; /* of each pair in the recording */
    int count;
    struct plx_rig_options size;
};

static int fail(int error, const struct plx_error_message *message)
{
    return plx_exit_error(NAME, plx_exit_code(error), "%s", message->text);
}

/* Returns an exit code. */
static int parse(const struct options *options, struct boards *boards)
{
    static const struct {
        const char *word;
        enum plx_distortion model;
    } models[] = {{"plumb_bob", PLX_DISTORTION_PLUMB_BOB},
                  {"rational", PLX_DISTORTION_RATIONAL},
                  {"equidistant", PLX_DISTORTION_EQUIDISTANT},
                  {"none", PLX_DISTORTION_NONE}};
    char rest;
    boards->board.square_m = options->square_m;
    if (!options->board || sscanf(options->board, "%dx%d%c", &boards->board.columns, &boards->board.rows, &rest) != 2 ||
        boards->board.columns < 3 || boards->board.columns > PLX_BOARD_MAX_SIDE || boards->board.rows < 3 ||
        boards->board.rows > PLX_BOARD_MAX_SIDE)
        return plx_exit_error(NAME, PLX_EXIT_USAGE,
                              "--board: \"%s\"; expected the inner corners along both sides, 3 to %d, such as 9x6",
                              options->board ? options->board : "", PLX_BOARD_MAX_SIDE);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].word, options->model) == 0) {
            boards->size.model = models[i].model;
            return PLX_EXIT_OK;
        }
    return plx_exit_error(NAME, PLX_EXIT_USAGE, "--model: \"%s\"; expected plumb_bob, rational, equidistant or none",
                          options->model);
}

static int find_pairs(const char *path, const struct options *options, struct plx_pairs *ret_pairs,
                      struct plx_error_message *message)
{
    static struct plx_config config; /* large */
    plx_config_default(&config);
    for (int i = 0; i < options->set.count; i++) {
        const int result = plx_config_set(&config, options->set.item[i], message);
        if (result < 0)
            return result;
    }
    if (!plx_bag_files_exist(path))
        return plx_pairs_find(path, ret_pairs, message);
    const struct plx_bag_options bag = {path, {config.source.topic[PLX_LEFT], config.source.topic[PLX_RIGHT]}};
    return plx_pairs_bag(&bag, ret_pairs, message);
}

/* Looks for the board in pair K; the same corners in both pictures. NOT_FOUND; errors with a sentence. */
static int look(struct boards *boards, const struct plx_pairs *pairs, int k, struct plx_error_message *message)
{
    const int corners = plx_board_corners(&boards->board);
    double(*corner)[2] = boards->corner + (size_t)boards->count * PLX_EYES * (size_t)corners;
    struct plx_image image[PLX_EYES];
    int result = plx_pair_load(pairs, k, &image[PLX_LEFT], &image[PLX_RIGHT], message);
    if (result < 0)
        return result;
    if (boards->size.width == 0) {
        boards->size.width = image[PLX_LEFT].width;
        boards->size.height = image[PLX_LEFT].height;
    }
    if (image[PLX_LEFT].width != boards->size.width || image[PLX_LEFT].height != boards->size.height)
        result =
            plx_fail(message, PLX_ERR_FORMAT, "%s: %d x %d pixels, expected %d x %d as in the first pair", pairs->item[k].left,
                     image[PLX_LEFT].width, image[PLX_LEFT].height, boards->size.width, boards->size.height);
    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        result = plx_chessboard_find(&image[eye], &boards->board, corner + eye * corners);
        if (result < 0 && result != PLX_ERR_NOT_FOUND)
            plx_fail(message, result, "%s", plx_strerror(result));
        boards->pair[boards->count].corner[eye] = (const double(*)[2])(corner + eye * corners);
    }
    if (result == 0) {
        plx_chessboard_turn(&boards->board, boards->pair[0].corner[PLX_LEFT], corner);
        plx_chessboard_turn(&boards->board, (const double(*)[2])corner, corner + corners);
        boards->number[boards->count++] = k;
    }
    free(image[PLX_LEFT].data);
    free(image[PLX_RIGHT].data);
    return result;
}

static int look_at_all(struct boards *boards, const struct plx_pairs *pairs, struct plx_error_message *message)
{
    const size_t count = (size_t)pairs->count, corners = (size_t)plx_board_corners(&boards->board);
    struct plx_progress progress = {0};
    int result = 0;
    boards->corner = malloc(count * PLX_EYES * corners * sizeof *boards->corner);
    boards->pair = malloc(count * sizeof *boards->pair);
    boards->number = malloc(count * sizeof *boards->number);
    if (!boards->corner || !boards->pair || !boards->number)
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    plx_progress_begin(&progress);
    for (int k = 0; k < pairs->count && result == 0; k++) {
        result = look(boards, pairs, k, message);
        result = result == PLX_ERR_NOT_FOUND ? 0 : result;
        plx_progress_step(&progress, (uint64_t)k + 1, (uint64_t)pairs->count);
    }
    plx_progress_end(&progress);
    return result;
}

static void fill_calibration(const struct plx_rig *rig, struct plx_stereo_calibration *ret)
{
    *ret = (struct plx_stereo_calibration){.camera = {rig->camera[PLX_LEFT], rig->camera[PLX_RIGHT]}};
    memcpy(ret->rotation, rig->right_from_left.rotation, sizeof ret->rotation);
    memcpy(ret->translation, rig->right_from_left.translation, sizeof ret->translation);
}

/* Row of a corner in the rectified picture. */
static double rectified_row(const struct plx_stereo_calibration *calibration, enum plx_eye eye, const double corner[2])
{
    double ray[3] = {0, 0, 1}, turned[3];
    plx_camera_unproject(&calibration->camera[eye], corner[0], corner[1], &ray[0], &ray[1]);
    plx_mat3_apply(calibration->rectification[eye], ray, turned);
    return calibration->projection[eye][5] * turned[1] / turned[2] + calibration->projection[eye][6];
}

/* Root mean square of the differences of rows after rectification, of COUNT pairs: what matching meets. */
static double row_error(const struct boards *boards, const struct plx_board_pair *pair, int count,
                        const struct plx_stereo_calibration *calibration)
{
    const int corners = plx_board_corners(&boards->board);
    double sum = 0;
    for (int p = 0; p < count; p++)
        for (int k = 0; k < corners; k++) {
            const double difference = rectified_row(calibration, PLX_RIGHT, pair[p].corner[PLX_RIGHT][k]) -
                                      rectified_row(calibration, PLX_LEFT, pair[p].corner[PLX_LEFT][k]);
            sum += difference * difference;
        }
    return sqrt(sum / (count * corners));
}

static int rectify(const struct plx_rig *rig, struct plx_stereo_calibration *ret, struct plx_error_message *message)
{
    fill_calibration(rig, ret);
    return plx_calibration_rectify(ret, 0, message);
}

/* Rows of the pairs that a calibration was not fitted to: each half of the pairs by that of the other half, the larger of both,
 * px. NOT_FOUND: a half does not determine the cameras. */
static int held_out_rows(const struct boards *boards, double *ret_rows)
{
    const int block = boards->count > BLOCKS ? boards->count / BLOCKS : 1;
    struct plx_board_pair *half[2] = {malloc((size_t)boards->count * sizeof **half),
                                      malloc((size_t)boards->count * sizeof **half)};
    struct plx_stereo_calibration rectified;
    struct plx_error_message why;
    int count[2] = {0}, result = half[0] && half[1] ? 0 : PLX_ERR_NOMEM;
    double rows = 0;

    for (int p = 0; p < boards->count && result == 0; p++)
        half[p / block % 2][count[p / block % 2]++] = boards->pair[p];
    for (int fitted = 0; fitted < 2 && result == 0; fitted++) {
        struct plx_rig_fit fit;
        result = plx_rig_fit(&boards->board, half[fitted], count[fitted], &boards->size, &fit, NULL, &why);
        if (result == 0)
            result = plx_rig_check_fit(&boards->board, half[fitted], count[fitted], &boards->size, &fit, &why);
        if (result == 0)
            result = rectify(&fit.rig, &rectified, &why);
        if (result == 0)
            rows = fmax(rows, row_error(boards, half[!fitted], count[!fitted], &rectified));
    }
    free(half[0]);
    free(half[1]);
    if (result == 0)
        *ret_rows = rows;
    return result == 0 || result == PLX_ERR_NOMEM ? result : PLX_ERR_NOT_FOUND;
}

/* What is known of a calibration. */
struct outcome {
    struct plx_rig_fit fit;
    double (*pair_rms)[PLX_EYES];
    double rows, held_out; /* px; held_out < 0: not known */
    double baseline_m;
};

/* One word, and what to do. */
static const char *verdict(const struct outcome *outcome)
{
    if (outcome->held_out < 0)
        return "unknown: too few pairs to hold half of them out; record 20 or more";
    if (outcome->fit.baseline_sigma_m > UNCERTAIN * outcome->baseline_m)
        return "uncertain: the baseline; record more pairs, with the board tilted up to 45 degrees and in all parts of the "
               "view";
    return outcome->held_out <= GOOD_ROWS_PX ? "good"
                                             : "fair: rows of new pairs differ; record more pairs, in all parts of the view";
}

static void report(const struct boards *boards, const struct outcome *outcome)
{
    const struct plx_rig_fit *fit = &outcome->fit;
    double(*const pair_rms)[PLX_EYES] = outcome->pair_rms;
    const double baseline = outcome->baseline_m;
    const int own = (fit->parameters - 6) / PLX_EYES;
    int worst = 0;
    for (int p = 1; p < boards->count; p++)
        if (fmax(pair_rms[p][0], pair_rms[p][1]) > fmax(pair_rms[worst][0], pair_rms[worst][1]))
            worst = p;
    printf("corners      %.3f px rms from where the cameras would see them; pair %d is the worst: left %.2f, right %.2f px\n",
           fit->rms_px, boards->number[worst] + 1, pair_rms[worst][PLX_LEFT], pair_rms[worst][PLX_RIGHT]);
    printf("rows         %.3f px rms apart after rectification", outcome->rows);
    if (outcome->held_out >= 0)
        printf("; %.3f px of pairs that were held out", outcome->held_out);
    putchar('\n');
    printf("baseline     %.2f mm, standard deviation %.3f mm (%.2f %%)\n", 1000 * baseline, 1000 * fit->baseline_sigma_m,
           100 * fit->baseline_sigma_m / baseline);
    for (int eye = 0; eye < PLX_EYES; eye++)
        printf("%-12s focal length %.2f, %.2f px (± %.2f); principal point %.2f, %.2f px (± %.2f)\n",
               eye == PLX_LEFT ? "left" : "right", fit->rig.camera[eye].fx, fit->rig.camera[eye].fy, fit->sigma[eye * own],
               fit->rig.camera[eye].cx, fit->rig.camera[eye].cy, fit->sigma[eye * own + 2]);
    fputs("distances    straight ahead, standard deviation by this calibration:", stdout);
    for (int i = 0; i < PLX_RIG_DISTANCES; i++)
        printf("%s %.2g %% at %g m", i > 0 ? "," : "", 100 * fit->distance_sigma[i], plx_rig_distances[i]);
    putchar('\n');
    printf("verdict      %s\n", verdict(outcome));
}

static cJSON *camera_json(const struct plx_rig_fit *fit, int eye)
{
    const struct plx_camera *camera = &fit->rig.camera[eye];
    const int own = (fit->parameters - 6) / PLX_EYES;
    const struct {
        const char *name;
        double value;
    } number[] = {{"fx", camera->fx},
                  {"fy", camera->fy},
                  {"cx", camera->cx},
                  {"cy", camera->cy},
                  {"focal_deviation_px", fit->sigma[eye * own]},
                  {"centre_deviation_px", fit->sigma[eye * own + 2]}};
    cJSON *item = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        cJSON_AddItemToObject(item, number[i].name, plx_json_number(number[i].value, 4));
    return item;
}

static void report_json(const struct boards *boards, const struct outcome *outcome, int pairs, const char *output)
{
    const struct plx_rig_fit *fit = &outcome->fit;
    cJSON *item = cJSON_CreateObject(), *cameras = cJSON_CreateArray(), *distances = cJSON_CreateArray();

    cJSON_AddItemToObject(item, "pairs", plx_json_number(pairs, 0));
    cJSON_AddItemToObject(item, "boards", plx_json_number(boards->count, 0));
    cJSON_AddItemToObject(item, "rms_px", plx_json_number(fit->rms_px, 4));
    cJSON_AddItemToObject(item, "rows_px", plx_json_number(outcome->rows, 4));
    cJSON_AddItemToObject(item, "rows_held_out_px",
                          outcome->held_out >= 0 ? plx_json_number(outcome->held_out, 4) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "baseline_m", plx_json_number(outcome->baseline_m, 6));
    cJSON_AddItemToObject(item, "baseline_deviation_m", plx_json_number(fit->baseline_sigma_m, 7));
    for (int eye = 0; eye < PLX_EYES; eye++)
        cJSON_AddItemToArray(cameras, camera_json(fit, eye));
    cJSON_AddItemToObject(item, "camera", cameras);
    for (int i = 0; i < PLX_RIG_DISTANCES; i++)
        cJSON_AddItemToArray(distances, plx_json_number(100 * fit->distance_sigma[i], 4));
    cJSON_AddItemToObject(item, "distance_deviation_percent", distances);
    cJSON_AddStringToObject(item, "verdict", verdict(outcome));
    cJSON_AddStringToObject(item, "output", output);
    char *text = cJSON_Print(item);
    puts(text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(item);
}

/* Fits the rig. Nothing is written unless this is 0: *ret_calibration, once every check has passed. */
static int fit_and_check(const struct boards *boards, struct outcome *outcome, struct plx_stereo_calibration *ret_calibration,
                         struct plx_error_message *message)
{
    struct plx_stereo_calibration rectified;
    int result = plx_rig_check_moves(&boards->board, boards->pair, boards->count, boards->size.width, message);
    if (result == 0)
        result =
            plx_rig_fit(&boards->board, boards->pair, boards->count, &boards->size, &outcome->fit, outcome->pair_rms, message);
    if (result == 0)
        result = plx_rig_check_fit(&boards->board, boards->pair, boards->count, &boards->size, &outcome->fit, message);
    if (result == 0)
        result = rectify(&outcome->fit.rig, &rectified, message);
    if (result < 0)
        return result;
    const double *t = outcome->fit.rig.right_from_left.translation;
    outcome->baseline_m = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    outcome->rows = row_error(boards, boards->pair, boards->count, &rectified);
    outcome->held_out = -1;
    if (held_out_rows(boards, &outcome->held_out) == PLX_ERR_NOMEM)
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    const double worst = fmax(outcome->rows, outcome->held_out);
    if (worst > MOST_ROWS_PX)
        return plx_fail(message, PLX_ERR_FORMAT, "rows%s are %.2f px rms apart after rectification; expected at most %g px; %s",
                        worst > outcome->rows ? " of pairs that were held out" : "", worst, MOST_ROWS_PX,
                        "record more pairs, with the board in all parts of both pictures");
    fill_calibration(&outcome->fit.rig, ret_calibration);
    return 0;
}

/* PAIRS: those that were looked at. Returns an exit code. */
static int solve(const struct boards *boards, const struct options *options, int pairs)
{
    struct plx_error_message message = {""};
    struct plx_stereo_calibration calibration;
    struct outcome outcome = {.pair_rms = malloc((size_t)boards->count * sizeof *outcome.pair_rms)};

    int result = outcome.pair_rms ? fit_and_check(boards, &outcome, &calibration, &message)
                                  : plx_fail(&message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (result == 0)
        result = plx_calibration_save(options->output, &calibration, &message);
    if (result == 0 && options->json) {
        report_json(boards, &outcome, pairs, options->output);
    } else if (result == 0) {
        printf("boards       %d of %d pairs show the whole board\n", boards->count, pairs);
        report(boards, &outcome);
        printf("written to %s; name it by the key calibration, then reload the service\n", options->output);
    }
    free(outcome.pair_rms);
    return result < 0 ? fail(result, &message) : PLX_EXIT_OK;
}

int plx_command_calibrate(int argc, char **argv)
{
    struct options options = {.model = "plumb_bob", .output = "stereo.yaml"};
    const char *word[PLX_MAX_WORDS];
    const struct plx_option table[] = {
        PLX_OPTION("board", "CxR", options.board, "inner corners of the chessboard along both sides, such as 9x6"),
        PLX_OPTION("square", "M", options.square_m, "side of a square, metres, such as 0.025", .min = 1e-4, .max = 10),
        PLX_OPTION("model", "MODEL", options.model, "distortion: plumb_bob (default), rational, equidistant (fisheye) or none"),
        PLX_OPTION("output", "FILE", options.output, "the calibration (default: stereo.yaml)"),
        PLX_OPTION("set", "KEY=VALUE", options.set,
                   "source.left_topic and source.right_topic, for an MCAP file of somebody else"),
        PLX_OPTION("json", NULL, options.json, "prints JSON"),
        {0},
    };
    const struct plx_command_line line = {.program = NAME,
                                          .words = "DIR\nFILE.mcap",
                                          .about = "Calibrates a stereo camera from raw pairs of a chessboard (`parallax "
                                                   "record --raw`), and writes a file for the key "
                                                   "calibration. Both pictures must show the whole board. It says how well the "
                                                   "corners fit, and how certain the result is.",
                                          .option = table,
                                          .min_words = 1,
                                          .max_words = 1};
    struct boards boards = {.count = 0};
    struct plx_pairs pairs = {.count = 0};
    struct plx_error_message message = {""};

    plx_parse_command_line(&line, argc, argv, word);
    int exit_code = parse(&options, &boards);
    if (exit_code == PLX_EXIT_OK && !(options.square_m > 0))
        exit_code = plx_exit_error(NAME, PLX_EXIT_USAGE, "--square is missing: the side of a square in metres, such as 0.025");
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    int result = find_pairs(word[0], &options, &pairs, &message);
    if (result == 0)
        result = look_at_all(&boards, &pairs, &message);
    if (result < 0)
        exit_code = fail(result, &message);
    if (exit_code == PLX_EXIT_OK && boards.count < PLX_RIG_MIN_PAIRS)
        exit_code =
            plx_exit_error(NAME, PLX_EXIT_DATA,
                           "%s: %d of %d pairs show the whole board in both pictures; expected %d, and better 20. Does --board "
                           "count the inner corners, one less than the squares?",
                           word[0], boards.count, pairs.count, PLX_RIG_MIN_PAIRS);
    if (exit_code == PLX_EXIT_OK)
        exit_code = solve(&boards, &options, pairs.count);
    free(boards.corner);
    free(boards.pair);
    free(boards.number);
    plx_pairs_destroy(&pairs);
    return exit_code;
}
