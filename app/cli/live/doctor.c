/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax doctor`: what is wrong with this installation, and what to do. Page: docs/doctor.md. */
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/doctor/doctor.h"
#include "app/options.h"
#include "app/view/json.h"

#define COLUMN 31 /* where the texts begin */

/* The next line of *TEXT, which may hold no further one: then false. */
static bool next_line(const char **text, char ret_line[sizeof(struct doctor_finding)])
{
    const size_t length = strcspn(*text, "\n");

    snprintf(ret_line, sizeof(struct doctor_finding), "%.*s", (int)length, *text);
    *text += length + ((*text)[length] == '\n');
    return length > 0;
}

static void print_text(const struct doctor_row row[DOCTOR_ROWS])
{
    char line[sizeof(struct doctor_finding)];

    for (int i = 0; i < DOCTOR_ROWS; i++) {
        const char *found = row[i].finding.found, *advice = row[i].finding.advice;
        printf("%-14s  %-13s  ", doctor_state_word(row[i].finding.state), row[i].name);
        for (int indent = 0; next_line(&found, line); indent = COLUMN)
            printf("%*s%s\n", indent, "", line);
        while (next_line(&advice, line))
            printf("%*s-> %s\n", COLUMN, "", line);
    }
}

static void add_lines(cJSON *item, const char *name, const char *text)
{
    char line[sizeof(struct doctor_finding)];
    cJSON *array = cJSON_AddArrayToObject(item, name);

    while (next_line(&text, line))
        cJSON_AddItemToArray(array, cJSON_CreateString(line));
}

static cJSON *row_json(const struct doctor_row *row)
{
    cJSON *item = cJSON_CreateObject();

    cJSON_AddStringToObject(item, "name", row->name);
    cJSON_AddStringToObject(item, "state", doctor_state_word(row->finding.state));
    add_lines(item, "found", row->finding.found);
    add_lines(item, "advice", row->finding.advice);
    return item;
}

static void print_json(const struct doctor_row row[DOCTOR_ROWS])
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "state", doctor_state_word(doctor_worst(row)));
    cJSON *checks = cJSON_AddArrayToObject(object, "checks");
    for (int i = 0; i < DOCTOR_ROWS; i++)
        cJSON_AddItemToArray(checks, row_json(&row[i]));
    plx_json_print(object);
}

int plx_command_doctor(int argc, char **argv)
{
    struct doctor_request request = {.root = ""};
    static struct doctor_row row[DOCTOR_ROWS]; /* large */
    bool json = false;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(request.socket),
        PLX_OPTION("config", "FILE", request.config_path, "reads this configuration file (default: " PLX_DEFAULT_CONFIG ")"),
        PLX_OPTION("all", NULL, request.all, "also checks the network buffers where parallax-ros is not installed"),
        PLX_OPTION("json", NULL, json, "prints JSON"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax doctor",
        .about =
            "Says what is wrong with this installation, and what to do: configuration, socket, service, cameras, "
            "calibration, GPU, memory, priority, clock, network. It changes nothing, takes some seconds, and needs neither "
            "root nor a running service. What cannot be known is unknown, never good. The exit code is 0 if all is good, 1 "
            "if something is bad, else 4 if something is doubtful or unknown.",
        .option = options};

    plx_parse_command_line(&line, argc, argv, NULL);
    doctor_examine(&request, row);
    (json ? print_json : print_text)(row);
    return doctor_exit_code(doctor_worst(row));
}
