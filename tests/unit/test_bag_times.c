/* SPDX-License-Identifier: Apache-2.0 */
/* Times of the pairs of MCAP files: stamps, skew, times of recording. */
#include "tests/unit/bag_write.h"

/* Eyes 15 ms apart, at 20 pairs a second: pairs only for who looks at the skew. */
static void each_eye_keeps_its_stamp(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct plx_bag_options options = {.path = bag_path, .topic = {"/left/image_rect", "/right/image_rect"}};
        struct plx_error_message message;
        struct plx_bag *pairs;
        bag_begin(options.topic[PLX_LEFT], options.topic[PLX_RIGHT]);
        for (int k = 0; k < 5; k++) {
            bag_put_grey(PLX_LEFT, 1000 + k * 50, (uint8_t)k);
            bag_put_grey(PLX_RIGHT, 1000 + k * 50 + sign * 15, (uint8_t)(100 + k));
        }
        bag_finish();
        bag_assert_refused(options.topic[PLX_LEFT], options.topic[PLX_RIGHT], PLX_ERR_NOT_FOUND, "has about the same stamp");
        options.unsynchronized = true;
        if (plx_bag_open(&options, &pairs, &message) < 0)
            fail_msg("%s", message.text);
        assert_int_equal(plx_bag_info(pairs)->count, 5);
        for (int k = 0; k < 5; k++)
            assert_int_equal(plx_bag_skew_ns(pairs, k), sign * 15 * MS);
        plx_bag_close(pairs);
    }
}

/* Stamps and times of recording of 5 pairs; what the pairs' times then are, and what is said. */
static void times_that_do_not_advance(void **state)
{
    (void)state;
    enum { PAIRS = 5 };
    static const struct {
        int64_t stamp_ns, stamp_step_ns, first_stamp_ns, log_ns,
            log_step_ns; /* FIRST: of the first pair alone, -1: as the others */
        int64_t first_ns, step_ns;
        const char *said; /* NULL: nothing */
    } cases[] = {
        {1000, 100 * MS, -1, 5000, 90 * MS, 1000, 100 * MS, NULL},
        {0, 0, -1, 5000, 90 * MS, 5000, 90 * MS, "the times of recording are used"},
        {77, 1, -1, 5000, 90 * MS, 5000, 90 * MS, "the times of recording are used"},
        {5 * PLX_NS_PER_S, 100 * MS, 0, 4000, 100 * MS, 0, 0, NULL}, /* first picture early: a gap of 5 s */
        {7200 * PLX_NS_PER_S, 100 * MS, 0, 4000, 100 * MS, 4000, 100 * MS, "the times of recording are used"},
        {0, 0, -1, 0, 0, 0, 100 * MS, "nor do the times of recording; 10 pairs a second"},
        {1000, 100 * MS, -1, 0, 0, 1000, 100 * MS, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bag_begin("/cam/left/image_rect", "/cam/right/image_rect");
        for (int k = 0; k < PAIRS; k++)
            for (int eye = 0; eye < PLX_EYES; eye++) {
                const bool first = k == 0 && cases[i].first_stamp_ns >= 0;
                bag_log_ns = cases[i].log_ns + k * cases[i].log_step_ns + eye * 1000;
                bag_put_grey_at(eye, first ? cases[i].first_stamp_ns : cases[i].stamp_ns + k * cases[i].stamp_step_ns,
                                (uint8_t)k);
            }
        bag_finish();
        struct plx_bag *pairs = bag_open("/cam/left/image_rect", "/cam/right/image_rect");
        const char *note = plx_bag_info(pairs)->note.text;
        assert_int_equal(plx_bag_info(pairs)->count, PAIRS);
        if (cases[i].said ? !strstr(note, cases[i].said) : *note != '\0')
            fail_msg("case %zu: %s", i, note);
        for (int k = 1; k < PAIRS; k++) {
            uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
            assert_true(plx_bag_time_ns(pairs, k) > plx_bag_time_ns(pairs, k - 1));
            if (cases[i].step_ns > 0)
                assert_int_equal(plx_bag_time_ns(pairs, k), cases[i].first_ns + k * cases[i].step_ns);
            bag_read_pair(pairs, k, left, right);
            assert_true(left[0] == k && right[0] == k);
        }
        plx_bag_close(pairs);
    }
    bag_log_ns = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_eye_keeps_its_stamp),
        cmocka_unit_test(times_that_do_not_advance),
    };
    return cmocka_run_group_tests(tests, bag_make_file, bag_remove_file);
}
