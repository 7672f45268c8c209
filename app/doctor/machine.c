/* SPDX-License-Identifier: Apache-2.0 */
/* The computer: its GPU, its clock, its network buffers, its Jetson release. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include <parallax/cuda.h>
#include <parallax/error.h>

#include "app/doctor/check.h"
#include "app/machine_files.h"
#include "app/tune.h"
#include "bridge/diagnostics_message.h"

#define TEGRA_RELEASE "/etc/nv_tegra_release"

static bool is_jetson(const char *root)
{
    char text[256];

    plx_machine_model(root, text, sizeof text);
    return strstr(text, "Jetson") || plx_machine_line(root, text, sizeof text, TEGRA_RELEASE);
}

/* --- GPU ---------------------------------------------------------------------------------------------------------------- */

/* Names CUDA's devices; returns how many there are. */
static int name_devices(struct doctor_finding *finding)
{
    struct plx_cuda_device gpu;
    int count = 0, result;

    while ((result = plx_cuda_device(count, &gpu)) == 0) {
        doctor_find(finding, DOCTOR_GOOD, "CUDA device %d is %s; clients %s", count, gpu.name,
                    gpu.host_register && gpu.read_only_register ? "read frames in place" : "copy frames");
        count++;
    }
    if (result != PLX_ERR_NOT_FOUND) {
        doctor_find(finding, DOCTOR_BAD, "CUDA's driver does not describe device %d", count);
        doctor_advise(finding, "see what the driver says: nvidia-smi; sudo dmesg");
    }
    return count;
}

static void judge_missing_gpu(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const bool is_needed = subject->config.backend == PLX_BACKEND_GPU;

    if (is_needed || is_jetson(subject->root)) {
        doctor_find(finding, DOCTOR_BAD, "CUDA's driver (libcuda.so.1) is missing, finds no GPU, or may not open it%s",
                    is_needed ? ", and backend is gpu" : "");
        doctor_advise(finding,
                      "install JetPack's or NVIDIA's driver, and join the group of its devices: ls -l /dev/nv* /dev/dri");
    } else {
        doctor_find(finding, DOCTOR_NOT_APPLICABLE, "this machine has no GPU that CUDA finds: the service computes on the CPU");
    }
}

/* Whether the running service uses the GPU. */
static void judge_use(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const struct plx_status *status = &subject->status;

    if (subject->config.backend == PLX_BACKEND_CPU) {
        doctor_find(finding, DOCTOR_DOUBTFUL, "the service computes on the CPU, for backend is cpu");
        doctor_advise(finding, "set backend: auto");
    } else if (!status->any) {
        doctor_find(finding, DOCTOR_UNKNOWN, "whether the service uses it is not known: it publishes no frames");
    } else if (plx_tune_schedule_name(status->schedule)) {
        doctor_find(finding, DOCTOR_GOOD, "the service computes there");
    } else {
        doctor_find(finding, DOCTOR_BAD, "the service computes on the CPU%s%s", status->reason[0] ? ": " : "", status->reason);
        doctor_advise(finding, "see why: journalctl -u parallaxd; then: sudo systemctl restart parallaxd");
    }
}

void doctor_check_gpu(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (name_devices(finding) > 0)
        judge_use(subject, finding);
    else if (finding->found[0] == '\0')
        judge_missing_gpu(subject, finding);
}

/* --- clock, network, Jetson --------------------------------------------------------------------------------------------- */

void doctor_check_clock(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (subject->clock_status < 0) {
        doctor_find(finding, DOCTOR_UNKNOWN, "the kernel does not say whether the time of day is synchronized");
    } else if (subject->clock_status & STA_UNSYNC) {
        doctor_find(finding, DOCTOR_DOUBTFUL,
                    "the time of day is not synchronized: times in ROS and logs differ from those of other machines");
        doctor_advise(finding, "connect a network and type: sudo timedatectl set-ntp true");
    } else {
        doctor_find(finding, DOCTOR_GOOD, "the time of day is synchronized");
    }
}

static bool has_ros(const char *root)
{
    char path[512];

    snprintf(path, sizeof path, "%s/usr/bin/parallax-ros", root);
    return access(path, X_OK) == 0;
}

static void judge_buffer(const char *root, const char *name, long wanted, struct doctor_finding *finding)
{
    char text[64];

    if (!plx_machine_line(root, text, sizeof text, "/proc/sys/net/core/%s", name)) {
        doctor_find(finding, DOCTOR_UNKNOWN, "net.core.%s cannot be read", name);
        return;
    }
    const bool is_small = atol(text) < wanted;
    doctor_find(finding, is_small ? DOCTOR_DOUBTFUL : DOCTOR_GOOD, "net.core.%s is %s", name, text);
    if (is_small)
        doctor_advise(finding, "for pictures by ROS type: sudo sysctl -w net.core.%s=%ld", name, wanted);
}

void doctor_check_network(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (!subject->all && !has_ros(subject->root)) {
        doctor_find(finding, DOCTOR_NOT_APPLICABLE, "parallax-ros is not installed (--all checks the buffers all the same)");
        return;
    }
    judge_buffer(subject->root, "rmem_default", PLX_RMEM_DEFAULT, finding);
    judge_buffer(subject->root, "rmem_max", PLX_RMEM_MAX, finding);
    if (finding->state == DOCTOR_DOUBTFUL)
        doctor_advise(finding, "to keep them write both into /etc/sysctl.d/60-dds.conf");
}

void doctor_check_jetson(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    char model[128], release[256], name[64];
    int mode;

    if (!is_jetson(subject->root)) {
        doctor_find(finding, DOCTOR_NOT_APPLICABLE, "this machine is no Jetson");
        return;
    }
    plx_machine_model(subject->root, model, sizeof model);
    doctor_find(finding, DOCTOR_GOOD, "%s", model[0] ? model : "no model in the device tree");
    if (plx_machine_line(subject->root, release, sizeof release, TEGRA_RELEASE)) {
        const char *begin = release + strspn(release, "# "),
                   *end = strstr(begin, ", GCID"); /* "# R36 (release), REVISION: 4.3, GCID: ..." */
        doctor_find(finding, DOCTOR_GOOD, "L4T %.*s", (int)(end ? (size_t)(end - begin) : strlen(begin)), begin);
    } else {
        doctor_find(finding, DOCTOR_UNKNOWN, TEGRA_RELEASE " cannot be read: the release of L4T is not known");
        doctor_advise(finding, "install JetPack: see jetson.md in /usr/share/doc/parallax");
    }
    if (plx_machine_power_mode(subject->root, &mode, name, sizeof name))
        doctor_find(finding, DOCTOR_GOOD, "power mode %d (%s)", mode, name);
    else
        doctor_find(finding, DOCTOR_UNKNOWN, "nvpmodel has written no power mode");
}
