/* SPDX-License-Identifier: Apache-2.0 */
/* Too many clients: of one process, of one user, and in all. */
#include "tests/system/clients.h"

#include <fcntl.h>
#include <grp.h>

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
    assert_int_equal(plx_connect(path, &client), PLX_ERR_BUSY); /* without a place in particular */
    let_go(&first);
    let_go(&second);
    wait_for_count(0);
}

/* A user with many processes leaves half of the free places to the next user, and root can take all of the rest. */
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
    const int refused = plx_connect(path, &client);
    assert_int_equal(refused, PLX_ERR_BUSY);
    assert_non_null(strstr(plx_strerror(refused), "this process")); /* all clients are its own */
    assert_int_equal(peer_ask(&service, "count\n"), OF_ONE);
    struct holder other = hold_places(geteuid());
    assert_true(other.got > 0); /* another process gets a place while this one has too many */
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
    kill(service.pid, SIGSTOP); /* so that all of them wait in the queue together */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_process_holds_all_places),
        cmocka_unit_test(no_user_holds_all_places),
        cmocka_unit_test(thousand_idle_connections_are_refused),
        cmocka_unit_test(a_thousand_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
