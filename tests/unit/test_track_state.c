/* SPDX-License-Identifier: Apache-2.0 */
/* The Kalman filter of a track beside the textbook's: one state of six numbers, and matrices of 6 x 6. */
#include "core/tracks/state.h"

#include <math.h>
#include <string.h>

#include "core/motion/pose.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define SEEDS 50

/* Position, then velocity. */
struct textbook {
    double x[6], p[6][6];
};

static uint64_t seed;

static double between(double low, double high)
{
    return low + (high - low) * random_below(&seed, 1000001) / 1e6;
}

/* A covariance of N numbers with deviations up to 1 that all depend on each other. */
static void random_covariance(int n, double *ret)
{
    double root[6][6];
    for (int i = 0; i < n * n; i++)
        root[i / n][i % n] = between(-0.5, 0.5) + (i / n == i % n);
    for (int i = 0; i < n * n; i++) {
        ret[i] = 0;
        for (int k = 0; k < n; k++)
            ret[i] += root[i / n][k] * root[i % n][k];
    }
}

static void make(struct plx_track_state *ret_state, struct textbook *ret_book)
{
    random_covariance(6, ret_book->p[0]);
    for (int i = 0; i < 6; i++)
        ret_book->x[i] = between(-5, 5);
    memcpy(ret_state->position, ret_book->x, sizeof ret_state->position);
    memcpy(ret_state->velocity, ret_book->x + 3, sizeof ret_state->velocity);
    for (int i = 0; i < 9; i++) {
        ret_state->pp[i] = ret_book->p[i / 3][i % 3];
        ret_state->pv[i] = ret_book->p[i / 3][3 + i % 3];
        ret_state->vv[i] = ret_book->p[3 + i / 3][3 + i % 3];
    }
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.15g, expected %.15g", got, expected);
}

static void compare(const struct plx_track_state *state, const struct textbook *book)
{
    for (int i = 0; i < 3; i++) {
        assert_near(state->position[i], book->x[i]);
        assert_near(state->velocity[i], book->x[3 + i]);
    }
    for (int i = 0; i < 9; i++) {
        assert_near(state->pp[i], book->p[i / 3][i % 3]);
        assert_near(state->pv[i], book->p[i / 3][3 + i % 3]);
        assert_near(state->vv[i], book->p[3 + i / 3][3 + i % 3]);
    }
}

/* P = F P F'. */
static void propagate(struct textbook *book, const double f[6][6])
{
    double x[6] = {0}, product[6][6] = {{0}}, p[6][6] = {{0}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            x[i] += f[i][j] * book->x[j];
            for (int k = 0; k < 6; k++)
                product[i][j] += f[i][k] * book->p[k][j];
        }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 6; k++)
                p[i][j] += product[i][k] * f[j][k];
    memcpy(book->x, x, sizeof x);
    memcpy(book->p, p, sizeof p);
}

/* By Gauss and Jordan; a covariance needs no pivot. */
static void invert(const double a[9], double ret[3][3])
{
    double rows[3][6];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 6; j++)
            rows[i][j] = j < 3 ? a[3 * i + j] : j - 3 == i;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const double factor = k == i ? (rows[i][i] - 1) / rows[i][i] : rows[k][i] / rows[i][i];
            for (int j = 0; j < 6; j++)
                rows[k][j] -= factor * rows[i][j];
        }
    for (int i = 0; i < 9; i++)
        ret[i / 3][i % 3] = rows[i / 3][3 + i % 3];
}

/* A position is measured: the gain is the first three columns of P by the inverse of their sum with NOISE. */
static void measure(struct textbook *book, const double position[3], const double noise[9])
{
    const struct textbook before = *book;
    double sum[9], inverse[3][3], gain[6][3] = {{0}};
    for (int i = 0; i < 9; i++)
        sum[i] = before.p[i / 3][i % 3] + noise[i];
    invert(sum, inverse);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                gain[i][j] += before.p[i][k] * inverse[k][j];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++) {
            book->x[i] += gain[i][k] * (position[k] - before.x[k]);
            for (int j = 0; j < 6; j++)
                book->p[i][j] -= gain[i][k] * before.p[k][j];
        }
}

static void it_begins_at_rest(void **state)
{
    (void)state;
    struct plx_track_state track;
    const double position[3] = {1, 2, 3}, noise[9] = {1, 2, 3, 2, 5, 6, 3, 6, 9};
    const double vv[9] = {2.25, 0, 0, 0, 2.25, 0, 0, 0, 2.25}, none[9] = {0};
    memset(&track, 0x55, sizeof track);
    plx_track_state_begin(&track, position, noise, 1.5); /* the first variance of a velocity is that speed squared */
    assert_memory_equal(track.position, position, sizeof position);
    assert_memory_equal(track.velocity, none, sizeof track.velocity);
    assert_memory_equal(track.pp, noise, sizeof noise);
    assert_memory_equal(track.pv, none, sizeof none);
    assert_memory_equal(track.vv, vv, sizeof vv);
}

