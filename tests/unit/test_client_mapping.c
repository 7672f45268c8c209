/* SPDX-License-Identifier: Apache-2.0 */
/* References to a mapping of libparallax: the memory of a view outlives release, restart and client, and no longer. */
#include <errno.h>
#include <sys/mman.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "client/client.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/system/peer.h"
#include "tests/unit/client_socket.h"

#define EPOCH 5
#define SLOTS 4

static struct peer service;
static struct plx_client *client;
static struct plx_view view;
static const struct plx_mapping *mapping;

static void start(int epoch)
{
    service = peer_service(path, epoch, SLOTS, 4);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
}

/* A view, and a reference to its mapping. */
static int view_frame(void **state)
{
    (void)state;
    start(EPOCH);
    return plx_connect(path, &client) || plx_next(client, patience_ms(), &view) || plx_mapping_ref(client, &mapping);
}

static int end_service(void **state)
{
    (void)state;
    return peer_end(&service);
}

static bool is_mapped(const void *memory)
{
    unsigned char page;
    return !mincore((void *)(uintptr_t)memory, 1, &page);
}

static bool is_inside(const void *at)
{
    return (uintptr_t)at - (uintptr_t)mapping->memory < mapping->bytes;
}

static void memory_outlives_release_and_client(void **state)
{
    (void)state;
    const struct plx_frame *frame = view.frame;
    const void *memory = mapping->memory;
    assert_true(is_inside(frame) && is_inside(view.plane[PLX_PLANE_LEFT]));
    assert_true(mapping->bytes == ((const struct plx_shm_header *)memory)->region_bytes);
    assert_int_equal(plx_release(client, &view), 0);
    plx_disconnect(client);
    assert_int_equal(frame->epoch, EPOCH);
    plx_mapping_unref(mapping);
    assert_false(is_mapped(memory));
}

static void memory_outlives_a_restart(void **state)
{
    (void)state;
    const struct plx_frame *frame = view.frame;
    const struct plx_mapping *old = mapping, *none = NULL;
    const void *memory = mapping->memory;
    assert_int_equal(plx_release(client, &view), 0);
    peer_end(&service);
    assert_int_equal(plx_next(client, 0, &view), PLX_ERR_LOST);
    assert_int_equal(plx_mapping_ref(client, &none), PLX_ERR_LOST);
    assert_null(none);

    start(EPOCH + 1);
    assert_int_equal(plx_next(client, patience_ms(), &view), 0);
    assert_int_equal(frame->epoch, EPOCH);
    assert_int_equal(view.frame->epoch, EPOCH + 1);
    assert_int_equal(plx_mapping_ref(client, &mapping), 0);
    assert_ptr_not_equal(mapping, old);
    assert_true(is_inside(view.frame) && !is_inside(frame));
    plx_mapping_unref(old);
    assert_false(is_mapped(memory));

    memory = mapping->memory;
    plx_mapping_unref(mapping);
    assert_true(is_mapped(memory)); /* the client's own reference */
    plx_disconnect(client);
    assert_false(is_mapped(memory));
}

/* To map a ring takes up to a second, and a verdict must be stop before that. */
static void a_verdict_maps_no_frames(void **state)
{
    (void)state;
    struct plx_verdict_now verdict;
    assert_int_equal(plx_release(client, &view), 0);
    plx_mapping_unref(mapping);
    peer_end(&service);
    assert_int_equal(plx_verdict(client, &verdict), PLX_VERDICT_STOP);
    assert_true(verdict.reasons & PLX_REASON_NO_SERVICE);

    start(EPOCH + 1);
    const int64_t until_ns = plx_now_ns() + patience_ms() * PLX_NS_PER_MS;
    while (verdict.reasons & PLX_REASON_NO_SERVICE) {
        assert_true(plx_now_ns() < until_ns);
        plx_verdict(client, &verdict);
    }
    assert_null(client->map.frames);
    assert_int_equal(plx_next(client, patience_ms(), &view), 0);
    assert_int_equal(view.frame->epoch, EPOCH + 1);
    plx_disconnect(client);
}

static void references_are_counted(void **state)
{
    (void)state;
    const struct plx_mapping *same;
    const void *memory = mapping->memory;
    assert_int_equal(plx_mapping_ref(client, &same), 0);
    assert_ptr_equal(same, mapping);
    plx_disconnect(client);
    plx_mapping_unref(mapping);
    assert_true(is_mapped(memory));
    plx_mapping_unref(same);
    assert_false(is_mapped(memory));
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    assert_int_equal(plx_mapping_ref(NULL, &mapping), PLX_ERR_ARG);
    assert_int_equal(plx_mapping_ref(client, NULL), PLX_ERR_ARG);
    plx_mapping_unref(NULL);
    plx_mapping_unref(mapping);
    plx_disconnect(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_outlives_release_and_client, view_frame, end_service),
        cmocka_unit_test_setup_teardown(memory_outlives_a_restart, view_frame, end_service),
        cmocka_unit_test_setup_teardown(a_verdict_maps_no_frames, view_frame, end_service),
        cmocka_unit_test_setup_teardown(references_are_counted, view_frame, end_service),
        cmocka_unit_test_setup_teardown(wrong_arguments_are_refused, view_frame, end_service),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
