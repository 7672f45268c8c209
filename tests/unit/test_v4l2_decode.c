/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed pictures that take longer to decode than they take to come: which are decoded, and what the thread makes of them.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <turbojpeg.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/v4l2/buffers.h"
#include "drivers/v4l2/decoder.h"
#include "tests/cmocka.h"
#include "tests/patience.h"

#define PERIOD 1000 /* ticks of the simulation */
#define FRAMES 300
#define WIDTH 64
#define HEIGHT 48

/* Two cameras of one rate, and what becomes of their frames. */
struct simulation {
    int skew, lag;            /* the right camera's delays: in time, and until its frames come */
    int decode[PLX_EYES];     /* time that one picture takes */
    int drop_every;           /* every so many frames of the right camera; 0: none */
    bool right_is_gone;       /* since the start */
    int waiting[PLX_EYES];    /* frame; -1: none */
    int busy_until[PLX_EYES]; /* 0: idle */
    int last;                 /* when one was busy last */
    int decoded[PLX_EYES], turns, pairs, oldest;
};

static void arrive(struct simulation *simulation, int tick)
{
    const int frame = tick / PERIOD, late = tick - simulation->skew - simulation->lag;

    if (tick % PERIOD == 0)
        simulation->waiting[PLX_LEFT] = frame;
    if (simulation->right_is_gone || late < 0 || late % PERIOD != 0)
        return;
    if (!simulation->drop_every || (late / PERIOD) % simulation->drop_every != 0)
        simulation->waiting[PLX_RIGHT] = late / PERIOD;
}

static void begin(struct simulation *simulation, unsigned chosen, int tick)
{
    simulation->turns++;
    simulation->pairs += chosen == 3;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        if (!(chosen >> eye & 1))
            continue;
        const int age = tick - simulation->waiting[eye] * PERIOD - (eye == PLX_RIGHT ? simulation->skew : 0);
        simulation->oldest = age > simulation->oldest ? age : simulation->oldest;
        simulation->busy_until[eye] = tick + simulation->decode[eye];
        simulation->waiting[eye] = -1;
        simulation->decoded[eye]++;
    }
}

static void simulate(struct simulation *simulation)
{
    simulation->waiting[PLX_LEFT] = simulation->waiting[PLX_RIGHT] = -1;
    for (int tick = 0; tick < FRAMES * PERIOD; tick++) {
        struct plx_v4l2_decode_candidate eye[PLX_EYES];
        arrive(simulation, tick);
        for (int i = 0; i < PLX_EYES; i++) {
            if (simulation->busy_until[i] <= tick)
                simulation->busy_until[i] = 0;
            eye[i] = (struct plx_v4l2_decode_candidate){.waiting = simulation->waiting[i] >= 0,
                                                        .capture_ns = (int64_t)simulation->waiting[i] * PERIOD +
                                                                      (i == PLX_RIGHT ? simulation->skew : 0),
                                                        .expected = i == PLX_LEFT || !simulation->right_is_gone};
        }
        if (simulation->busy_until[PLX_LEFT] || simulation->busy_until[PLX_RIGHT]) {
            simulation->last = tick;
            continue;
        }
        const unsigned chosen = plx_v4l2_decode_schedule_choose(eye, PLX_EYES, PERIOD, tick - simulation->last > 4 * PERIOD);
        if (chosen)
            begin(simulation, chosen, tick);
    }
}

