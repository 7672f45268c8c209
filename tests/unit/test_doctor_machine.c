/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `parallax doctor` that look at the computer, by made-up files of /proc, /sys and /etc. */
#include "tests/unit/doctor.h"

#include <sys/timex.h>

#include <parallax/error.h>

static void clock_is_synchronized_or_not_or_not_known(void **state)
{
    (void)state;
    expect(doctor_check_clock, DOCTOR_GOOD, "is synchronized", NULL);
    subject_.clock_status = STA_UNSYNC | STA_PLL;
    expect(doctor_check_clock, DOCTOR_DOUBTFUL, "not synchronized", "timedatectl set-ntp true");
    subject_.clock_status = -1;
    expect(doctor_check_clock, DOCTOR_UNKNOWN, "does not say", NULL);
}

static void network_counts_with_ros_or_if_asked(void **state)
{
    (void)state;
    expect(doctor_check_network, DOCTOR_NOT_APPLICABLE, "not installed", NULL);
    subject_.all = true;
    expect(doctor_check_network, DOCTOR_UNKNOWN, "net.core.rmem_max cannot be read", NULL);
    write_file("proc/sys/net/core/rmem_default", "4194304\n");
    write_file("proc/sys/net/core/rmem_max", "16777215\n");
    expect(doctor_check_network, DOCTOR_DOUBTFUL, "rmem_max is 16777215", "sudo sysctl -w net.core.rmem_max=16777216");
    assert_null(strstr(finding_.advice, "rmem_default"));
    write_file("proc/sys/net/core/rmem_max", "16777216\n");
    expect(doctor_check_network, DOCTOR_GOOD, "rmem_default is 4194304", NULL);
    subject_.all = false;
    write_file("usr/bin/parallax-ros", "");
    char path[128];
    snprintf(path, sizeof path, "%s/usr/bin/parallax-ros", root_);
    assert_int_equal(chmod(path, 0755), 0);
    expect(doctor_check_network, DOCTOR_GOOD, "rmem_max is 16777216", NULL);
}

static void jetson_is_named(void **state)
{
    (void)state;
    expect(doctor_check_jetson, DOCTOR_NOT_APPLICABLE, "no Jetson", NULL);
    write_file("proc/device-tree/model", "NVIDIA Jetson Orin Nano");
    expect(doctor_check_jetson, DOCTOR_UNKNOWN, "L4T is not known", "install JetPack");
    write_file("etc/nv_tegra_release", "# R36 (release), REVISION: 4.3, GCID: 1\n");
    expect(doctor_check_jetson, DOCTOR_UNKNOWN, "no power mode", NULL);
    write_file("var/lib/nvpmodel/status", "pmode:0001\n");
    write_file("etc/nvpmodel.conf", "< POWER_MODEL ID=1 NAME=25W >\n");
    expect(doctor_check_jetson, DOCTOR_GOOD, "NVIDIA Jetson Orin Nano\nL4T R36 (release), REVISION: 4.3\npower mode 1 (25W)",
           NULL);
}

/* Machines that test this have no GPU, or one: both are known from the outcome of the same question. */
static void gpu_is_missing_where_it_is_needed(void **state)
{
    (void)state;
    memset(&finding_, 0, sizeof finding_);
    doctor_check_gpu(&subject_, &finding_);
    if (strstr(finding_.found, "CUDA device 0"))
        skip();
    expect(doctor_check_gpu, DOCTOR_NOT_APPLICABLE, "computes on the CPU", NULL);
    subject_.config.backend = PLX_BACKEND_GPU;
    expect(doctor_check_gpu, DOCTOR_BAD, "backend is gpu", "driver");
    subject_.config.backend = PLX_BACKEND_AUTO;
    write_file("etc/nv_tegra_release", "# R36 (release)\n");
    expect(doctor_check_gpu, DOCTOR_BAD, "libcuda.so.1", "ls -l /dev/nv*");
}

