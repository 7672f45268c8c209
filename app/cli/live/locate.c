/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax locate`: where the things in boxes of the picture are. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/view/json.h"
#include "core/base/words.h"

#define NUMBERS 4 /* x, y, width and height of a box */
#define MAX_BOXES (PLX_MAX_WORDS / NUMBERS)
#define ATTEMPTS 16 /* frames that the service overwrote while they were read */

static const char program[] = "parallax locate";

struct request {
    struct plx_box box[MAX_BOXES];
    int count;
    bool json;
};

struct answer {
    struct plx_location location[MAX_BOXES];
    uint64_t sequence;
    uint32_t source;
};

/* The boxes of WORD. Returns an exit code. */
static int parse_boxes(const char *const word[PLX_MAX_WORDS], struct request *request)
{
    int32_t number[PLX_MAX_WORDS];
    int count = 0;
    for (; count < PLX_MAX_WORDS && word[count]; count++) {
        char *end;
        errno = 0;
        const long value = strtol(word[count], &end, 10);
        if (end == word[count] || *end || errno || value < INT32_MIN || value > INT32_MAX)
            return plx_exit_error(program, PLX_EXIT_USAGE, "%s: expected a whole number of pixels", word[count]);
        number[count] = (int32_t)value;
    }
    if (count % NUMBERS != 0)
        return plx_exit_error(program, PLX_EXIT_USAGE, "%d numbers; expected four for each box: X Y WIDTH HEIGHT", count);
    request->count = count / NUMBERS;
    for (int i = 0; i < request->count; i++) {
        const int32_t *n = &number[NUMBERS * i];
        request->box[i] = (struct plx_box){.x = n[0], .y = n[1], .width = n[2], .height = n[3]};
    }
    return PLX_EXIT_OK;
}

/* Locates the boxes in a fresh frame. Errors of plx_next. */
static int locate(struct plx_client *client, const struct request *request, struct answer *ret_answer)
{
    int result = PLX_ERR_OVERWRITTEN;
    bool again = true; /* LOST comes at once; the next call waits until the service is back */
    for (int attempt = 0; attempt < ATTEMPTS && result == PLX_ERR_OVERWRITTEN; attempt++) {
        struct plx_view view;
        result = plx_next(client, PLX_FRESH_FRAME_MS, &view);
        if (result == PLX_ERR_LOST && again) {
            again = false;
            result = PLX_ERR_OVERWRITTEN;
            continue;
        }
        if (result < 0)
            return result;
        ret_answer->sequence = view.sequence;
        ret_answer->source = view.frame->source;
        const int located = plx_locate(&view, request->box, (uint32_t)request->count, ret_answer->location);
        result = plx_release(client, &view);
        if (located < 0)
            return located;
    }
    return result;
}

static void print_line(const struct plx_box *box, const struct plx_location *l)
{
    printf("%d %d %d %d  ", box->x, box->y, box->width, box->height);
    if (l->state != PLX_LOCATION_KNOWN) {
        printf("unknown: %s\n", plx_location_words(l->state));
        return;
    }
    printf("%.2f m ahead (sigma %.2f m)  %.2f m %s  %.2f m %s  %.2f m wide  %.2f m high  share %.2f", (double)l->distance_m,
           (double)l->sigma_m, fabs((double)l->position_m[0]), l->position_m[0] < 0 ? "left" : "right",
           fabs((double)l->position_m[1]), l->position_m[1] < 0 ? "up" : "down", (double)l->size_m[0], (double)l->size_m[1],
           (double)l->share);
    if (l->track > 0)
        printf("  #%u", l->track);
    putchar('\n');
}

static void print_json(const struct request *request, const struct answer *answer)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "sequence", (double)answer->sequence);
    cJSON_AddStringToObject(object, "source", plx_source_word(answer->source));
    cJSON *boxes = cJSON_AddArrayToObject(object, "boxes");
    for (int i = 0; i < request->count; i++)
        cJSON_AddItemToArray(boxes, plx_json_location(&request->box[i], &answer->location[i]));
    plx_json_print(object);
}

static int work(struct plx_connection *connection, void *context)
{
    const struct request *request = context;
    struct answer answer;
    const int result = locate(connection->client, request, &answer);
    if (result < 0)
        return plx_connection_fail(connection, result);
    if (request->json) {
        print_json(request, &answer);
        return PLX_EXIT_OK;
    }
    for (int i = 0; i < request->count; i++)
        print_line(&request->box[i], &answer.location[i]);
    return PLX_EXIT_OK;
}

int plx_command_locate(int argc, char **argv)
{
    struct request request = {.count = 0};
    const char *socket = NULL, *word[PLX_MAX_WORDS] = {NULL};
    const struct plx_option options[] = {PLX_SOCKET_OPTION(socket), PLX_OPTION("json", NULL, request.json, "prints JSON"), {0}};
    const struct plx_command_line line = {
        .program = program,
        .words = "X Y WIDTH HEIGHT [X Y WIDTH HEIGHT]...",
        .about =
            "Prints where the thing in each box of the rectified left picture is: distance, position, size and track, or why "
            "that is unknown. A box is given in pixels; after -- its corner may be negative.",
        .option = options,
        .min_words = NUMBERS,
        .max_words = MAX_BOXES * NUMBERS};
    plx_parse_command_line(&line, argc, argv, word);
    const int result = parse_boxes(word, &request);
    return result == PLX_EXIT_OK ? plx_connection_run(program, socket, work, &request) : result;
}
