/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a person writes: configuration and calibration. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <parallax/error.h>

#include "app/doctor/check.h"
#include "config/schema.h"

#define NAMED_KEYS 4 /* expert keys that are named; further ones are counted */
#define DAY_S (24 * 3600)

static void judge_missing_file(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (!subject->config_is_default) {
        doctor_find(finding, DOCTOR_BAD, "%s", subject->config_message.text);
        doctor_advise(finding, "check the path behind --config");
        return;
    }
    doctor_find(finding, DOCTOR_DOUBTFUL, "there is no %s: the unit parallaxd does not start without one",
                subject->config_path);
    doctor_advise(finding, "begin with the example: sudo cp /usr/share/doc/parallax/examples/parallax.yaml /etc/parallax/");
    doctor_advise(finding, "add to it what this prints: parallax cameras");
}

static void judge_error(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (subject->config_error == PLX_ERR_NOT_FOUND) {
        judge_missing_file(subject, finding);
    } else if (subject->config_error == PLX_ERR_PERMISSION) {
        doctor_find(finding, DOCTOR_UNKNOWN, "%s", subject->config_message.text);
        doctor_advise(finding, "ask as a user who may read it: sudo parallax doctor");
    } else {
        doctor_find(finding, DOCTOR_BAD, "%s", subject->config_message.text);
        doctor_advise(finding, "correct that place, then type: parallaxd --check-config %s", subject->config_path);
    }
}

/* Names the expert keys that are not at their defaults: numbers that suit all robots, so that a change needs a reason. */
static void name_expert_keys(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const struct plx_config *config = &subject->config;
    static struct plx_config defaults; /* large */
    char names[NAMED_KEYS * (PLX_KEY_NAME + 2)] = "";
    int count = 0;

    plx_config_default(&defaults);
    plx_match_preset_apply(&defaults.pipeline.match, plx_match_preset_of(&config->pipeline.match));
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++)
        if (key->expert && !plx_key_is_same(key, config, &defaults) && count++ < NAMED_KEYS) {
            strcat(names, count > 1 ? ", " : "");
            strcat(names, key->name);
        }
    if (count == 0)
        return;
    doctor_find(finding, DOCTOR_DOUBTFUL, "%d expert keys differ from their defaults (%s%s)", count, names,
                count > NAMED_KEYS ? ", ..." : "");
    doctor_advise(finding, "remove from %s those that nobody measured", subject->config_path);
}

/* What a robot must not drive with. */
static void name_unsafe_values(const struct plx_config *config, struct doctor_finding *finding)
{
    if (config->source.type != PLX_SOURCE_V4L2) {
        doctor_find(finding, DOCTOR_DOUBTFUL, "source.type is %s: pictures do not show the world as it is now",
                    plx_source_word((uint32_t)config->source.type));
        doctor_advise(finding, "on a robot write the lines that this prints: parallax cameras");
    }
    if (config->blackbox.directory[0] == '\0') {
        doctor_find(finding, DOCTOR_DOUBTFUL, "blackbox.directory is empty: nothing is kept for the search of a fault");
        doctor_advise(finding, "remove the key blackbox.directory");
    }
}

void doctor_check_configuration(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (subject->config_error < 0)
        judge_error(subject, finding);
    else
        doctor_find(finding, DOCTOR_GOOD, "%s has no errors", subject->config_path);
    if (subject->config_error == 0 && subject->has_config_in_force && !plx_config_equals(&subject->file, &subject->config)) {
        doctor_find(finding, DOCTOR_DOUBTFUL, "the running service uses other values than the file");
        doctor_advise(finding, "to use the file: sudo systemctl reload parallaxd; values in force: parallax config");
    }
    if (subject->has_config_in_force || subject->config_error == 0) {
        name_unsafe_values(&subject->config, finding);
        name_expert_keys(subject, finding);
    }
}

/* --- calibration ------------------------------------------------------------------------------------------------------ */

static void read_calibration(const struct plx_config *config, struct doctor_finding *finding)
{
    static struct plx_stereo_calibration calibration; /* large */
    const struct plx_calibration_options options = {.alpha = config->rectify_alpha,
                                                    .scale = config->calibration_scale,
                                                    .width = config->source.width,
                                                    .height = config->source.height};
    const char *path = config->calibration;
    struct plx_error_message message;
    struct stat status;

    const int result = plx_calibration_read(path, &options, &calibration, &message);
    if (result == PLX_ERR_PERMISSION) {
        doctor_find(finding, DOCTOR_UNKNOWN, "%s", message.text);
        doctor_advise(finding, "ask as a user who may read it: sudo parallax doctor");
    } else if (result < 0) {
        doctor_find(finding, DOCTOR_BAD, "%s", message.text);
        doctor_advise(finding, "calibrate again: parallax calibrate --help");
    } else if (stat(path, &status) == 0) {
        doctor_find(finding, DOCTOR_GOOD, "%s can be used and is %lld days old", path,
                    (long long)(time(NULL) - status.st_mtime) / DAY_S);
    } else { /* two files, separated by a comma */
        doctor_find(finding, DOCTOR_GOOD, "%s can be used", path);
    }
}

void doctor_check_calibration(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const struct plx_config *config = &subject->config;
    const bool is_raw = subject->status.any && plx_frame_is_raw(&subject->status.frame);

    if (!doctor_knows_config(subject, finding))
        return;
    const bool has_none = strcmp(config->calibration, PLX_CALIBRATION_NONE) == 0;
    if (has_none || is_raw || (config->calibration[0] == '\0' && config->source.type == PLX_SOURCE_V4L2)) {
        doctor_find(finding, DOCTOR_BAD, "there is none: pictures stay raw, without disparity and obstacles");
        doctor_advise(finding, "calibrate with a board: parallax calibrate --help; then set the key calibration");
    }
    if (config->calibration[0] != '\0' && !has_none)
        read_calibration(config, finding);
    else if (finding->found[0] == '\0' && config->source.type == PLX_SOURCE_SYNTHETIC)
        doctor_find(finding, DOCTOR_NOT_APPLICABLE, "the synthetic scene has its own");
    else if (finding->found[0] == '\0' && subject->status.any)
        doctor_find(finding, DOCTOR_GOOD, "it comes with the recording");
    else if (finding->found[0] == '\0')
        doctor_find(finding, DOCTOR_UNKNOWN, "it comes with the recording, which only a running service reads");
}
