/* SPDX-License-Identifier: Apache-2.0 */
#include "app/realtime.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <malloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <parallax/error.h>

#include "config/text.h"

/* Whether this process may lock more than RLIMIT_MEMLOCK. */
static bool may_lock_all(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_IPC_LOCK & 1u);
}

int plx_realtime_lock_memory(struct plx_error_message *message)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_MEMLOCK, &limit);
    const bool unlimited = limit.rlim_cur == RLIM_INFINITY || may_lock_all();
    if (mlockall(MCL_CURRENT | MCL_ONFAULT | (unlimited ? MCL_FUTURE : 0)) == 0)
        return 0;
    return plx_fail(message, PLX_ERR_PERMISSION,
                    "memory is not locked (%s): pages may be taken back when the machine is short of memory; RLIMIT_MEMLOCK is "
                    "%llu KiB, set LimitMEMLOCK=infinity in the unit, or ulimit -l unlimited",
                    strerror(errno), (unsigned long long)limit.rlim_cur / 1024);
}

void plx_realtime_gather_heap(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
}

#define MAX_READ (16 * 1024 * 1024)   /* code and constants: a driver's library may have a hundred times what is used of it */
#define MAX_WRITTEN (4 * 1024 * 1024) /* static variables, not whole stacks of threads */

static void touch(uintptr_t begin, uintptr_t end, bool write)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (uintptr_t at = begin; at < end; at += page)
        if (write)
            __atomic_fetch_or((uint8_t *)at, 0, __ATOMIC_RELAXED); /* changes nothing of other threads */
        else
            (void)*(const volatile uint8_t *)at;
}

void plx_realtime_touch_memory(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        uintptr_t begin, end;
        char kind[5], name[2] = ""; /* the first letter; none: anonymous */
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %1s", &begin, &end, kind, name) < 3)
            continue;
        const bool is_file = *name == '/', is_special = *name == '['; /* as the kernel's own [vvar] */
        if (strstr(line, "[heap]") || (strcmp(kind, "rw-p") == 0 && !is_special && end - begin <= MAX_WRITTEN))
            touch(begin, end, true);
        else if (is_file && kind[0] == 'r' && kind[3] == 'p' && end - begin <= MAX_READ)
            touch(begin, end, false);
    }
    if (maps)
        fclose(maps);
}

int plx_realtime_choose_cpus(const char *cpus, struct plx_error_message *message)
{
    bool listed[PLX_MAX_CPUS];
    cpu_set_t allowed, chosen;

    if (!plx_cpus_parse(cpus, listed))
        return plx_fail(message, PLX_ERR_RANGE, "engine.cpus is \"%s\"; expected a list of processors such as 2-3,5", cpus);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return plx_fail(message, PLX_ERR_RANGE, "engine.cpus: the processors cannot be asked for: %s", strerror(errno));
    CPU_ZERO(&chosen);
    for (int cpu = 0; cpu < PLX_MAX_CPUS && cpu < CPU_SETSIZE; cpu++) {
        if (listed[cpu] && !CPU_ISSET(cpu, &allowed))
            return plx_fail(message, PLX_ERR_RANGE,
                            "engine.cpus is \"%s\" and there is no processor %d that the service may use (%d of them: see "
                            "Cpus_allowed_list in /proc/self/status)",
                            cpus, cpu, CPU_COUNT(&allowed));
        if (listed[cpu])
            CPU_SET(cpu, &chosen);
    }
    if (sched_setaffinity(0, sizeof chosen, &chosen) != 0)
        return plx_fail(message, PLX_ERR_RANGE, "engine.cpus is \"%s\": %s", cpus, strerror(errno));
    return 0;
}

int plx_realtime_set_fifo(int priority, struct plx_error_message *message)
{
    const struct sched_param param = {.sched_priority = priority};
    const struct rlimit spin = {PLX_REALTIME_SPIN_S * 1000000ul, PLX_REALTIME_SPIN_S * 1000000ul};

    setrlimit(RLIMIT_RTTIME, &spin); /* lowering is always allowed; a lower limit that is there stays */
    if (sched_setscheduler(0, SCHED_FIFO, &param) == 0)
        return 0;
    return plx_fail(
        message, PLX_ERR_PERMISSION,
        "engine.realtime_priority is %d and refused (%s): ordinary priority; set LimitRTPRIO=%d and RestrictRealtime=no in "
        "the unit, or kernel.sched_rt_runtime_us=-1 where the kernel divides real time by control group",
        priority, strerror(errno), priority);
}