/* For any decoding time and any skew: both eyes are decoded equally often, as often as possible, and no picture is old. */
static void slow_decoding_gives_pairs(void **state)
{
    (void)state;
    static const int decode[] = {100, 900, 1200, 1500, 2500, 7000}, offset[] = {0, 10, 490, 900};
    for (size_t d = 0; d < sizeof decode / sizeof *decode; d++)
        for (size_t s = 0; s < sizeof offset / sizeof *offset; s++)
            for (size_t l = 0; l < sizeof offset / sizeof *offset; l++) {
                struct simulation simulation = {.skew = offset[s], .lag = offset[l], .decode = {decode[d], decode[d] * 5 / 4}};
                simulate(&simulation);
                const int longest = decode[d] * 5 / 4, periods = 1 + (longest + PERIOD - 1) / PERIOD;
                if (offset[s] + offset[l] >
                    PERIOD) { /* too far apart for a pair: decoded all the same, for the pairing to say so */
                    assert_true(simulation.turns > FRAMES / (6 + longest / PERIOD));
                    continue;
                }
                if (simulation.pairs != simulation.turns || simulation.pairs < FRAMES / periods - 3 ||
                    simulation.oldest > 2 * PERIOD + offset[l])
                    fail_msg("decoding %d, skew %d, lag %d: %d pairs of %d turns, oldest %d", decode[d], offset[s], offset[l],
                             simulation.pairs, simulation.turns, simulation.oldest);
            }
}

static void drops_of_one_eye_hold_nothing_up(void **state)
{
    (void)state;
    for (int decode = 100; decode < 3000; decode += 700)
        for (int every = 2; every < 6; every++) {
            struct simulation simulation = {.skew = 20, .lag = 50, .decode = {decode, decode}, .drop_every = every};
            simulate(&simulation);
            assert_int_equal(simulation.pairs, simulation.turns);
            assert_true(simulation.pairs > FRAMES / (2 * (2 + decode / PERIOD)));
        }
}

static void an_eye_alone_is_decoded_alone(void **state)
{
    (void)state;
    struct simulation simulation = {.decode = {1500, 1500}, .right_is_gone = true};
    const struct plx_v4l2_decode_candidate one = {.waiting = true, .expected = true};

    simulate(&simulation);
    assert_int_equal(simulation.decoded[PLX_RIGHT], 0);
    assert_true(simulation.decoded[PLX_LEFT] >= FRAMES / 2 - 1);
    assert_int_equal(plx_v4l2_decode_schedule_choose(&one, 1, PERIOD, false), 1); /* both eyes in one picture */
}

/* --- the thread ------------------------------------------------------------------------------------------------- */

static struct plx_v4l2_frame_queue frames;
static struct plx_v4l2_decoder *decoder;
static struct plx_v4l2_compressed file;
static struct plx_v4l2_slot slot;
static uint8_t pixels[HEIGHT * WIDTH];
static int wake_fd;

