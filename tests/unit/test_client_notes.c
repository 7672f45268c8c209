/* SPDX-License-Identifier: Apache-2.0 */
/* What the log tells of clients that are dropped: each event or, where many come within a second, their number. */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "app/publish/clients.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/socket_folder.h"

static struct plx_clients *clients;
static char last_note[300];
static int notes, counted, numbers; /* notes; events that they count besides their own; notes that count any */

static void note(const char *sentence)
{
    const char *more = strstr(sentence, " (and ");
    snprintf(last_note, sizeof last_note, "%s", sentence);
    notes++;
    numbers += more != NULL;
    counted += more ? atoi(more + strlen(" (and ")) : 0;
}

/* Three clients that say nothing of the protocol, in one look at the socket: hardly a second passes between them. */
static void drop_three(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd[3];
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    for (int i = 0; i < 3; i++) {
        fd[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fd[i], (struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(send(fd[i], "what", 4, MSG_NOSIGNAL), 4);
    }
    plx_clients_handle(clients);
    assert_int_equal(plx_clients_count(clients), 3);
    plx_clients_handle(clients);
    assert_int_equal(plx_clients_count(clients), 0);
    for (int i = 0; i < 3; i++)
        close(fd[i]);
}

static void start(void (*said)(const char *sentence))
{
    const struct plx_clients_options options = {.socket_path = path, .group = "", .max_clients = 4, .note = said};
    struct plx_error_message message;
    assert_int_equal(plx_clients_create(&options, NULL, &clients, &message), 0);
}

/* The number of events is right whatever the machine needs for them: each has a note, or is counted in the next one. */
static void every_dropped_client_is_told_or_counted(void **state)
{
    (void)state;
    char pid[32];
    int events = 3;
    const int64_t end_ns = patience_end_ns();

    start(note);
    drop_three();
    assert_true(notes >= 1);
    snprintf(pid, sizeof pid, "client of pid %d, ", (int)getpid());
    assert_non_null(strstr(last_note, pid));
    while (numbers < 2) { /* the second number begins at 0 again */
        const int before = notes;
        usleep(20000);
        assert_true(plx_now_ns() < end_ns);
        drop_three();
        events += 3;
        assert_true(notes + counted <= events);
        if (notes > before)
            assert_in_range(events - notes - counted, 0, 2); /* those that came after the note */
    }
    plx_clients_destroy(clients);
}

static void nobody_needs_to_listen(void **state)
{
    (void)state;
    start(NULL);
    drop_three();
    plx_clients_destroy(clients);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dropped_client_is_told_or_counted),
        cmocka_unit_test(nobody_needs_to_listen),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
