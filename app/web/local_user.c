/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/local_user.h"

#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <arpa/inet.h>

#define MAX_GROUPS 256

/* An end of a connection; an IPv4 address as IPv6 has it (RFC 4291, 2.5.5.2). */
struct end {
    struct in6_addr address;
    unsigned port;
};

static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

static bool end_of(int fd, int (*get)(int fd, struct sockaddr *address, socklen_t *length), struct end *ret_end)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (get(fd, (struct sockaddr *)&address, &length) < 0)
        return false;
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)&address;
        memcpy(ret_end->address.s6_addr, mapped, sizeof mapped);
        memcpy(ret_end->address.s6_addr + sizeof mapped, &in->sin_addr, sizeof in->sin_addr);
        ret_end->port = ntohs(in->sin_port);
        return true;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)&address;
    ret_end->address = in6->sin6_addr;
    ret_end->port = ntohs(in6->sin6_port);
    return address.ss_family == AF_INET6;
}

/* Reads "ADDRESS:PORT" of the list: 8 or 32 hexadecimal digits, in words of 32 bits as this machine has them. */
static bool parse_end(const char *text, struct end *ret_end)
{
    const size_t digits = strcspn(text, ":");
    uint32_t word[4] = {0};
    if ((digits != 8 && digits != 32) || sscanf(text + digits, ":%4X", &ret_end->port) != 1)
        return false;
    for (size_t i = 0; i < digits / 8; i++)
        if (sscanf(text + 8 * i, "%8X", &word[i]) != 1)
            return false;
    memcpy(ret_end->address.s6_addr, digits == 8 ? (const void *)mapped : word, sizeof mapped);
    memcpy(ret_end->address.s6_addr + sizeof mapped, digits == 8 ? &word[0] : &word[3], sizeof word[0]);
    return true;
}

static bool same(const struct end *a, const struct end *b)
{
    return a->port == b->port && memcmp(&a->address, &b->address, sizeof a->address) == 0;
}

/* Finds the socket from HERE to THERE in the list PATH. */
static bool find(const char *path, const struct end *here, const struct end *there, uid_t *ret_user)
{
    char line[512], local[64], remote[64];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        struct end from, to;
        unsigned user;
        unsigned long inode;
        found = sscanf(line, " %*d: %63s %63s %*s %*s %*s %*s %u %*d %lu", local, remote, &user, &inode) == 4 &&
                inode != 0 && /* 0: no process holds it any more, and its owner is said to be root */
                parse_end(local, &from) && parse_end(remote, &to) && same(&from, here) && same(&to, there);
        if (found)
            *ret_user = (uid_t)user;
    }
    if (file)
        fclose(file);
    return found;
}

bool plx_local_user(int fd, uid_t *ret_user)
{
    struct end here, there;
    return end_of(fd, getsockname, &here) && end_of(fd, getpeername, &there) &&
           (find("/proc/self/net/tcp", &there, &here, ret_user) || find("/proc/self/net/tcp6", &there, &here, ret_user));
}

static bool is_member(uid_t user, gid_t group)
{
    gid_t groups[MAX_GROUPS];
    int count = MAX_GROUPS;
    const struct passwd *entry = getpwuid(user);
    if (!entry || getgrouplist(entry->pw_name, entry->pw_gid, groups, &count) < 0)
        return false;
    for (int i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return false;
}

bool plx_local_user_may_open(const char *path, const char *group, uid_t user)
{
    struct stat status;
    if (user == 0)
        return true;
    if (stat(path, &status) < 0) {
        const struct group *entry = group[0] != '\0' ? getgrnam(group) : NULL;
        return user == geteuid() || (entry && is_member(user, entry->gr_gid));
    }
    if (user == status.st_uid)
        return status.st_mode & S_IWUSR;
    if (is_member(user, status.st_gid))
        return status.st_mode & S_IWGRP;
    return status.st_mode & S_IWOTH;
}
