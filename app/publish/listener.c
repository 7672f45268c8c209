/* SPDX-License-Identifier: Apache-2.0 */
#include "app/publish/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>
#include <parallax/shm.h>

#define LOCK_PATH (sizeof((struct sockaddr_un *)NULL)->sun_path + 8)

static int fail_errno(struct plx_error_message *message, const char *what, const char *path)
{
    const int error = errno;
    return plx_fail(message, plx_error_of_errno(error), "%s: cannot %s: %s", path, what, strerror(error));
}

/* True if the file at PATH is the one that FD has open. */
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
        return fail_errno(message, "open the lock file (does its directory exist, may this user write in it?)", path);

    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int result = 0;
    if (fcntl(fd, F_SETLK, &lock) == 0) {
        if (is_at(path, fd))
            return fd;
        result = plx_fail(message, PLX_ERR_IO, "%s: was removed by another process; start again", path);
    } else if (errno != EACCES && errno != EAGAIN) {
        result = fail_errno(message, "lock the file", path);
    } else {
        if (fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
            lock.l_pid = 0;
        result = fail_busy(listener->address.sun_path, lock.l_pid, message);
    }
    close(fd);
    return result;
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

/* True if another process listens at the address. It holds no lock, but must not lose its socket. */
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

/* What is at the path may be replaced: nothing, or a stale socket. The caller holds the lock. */
static int check_stale(const struct plx_listener *listener, struct plx_error_message *message)
{
    const char *path = listener->address.sun_path;
    struct stat status;
    pid_t pid;
    if (lstat(path, &status))
        return 0;
    if (!S_ISSOCK(status.st_mode))
        return plx_fail(message, PLX_ERR_IO, "%s: exists and is not a socket; remove it, or choose another path", path);
    return is_served(listener, &pid) ? fail_busy(path, pid, message) : 0;
}

/* An address beside the listener's, as long as that. */
static struct sockaddr_un address_beside(const struct plx_listener *listener)
{
    struct sockaddr_un beside = listener->address;
    char *last = beside.sun_path + strlen(beside.sun_path) - 1;
    *last = *last == '~' ? '-' : '~';
    return beside;
}

/* Gives the socket's file at PATH to GROUP with mode 0660, by its inode: whoever may write to the directory could put a link
 * in its place. Its device and inode go to *ret_status. */
static int share(const char *path, gid_t group, struct stat *ret_status)
{
    char by_inode[32];
    const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(by_inode, sizeof by_inode, "/proc/self/fd/%d", fd);
    int result = fstat(fd, ret_status);
    if (result == 0 && !S_ISSOCK(ret_status->st_mode)) {
        errno = EEXIST;
        result = -1;
    }
    if (result == 0 && group != (gid_t)-1)
        result = fchownat(fd, "", (uid_t)-1, group, AT_EMPTY_PATH);
    if (result == 0)
        result = chmod(by_inode, 0660);
    const int error = errno;
    close(fd);
    errno = error;
    return result;
}

/* Sets socket, device and inode of LISTENER. */
static int start_listening(struct plx_listener *listener, struct plx_error_message *message)
{
    const char *path = listener->address.sun_path;
    struct stat status = {0};
    int result = check_stale(listener, message);
    if (result)
        return result;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_errno(message, "create a socket", path);
    /* It gets its name when it listens and has its group and mode: no client is refused, or let in, before. */
    const struct sockaddr_un beside = address_beside(listener);
    unlink(beside.sun_path);
    if (fchmod(fd, 0600) || bind(fd, (const struct sockaddr *)&beside, sizeof beside))
        result = fail_errno(message, "bind the socket", path);
    else if (share(beside.sun_path, listener->group, &status))
        result = fail_errno(message, "give the socket to its group", path);
    else if (listen(fd, SOMAXCONN) || rename(beside.sun_path, path))
        result = fail_errno(message, "listen on the socket", path);
    if (result)
        unlink(beside.sun_path);
    if (result) {
        close(fd);
        return result;
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
    int result = listener.lock = take_lock(&listener, message);
    if (result >= 0)
        result = find_group(path, group, &listener.group, message);
    if (result >= 0)
        result = start_listening(&listener, message);
    if (result)
        plx_listener_close(&listener);
    else
        *ret_listener = listener;
    return result;
}

/* True if the socket's file is this listener's. */
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
        close(listener->lock); /* the old lock file is another file: closing it does not release the new lock */
        listener->lock = fresh.lock = lock;
    }
    if (is_ours(listener) && !unreachable)
        return 0;
    if (is_ours(listener)) /* else is_served would find this process */
        unlink(listener->address.sun_path);
    int result = start_listening(&fresh, message);
    if (result < 0)
        return result;
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
