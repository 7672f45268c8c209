/* SPDX-License-Identifier: Apache-2.0 */
/* The clients' socket against a running service: too many clients, of one process, of one user and in all; silent, slow and
 * lying ones; and a second daemon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <parallax/client.h>
#include <parallax/region.h>

#include "app/supervisor/client_quota.h"
#include "app/supervisor/clients.h"
#include "core/clock.h"
#include "tests/system/peer.h"

#define MAX_CLIENTS 16
#define OF_ONE PLX_CLIENTS_PER_PROCESS

static char directory[] = "/tmp/plx-clients-XXXXXX";
static char path[64];
static struct peer service;

static int connect_raw(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 10}, sizeof(struct timeval));
    return fd;
}

static struct plx_message message(uint32_t type)
{
    return (struct plx_message){.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = type};
}

static void say(int fd, const void *what, size_t bytes)
{
    send(fd, what, bytes, MSG_NOSIGNAL); /* may fail: the service may have had enough already */
}

/* Reads to the end of the line: the service has dropped us. True if the last message was REFUSED with ERROR (0: no such). */
static bool was_dropped(int fd, int error)
{
    struct plx_message last = {0}, next;
    ssize_t bytes;
    while ((bytes = recv(fd, &next, sizeof next, 0)) != 0) {
        if (bytes < 0 && errno != ECONNRESET)
            return false;
        if (bytes == (ssize_t)sizeof next)
            last = next;
    }
    close(fd);
    return !error || (last.type == PLX_MESSAGE_REFUSED && last.error == error);
}

static int open_files(pid_t pid)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(name);
    assert_non_null(folder);
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void wait_for_count(unsigned clients)
{
    for (int i = 0; i < 500 && peer_ask(&service, "count\n") != clients; i++)
        usleep(10000);
    assert_int_equal(peer_ask(&service, "count\n"), clients);
}

/* An honest client gets its frames, whatever happened before. */
static void assert_it_serves(void)
{
    struct plx_client *client;
    struct plx_view view;
    assert_int_equal(plx_connect(path, &client), 0);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_int_equal(plx_next(client, 5000, &view), 0);
    assert_int_equal(view.sequence, peer_ask(&service, "newest\n"));
    assert_int_equal(plx_release(client, &view), 0);
    plx_disconnect(client);
    wait_for_count(0);
}

/* A process that holds places. */
struct holder {
    pid_t pid;
    int got; /* places */
};

static bool is_welcome(int fd)
{
    const struct plx_message hello = message(PLX_MESSAGE_HELLO);
    struct plx_message said = {0};
    say(fd, &hello, sizeof hello);
    while (recv(fd, &said, sizeof said, 0) < 0 && errno == ECONNRESET) /* refused before it was heard */
        ;
    return said.type == PLX_MESSAGE_WELCOME;
}

