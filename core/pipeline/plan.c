/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/plan.h"

#include "core/pipeline/pipeline.h"

/* The image that ID means, where steps that do not act have made several names mean one. */
static uint8_t meaning(const uint8_t same[PLX_IMAGES], uint8_t id)
{
    while (same[id] != id)
        id = same[id];
    return id;
}

/* Two names for one image. Of both the smaller number stays: a plane of the frame, if one of them is that. */
static void join(uint8_t same[PLX_IMAGES], uint8_t a, uint8_t b)
{
    a = meaning(same, a);
    b = meaning(same, b);
    same[a > b ? a : b] = a > b ? b : a;
}

/* The steps that frames of KIND have; what the others would have made is in SAME. */
static void choose_steps(const struct plx_frame_kind *kind, uint8_t same[PLX_IMAGES], struct plx_plan *plan)
{
    int steps = 0;

    for (int i = 0; i < plx_step_rows; i++) {
        const struct plx_step_row *row = &plx_step_table[i];
        if (!row->when(kind))
            continue;
        if (!row->acts || row->acts(kind)) {
            plan->step[steps++] = row->step;
            for (int place = row->step.place + 1; place <= PLX_STEP_PLACES; place++)
                plan->first[place] = steps;
            continue;
        }
        for (int k = 0; k < PLX_STEP_IMAGES && row->step.out[k]; k++)
            join(same, row->step.in[k], row->step.out[k]);
    }
}

static void note_use(struct plx_plan *plan, const struct plx_step *step, uint8_t id)
{
    plan->image[id].is_used = true;
    plan->image[id].for_cpu |= step->place != PLX_STEP_BACKEND;
}

/* When the steps beside may begin. */
static void order_beside(struct plx_plan *plan)
{
    int after = 0;

    for (int i = 0; i < plx_plan_steps(plan, PLX_STEP_BESIDE); i++) {
        const struct plx_step *step = &plan->step[plan->first[PLX_STEP_BESIDE] + i];
        for (int k = 0; k < PLX_STEP_IMAGES && step->in[k]; k++) {
            const int completed_by = plan->image[step->in[k]].completed_by;
            int *beside = &plan->image[step->in[k]].beside;
            after = completed_by >= after ? completed_by + 1 : after;
            *beside = *beside < 0 ? i : *beside;
        }
        plan->beside_after[i] = after;
    }
}

void plx_plan_make(const struct plx_frame_kind *kind, struct plx_plan *ret_plan)
{
    uint8_t same[PLX_IMAGES];

    *ret_plan = (struct plx_plan){.first = {0}};
    for (int id = 0; id < PLX_IMAGES; id++) {
        same[id] = (uint8_t)id;
        ret_plan->image[id].completed_by = ret_plan->image[id].beside = -1;
    }
    choose_steps(kind, same, ret_plan);
    for (int i = 0; i < ret_plan->first[PLX_STEP_PLACES]; i++) {
        struct plx_step *step = &ret_plan->step[i];
        for (int k = 0; k < PLX_STEP_IMAGES; k++) {
            note_use(ret_plan, step, step->in[k] = meaning(same, step->in[k]));
            note_use(ret_plan, step, step->out[k] = meaning(same, step->out[k]));
            if (step->place == PLX_STEP_BACKEND)
                ret_plan->image[step->out[k]].completed_by = i - ret_plan->first[PLX_STEP_BACKEND];
        }
    }
    order_beside(ret_plan);
}

bool plx_plan_has_plane(const struct plx_frame_kind *kind, enum plx_plane_id id)
{
    if (id == PLX_PLANE_RIGHT)
        return kind->params->right;
    for (int i = 0; i < plx_step_rows; i++)
        for (int k = 0; k < PLX_STEP_IMAGES; k++)
            if (plx_step_table[i].step.out[k] == PLX_IMAGE_PLANES + (int)id && plx_step_table[i].when(kind))
                return true;
    return false;
}
