/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

static int fail_errno(struct plx_why *why, const char *what, const char *path)
{
    int error = errno, code = PLX_ERR_IO;
    if (error == EACCES || error == EPERM || error == EROFS)
        code = PLX_ERR_PERMISSION;
    else if (error == ENOENT || error == ENOTDIR)
        code = PLX_ERR_NOT_FOUND;
    else if (error == ENOMEM || error == EMFILE || error == ENFILE)
        code = PLX_ERR_NOMEM;
    return plx_fail(why, code, "%s: cannot %s: %s", path, what, strerror(error));
}

/* A POSIX lock: it belongs to this process alone, not to the engines forked from it, and ends with the process. */
static int take_lock(struct plx_listener *listener, struct plx_why *why)
{
    const char *socket_path = listener->address.sun_path;
    char path[sizeof listener->address.sun_path + 8];
    snprintf(path, sizeof path, "%s.lock", socket_path);
    listener->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (listener->lock < 0)
        return fail_errno(why, "open the lock file (does its directory exist, may this user write there?)", path);

    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!fcntl(listener->lock, F_SETLK, &lock))
        return 0;
    if (errno != EACCES && errno != EAGAIN)
        return fail_errno(why, "lock it", path);
    if (fcntl(listener->lock, F_GETLK, &lock) || lock.l_type == F_UNLCK)
        lock.l_pid = 0;
    return plx_fail(why, PLX_ERR_BUSY, "%s: another daemon (pid %d) serves this socket; stop it, or choose another path",
                    socket_path, (int)lock.l_pid);
}

static int set_group(const char *path, const char *name, struct plx_why *why)
{
    if (!name || !name[0])
        return 0;
    errno = 0;
    const struct group *group = getgrnam(name);
    if (!group)
        return plx_fail(why, PLX_ERR_NOT_FOUND, "%s: there is no group \"%s\"; create it, or name another one", path, name);
    if (chown(path, (uid_t)-1, group->gr_gid))
        return fail_errno(why, "give it to its group", path);
    return 0;
}

static int start_listening(struct plx_listener *listener, const char *group, struct plx_why *why)
{
    const char *path = listener->address.sun_path;
    struct stat status;
    if (!lstat(path, &status)) {
        if (!S_ISSOCK(status.st_mode))
            return plx_fail(why, PLX_ERR_IO, "%s: exists and is not a socket; remove it, or choose another path", path);
        if (unlink(path)) /* stale: we hold the lock */
            return fail_errno(why, "remove the stale socket", path);
    }
    listener->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->socket < 0)
        return fail_errno(why, "make a socket", path);
    /* Born 0600, so that nobody slips in before group and mode are as they should be. */
    if (fchmod(listener->socket, 0600) ||
        bind(listener->socket, (const struct sockaddr *)&listener->address, sizeof listener->address))
        return fail_errno(why, "bind the socket", path);
    int code = set_group(path, group, why);
    if (!code && (chmod(path, 0660) || listen(listener->socket, SOMAXCONN)))
        code = fail_errno(why, "listen on the socket", path);
    if (code)
        unlink(path);
    return code;
}

int plx_listener_open(const char *path, const char *group, struct plx_listener *ret_listener, struct plx_why *why)
{
    struct plx_listener listener = {.address.sun_family = AF_UNIX, .lock = -1, .socket = -1};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof listener.address.sun_path)
        return plx_fail(why, PLX_ERR_RANGE, "socket path \"%s\": %zu characters; expected 1 to %zu", path, length,
                        sizeof listener.address.sun_path - 1);
    memcpy(listener.address.sun_path, path, length);
    int code = take_lock(&listener, why);
    if (!code)
        code = start_listening(&listener, group, why);
    if (code)
        plx_listener_close(&listener);
    else
        *ret_listener = listener;
    return code;
}

void plx_listener_close(struct plx_listener *listener)
{
    if (listener->socket >= 0)
        close(listener->socket);
    if (listener->lock >= 0)
        close(listener->lock);
    listener->socket = listener->lock = -1;
}

void plx_listener_remove(const struct plx_listener *listener)
{
    unlink(listener->address.sun_path);
}