/* Forks a process of UID that asks for as many places as there are. */
static struct holder hold_places(uid_t uid)
{
    int line[2];
    assert_int_equal(pipe2(line, O_CLOEXEC), 0);
    struct holder holder = {.pid = fork()};
    if (holder.pid == 0) {
        unsigned char got = 0;
        if (uid != geteuid() && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
            _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* only now: another user makes the kernel forget it */
        for (int i = 0; i < MAX_CLIENTS; i++)
            got = (unsigned char)(got + is_welcome(connect_raw()));
        if (write(line[1], &got, 1) == 1)
            pause(); /* until it is killed */
        _exit(1);
    }
    unsigned char got = 0;
    close(line[1]);
    assert_int_equal(read(line[0], &got, 1), 1);
    close(line[0]);
    holder.got = got;
    return holder;
}

static void let_go(const struct holder *holder)
{
    kill(holder->pid, SIGKILL);
    waitpid(holder->pid, NULL, 0);
}

static void no_process_holds_all_places(void **state)
{
    (void)state;
    struct holder first = hold_places(geteuid()), second = hold_places(geteuid());
    assert_int_equal(first.got, OF_ONE);
    assert_int_equal(second.got, MAX_CLIENTS - OF_ONE);
    assert_int_equal(peer_ask(&service, "count\n"), MAX_CLIENTS);
    struct plx_client *client;
    assert_int_equal(plx_connect(path, &client), PLX_ERR_BUSY); /* of nobody in particular */
    let_go(&first);
    let_go(&second);
    wait_for_count(0);
}

/* However many processes a user starts, the next user finds half of what is left, and root all of the rest. */
static void no_user_holds_all_places(void **state)
{
    (void)state;
    enum { ONE = 65533, OTHER = 65532, HALF = MAX_CLIENTS / 2 };
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(directory, 0711) | chmod(path, 0666), 0);
    const struct {
        uid_t uid;
        int got;
    } comers[] = {{ONE, HALF}, {ONE, 0}, {OTHER, HALF / 2}, {OTHER, 0}, {0, HALF / 2}};
    struct holder holder[sizeof comers / sizeof comers[0]];
    for (size_t i = 0; i < sizeof comers / sizeof comers[0]; i++) {
        holder[i] = hold_places(comers[i].uid);
        assert_int_equal(holder[i].got, comers[i].got);
    }
    for (size_t i = 0; i < sizeof comers / sizeof comers[0]; i++)
        let_go(&holder[i]);
    wait_for_count(0);
    assert_int_equal(chmod(directory, 0700) | chmod(path, 0660), 0);
}

static void thousand_idle_connections_are_refused(void **state)
{
    (void)state;
    int kept[OF_ONE], before = open_files(service.pid);
    for (int i = 0; i < OF_ONE; i++)
        kept[i] = connect_raw();
    wait_for_count(OF_ONE);
    for (int i = 0; i < 1000; i++)
        assert_true(was_dropped(connect_raw(), PLX_ERR_BUSY));
    struct plx_client *client;
    assert_int_equal(plx_connect(path, &client), PLX_ERR_BUSY);
    assert_int_equal(peer_ask(&service, "count\n"), OF_ONE);
    struct holder other = hold_places(geteuid());
    assert_true(other.got > 0); /* of another process, while this one has too many */
    let_go(&other);

    wait_for_count(0); /* they never said hello: their places are free again after two seconds */
    for (int i = 0; i < OF_ONE; i++)
        assert_true(was_dropped(kept[i], 0));
    assert_int_equal(open_files(service.pid), before);
    assert_it_serves();
}

static void a_thousand_at_the_same_time(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    static int fd[MANY];
    int before = open_files(service.pid);
    kill(service.pid, SIGSTOP); /* so that all of them stand in the queue together */
    for (int i = 0; i < MANY; i++)
        fd[i] = connect_raw();
    kill(service.pid, SIGCONT);
    int refused = 0;
    for (int i = MANY - 1; i >= OF_ONE; i--)
        refused += was_dropped(fd[i], PLX_ERR_BUSY);
    assert_int_equal(refused, MANY - OF_ONE);
    for (int i = 0; i < OF_ONE; i++)
        close(fd[i]);
    wait_for_count(0);
    assert_int_equal(open_files(service.pid), before);
    assert_it_serves();
}

static void another_version_is_refused(void **state)
{
    (void)state;
    struct plx_message hello = message(PLX_MESSAGE_HELLO);
    hello.abi_version++;
    int fd = connect_raw();
    say(fd, &hello, sizeof hello);
    assert_true(was_dropped(fd, PLX_ERR_VERSION));
    assert_it_serves();
}

