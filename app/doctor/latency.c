/* SPDX-License-Identifier: Apache-2.0 */
/* What bounds the latency: free and locked memory, real-time priority, processors. docs/operation.md, "Bounded latency". */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/doctor/check.h"
#include "app/machine_files.h"
#include "config/text.h"
#include "core/pipeline/pipeline.h"

#define MIB (1024.0 * 1024.0)
#define SPARE_SHARE 0.08 /* share of all memory that should stay available: below, the service may report memory_pressure */

/* --- memory ------------------------------------------------------------------------------------------------------------- */

/* The ring of frames, bytes. A replay knows the size of its pictures only when it runs; 0 then. */
static double ring_bytes(const struct doctor_subject *subject)
{
    const struct plx_config *config = &subject->config;
    const struct plx_frame *frame = &subject->status.frame;
    const bool has_size = subject->status.any || config->source.type != PLX_SOURCE_REPLAY;
    const int width = subject->status.any ? (int)frame->width : config->source.width;
    const int height = subject->status.any ? (int)frame->height : config->source.height;
    struct plx_plane plane[PLX_PLANE_COUNT];

    return has_size ? (double)config->publish.slots * plx_pipeline_layout(&config->pipeline, width, height, plane) : 0;
}

static void judge_free_memory(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    char total_text[64], available_text[64];

    if (!plx_machine_value(subject->root, "/proc/meminfo", "MemTotal:", total_text, sizeof total_text) ||
        !plx_machine_value(subject->root, "/proc/meminfo", "MemAvailable:", available_text, sizeof available_text)) {
        doctor_find(finding, DOCTOR_UNKNOWN, "/proc/meminfo does not say how much memory is available");
        return;
    }
    const double total = 1024 * atof(total_text), available = 1024 * atof(available_text);
    const double ring = ring_bytes(subject), needed = subject->connection < 0 ? ring : 0; /* a running service has its ring */
    const enum doctor_state state = available < needed                         ? DOCTOR_BAD
                                    : available < SPARE_SHARE * total + needed ? DOCTOR_DOUBTFUL
                                                                               : DOCTOR_GOOD;
    doctor_find(finding, state, "%.0f of %.0f MiB are available", available / MIB, total / MIB);
    if (ring > 0)
        doctor_find(finding, DOCTOR_GOOD, "the frames take %.0f MiB", ring / MIB);
    if (state != DOCTOR_GOOD)
        doctor_advise(finding, "end what is not needed, to be found by: systemd-cgtop -m; or lower publish.slots");
}

static void judge_locked_memory(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    char path[64], text[64];

    snprintf(path, sizeof path, "/proc/%d/status", (int)subject->service);
    if (subject->service == 0 || !plx_machine_value(subject->root, path, "VmLck:", text, sizeof text)) {
        doctor_find(finding, DOCTOR_UNKNOWN, "whether the service has locked its memory is not known: %s",
                    subject->connection < 0 ? "no service answers" : "its process cannot be looked at");
        return;
    }
    const bool is_locked = atol(text) > 0;
    doctor_find(finding, is_locked ? DOCTOR_GOOD : DOCTOR_DOUBTFUL, "the service has %s its memory",
                is_locked ? "locked" : "not locked");
    if (!is_locked)
        doctor_advise(finding,
                      "set LimitMEMLOCK=infinity: sudo systemctl edit parallaxd; or start it after: ulimit -l unlimited");
}

/* The kernel counts since boot; versions before 4.13 do not. */
static void judge_killed_processes(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    char text[64];

    if (!plx_machine_value(subject->root, "/proc/vmstat", "oom_kill ", text, sizeof text) || atol(text) == 0)
        return;
    doctor_find(finding, DOCTOR_DOUBTFUL, "the kernel killed %s processes for lack of memory since the start", text);
    doctor_advise(finding, "see which: journalctl -k --grep 'Out of memory'");
}

void doctor_check_memory(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (doctor_knows_config(subject, finding))
        judge_free_memory(subject, finding);
    judge_killed_processes(subject, finding);
    judge_locked_memory(subject, finding);
}

/* --- priority ----------------------------------------------------------------------------------------------------------- */

/* Fields of proc_pid_stat(5): 4 and 40. False if the file cannot be read. */
static bool read_stat(const char *path, int *ret_parent, int *ret_priority)
{
    char line[1024];
    FILE *file = fopen(path, "re");
    const bool is_read = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    char *at = is_read ? strrchr(line, ')') : NULL; /* ends the name, which may hold anything */
    if (!at)
        return false;
    int parent = 0, priority = 0;
    char *rest, *word = strtok_r(at + 1, " ", &rest);
    for (int field = 3; word; field++, word = strtok_r(NULL, " ", &rest)) {
        parent = field == 4 ? atoi(word) : parent;
        priority = field == 40 ? atoi(word) : priority;
    }
    *ret_parent = parent;
    *ret_priority = priority;
    return true;
}

