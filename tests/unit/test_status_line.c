/* SPDX-License-Identifier: Apache-2.0 */
/* The line of systemctl status: once a second, with the rate, and without obstacles that nobody has seen lately. */
#include <stdlib.h>
#include <string.h>

#include "app/supervisor/status_line.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"

#define NOW_NS (1000 * PLX_NS_PER_S)

static struct plx_status_line line;
static struct plx_notify notify;
static struct plx_status status;

static void begin(void)
{
    unsetenv("NOTIFY_SOCKET"); /* nobody listens: what would be sent is kept in the struct */
    line = (struct plx_status_line){.since_ns = NOW_NS};
    status = (struct plx_status){.state = PLX_STATE_RUNNING, .clients = 3, .source_note = "", .reason = ""};
    plx_notify_init(&notify);
}

static void show_frames(int count, uint32_t obstacles, uint32_t blind)
{
    const struct plx_report report = {
        .kind = PLX_REPORT_FRAME, .obstacles = obstacles, .blind = blind, .fresh_until_ns = NOW_NS + 2 * PLX_NS_PER_S};
    for (int i = 0; i < count; i++)
        plx_status_line_frame(&line, &report);
}

static void expect_at(int64_t now_ns, const char *words)
{
    plx_status_line_tick(&line, &notify, &status, now_ns);
    if (*words ? !strstr(notify.status, words) : *notify.status)
        fail_msg("\"%s\", expected \"%s\"", notify.status, words);
}

static void it_comes_once_a_second_with_the_rate_of_that_time(void **state)
{
    (void)state;
    begin();
    show_frames(30, 2, 0);
    expect_at(NOW_NS + PLX_NS_PER_S - 1, "");
    expect_at(NOW_NS + PLX_NS_PER_S, ": 30 pairs/s, 2 obstacles, 3 clients");
    show_frames(10, 2, 0);
    expect_at(NOW_NS + 2 * PLX_NS_PER_S - 1, ": 30 pairs/s, ");
    expect_at(NOW_NS + 3 * PLX_NS_PER_S, ": 5 pairs/s, "); /* 10 in two seconds */
    expect_at(NOW_NS + 4 * PLX_NS_PER_S, ": 0 pairs/s, ");
}

static void obstacles_are_those_of_a_fresh_frame_that_sees(void **state)
{
    (void)state;
    begin();
    expect_at(NOW_NS + PLX_NS_PER_S, "obstacles unknown, "); /* no frame yet */
    begin();
    show_frames(1, 0, 0);
    expect_at(NOW_NS + 2 * PLX_NS_PER_S - 1, ", 0 obstacles, ");
    begin();
    show_frames(1, 4, 0);
    expect_at(NOW_NS + 2 * PLX_NS_PER_S, "obstacles unknown, "); /* it is no longer fresh */
    begin();
    show_frames(1, 4, PLX_BLIND_NO_PICTURE);
    expect_at(NOW_NS + PLX_NS_PER_S, "obstacles unknown, ");
    begin();
    show_frames(1, 4, PLX_BLIND_NO_PICTURE);
    show_frames(1, 4, 0);
    expect_at(NOW_NS + PLX_NS_PER_S, ", 4 obstacles, ");
}

static void notes_and_reasons_are_added_where_there_are_any(void **state)
{
    (void)state;
    begin();
    expect_at(NOW_NS + PLX_NS_PER_S, "3 clients");
    assert_null(strstr(notify.status, "; "));
    status.source_note = "simulated pictures";
    status.reason = "no camera";
    expect_at(NOW_NS + 2 * PLX_NS_PER_S, ", simulated pictures; no camera");
    status.source_note = "";
    expect_at(NOW_NS + 3 * PLX_NS_PER_S, "; no camera");
    assert_null(strstr(notify.status, ", ; "));
    status.health = PLX_HEALTH_LATE;
    expect_at(NOW_NS + 4 * PLX_NS_PER_S, "late");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_once_a_second_with_the_rate_of_that_time),
        cmocka_unit_test(obstacles_are_those_of_a_fresh_frame_that_sees),
        cmocka_unit_test(notes_and_reasons_are_added_where_there_are_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
