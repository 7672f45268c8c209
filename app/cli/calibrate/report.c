/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/calibrate/report.h"

#include <stdio.h>

#include "app/view/json.h"

void plx_outcome_print(const struct plx_outcome *outcome, int worst)
{
    const struct plx_rig_fit *fit = &outcome->fit;
    const double baseline = outcome->baseline_m;
    const int own = (fit->parameters - 6) / PLX_EYES;
    printf("corners      %.3f px rms from where the cameras would see them; pair %d is the worst: left %.2f, right %.2f px\n",
           fit->rms_px, worst, outcome->worst_rms[PLX_LEFT], outcome->worst_rms[PLX_RIGHT]);
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
    printf("verdict      %s\n", plx_outcome_verdict(outcome));
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

cJSON *plx_outcome_json(const struct plx_outcome *outcome)
{
    const struct plx_rig_fit *fit = &outcome->fit;
    cJSON *item = cJSON_CreateObject(), *cameras = cJSON_CreateArray(), *distances = cJSON_CreateArray();

    cJSON_AddItemToObject(item, "rms_px", plx_json_number(fit->rms_px, 4));
    cJSON_AddItemToObject(item, "epipolar_error_px", plx_json_number(outcome->rows, 4));
    cJSON_AddItemToObject(item, "epipolar_error_held_out_px",
                          outcome->held_out >= 0 ? plx_json_number(outcome->held_out, 4) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "baseline_m", plx_json_number(outcome->baseline_m, 6));
    cJSON_AddItemToObject(item, "baseline_deviation_m", plx_json_number(fit->baseline_sigma_m, 7));
    for (int eye = 0; eye < PLX_EYES; eye++)
        cJSON_AddItemToArray(cameras, camera_json(fit, eye));
    cJSON_AddItemToObject(item, "camera", cameras);
    for (int i = 0; i < PLX_RIG_DISTANCES; i++)
        cJSON_AddItemToArray(distances, plx_json_number(100 * fit->distance_sigma[i], 4));
    cJSON_AddItemToObject(item, "distance_deviation_percent", distances);
    cJSON_AddStringToObject(item, "verdict", plx_outcome_verdict(outcome));
    return item;
}
