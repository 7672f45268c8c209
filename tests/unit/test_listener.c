/* SPDX-License-Identifier: Apache-2.0 */
/* The service's socket: what root does to its file, in a directory that somebody else may write to. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/publish/listener.h"
#include "tests/cmocka.h"

static char directory[] = "/tmp/plx-listener-XXXXXX";
static char victim[64];
static bool swaps;

/* Somebody who may write to the directory is faster: a link lies where the socket was. */
int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
    int (*const real)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))(uintptr_t)dlsym(RTLD_NEXT, "bind");
    const char *path = ((const struct sockaddr_un *)address)->sun_path;
    const int result = real(fd, address, bytes);

    if (result == 0 && swaps)
        assert_true(unlink(path) == 0 && symlink(victim, path) == 0);
    return result;
}

static void no_link_gets_the_mode_of_the_socket(void **state)
{
    (void)state;
    struct plx_listener listener;
    struct plx_error_message message;
    struct stat about;
    char path[64];

    assert_non_null(mkdtemp(directory));
    snprintf(victim, sizeof victim, "%s/victim", directory);
    snprintf(path, sizeof path, "%s/s", directory);
    const int file = open(victim, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true(file >= 0 && fchmod(file, 0600) == 0);
    swaps = true;
    assert_int_not_equal(plx_listener_open(path, NULL, &listener, &message), 0);
    assert_true(fstat(file, &about) == 0 && (about.st_mode & 07777) == 0600);
    assert_int_not_equal(access(path, F_OK), 0); /* nobody finds a socket there */

    swaps = false;
    assert_int_equal(plx_listener_open(path, NULL, &listener, &message), 0);
    assert_true(lstat(path, &about) == 0 && S_ISSOCK(about.st_mode) && (about.st_mode & 07777) == 0660);
    assert_true(about.st_dev == listener.device && about.st_ino == listener.inode);
    plx_listener_remove(&listener);
    plx_listener_close(&listener);
    close(file);
    snprintf(path, sizeof path, "rm -r %s", directory);
    assert_int_equal(system(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_link_gets_the_mode_of_the_socket)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
