/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of the page's connections: who takes all that it can get leaves some to the next viewer. */
#include <stdio.h>
#include <string.h>

#include "app/web/share.h"
#include "tests/cmocka.h"

static struct plx_web_connection made[PLX_WEB_MAX_CONNECTIONS], *all[PLX_WEB_MAX_CONNECTIONS];
static int count;

static int setup(void **state)
{
    (void)state;
    memset(made, 0, sizeof made);
    count = 0;
    return 0;
}

/* VIEWER opens connections until one is refused; returns how many it got. */
static int take_all(const char *viewer, bool is_socket)
{
    int got = 0;
    for (; count < PLX_WEB_MAX_CONNECTIONS; got++) {
        struct plx_error_message message;
        struct plx_web_connection *connection = all[count] = &made[count];
        snprintf(connection->viewer, sizeof connection->viewer, "%s", viewer);
        if (plx_web_check_share(all, count + 1, connection, is_socket, &message) != 0) {
            assert_non_null(strstr(message.text, viewer));
            return got;
        }
        connection->authorized = true;
        connection->phase = is_socket ? PLX_WEB_SOCKET : PLX_WEB_ANSWER;
        count++;
    }
    return got;
}

static void the_next_viewer_gets_places(void **state)
{
    (void)state;
    assert_int_equal(take_all("user 1", true), 32);
    assert_int_equal(take_all("user 1", false), 16);
    assert_int_equal(take_all("address 10.0.0.1", false), 12);
    assert_int_equal(take_all("address 10.0.0.2", true), 2);
    assert_int_equal(take_all("address 10.0.0.3", true), 1);
}

static void an_end_gives_the_place_back(void **state)
{
    (void)state;
    assert_int_equal(take_all("user 1", true), 32);
    made[7].phase = PLX_WEB_CLOSED;
    assert_int_equal(take_all("user 1", true), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_next_viewer_gets_places, setup),
        cmocka_unit_test_setup(an_end_gives_the_place_back, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