static void out_of_turn_is_dropped(void **state)
{
    (void)state;
    const struct plx_message hello = message(PLX_MESSAGE_HELLO), subscribe = message(PLX_MESSAGE_SUBSCRIBE);
    const struct plx_message frame = message(PLX_MESSAGE_FRAME), config = message(PLX_MESSAGE_CONFIG);
    const struct plx_message *said[][3] = {{&subscribe},
                                           {&frame},
                                           {&config},
                                           {&hello, &hello},
                                           {&hello, &frame},
                                           {&hello, &subscribe, &subscribe},
                                           {&hello, &config, &config}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        int fd = connect_raw();
        for (int k = 0; k < 3 && said[i][k]; k++)
            say(fd, said[i][k], sizeof hello);
        assert_true(was_dropped(fd, 0));
    }
    assert_it_serves();
}

/* Random bytes of random length, now and then with descriptors attached. */
static void send_garbage(int fd, unsigned *seed)
{
    static unsigned char bytes[60000];
    size_t length = rand_r(seed) % 8 ? (size_t)rand_r(seed) % 64 : sizeof bytes;
    for (size_t i = 0; i < length && i < 64; i++)
        bytes[i] = (unsigned char)rand_r(seed);
    union {
        char bytes[CMSG_SPACE(8 * sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {bytes, length};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (rand_r(seed) % 4 == 0) {
        packet.msg_control = control.bytes;
        packet.msg_controllen = sizeof control.bytes;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
        *rights = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(8 * sizeof(int))};
        for (size_t i = 0; i < 8; i++)
            memcpy(CMSG_DATA(rights) + i * sizeof fd, &fd, sizeof fd);
    }
    sendmsg(fd, &packet, MSG_NOSIGNAL);
}

static void garbage_is_dropped(void **state)
{
    (void)state;
    const char *chosen = getenv("PLX_TEST_SEED");
    unsigned seed = chosen ? (unsigned)atoi(chosen) : 1;
    int before = open_files(service.pid);
    for (int i = 0; i < 2000; i++) {
        unsigned this_one = seed;
        int fd = connect_raw();
        send_garbage(fd, &seed);
        if (!was_dropped(fd, 0))
            fail_msg("garbage was not answered by an end; PLX_TEST_SEED=%u", this_one);
    }
    wait_for_count(0);
    assert_int_equal(open_files(service.pid), before);
    assert_it_serves();
}

static void client_that_never_reads_costs_nothing(void **state)
{
    (void)state;
    const struct plx_message hello = message(PLX_MESSAGE_HELLO), subscribe = message(PLX_MESSAGE_SUBSCRIBE);
    int fd = connect_raw();
    say(fd, &hello, sizeof hello);
    say(fd, &subscribe, sizeof subscribe);
    uint64_t last = peer_ask(&service, "newest\n") + 20000;
    struct peer reader = peer_reader("ring_peer", path, last, "poll");
    peer_ask(&service, "go 20000 0\n");
    peer_ask(&service, "wait\n");
    struct peer_tally t = peer_tally(&reader);
    assert_int_equal(t.torn, 0);
    assert_int_equal(t.last, last);
    wait_for_count(1); /* it is still there, and still no harm */
    close(fd);
    assert_it_serves();
}

/* A process asks for the configuration in all its places but one and never takes it; in the last one it still gets it. */
static void those_that_never_take_the_configuration_cost_nothing(void **state)
{
    (void)state;
    const struct plx_message hello = message(PLX_MESSAGE_HELLO), config = message(PLX_MESSAGE_CONFIG);
    int fd[OF_ONE - 1];
    int before = open_files(service.pid);
    for (int i = 0; i < OF_ONE - 1; i++) {
        fd[i] = connect_raw();
        say(fd[i], &hello, sizeof hello);
        say(fd[i], &config, sizeof config);
    }
    for (int i = 0; i < 500; i++) {
        char text[64];
        size_t bytes;
        assert_int_equal(plx_config(path, text, sizeof text, &bytes), 0);
        wait_for_count(OF_ONE - 1);
    }
    for (int i = 0; i < OF_ONE - 1; i++)
        close(fd[i]);
    wait_for_count(0);
    assert_true(open_files(service.pid) <= before + 1); /* the text itself stays */
    assert_it_serves();
}

static void service_outlives_its_last_descriptor(void **state)
{
    (void)state;
    struct rlimit old, low; /* of the service, lowered and raised from outside */
    assert_int_equal(prlimit(service.pid, RLIMIT_NOFILE, NULL, &old), 0);
    low = old;
    low.rlim_cur = (rlim_t)open_files(service.pid); /* ".", ".." are counted: room for two more, or so */
    assert_int_equal(prlimit(service.pid, RLIMIT_NOFILE, &low, NULL), 0);
    int fd[8], refused = 0;
    for (int i = 0; i < 8; i++)
        fd[i] = connect_raw();
    for (int i = 7; i >= 4; i--)
        refused += was_dropped(fd[i], PLX_ERR_BUSY);
    assert_int_equal(refused, 4);
    for (int i = 0; i < 4; i++)
        close(fd[i]);
    assert_int_equal(prlimit(service.pid, RLIMIT_NOFILE, &old, NULL), 0);
    wait_for_count(0);
    assert_it_serves();
}

static void second_daemon_is_told_who_is_first(void **state)
{
    (void)state;
    char role[] = "service", epoch[] = "2", slots[] = "8", max[] = "4";
    char *argument[] = {NULL, role, path, epoch, slots, max, NULL};
    struct peer second = peer_start("ring_peer", argument);
    char expected[200];
    snprintf(expected, sizeof expected, "%d %s: another daemon (pid %d) serves this socket; stop it, or choose another path\n",
             PLX_ERR_BUSY, path, (int)service.pid);
    assert_string_equal(peer_line(&second), expected);
    assert_int_equal(WEXITSTATUS(peer_end(&second)), 3);
    assert_it_serves(); /* and the first has lost nothing */
}

static int try_path(const char *socket_path, const char *group, struct plx_error_message *message)
{
    struct plx_clients *clients;
    const struct plx_clients_options options = {.socket_path = socket_path, .group = group, .max_clients = 1};
    return plx_clients_create(&options, NULL, &clients, message);
}

static void bad_paths_are_explained(void **state)
{
    (void)state;
    struct plx_error_message message;
    char file[96], missing[96], lock[128], long_path[200] = "/tmp/";
    snprintf(file, sizeof file, "%s/file", directory);
    snprintf(missing, sizeof missing, "%s/no/socket", directory);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(try_path(file, "", &message), PLX_ERR_IO);
    assert_non_null(strstr(message.text, "is not a socket"));
    assert_int_equal(access(file, F_OK), 0); /* somebody's file: not ours to remove */
    assert_int_equal(try_path(missing, "", &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, missing));
    memset(long_path + 5, 'x', 150);
    assert_int_equal(try_path(long_path, "", &message), PLX_ERR_RANGE);
    unlink(file);
    assert_int_equal(try_path(file, "no-such-group", &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, "no-such-group"));
    assert_int_equal(access(file, F_OK), -1); /* nothing half-made is left */
    snprintf(lock, sizeof lock, "%s.lock", file);
    unlink(lock);
}

static int set_up(void **state)
{
    (void)state;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max; /* for a thousand at the same time */
    setrlimit(RLIMIT_NOFILE, &files);
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/socket", directory);
    service = peer_service(path, 1, 8, MAX_CLIENTS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char lock[80];
    int status = peer_end(&service);
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    return status || rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_process_holds_all_places),
        cmocka_unit_test(no_user_holds_all_places),
        cmocka_unit_test(thousand_idle_connections_are_refused),
        cmocka_unit_test(a_thousand_at_the_same_time),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(out_of_turn_is_dropped),
        cmocka_unit_test(garbage_is_dropped),
        cmocka_unit_test(client_that_never_reads_costs_nothing),
        cmocka_unit_test(those_that_never_take_the_configuration_cost_nothing),
        cmocka_unit_test(service_outlives_its_last_descriptor),
        cmocka_unit_test(second_daemon_is_told_who_is_first),
        cmocka_unit_test(bad_paths_are_explained),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