static void memory_is_free_and_locked(void **state)
{
    (void)state;
    expect(doctor_check_memory, DOCTOR_UNKNOWN, "/proc/meminfo", NULL);
    write_file("proc/meminfo", "MemTotal:  8000000 kB\nMemFree:  1 kB\nMemAvailable:  4000000 kB\n");
    expect(doctor_check_memory, DOCTOR_UNKNOWN, "process cannot be looked at", NULL);
    subject_.service = 77;
    write_file("proc/77/status", "Name:\tparallaxd\nVmLck:\t  123456 kB\n");
    expect(doctor_check_memory, DOCTOR_GOOD, "has locked its memory", NULL);
    write_file("proc/vmstat", "nr_free_pages 1\noom_kill 3\n");
    expect(doctor_check_memory, DOCTOR_DOUBTFUL, "killed 3 processes", "journalctl -k");
    write_file("proc/vmstat", "oom_kill 0\n");
    expect(doctor_check_memory, DOCTOR_GOOD, "has locked its memory", NULL);
    write_file("proc/77/status", "Name:\tparallaxd\nVmLck:\t       0 kB\n");
    expect(doctor_check_memory, DOCTOR_DOUBTFUL, "has not locked", "LimitMEMLOCK=infinity");
    write_file("proc/77/status", "VmLck:\t  123456 kB\n");
    write_file("proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:  600000 kB\n");
    expect(doctor_check_memory, DOCTOR_DOUBTFUL, "586 of 7812 MiB", "systemd-cgtop");
    stop_service(); /* its frames do not fit either */
    write_file("proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:  1000 kB\n");
    expect(doctor_check_memory, DOCTOR_BAD, "the frames take", "publish.slots");
}

/* Fields of a real line, where only parent and priority matter; the name has what a name may have. */
static void write_thread(const char *path, int parent, int priority)
{
    char text[256];

    snprintf(text, sizeof text,
             "1 (a) b (c) S %d 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 -11 0 2 0 100 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 17 1 %d 1 0 0 0\n",
             parent, priority);
    write_file(path, text);
}

static void priority_is_that_of_the_engine(void **state)
{
    (void)state;
    expect(doctor_check_priority, DOCTOR_NOT_APPLICABLE, "ordinary priority", NULL);
    subject_.config.engine.realtime_priority = 10;
    expect(doctor_check_priority, DOCTOR_UNKNOWN, "cannot be looked at", NULL);
    subject_.service = 77;
    write_thread("proc/5/task/5/stat", 1, 10); /* another program */
    expect(doctor_check_priority, DOCTOR_UNKNOWN, "cannot be looked at", NULL);
    write_thread("proc/78/task/78/stat", 77, 0);
    expect(doctor_check_priority, DOCTOR_BAD, "the engine has 0", "LimitRTPRIO=10");
    write_thread("proc/78/task/79/stat", 77, 10);
    expect(doctor_check_priority, DOCTOR_GOOD, "the engine has 10", NULL);
}

static void processors_are_online_and_none_is_left_out(void **state)
{
    (void)state;
    expect(doctor_check_processors, DOCTOR_UNKNOWN, "online cannot be read", NULL);
    write_file("sys/devices/system/cpu/online", "0-3\n");
    write_file("sys/devices/system/cpu/isolated", "\n");
    expect(doctor_check_processors, DOCTOR_GOOD, "empty: all", NULL);
    write_file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
    expect(doctor_check_processors, DOCTOR_GOOD, "governor is schedutil", NULL);
    write_file("sys/devices/system/cpu/isolated", "2-3\n");
    snprintf(subject_.config.engine.cpus, sizeof subject_.config.engine.cpus, "2");
    expect(doctor_check_processors, DOCTOR_DOUBTFUL, "processor 3 is isolated", "isolcpus=");
    snprintf(subject_.config.engine.cpus, sizeof subject_.config.engine.cpus, "2-3");
    expect(doctor_check_processors, DOCTOR_GOOD, "engine.cpus is 2-3", NULL);
    snprintf(subject_.config.engine.cpus, sizeof subject_.config.engine.cpus, "2-5");
    expect(doctor_check_processors, DOCTOR_BAD, "processor 4 is not online", "that are online");
    snprintf(subject_.config.engine.cpus, sizeof subject_.config.engine.cpus, "2-3");
    write_file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    expect(doctor_check_processors, DOCTOR_DOUBTFUL, "powersave", "jetson_clocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(clock_is_synchronized_or_not_or_not_known),
        DOCTOR_TEST(network_counts_with_ros_or_if_asked),
        DOCTOR_TEST(jetson_is_named),
        DOCTOR_TEST(gpu_is_missing_where_it_is_needed),
        DOCTOR_TEST(memory_is_free_and_locked),
        DOCTOR_TEST(priority_is_that_of_the_engine),
        DOCTOR_TEST(processors_are_online_and_none_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