/* The highest real-time priority of a thread of the service's engine, a child of its supervisor; 0: ordinary priority,
 * negative: there is none to be seen. */
static int engine_priority(const struct doctor_subject *subject)
{
    char pattern[512];
    glob_t found = {0};
    int highest = -1, parent, priority;

    snprintf(pattern, sizeof pattern, "%s/proc/[0-9]*/task/[0-9]*/stat", subject->root);
    if (subject->service > 0 && glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (read_stat(found.gl_pathv[i], &parent, &priority) && parent == subject->service && priority > highest)
                highest = priority;
    globfree(&found);
    return highest;
}

void doctor_check_priority(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const int wanted = subject->config.engine.realtime_priority;

    if (!doctor_knows_config(subject, finding))
        return;
    if (wanted == 0) {
        doctor_find(finding, DOCTOR_NOT_APPLICABLE, "engine.realtime_priority is 0: ordinary priority");
        return;
    }
    const int actual = engine_priority(subject);
    if (actual < 0) {
        doctor_find(finding, DOCTOR_UNKNOWN, "engine.realtime_priority is %d; the engine's threads cannot be looked at",
                    wanted);
        return;
    }
    doctor_find(finding, actual == wanted ? DOCTOR_GOOD : DOCTOR_BAD, "engine.realtime_priority is %d, and the engine has %d",
                wanted, actual);
    if (actual != wanted)
        doctor_advise(finding, "set LimitRTPRIO=%d and RestrictRealtime=no: sudo systemctl edit parallaxd", wanted);
}

/* --- processors --------------------------------------------------------------------------------------------------------- */

/* Marks the processors in the list of ROOT's file NAME; false if there is no such list, or it is empty. */
static bool read_cpus(const char *root, const char *name, bool ret_listed[PLX_MAX_CPUS])
{
    char text[256];
    return plx_machine_line(root, text, sizeof text, "/sys/devices/system/cpu/%s", name) && plx_cpus_parse(text, ret_listed);
}

static void judge_engine_cpus(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    bool used[PLX_MAX_CPUS] = {false}, online[PLX_MAX_CPUS] = {false}, isolated[PLX_MAX_CPUS] = {false};
    const char *cpus = subject->config.engine.cpus;
    const bool has_isolated = read_cpus(subject->root, "isolated", isolated);
    int offline = -1, unused = -1;

    if (!read_cpus(subject->root, "online", online)) {
        doctor_find(finding, DOCTOR_UNKNOWN, "/sys/devices/system/cpu/online cannot be read");
        return;
    }
    plx_cpus_parse(cpus, used);
    for (int cpu = PLX_MAX_CPUS - 1; cpu >= 0; cpu--) {
        offline = used[cpu] && !online[cpu] ? cpu : offline;
        unused = isolated[cpu] && !used[cpu] ? cpu : unused;
    }
    doctor_find(finding, offline >= 0 ? DOCTOR_BAD : DOCTOR_GOOD, "engine.cpus is %s", cpus[0] ? cpus : "empty: all");
    if (offline >= 0) {
        doctor_find(finding, DOCTOR_BAD, "processor %d is not online", offline);
        doctor_advise(finding, "name processors that are online, or change the power mode: cat /sys/devices/system/cpu/online");
    }
    if (has_isolated && unused >= 0) {
        doctor_find(finding, DOCTOR_DOUBTFUL, "processor %d is isolated from all programs, and not in engine.cpus", unused);
        doctor_advise(finding, "add it to engine.cpus, or remove isolcpus= from the kernel's command line");
    }
}

void doctor_check_processors(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    char governor[64];

    if (doctor_knows_config(subject, finding))
        judge_engine_cpus(subject, finding);
    if (!plx_machine_line(subject->root, governor, sizeof governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
        return; /* a virtual machine has no clock to govern */
    const bool is_slow = strcmp(governor, "powersave") == 0;
    doctor_find(finding, is_slow ? DOCTOR_DOUBTFUL : DOCTOR_GOOD, "the governor is %s", governor);
    if (is_slow)
        doctor_advise(finding, "it limits the clock rate on some machines; on a Jetson type: sudo jetson_clocks");
}
