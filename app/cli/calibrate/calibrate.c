/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax calibrate`: the calibration of a stereo camera from pairs of a board, recorded or live. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/cli/calibrate/install.h"
#include "app/cli/calibrate/report.h"
#include "app/cli/calibrate/request.h"
#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/cli/offline/pairs.h"
#include "app/cli/progress.h"
#include "app/exit.h"
#include "app/view/json.h"
#include "config/config.h"

#define KALIBR_GAP 0.3 /* share of a tag's side: the usual grid */
#define DEFAULT_OUTPUT "stereo.yaml"

int plx_calibrate_fail(int error, const struct plx_error_message *message)
{
    return plx_exit_error(PLX_CALIBRATE, plx_exit_code(error), "%s", message->text);
}

/* --- the command line ----------------------------------------------------------------------------------------------- */

static int parse_model(struct plx_calibrate_request *request)
{
    static const struct {
        const char *word;
        enum plx_distortion model;
    } models[] = {{"plumb_bob", PLX_DISTORTION_PLUMB_BOB},
                  {"rational", PLX_DISTORTION_RATIONAL},
                  {"equidistant", PLX_DISTORTION_EQUIDISTANT},
                  {"none", PLX_DISTORTION_NONE}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].word, request->model_word) == 0) {
            request->model = models[i].model;
            return PLX_EXIT_OK;
        }
    return plx_exit_error(PLX_CALIBRATE, PLX_EXIT_USAGE, "--model: \"%s\"; expected plumb_bob, rational, equidistant or none",
                          request->model_word);
}

/* Returns an exit code. */
static int parse(struct plx_calibrate_request *request)
{
    char rest;
    const bool tags = request->tags != NULL;
    const char *size = tags ? request->tags : request->chess ? request->chess : "";
    struct plx_board *board = &request->board;
    *board = (struct plx_board){.kind = tags ? PLX_BOARD_TAGS : PLX_BOARD_CHESS, .square_m = request->square_m};
    board->gap_m = request->gap_m > 0 ? request->gap_m : KALIBR_GAP * request->square_m;
    if (tags && request->chess)
        return plx_exit_error(PLX_CALIBRATE, PLX_EXIT_USAGE, "--board and --tags exclude each other");
    if (!tags && request->gap_m > 0)
        return plx_exit_error(PLX_CALIBRATE, PLX_EXIT_USAGE, "--gap is for --tags");
    if (!(request->square_m > 0) && *size)
        return plx_exit_error(PLX_CALIBRATE, PLX_EXIT_USAGE,
                              "--square is missing: the side of a square, or of a tag, in metres, such as 0.025");
    if (sscanf(size, "%dx%d%c", &board->columns, &board->rows, &rest) != 2 || !plx_board_is_valid(board))
        return tags ? plx_exit_error(PLX_CALIBRATE, PLX_EXIT_USAGE,
                                     "--tags: \"%s\"; expected the tags along both sides, 2 to %d, such as 6x6", size,
                                     PLX_BOARD_MAX_TAGS)
                    : plx_exit_error(PLX_CALIBRATE, PLX_EXIT_USAGE,
                                     "--board: \"%s\"; expected the inner corners along both sides, 3 to %d, such as 9x6", size,
                                     PLX_BOARD_MAX_SIDE);
    return parse_model(request);
}

/* --- recorded pairs ------------------------------------------------------------------------------------------------- */

static int find_pairs(const char *path, const struct plx_calibrate_request *request, struct plx_pairs *ret_pairs,
                      struct plx_error_message *message)
{
    static struct plx_config config; /* large */
    plx_config_default(&config);
    for (int i = 0; i < request->set.count; i++) {
        const int result = plx_config_set(&config, request->set.item[i], message);
        if (result < 0)
            return result;
    }
    if (!plx_bag_files_exist(path))
        return plx_pairs_find(path, ret_pairs, message);
    const struct plx_bag_options bag = {.path = path, .topic = {config.source.topic[PLX_LEFT], config.source.topic[PLX_RIGHT]}};
    return plx_pairs_bag(&bag, ret_pairs, message);
}

/* What recorded pairs show. */
struct search {
    struct plx_boards boards;
    int *number;                 /* each board's pair in the recording, from 1 */
    int looked, step;            /* pairs; from one to the next */
    int only[PLX_EYES], neither; /* pairs that one picture shows the board in, or none */
    struct plx_sighting sighting;
};

/* Detects the board in pair K. */
static int detect_in_pair(struct search *search, const struct plx_pairs *pairs, int k, struct plx_error_message *message)
{
    struct plx_boards *boards = &search->boards;
    struct plx_image image[PLX_EYES];
    struct plx_error_message why;
    int result = plx_pair_load(pairs, k, &image[PLX_LEFT], &image[PLX_RIGHT], message);
    if (result < 0)
        return result;
    result = plx_boards_detect(boards, image, &why);
    search->looked++;
    if (result == 0) {
        search->number[boards->count] = k + 1;
        result = plx_boards_keep(boards);
    } else if (result == PLX_ERR_NOT_FOUND) {
        const bool *seen = boards->seen;
        search->neither += !seen[PLX_LEFT] && !seen[PLX_RIGHT];
        search->only[PLX_LEFT] += seen[PLX_LEFT];
        search->only[PLX_RIGHT] += seen[PLX_RIGHT];
        result = boards->count == 0 ? plx_sighting_detect(&search->sighting, &image[PLX_LEFT]) : 0;
        if (result < 0)
            plx_fail(message, result, "%s", plx_strerror(result));
    } else {
        plx_fail(message, result, "%s: %s", pairs->item[k].left, why.text);
    }
    free(image[PLX_LEFT].data);
    free(image[PLX_RIGHT].data);
    return result;
}

static int detect_in_all(struct search *search, const struct plx_pairs *pairs, struct plx_error_message *message)
{
    struct plx_progress progress = {0};
    int result = 0;
    search->step = (pairs->count + PLX_RIG_MAX_PAIRS - 1) / PLX_RIG_MAX_PAIRS;
    search->number = malloc(((size_t)pairs->count + 1) * sizeof *search->number);
    if (!search->number)
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    plx_progress_begin(&progress);
    for (int k = 0; k < pairs->count && result == 0; k += search->step) {
        result = detect_in_pair(search, pairs, k, message);
        plx_progress_step(&progress, (uint64_t)k + 1, (uint64_t)pairs->count);
    }
    plx_progress_end(&progress);
    return result;
}

/* "2 only the left picture, 1 neither" */
static void left_out_text(const struct search *search, char *ret, size_t size)
{
    const struct {
        int count;
        const char *what;
    } reason[] = {{search->only[PLX_LEFT], "only the left picture shows it"},
                  {search->only[PLX_RIGHT], "only the right picture shows it"},
                  {search->neither, "neither picture shows it"}};
    int at = 0;
    *ret = '\0';
    for (size_t i = 0; i < sizeof reason / sizeof *reason && at < (int)size; i++)
        if (reason[i].count > 0)
            at += snprintf(ret + at, size - (size_t)at, "%s in %d %s", at > 0 ? "," : "", reason[i].count, reason[i].what);
}

static int fail_too_few(const struct search *search, const struct plx_board *board, const char *path)
{
    char left_out[160], advice[PLX_SIGHTING_TEXT];
    left_out_text(search, left_out, sizeof left_out);
    plx_boards_sighting_text(&search->boards, &search->sighting, advice);
    if (*advice == '\0')
        snprintf(advice, sizeof advice, "%s",
                 board->kind == PLX_BOARD_TAGS ? "no grid of AprilTags 36h11 is seen: are tags 20 px wide, sharp and lit?"
                                               : "does --board count the inner corners, one less than the squares?");
    return plx_exit_error(
        PLX_CALIBRATE, PLX_EXIT_DATA, "%s: %d of %d pairs show the board in both pictures;%s; expected %d, and better 20; %s",
        path, search->boards.count, search->looked, *left_out ? left_out : " none is left out", PLX_RIG_MIN_PAIRS, advice);
}

static int calibrate_recorded(const struct plx_calibrate_request *request, const char *path)
{
    struct search search = {.looked = 0};
    struct plx_pairs pairs = {.count = 0};
    struct plx_error_message message = {""};
    char left_out[160];
    int exit_code;
    int result = plx_boards_open(&search.boards, &request->board, request->model);
    if (result < 0)
        plx_fail(&message, result, "%s", plx_strerror(result));
    if (result == 0)
        result = find_pairs(path, request, &pairs, &message);
    if (result == 0)
        result = detect_in_all(&search, &pairs, &message);
    left_out_text(&search, left_out, sizeof left_out);
    if (result < 0)
        exit_code = plx_calibrate_fail(result, &message);
    else if (search.boards.count < PLX_RIG_MIN_PAIRS)
        exit_code = fail_too_few(&search, &request->board, path);
    else
        exit_code = plx_calibrate_finish(request, &search.boards, search.number, search.looked, left_out);
    plx_sighting_close(&search.sighting);
    plx_boards_close(&search.boards);
    free(search.number);
    plx_pairs_destroy(&pairs);
    return exit_code;
}

/* --- the result ----------------------------------------------------------------------------------------------------- */

static cJSON *install_json(const struct plx_install *install, const struct plx_outcome *outcome)
{
    cJSON *item = cJSON_CreateObject(), *before = install->had_before ? cJSON_CreateObject() : cJSON_CreateNull();
    cJSON *after = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "config", install->config);
    if (install->had_before) {
        cJSON_AddItemToObject(before, "epipolar_error_px", plx_json_number(install->rows_before, 4));
        cJSON_AddItemToObject(before, "baseline_m", plx_json_number(install->baseline_before_m, 6));
    }
    cJSON_AddItemToObject(item, "before", before);
    cJSON_AddItemToObject(after, "epipolar_error_px", plx_json_number(outcome->rows, 4));
    cJSON_AddItemToObject(after, "baseline_m", plx_json_number(outcome->baseline_m, 6));
    cJSON_AddItemToObject(after, "service_epipolar_error_px",
                          install->rows_service >= 0 ? plx_json_number(install->rows_service, 4) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "after", after);
    return item;
}

/* INSTALL: NULL: it was not asked for. */
static void print_json(const struct plx_outcome *outcome, int boards, int pairs, const char *output,
                       const struct plx_install *install)
{
    cJSON *item = plx_outcome_json(outcome);
    cJSON_AddItemToObject(item, "pairs", plx_json_number(pairs, 0));
    cJSON_AddItemToObject(item, "boards", plx_json_number(boards, 0));
    cJSON_AddStringToObject(item, "output", output);
    cJSON_AddItemToObject(item, "installed", install ? install_json(install, outcome) : cJSON_CreateNull());
    char *text = cJSON_Print(item);
    puts(text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(item);
}

static void print_install(const struct plx_install *install, const struct plx_outcome *outcome)
{
    printf("installed    %s, named in %s; the service uses it\n", install->path, install->config);
    if (*install->old)
        printf("kept         what was there: %s\n", install->old);
    if (install->had_before)
        printf("before       rows %.3f px, baseline %.2f mm\n", install->rows_before, 1000 * install->baseline_before_m);
    else
        puts("before       no calibration");
    printf("after        rows %.3f px, baseline %.2f mm", outcome->rows, 1000 * outcome->baseline_m);
    if (install->rows_service >= 0)
        printf("; in the service's pictures rows %.2f px", install->rows_service);
    putchar('\n');
}

int plx_calibrate_finish(const struct plx_calibrate_request *request, const struct plx_boards *boards, const int *number,
                         int pairs, const char *left_out)
{
    struct plx_error_message message = {""};
    struct plx_outcome outcome;
    struct plx_install install = {.config = request->config, .socket = request->socket, .output = request->output};
    const char *output = request->install ? install.path : request->output ? request->output : DEFAULT_OUTPUT;
    int result = plx_outcome_find(boards, &outcome, &message);
    if (result == 0 && request->install)
        result = plx_install_run(&install, boards, &outcome, &message);
    else if (result == 0)
        result = plx_calibration_save(output, &outcome.calibration, &message);
    if (result < 0)
        return plx_calibrate_fail(result, &message);
    if (request->json) {
        print_json(&outcome, boards->count, pairs, output, request->install ? &install : NULL);
        return PLX_EXIT_OK;
    }
    printf("boards       %d of %d pairs show it in both pictures%s%s\n", boards->count, pairs, *left_out ? ";" : "", left_out);
    plx_outcome_print(&outcome, number ? number[outcome.worst] : outcome.worst + 1);
    if (request->install)
        print_install(&install, &outcome);
    else
        printf("written to %s; name it by the key calibration, then reload the service\n", output);
    return PLX_EXIT_OK;
}

int plx_command_calibrate(int argc, char **argv)
{
    struct plx_calibrate_request request = {.model_word = "plumb_bob", .config = PLX_DEFAULT_CONFIG};
    const char *word[PLX_MAX_WORDS];
    const struct plx_option table[] = {
        PLX_OPTION("board", "CxR", request.chess, "inner corners of the chessboard along both sides, such as 9x6"),
        PLX_OPTION("tags", "CxR", request.tags, "instead, the tags of a grid of AprilTags 36h11 along both sides, such as 6x6"),
        PLX_OPTION("square", "M", request.square_m, "side of a square, or of a tag, metres, such as 0.025", .min = 1e-4,
                   .max = 10),
        PLX_OPTION("gap", "M", request.gap_m, "between two tags, metres (default: 0.3 of a tag, as Kalibr's)", .min = 1e-4,
                   .max = 10),
        PLX_OPTION("model", "MODEL", request.model_word,
                   "distortion: plumb_bob (default), rational, equidistant (fisheye) or none"),
        PLX_OPTION("live", NULL, request.live,
                   "takes the pairs from the running service, and says where the board is still needed"),
        PLX_OPTION("output", "FILE", request.output,
                   "the calibration (default: " DEFAULT_OUTPUT "; with --install the file that the configuration names)"),
        PLX_OPTION("install", NULL, request.install,
                   "names the calibration in the service's configuration, reloads the service and checks what it sees"),
        PLX_OPTION("config", "FILE", request.config, "for --install: the configuration (default: " PLX_DEFAULT_CONFIG ")"),
        PLX_SOCKET_OPTION(request.socket),
        PLX_OPTION("set", "KEY=VALUE", request.set,
                   "source.left_topic and source.right_topic, for an MCAP file of somebody else"),
        PLX_OPTION("json", NULL, request.json, "prints JSON"),
        {0},
    };
    const struct plx_command_line line = {
        .program = PLX_CALIBRATE,
        .words = "DIR\nFILE.mcap\n--live",
        .about = "Calibrates a stereo camera from raw pairs of a board, recorded (`parallax record --raw`) or with --live from "
                 "the service, and writes a file for the key calibration. Both pictures must show the whole chessboard, or "
                 "four tags. It says how well the corners fit, and how certain the result is.",
        .option = table,
        .max_words = 1};

    plx_parse_command_line(&line, argc, argv, word);
    const int exit_code = parse(&request);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    if (request.live == (word[0] != NULL))
        return plx_exit_error(PLX_CALIBRATE, PLX_EXIT_USAGE, "expected either a recording or --live");
    return request.live ? plx_calibrate_live(&request) : calibrate_recorded(&request, word[0]);
}
