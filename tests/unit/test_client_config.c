/* SPDX-License-Identifier: Apache-2.0 */
/* libparallax asks for the configuration in force, from services that answer well and badly. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <parallax/shm.h>

#include "tests/cmocka.h"
#include "tests/system/peer.h"
#include "tests/unit/client_socket.h"

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static void the_configuration_comes_as_text(void **state)
{
    (void)state;
    static const char expected[] = "source:\n  type: v4l2\n";
    char text[64] = "untouched";
    size_t bytes = 0;
    assert_int_equal(plx_config(path, text, sizeof text, &bytes), PLX_ERR_NOT_FOUND);
    struct peer service = peer_service(path, 5, 4, 4);
    assert_int_equal(plx_config(path, text, sizeof text, NULL), PLX_ERR_ARG);
    assert_int_equal(plx_config(path, NULL, 1, &bytes), PLX_ERR_ARG);
    assert_int_equal(plx_config(path, NULL, 0, &bytes), PLX_ERR_RANGE);
    assert_int_equal(bytes, sizeof expected);
    assert_int_equal(plx_config(path, text, sizeof expected - 1, &bytes), PLX_ERR_RANGE);
    assert_string_equal(text, "untouched");
    memset(text, 'x', sizeof text);
    assert_int_equal(plx_config(path, text, sizeof expected, &bytes), 0);
    assert_string_equal(text, expected);
    peer_end(&service);
}

static int text_of(const char *text, size_t bytes, int seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void send_answer(int fd, const struct plx_message *message, int descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof descriptor)];
        struct cmsghdr align;
    } control = {{0}};
    struct plx_message copy = *message;
    struct iovec part = {&copy, sizeof copy};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        packet.msg_control = control.bytes;
        packet.msg_controllen = sizeof control.bytes;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
        *rights = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof descriptor)};
        memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    }
    sendmsg(fd, &packet, MSG_NOSIGNAL);
}

/* Forks a service that welcomes every client and gives it this answer to CONFIG. */
static pid_t serve(int listener, int shm, const struct plx_message *answer, int descriptor)
{
    const struct plx_message welcome = {PLX_MESSAGE_MAGIC, PLX_ABI_VERSION, PLX_MESSAGE_WELCOME, 0, 1};
    pid_t child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        struct plx_message said;
        int fd = accept(listener, NULL, NULL);
        if (recv(fd, &said, sizeof said, 0) > 0)
            send_answer(fd, &welcome, shm);
        if (recv(fd, &said, sizeof said, 0) > 0)
            send_answer(fd, answer, descriptor);
        close(fd);
    }
}

static void bad_answers_are_refused(void **state)
{
    (void)state;
    static char text[PLX_CONFIG_BYTES + 2];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), pipes[2];
    assert_int_equal(pipe(pipes), 0);
    int good = text_of("a: 1\n", 5, ALL_SEALS), loose = text_of("a: 1\n", 5, F_SEAL_SHRINK | F_SEAL_GROW);
    int growing = text_of("a: 1\n", 5, F_SEAL_SHRINK | F_SEAL_WRITE), escape = text_of("a: \033[2J\t\177\n", 10, ALL_SEALS);
    int large = text_of("a: 1\n", PLX_CONFIG_BYTES + 1, ALL_SEALS);
    const struct {
        const char *what;
        uint32_t type;
        int32_t error;
        uint64_t value;
        int descriptor, expected;
        const char *text;
    } answers[] = {
        {"a good answer, to see that the others are bad", PLX_MESSAGE_CONFIG, 0, 5, good, 0, "a: 1\n"},
        {"control characters", PLX_MESSAGE_CONFIG, 0, 10, escape, 0, "a: ?[2J??\n"},
        {"another type", PLX_MESSAGE_WELCOME, 0, 5, good, PLX_ERR_FORMAT, NULL},
        {"no descriptor", PLX_MESSAGE_CONFIG, 0, 5, -1, PLX_ERR_FORMAT, NULL},
        {"no memory there", PLX_MESSAGE_CONFIG, PLX_ERR_NOMEM, 0, -1, PLX_ERR_NOMEM, NULL},
        {"a nonsense error", PLX_MESSAGE_CONFIG, 77, 0, -1, PLX_ERR_FORMAT, NULL},
        {"refused", PLX_MESSAGE_REFUSED, PLX_ERR_BUSY, 0, -1, PLX_ERR_BUSY, NULL},
        {"fewer bytes than it says", PLX_MESSAGE_CONFIG, 0, 6, good, PLX_ERR_FORMAT, NULL},
        {"more bytes than it says", PLX_MESSAGE_CONFIG, 0, 4, good, PLX_ERR_FORMAT, NULL},
        {"more bytes than there may be", PLX_MESSAGE_CONFIG, 0, PLX_CONFIG_BYTES + 1, large, PLX_ERR_FORMAT, NULL},
        {"text that can be changed", PLX_MESSAGE_CONFIG, 0, 5, loose, PLX_ERR_FORMAT, NULL},
        {"text that can grow", PLX_MESSAGE_CONFIG, 0, 5, growing, PLX_ERR_FORMAT, NULL},
        {"a device", PLX_MESSAGE_CONFIG, 0, 5, null, PLX_ERR_FORMAT, NULL},
        {"a pipe that nobody writes to", PLX_MESSAGE_CONFIG, 0, 5, pipes[0], PLX_ERR_FORMAT, NULL},
    };
    int listener = listen_here(SOCK_SEQPACKET), before = dup(0);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const struct plx_message answer = {PLX_MESSAGE_MAGIC, PLX_ABI_VERSION, answers[i].type, answers[i].error,
                                           answers[i].value};
        pid_t service = serve(listener, null, &answer, answers[i].descriptor);
        size_t bytes = 0;
        int result = plx_config(path, text, sizeof text, &bytes);
        if (result != answers[i].expected)
            fail_msg("%s: %s", answers[i].what, plx_strerror(result));
        if (!result)
            assert_string_equal(text, answers[i].text);
        kill(service, SIGKILL);
        waitpid(service, NULL, 0);
    }
    close(before);
    int after = dup(0);
    assert_int_equal(after, before); /* no descriptor was kept */
    int mine[] = {after, listener, good, loose, growing, escape, large, null, pipes[0], pipes[1]};
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        close(mine[i]);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_configuration_comes_as_text),
        cmocka_unit_test(bad_answers_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