static void it_forgets_its_velocity_or_its_position(void **state)
{
    (void)state;
    struct plx_track_state track;
    struct textbook book;
    make(&track, &book);
    plx_track_state_rest(&track, 3);
    memset(book.x + 3, 0, 3 * sizeof *book.x);
    for (int i = 0; i < 9; i++) {
        book.p[i / 3][3 + i % 3] = 0;
        book.p[3 + i / 3][3 + i % 3] = i % 4 == 0 ? 9 : 0;
    }
    compare(&track, &book);

    make(&track, &book);
    const double position[3] = {4, 5, 6}, noise[9] = {1, 2, 3, 2, 5, 6, 3, 6, 9};
    plx_track_state_relocate(&track, position, noise);
    memcpy(book.x, position, sizeof position);
    for (int i = 0; i < 9; i++) {
        book.p[i / 3][i % 3] = noise[i];
        book.p[i / 3][3 + i % 3] = 0;
    }
    compare(&track, &book);
}

/* Piecewise constant white acceleration: it displaces by dt squared over two, and changes the velocity by dt. */
static void it_is_predicted(void **state)
{
    (void)state;
    for (int i = 0; i < SEEDS; i++) {
        struct plx_track_state track;
        struct textbook book;
        const double dt = between(0.01, 2), accel = between(0.1, 3);
        double f[6][6] = {{0}};
        make(&track, &book);
        plx_track_state_predict(&track, dt, accel);
        for (int k = 0; k < 6; k++)
            f[k][k] = 1;
        for (int k = 0; k < 3; k++)
            f[k][3 + k] = dt;
        propagate(&book, f);
        for (int k = 0; k < 3; k++) {
            const double g[2] = {dt * dt / 2, dt};
            for (int n = 0; n < 4; n++)
                book.p[k + 3 * (n / 2)][k + 3 * (n % 2)] += accel * accel * g[n / 2] * g[n % 2];
        }
        compare(&track, &book);
    }
}

static void it_turns_with_the_camera(void **state)
{
    (void)state;
    for (int i = 0; i < SEEDS; i++) {
        struct plx_track_state track;
        struct textbook book;
        struct plx_pose pose = PLX_POSE_IDENTITY;
        double covariance[36], f[6][6] = {{0}}, move[6];
        make(&track, &book);
        for (int k = 0; k < 6; k++)
            move[k] = between(-1, 1);
        plx_pose_move(&pose, move);
        random_covariance(6, covariance);
        plx_track_state_turn(&track, &pose, covariance);
        for (int k = 0; k < 9; k++)
            f[k / 3][k % 3] = f[3 + k / 3][3 + k % 3] = pose.rotation[k];
        propagate(&book, f);
        for (int k = 0; k < 3; k++)
            book.x[k] += pose.translation[k];
        /* An error t, w of the motion displaces the position by t + w x position: its derivatives, column by column. */
        double moved[3][6] = {{0}};
        for (int k = 0; k < 3; k++) {
            const int next = (k + 1) % 3, last = (k + 2) % 3;
            moved[k][k] = 1;
            moved[last][3 + k] = book.x[next]; /* a turn about axis k */
            moved[next][3 + k] = -book.x[last];
        }
        for (int k = 0; k < 9; k++)
            for (int n = 0; n < 36; n++)
                book.p[k / 3][k % 3] += moved[k / 3][n / 6] * covariance[n] * moved[k % 3][n % 6];
        compare(&track, &book);
    }
}

static void it_is_corrected(void **state)
{
    (void)state;
    for (int i = 0; i < SEEDS; i++) {
        struct plx_track_state track;
        struct textbook book;
        double noise[9], position[3], sum[9], inverse[3][3], distance = 0;
        make(&track, &book);
        random_covariance(3, noise);
        for (int k = 0; k < 3; k++)
            position[k] = between(-5, 5);
        for (int k = 0; k < 9; k++)
            sum[k] = book.p[k / 3][k % 3] + noise[k];
        invert(sum, inverse);
        for (int k = 0; k < 9; k++)
            distance += (position[k / 3] - book.x[k / 3]) * inverse[k / 3][k % 3] * (position[k % 3] - book.x[k % 3]);
        assert_near(plx_track_state_distance(&track, position, noise), distance);
        plx_track_state_correct(&track, position, noise);
        measure(&book, position, noise);
        compare(&track, &book);
    }
}

static int setup(void **state)
{
    (void)state;
    seed = test_seed();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_at_rest), cmocka_unit_test(it_forgets_its_velocity_or_its_position),
        cmocka_unit_test(it_is_predicted),   cmocka_unit_test(it_turns_with_the_camera),
        cmocka_unit_test(it_is_corrected),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
