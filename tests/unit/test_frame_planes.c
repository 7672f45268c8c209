/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's check of a frame: each number of each plane alone, at its limit. What passes is read without another check. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "client/map.h"
#include "tests/cmocka.h"

#define WIDTH 5
#define HEIGHT 3

static struct plx_frame *frame;

static uint32_t first_offset(uint32_t element)
{
    return (uint32_t)(sizeof *frame + element - 1) / element * element;
}

/* A frame with one plane, whose last row ends with the frame; *ret_bytes: of the frame. */
static struct plx_plane *begin(int id, uint64_t *ret_bytes)
{
    const uint32_t element = plx_plane_element((enum plx_plane_id)id), pitch = 8 * element;
    memset(frame, 0, sizeof *frame);
    frame->plane[id] = (struct plx_plane){
        .offset = first_offset(element), .pitch = pitch, .width = WIDTH, .height = HEIGHT, .element = element};
    *ret_bytes = first_offset(element) + (uint64_t)pitch * (HEIGHT - 1) + WIDTH * element;
    return &frame->plane[id];
}

static void expect(int id, const char *what, uint64_t bytes, bool passes)
{
    struct plx_view view;
    if (plx_map_check_frame(frame, bytes, &view) != passes)
        fail_msg("plane %d, %s: %s", id, what, passes ? "refused" : "accepted");
    if (!passes)
        return;
    assert_ptr_equal(view.plane[id], (unsigned char *)frame + frame->plane[id].offset);
    assert_memory_equal(&view.layout[id], &frame->plane[id], sizeof view.layout[id]);
}

static void each_number_of_a_plane_is_checked(void **state)
{
    (void)state;
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        uint64_t bytes;
        const uint32_t element = begin(id, &bytes)->element;
        expect(id, "all of it", bytes, true);
        expect(id, "a byte too many", bytes - 1, false);
        begin(id, &bytes)->pitch = WIDTH * element;
        expect(id, "rows without a gap", first_offset(element) + (uint64_t)WIDTH * HEIGHT * element, true);
        begin(id, &bytes)->pitch = (WIDTH - 1) * element;
        expect(id, "rows over one another", bytes, false);
        begin(id, &bytes)->element++;
        expect(id, "elements too large", 2 * bytes, false);
        begin(id, &bytes)->height = 0;
        expect(id, "no rows", bytes, false);
        begin(id, &bytes)->height = 1;
        expect(id, "one row", first_offset(element) + WIDTH * element, true);
        expect(id, "one row, and a byte too many", first_offset(element) + WIDTH * element - 1, false);
        begin(id, &bytes)->offset -= element;
        expect(id, "in the header", bytes, first_offset(element) - element >= sizeof *frame);
        begin(id, &bytes)->offset += element;
        expect(id, "behind a gap", bytes + element, true);
        expect(id, "an element too far", bytes, false);
        begin(id, &bytes)->offset = UINT32_MAX / element * element;
        expect(id, "far outside", bytes, false);
        begin(id, &bytes)->width = UINT32_MAX;
        expect(id, "too wide", bytes, false);
        begin(id, &bytes)->height = UINT32_MAX;
        expect(id, "too high", bytes, false);
        begin(id, &bytes)->pitch = UINT32_MAX / element * element;
        expect(id, "rows too far from one another", bytes, false);
        const bool is_bytes = element % 2 != 0; /* also three of them, in colour: they may begin anywhere */
        begin(id, &bytes)->offset++;
        expect(id, "elements that are not aligned", bytes + 1, is_bytes);
        begin(id, &bytes)->pitch++;
        expect(id, "rows that are not aligned", bytes + HEIGHT, is_bytes);
    }
}

/* Whatever else the numbers of a plane without columns say. */
static void a_plane_without_columns_is_none(void **state)
{
    (void)state;
    static const struct plx_plane none;
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        struct plx_view view;
        uint64_t bytes;
        struct plx_plane *plane = begin(id, &bytes);
        plane->width = 0;
        plane->offset = plane->height = plane->element = UINT32_MAX;
        assert_true(plx_map_check_frame(frame, bytes, &view));
        assert_null(view.plane[id]);
        assert_memory_equal(&view.layout[id], &none, sizeof none);
    }
}

static void a_list_has_its_limit(void **state)
{
    (void)state;
    struct plx_view view;
    memset(frame, 0, sizeof *frame);
    frame->sequence = 7;
    frame->min_disparity = -3;
    frame->obstacle_count = PLX_MAX_OBSTACLES;
    assert_true(plx_map_check_frame(frame, sizeof *frame, &view));
    assert_true(view.obstacle_count == PLX_MAX_OBSTACLES && view.sequence == 7 && view.min_disparity == -3);
    assert_ptr_equal(view.frame, frame);
    frame->obstacle_count++;
    assert_false(plx_map_check_frame(frame, sizeof *frame, &view));

    const struct plx_map map = {.frame_bytes = sizeof *frame + 10};
    static const struct {
        int more;
        bool passes;
    } cases[] = {{-1, false}, {0, true}, {10, true}, {11, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        frame->bytes = (uint32_t)((int)sizeof *frame + cases[i].more);
        assert_true(plx_map_frame_bytes(&map, &view) == (cases[i].passes ? (int64_t)frame->bytes : PLX_ERR_FORMAT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_of_a_plane_is_checked),
        cmocka_unit_test(a_plane_without_columns_is_none),
        cmocka_unit_test(a_list_has_its_limit),
    };
    frame = calloc(1, sizeof *frame); /* the check reads no plane */
    const int result = frame ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    free(frame);
    return result;
}