static int setup(void **state)
{
    (void)state;
    wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    slot.memory.data = pixels;
    file.data = malloc(1 << 16);
    assert_int_equal(plx_v4l2_frame_queue_init(&frames), 0);
    plx_v4l2_frame_queue_open(&frames);
    assert_int_equal(plx_v4l2_decoder_create(&frames, wake_fd, 1 << 16, &decoder), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    plx_v4l2_decoder_destroy(decoder);
    plx_v4l2_frame_queue_close(&frames);
    plx_v4l2_frame_queue_finish(&frames);
    free(file.data);
    close(wake_fd);
    return 0;
}

static void compress(uint8_t level)
{
    unsigned char *data = NULL;
    unsigned long bytes = 0;
    tjhandle handle = tjInitCompress();

    memset(pixels, level, sizeof pixels);
    assert_int_equal(tjCompress2(handle, pixels, WIDTH, 0, HEIGHT, TJPF_GRAY, &data, &bytes, TJSAMP_GRAY, 95, 0), 0);
    memcpy(file.data, data, bytes);
    file.bytes = bytes;
    memset(pixels, 0, sizeof pixels);
    tjFree(data);
    tjDestroy(handle);
}

static void give(uint32_t sequence)
{
    struct plx_capture capture = {.sequence = sequence, .buffer = &slot};

    capture.raw[PLX_RIGHT] = (struct plx_raw){.data = pixels, .width = WIDTH, .height = HEIGHT, .pitch = WIDTH};
    atomic_store(&slot.use, PLX_V4L2_FILLED);
    plx_v4l2_decoder_give(decoder, &file, &capture);
}

static int take(struct plx_capture *ret_capture)
{
    struct plx_error_message message;
    return plx_v4l2_frame_queue_pop(&frames, patience_end_ns(), ret_capture, &message);
}

static void a_picture_comes_out_decoded(void **state)
{
    (void)state;
    struct pollfd woken = {.fd = wake_fd, .events = POLLIN};
    struct plx_capture capture;

    assert_int_equal(plx_v4l2_decoder_start(decoder, NULL), 0);
    for (uint32_t i = 1; i < 5; i++) {
        compress((uint8_t)(40 * i));
        give(i);
        assert_int_equal(take(&capture), 0);
        assert_int_equal(capture.sequence, i);
        assert_true(abs(pixels[WIDTH + 7] - (int)(40 * i)) <= 2);
        assert_int_equal(poll(&woken, 1, patience_ms()), 1);
        while (!plx_v4l2_decoder_is_idle(decoder))
            usleep(100);
    }
    plx_v4l2_decoder_stop(decoder);
}

static void a_damaged_picture_is_told(void **state)
{
    (void)state;
    struct plx_capture capture;

    assert_int_equal(plx_v4l2_decoder_start(decoder, NULL), 0);
    compress(100);
    file.bytes /= 2;
    give(1);
    assert_int_equal(take(&capture), 0);
    assert_int_equal(capture.health, PLX_HEALTH_BUFFER_ERROR);
    assert_null(capture.buffer);
    assert_int_equal(atomic_load(&slot.use), PLX_V4L2_IDLE);
    plx_v4l2_decoder_stop(decoder);
}

/* Whenever it is stopped, the picture is either handed out or its slot given back; and it can go on. */
static void a_stop_loses_no_slot(void **state)
{
    (void)state;
    struct plx_capture capture;

    for (int i = 0; i < 50; i++) {
        assert_int_equal(plx_v4l2_decoder_start(decoder, NULL), 0);
        compress(90);
        give((uint32_t)i);
        usleep((useconds_t)(i * 10));
        plx_v4l2_decoder_stop(decoder);
        assert_true(plx_v4l2_decoder_is_idle(decoder));
        if (atomic_load(&slot.use) == PLX_V4L2_IDLE)
            continue;
        assert_int_equal(take(&capture), 0);
        assert_int_equal(capture.sequence, i);
    }
}

/* Pictures that nobody reads in time count as skipped, not as dropped: the camera did not lose them. */
static void the_inbox_tells_what_it_skipped(void **state)
{
    (void)state;
    static struct plx_v4l2_slot slots[PLX_V4L2_FRAMES_QUEUED + 2];
    struct plx_capture capture;

    for (uint32_t i = 0; i < PLX_V4L2_FRAMES_QUEUED + 2; i++) {
        capture = (struct plx_capture){.sequence = i, .buffer = &slots[i]};
        capture.raw[PLX_LEFT].data = pixels;
        atomic_store(&slots[i].use, PLX_V4L2_FILLED);
        plx_v4l2_frame_queue_push(&frames, &capture);
    }
    assert_int_equal(take(&capture), 0);
    assert_int_equal(capture.health, PLX_HEALTH_OVERLOAD);
    for (uint32_t i = 2; i < PLX_V4L2_FRAMES_QUEUED + 2; i++) {
        assert_int_equal(take(&capture), 0);
        assert_int_equal(capture.sequence, i);
        assert_int_equal(capture.skipped, i == 2 ? 2 : 0);
    }
    assert_int_equal(atomic_load(&slots[1].use), PLX_V4L2_IDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_decoding_gives_pairs),
        cmocka_unit_test(drops_of_one_eye_hold_nothing_up),
        cmocka_unit_test(an_eye_alone_is_decoded_alone),
        cmocka_unit_test_setup_teardown(a_picture_comes_out_decoded, setup, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_picture_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stop_loses_no_slot, setup, teardown),
        cmocka_unit_test_setup_teardown(the_inbox_tells_what_it_skipped, setup, teardown),
    };
    return cmocka_run_group_tests_name("v4l2_decode", tests, NULL, NULL);
}
