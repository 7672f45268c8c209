/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plx_verdict answers after a start of the real service, and after each kill of its engine, until it says stop because of
 * an obstacle in a zone: no answer may be go. Ends with 1 if one is, or if the obstacle is not found in time.
 *
 *   bench_first_verdict [STARTS [KILLS]]   STARTS (default 20) of the service, in each KILLS (default 4) of the engine
 *
 * The synthetic scene has 320 x 240 pixels at 30 Hz and a pole 3.8 m ahead, which stands in the zone from the first picture on.
 * The zone needs 2 frames to trip after one start, and 15 after the next. Nothing but the pole and what the zone itself does
 * not know yet keeps the robot from going: unknown cells are allowed, and the fewest faults count. Each question comes 20 us
 * after the last answer. First a free zone must become go, as this program has to see a go where there is one.
 */
#include <stdbool.h>
#include <stdint.h>

#include <parallax/client.h>

#include "core/base/clock.h"
#include "tests/bench/service.h"

#define LIMIT_NS (30 * PLX_NS_PER_S)
#define PAUSE_US 20

static const char configuration[] = "source: {width: 320, height: 240, rate_hz: 30}\n"
                                    "match: {disparities: 64, paths: 4}\n"
                                    "mount: {x_m: -1, z_m: 1, pitch_deg: 5.73, roll_deg: 0.86}\n"
                                    "verdict: {reaction_ms: 1500, stop_flags: no_frames, slow_flags: \"\"}\n"
                                    "zones: [{name: way, polygon: %s, max_unknown: 1, min_depth: 0, frames: %d}]\n";
static const char free_way[] = "[[0.7, -0.4], [1.7, -0.4], [1.7, 0.4], [0.7, 0.4]]",
                  pole[] = "[[3.4, 1.4], [4.2, 1.4], [4.2, 2.4], [3.4, 2.4]]";

static struct bench_service service;
static struct plx_client *client;

struct tally {
    const char *name;
    int rounds, rounds_with_go, unanswered;
    long answers, go;
    double longest_s;
};

static void configure(const char *polygon, int frames)
{
    char text[1024];
    snprintf(text, sizeof text, configuration, polygon, frames);
    bench_service_configure(&service, text);
}

static struct plx_verdict_now ask(void)
{
    struct plx_verdict_now verdict;
    if (!client && plx_connect(service.socket, &client) < 0)
        client = NULL;
    plx_verdict(client, &verdict);
    usleep(PAUSE_US);
    return verdict;
}

/* Asks until the engine that comes after RESTARTS others says that something stands in the zone. */
static void ask_until_stop(struct tally *tally, uint32_t restarts, uint64_t after)
{
    const int64_t begun = plx_now_ns();
    const long before = tally->go;

    tally->rounds++;
    for (;;) {
        const struct plx_verdict_now verdict = ask();
        tally->answers++;
        tally->go += verdict.verdict == PLX_VERDICT_GO;
        if (verdict.verdict == PLX_VERDICT_STOP && verdict.reasons & PLX_REASON_OCCUPIED && verdict.sequence > after &&
            plx_restarts(client) >= restarts)
            break;
        if (plx_now_ns() - begun > LIMIT_NS) {
            tally->unanswered++;
            break;
        }
    }
    const double took_s = (double)(plx_now_ns() - begun) / 1e9;
    tally->longest_s = took_s > tally->longest_s ? took_s : tally->longest_s;
    tally->rounds_with_go += tally->go > before;
}

static void start(void)
{
    bench_service_start(&service);
    if (service.pid < 0) {
        perror("bench_first_verdict: no process");
        exit(1);
    }
}

static void end(void)
{
    plx_disconnect(client);
    client = NULL;
    bench_service_stop(&service);
}

static bool free_zone_becomes_go(void)
{
    const int64_t begun = plx_now_ns();
    bool go = false;

    configure(free_way, 2);
    start();
    while (!go && plx_now_ns() - begun < LIMIT_NS)
        go = ask().verdict == PLX_VERDICT_GO;
    printf("free zone: %s after %.1f s\n", go ? "go" : "never go", (double)(plx_now_ns() - begun) / 1e9);
    end();
    return go;
}

static void kill_engine(struct tally *tally)
{
    const pid_t engine = bench_service_engine(&service);
    const uint32_t restarts = plx_restarts(client);
    const uint64_t sequence = ask().sequence;

    if (engine > 0 && kill(engine, SIGKILL) == 0)
        ask_until_stop(tally, restarts + 1, sequence);
}

static void report(const struct tally *tally)
{
    printf("%-6s %5d rounds, %d with go; %ld answers, %ld go; longest round %.1f s, %d without an answer\n", tally->name,
           tally->rounds, tally->rounds_with_go, tally->answers, tally->go, tally->longest_s, tally->unanswered);
}

int main(int argc, char **argv)
{
    const int starts = argc > 1 ? atoi(argv[1]) : 20, kills = argc > 2 ? atoi(argv[2]) : 4;
    struct tally tally[2] = {{.name = "starts"}, {.name = "kills"}};

    bench_service_make(&service);
    bool well = free_zone_becomes_go();
    for (int i = 0; i < starts; i++) {
        configure(pole, i % 2 == 0 ? 2 : 15);
        start();
        ask_until_stop(&tally[0], 0, 0);
        for (int k = 0; k < kills; k++)
            kill_engine(&tally[1]);
        end();
    }
    bench_service_remove(&service);
    for (int i = 0; i < 2; i++) {
        report(&tally[i]);
        well = well && tally[i].go == 0 && tally[i].unanswered == 0;
    }
    return well ? 0 : 1;
}
