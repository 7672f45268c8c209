/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What parallax-ros costs while somebody reads: its processor time, as a share of one core, with a reader of the left picture,
 * disparity and obstacles in another process, which is this one.
 *
 * usage: bench_ros PID [SECONDS]        PID: of parallax-ros, in the same domain; its namespace is the default
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dds/dds.h>

#include "core/base/clock.h"
#include "messages.h"

#define TOPICS 3

static const struct {
    const char *name;
    const dds_topic_descriptor_t *descriptor;
} topics[TOPICS] = {
    {"rt/parallax/left/image_rect", &sensor_msgs_msg_dds__Image__desc},
    {"rt/parallax/disparity", &stereo_msgs_msg_dds__DisparityImage__desc},
    {"rt/parallax/obstacles", &vision_msgs_msg_dds__Detection3DArray__desc},
};

/* Processor time of the process PID, seconds; negative if it is gone. */
static double processor_seconds(const char *pid)
{
    char path[64], line[1024] = "";
    unsigned long user, kernel;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *stat = fopen(path, "r");
    if (!stat)
        return -1;
    const char *end = fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
    fclose(stat);
    if (!end || sscanf(end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
        return -1;
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static void open_readers(dds_entity_t reader[TOPICS])
{
    const dds_entity_t participant = dds_create_participant(DDS_DOMAIN_DEFAULT, NULL, NULL);
    dds_qos_t *qos = dds_create_qos();
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
    dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 20);
    for (int i = 0; i < TOPICS; i++) {
        const dds_entity_t topic = dds_create_topic(participant, topics[i].descriptor, topics[i].name, NULL, NULL);
        reader[i] = dds_create_reader(participant, topic, qos, NULL);
    }
    dds_delete_qos(qos);
}

/* Takes what has come; counts it. */
static void take(const dds_entity_t reader[TOPICS], long count[TOPICS])
{
    for (int i = 0; i < TOPICS; i++) {
        void *sample[8] = {NULL};
        dds_sample_info_t info[8];
        const dds_return_t taken = dds_take(reader[i], sample, info, 8, 8);
        if (taken > 0) {
            count[i] += taken;
            dds_return_loan(reader[i], sample, taken);
        }
    }
}

int main(int argc, char **argv)
{
    dds_entity_t reader[TOPICS];
    long count[TOPICS] = {0};
    const double seconds = argc > 2 ? atof(argv[2]) : 20;
    if (argc < 2 || processor_seconds(argv[1]) < 0) {
        fprintf(stderr, "usage: bench_ros PID [SECONDS], PID of parallax-ros\n");
        return 64;
    }
    open_readers(reader);
    for (const int64_t begin = plx_now_ns(); count[0] < 10; take(reader, count)) { /* until all have found each other */
        if (plx_now_ns() - begin > 30 * PLX_NS_PER_S) {
            fprintf(stderr, "nothing comes: are ROS_DOMAIN_ID and CYCLONEDDS_URI the same for both?\n");
            return 1;
        }
        usleep(2000);
    }
    memset(count, 0, sizeof count);
    const int64_t begin = plx_now_ns();
    const double processor = processor_seconds(argv[1]);
    while (plx_now_ns() - begin < (int64_t)(seconds * 1e9)) {
        take(reader, count);
        usleep(2000);
    }
    const double spent = (double)(plx_now_ns() - begin) / 1e9, worked = processor_seconds(argv[1]) - processor;
    for (int i = 0; i < TOPICS; i++)
        printf("%-28s %5.1f Hz\n", topics[i].name, (double)count[i] / spent);
    printf("parallax-ros: %.1f %% of a core, %.2f ms a frame\n", 100 * worked / spent,
           count[0] > 0 ? 1000 * worked / (double)count[0] : 0);
    return 0;
}
