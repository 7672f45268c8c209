/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's temperatures and power mode, on which the times of the other checks depend, and what its GPUs can do for
 * clients. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/cuda.h>

#include "app/machine_files.h"
#include "app/selftest/check.h"

/* The lowest of the zone's trip points of TYPE, millidegrees; 0 if it has none. */
static int trip_point(const char *root, int zone, const char *type)
{
    char text[64];
    int lowest = 0;

    for (int i = 0; plx_machine_line(root, text, sizeof text, "/sys/class/thermal/thermal_zone%d/trip_point_%d_type", zone, i);
         i++) {
        if (strcmp(text, type) != 0 ||
            !plx_machine_line(root, text, sizeof text, "/sys/class/thermal/thermal_zone%d/trip_point_%d_temp", zone, i))
            continue;
        const int at = atoi(text);
        if (at > 0 && (lowest == 0 || at < lowest))
            lowest = at;
    }
    return lowest;
}

void check_temperature(const struct check_options *options, struct check_outcome *ret)
{
    char type[64], text[64];

    for (int zone = 0; zone < 64; zone++) {
        if (!plx_machine_line(options->root, type, sizeof type, "/sys/class/thermal/thermal_zone%d/type", zone) ||
            !plx_machine_line(options->root, text, sizeof text, "/sys/class/thermal/thermal_zone%d/temp", zone))
            continue; /* the zone of a processor that is powered down cannot be read */
        const int now = atoi(text), hot = trip_point(options->root, zone, "hot"),
                  critical = trip_point(options->root, zone, "critical"), passive = trip_point(options->root, zone, "passive");
        check_note(ret, "%s %.1f C%s", type, now / 1000.0,
                   passive > 0 && now >= passive ? ", slowed down by its temperature" : "");
        if ((hot > 0 && now >= hot) || (critical > 0 && now >= critical))
            check_fail(ret, "%s has %.1f C, beyond its limit; check the cooling", type, now / 1000.0);
    }
    if (ret->note[0] == '\0')
        check_skip(ret, "this machine has no readable temperature sensor");
}

void check_power(const struct check_options *options, struct check_outcome *ret)
{
    char text[128], name[64];
    int mode = 0;

    if (plx_machine_power_mode(options->root, &mode, name, sizeof name))
        check_note(ret, "nvpmodel mode %d, %s", mode, name);
    if (plx_machine_line(options->root, text, sizeof text, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
        check_note(ret, "CPU governor %s%s", text,
                   strcmp(text, "powersave") == 0
                       ? ": it limits the clock rate on some machines; see jetson.md in /usr/share/doc/parallax"
                       : "");
    if (plx_machine_line(options->root, text, sizeof text, "/sys/devices/system/cpu/online"))
        check_note(ret, "CPUs online: %s", text);
    if (ret->note[0] == '\0')
        check_skip(ret, "this machine has no readable power mode, CPU governor or CPU list");
}

void check_client_gpu(const struct check_options *options, struct check_outcome *ret)
{
    struct plx_cuda_device gpu;
    int index = 0, result;
    (void)options;

    while ((result = plx_cuda_device(index, &gpu)) == 0)
        check_note(ret, "CUDA device %d, %s: integrated %d, host registration %d, read-only registration %d, IPC events %d; %s",
                   index++, gpu.name, gpu.integrated, gpu.host_register, gpu.read_only_register, gpu.ipc_events,
                   gpu.host_register && gpu.read_only_register ? "frames are read in place" : "frames are copied");
    if (result != PLX_ERR_NOT_FOUND)
        check_fail(ret, "CUDA's driver does not describe device %d; run nvidia-smi", index);
    if (index == 0)
        check_skip(ret, "CUDA's driver (libcuda.so.1) is missing, or finds no GPU");
}
