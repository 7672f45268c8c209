/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever is not known to be well is a stop: verdicts of the future, of the past, of another version, and of nobody. */
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/ring_shm.h"

static struct plx_client client;
static struct plx_shm *shm;
static int ends[2]; /* the client's socket, the service's */

static char nowhere[] = "/no/such/socket";

static int begin(void **state)
{
    (void)state;
    shm = make_shm(4);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    client = (struct plx_client){.socket = ends[0], .map = map_of(shm), .poll_fd = -1, .poll_timer = -1};
    client.path = nowhere;
    return 0;
}

static int end(void **state)
{
    (void)state;
    plx_client_detach(&client);
    plx_gone_wait(&client.gone);
    close(ends[1]);
    plx_shm_destroy(shm);
    return 0;
}

/* A verdict of a frame that was captured AGE_NS ago. */
static void say(uint32_t verdict, int64_t age_ns, int64_t valid_ns)
{
    struct plx_frame frame = {.suspended_ns = plx_suspended_ns(),
                              .verdict = {.verdict = verdict, .valid_ns = valid_ns, .zone = -1, .distance_m = 3}};
    frame.capture[PLX_LEFT].capture_ns = plx_now_ns() - age_ns;
    plx_shm_set_verdict(shm, &frame);
}

static void expect(int expected, uint32_t reasons)
{
    struct plx_verdict_now now;
    assert_int_equal(plx_verdict(&client, &now), expected);
    assert_int_equal(now.verdict, expected);
    assert_int_equal(now.reasons, reasons);
    assert_int_equal(plx_verdict(&client, NULL), expected);
    if (!reasons)
        return;
    assert_true(now.zone == -1 && isinf(now.distance_m) && isnan(now.speed_mps) && now.valid_ns == 0);
}

static void a_verdict_holds_for_its_time(void **state)
{
    (void)state;
    static const int64_t hour_ns = 3600 * PLX_NS_PER_S;
    expect(PLX_VERDICT_STOP, PLX_REASON_STALE); /* the service has said nothing yet */
    for (uint32_t verdict = PLX_VERDICT_STOP; verdict <= PLX_VERDICT_GO; verdict++) {
        say(verdict, 0, hour_ns);
        expect((int)verdict, 0);
        say(verdict, hour_ns, hour_ns); /* its time is over */
        expect(PLX_VERDICT_STOP, PLX_REASON_STALE);
        say(verdict, -hour_ns, INT64_MAX); /* a picture that is still to be taken */
        expect(PLX_VERDICT_STOP, PLX_REASON_STALE);
    }
    say(PLX_VERDICT_GO + 1, 0, hour_ns); /* as of a service that knows more words */
    expect(PLX_VERDICT_STOP, PLX_REASON_STALE);
    say(UINT32_MAX, 0, hour_ns);
    expect(PLX_VERDICT_STOP, PLX_REASON_STALE);
    say(PLX_VERDICT_GO, 0, 0);
    expect(PLX_VERDICT_STOP, PLX_REASON_STALE);
    assert_true(plx_client_attached(&client)); /* none of these is a reason to leave the service */
}

/* The last verdict of a service that has ended holds for its time, and no longer. */
static void without_a_service_there_is_none(void **state)
{
    (void)state;
    say(PLX_VERDICT_GO, 0, 3600 * PLX_NS_PER_S);
    shutdown(ends[1], SHUT_RDWR);
    expect(PLX_VERDICT_GO, 0);
    say(PLX_VERDICT_GO, 0, 0);
    expect(PLX_VERDICT_STOP, PLX_REASON_STALE | PLX_REASON_NO_SERVICE);
    assert_false(plx_client_attached(&client));
    assert_int_equal(plx_verdict(NULL, NULL), PLX_VERDICT_STOP);
}

/* A view shows frames of the memory that a new service would replace. */
static void an_open_view_keeps_its_memory(void **state)
{
    (void)state;
    shutdown(ends[1], SHUT_RDWR);
    client.viewing = true;
    expect(PLX_VERDICT_STOP, PLX_REASON_STALE);
    assert_true(plx_client_attached(&client));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_verdict_holds_for_its_time),
        TEST(without_a_service_there_is_none),
        TEST(an_open_view_keeps_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
