/* SPDX-License-Identifier: Apache-2.0 */
/* Who may connect: the last place, the last one of a process, and half of what others leave to a user. */
#include <string.h>

#include "app/publish/quota.h"
#include "tests/cmocka.h"

enum { CAPACITY = 16, SERVICE = 990, USER = 1000, OTHER = 1001, PID = 4711 };

static void expect(int capacity, int taken, int of_process, int of_user, uid_t uid, const char *refusal)
{
    const struct plx_client_quota quota = {
        .capacity = capacity, .service = SERVICE, .taken = taken, .of_process = of_process, .of_user = of_user};
    const struct ucred peer = {.pid = PID, .uid = uid};
    const char *got = plx_client_quota_refusal(&quota, &peer);
    if (!got != !refusal || (refusal && !strstr(got, refusal)))
        fail_msg("%d of %d taken, %d by the process, %d by the user %u: %s, expected %s", taken, capacity, of_process, of_user,
                 uid, got ? got : "admitted", refusal ? refusal : "admitted");
}

static void the_last_place_is_given_and_no_more(void **state)
{
    (void)state;
    expect(CAPACITY, CAPACITY - 1, 0, 0, 0, NULL);
    expect(CAPACITY, CAPACITY, 0, 0, 0, "all connections are in use");
    expect(1, 0, 0, 0, USER, NULL);
    expect(1, 1, 0, 0, USER, "all connections are in use");
}

static void a_process_has_its_share(void **state)
{
    (void)state;
    expect(CAPACITY, PLX_CLIENTS_PER_PROCESS - 1, PLX_CLIENTS_PER_PROCESS - 1, PLX_CLIENTS_PER_PROCESS - 1, 0, NULL);
    expect(CAPACITY, PLX_CLIENTS_PER_PROCESS, PLX_CLIENTS_PER_PROCESS, PLX_CLIENTS_PER_PROCESS, 0, "its process");
}

static void a_user_has_half_of_what_others_leave(void **state)
{
    (void)state;
    static const struct {
        int of_others, most;
    } cases[] = {{0, 8}, {1, 8}, {2, 7}, {8, 4}, {13, 2}, {14, 1}, {15, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int others = cases[i].of_others, most = cases[i].most;
        expect(CAPACITY, others + most - 1, 0, most - 1, USER, NULL);
        if (others + most < CAPACITY) {
            expect(CAPACITY, others + most, 0, most, USER, "its user");
            expect(CAPACITY, others + most, 0, most, 0, NULL); /* these two can end the service anyway */
            expect(CAPACITY, others + most, 0, most, SERVICE, NULL);
        }
    }
}

static void connections_count_for_their_process_and_user(void **state)
{
    (void)state;
    static const struct {
        struct ucred peer, other;
        int of_process, of_user;
    } cases[] = {
        {{PID, USER, 0}, {PID, USER, 0}, 1, 1},      {{PID, USER, 0}, {PID + 1, USER, 0}, 0, 1},
        {{PID, USER, 0}, {PID, OTHER, 0}, 0, 0}, /* the number was given to another process since */
        {{0, USER, 0}, {0, USER, 0}, 0, 1},      /* both outside of this PID namespace: two processes or one */
        {{PID, USER, 0}, {PID + 1, OTHER, 0}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_client_quota quota = {.capacity = CAPACITY, .service = SERVICE};
        plx_client_quota_count(&quota, &cases[i].peer, &cases[i].other);
        assert_int_equal(quota.taken, 1);
        assert_int_equal(quota.of_process, cases[i].of_process);
        assert_int_equal(quota.of_user, cases[i].of_user);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_place_is_given_and_no_more),
        cmocka_unit_test(a_process_has_its_share),
        cmocka_unit_test(a_user_has_half_of_what_others_leave),
        cmocka_unit_test(connections_count_for_their_process_and_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
