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

#define LOCK_PATH (sizeof((struct sockaddr_un *)NULL)->sun_path + 8)

static int fail_errno(struct plx_error_message *message, const char *what, const char *path)
{
    int error = errno, code = PLX_ERR_IO;
    if (error == EACCES || error == EPERM || error == EROFS)
        code = PLX_ERR_PERMISSION;
    else if (error == ENOENT || error == ENOTDIR)
        code = PLX_ERR_NOT_FOUND;
    else if (error == ENOMEM || error == EMFILE || error == ENFILE)
        code = PLX_ERR_NOMEM;
    return plx_fail(message, code, "%s: cannot %s: %s", path, what, strerror(error));
}

/* The file at PATH is the one that FD has open. */
static bool is_at(const char *path, int fd)
{
    struct stat at_path, open_file;
    return lstat(path, &at_path) == 0 && fstat(fd, &open_file) == 0 && at_path.st_dev == open_file.st_dev &&
           at_path.st_ino == open_file.st_ino;
}

static void lock_path(const struct plx_listener *listener, char path[LOCK_PATH])
{
    snprintf(path, LOCK_PATH, "%s.lock", listener->address.sun_path);
}

static int fail_busy(const char *path, pid_t pid, struct plx_error_message *message)
{
    return plx_fail(message, PLX_ERR_BUSY, "%s: another daemon (pid %d) serves this socket; stop it, or choose another path",
                    path, (int)pid);
}

/* A POSIX lock: it belongs to this process alone, not to the engines forked from it, and ends with the process. Returns its
 * descriptor. */
static int take_lock(const struct plx_listener *listener, struct plx_error_message *message)
{
    char path[LOCK_PATH];
    lock_path(listener, path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fail_errno(message, "open the lock file (does its directory exist, may this user write there?)", path);

    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int code = 0;
    if (fcntl(fd, F_SETLK, &lock) == 0) {
        if (is_at(path, fd))
            return fd;
        code = plx_fail(message, PLX_ERR_IO, "%s: was removed by somebody just now; start again", path);
    } else if (errno != EACCES && errno != EAGAIN) {
        code = fail_errno(message, "lock it", path);
    } else {
        if (fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
            lock.l_pid = 0;
        code = fail_busy(listener->address.sun_path, lock.l_pid, message);
    }
    close(fd);
    return code;
}

static int find_group(const char *path, const char *name, gid_t *ret_group, struct plx_error_message *message)
{
    *ret_group = (gid_t)-1;
    if (!name || !name[0])
        return 0;
    errno = 0;
    const struct group *group = getgrnam(name);
    if (!group)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: there is no group \"%s\"; create it, or name another one", path, name);
    *ret_group = group->gr_gid;
    return 0;
}

/* Somebody listens at the address: who holds no lock, but must not lose the socket either. */
static bool is_served(const struct plx_listener *listener, pid_t *ret_pid)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool served = connect(fd, (const struct sockaddr *)&listener->address, sizeof listener->address) == 0;
    if (served)
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    served = served || errno == EAGAIN; /* its queue is full */
    close(fd);
    *ret_pid = peer.pid;
    return served && peer.pid != getpid();
}

/* Clears the way for bind: of a stale socket, for we hold the lock. */
static int remove_stale(const struct plx_listener *listener, struct plx_error_message *message)
{
    const char *path = listener->address.sun_path;
    struct stat status;
    pid_t pid;
    if (lstat(path, &status))
        return 0;
    if (!S_ISSOCK(status.st_mode))
        return plx_fail(message, PLX_ERR_IO, "%s: exists and is not a socket; remove it, or choose another path", path);
    if (is_served(listener, &pid))
        return fail_busy(path, pid, message);
    return unlink(path) && errno != ENOENT ? fail_errno(message, "remove the stale socket", path) : 0;
}

/* Sets socket, device and inode of LISTENER. */
static int start_listening(struct plx_listener *listener, struct plx_error_message *message)
{
    const char *path = listener->address.sun_path;
    struct stat status = {0};
    int code = remove_stale(listener, message);
    if (code)
        return code;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_errno(message, "make a socket", path);
    /* Born 0600, so that nobody slips in before group and mode are as they should be. */
    if (fchmod(fd, 0600) || bind(fd, (const struct sockaddr *)&listener->address, sizeof listener->address)) {
        code = fail_errno(message, "bind the socket", path);
    } else if (listener->group != (gid_t)-1 && chown(path, (uid_t)-1, listener->group)) {
        code = fail_errno(message, "give it to its group", path);
        unlink(path);
    } else if (chmod(path, 0660) || listen(fd, SOMAXCONN) || lstat(path, &status)) {
        code = fail_errno(message, "listen on the socket", path);
        unlink(path);
    }
    if (code) {
        close(fd);
        return code;
    }
    listener->socket = fd;
    listener->device = status.st_dev;
    listener->inode = status.st_ino;
    return 0;
}

int plx_listener_open(const char *path, const char *group, struct plx_listener *ret_listener, struct plx_error_message *message)
{
    struct plx_listener listener = {.address.sun_family = AF_UNIX, .lock = -1, .socket = -1};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof listener.address.sun_path)
        return plx_fail(message, PLX_ERR_RANGE, "socket path \"%s\": %zu characters; expected 1 to %zu", path, length,
                        sizeof listener.address.sun_path - 1);
    memcpy(listener.address.sun_path, path, length);
    int code = listener.lock = take_lock(&listener, message);
    if (code >= 0)
        code = find_group(path, group, &listener.group, message);
    if (code >= 0)
        code = start_listening(&listener, message);
    if (code)
        plx_listener_close(&listener);
    else
        *ret_listener = listener;
    return code;
}

/* The socket's file is this listener's. */
static bool is_ours(const struct plx_listener *listener)
{
    struct stat status;
    return lstat(listener->address.sun_path, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_dev == listener->device &&
           status.st_ino == listener->inode;
}

int plx_listener_repair(struct plx_listener *listener, bool unreachable, struct plx_error_message *message)
{
    struct plx_listener fresh = *listener;
    char path[LOCK_PATH];

    lock_path(listener, path);
    if (!is_at(path, listener->lock)) {
        int lock = take_lock(listener, message);
        if (lock < 0)
            return lock;
        close(listener->lock); /* of another file: this releases no lock of the new one */
        listener->lock = fresh.lock = lock;
    }
    if (is_ours(listener) && !unreachable)
        return 0;
    if (is_ours(listener)) /* or who connects to see whether somebody serves it would find this process */
        unlink(listener->address.sun_path);
    int code = start_listening(&fresh, message);
    if (code < 0)
        return code;
    close(listener->socket);
    *listener = fresh;
    return 1;
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
    char path[LOCK_PATH];

    lock_path(listener, path);
    if (is_ours(listener) && is_at(path, listener->lock))
        unlink(listener->address.sun_path);
}
