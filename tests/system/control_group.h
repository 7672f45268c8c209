/* SPDX-License-Identifier: Apache-2.0 */
/* A control group of the test's own, as systemd makes one for MemoryMax= and CPUQuota=: of version 2, or of version 1 where
 * that has the controller. */
#ifndef PLX_TESTS_SYSTEM_CONTROL_GROUP_H
#define PLX_TESTS_SYSTEM_CONTROL_GROUP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct control_group {
    int version;   /* 0 = none */
    char path[96]; /* its folder */
};

/* False if FILE of GROUP cannot be written. */
static inline bool control_group_write(const struct control_group *group, const char *file, const char *value)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", group->path, file);
    FILE *out = fopen(path, "w");
    const bool written = out && fputs(value, out) >= 0;
    return out && fclose(out) == 0 && written;
}

/* CONTROLLER: "memory", "cpu" or "freezer". False if there is none here, or this user may not make one. */
static inline bool control_group_make(struct control_group *group, const char *controller)
{
    char path[160];

    for (group->version = 1; group->version <= 2; group->version++) {
        snprintf(group->path, sizeof group->path, "/sys/fs/cgroup%s%s/plx-test-%d", group->version == 1 ? "/" : "",
                 group->version == 1 ? controller : "", (int)getpid());
        if (mkdir(group->path, 0755) != 0)
            continue;
        if (group->version == 1)
            snprintf(path, sizeof path, "%s/cgroup.clone_children", group->path);
        else
            snprintf(path, sizeof path, "%s/%s", group->path, /* there if its parent hands the controller on */
                     strcmp(controller, "memory") == 0 ? "memory.max"
                     : strcmp(controller, "cpu") == 0  ? "cpu.max"
                                                       : "cgroup.freeze");
        if (access(path, F_OK) == 0)
            return true;
        rmdir(group->path);
    }
    group->version = 0;
    return false;
}

/* Nobody is in it any more. */
static inline void control_group_remove(struct control_group *group)
{
    for (int i = 0; i < 500 && group->version > 0 && rmdir(group->path) < 0; i++)
        usleep(10000);
    group->version = 0;
}

static inline bool control_group_limit_memory(const struct control_group *group, long bytes)
{
    char value[32];
    snprintf(value, sizeof value, "%ld", bytes);
    return control_group_write(group, group->version == 1 ? "memory.limit_in_bytes" : "memory.max", value);
}

/* So much of one processor. */
static inline bool control_group_limit_cpu(const struct control_group *group, int percent)
{
    char value[32];
    snprintf(value, sizeof value, group->version == 1 ? "%d" : "%d 100000", percent * 1000);
    return control_group_write(group, group->version == 1 ? "cpu.cfs_quota_us" : "cpu.max", value);
}

/* Freezes or thaws all processes of the group. */
static inline bool control_group_freeze(const struct control_group *group, bool on)
{
    return group->version == 1 ? control_group_write(group, "freezer.state", on ? "FROZEN" : "THAWED")
                               : control_group_write(group, "cgroup.freeze", on ? "1" : "0");
}

#endif
