/* SPDX-License-Identifier: Apache-2.0 */
/* parallax-recorder beside a real parallaxd: what it writes after faults, and that the service never waits for it. */
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/system/service.h"

#include <parallax/error.h>

#include "app/exit.h"
#include "app/flight_recorder/request.h"
#include "formats/cdr/ros_types.h"
#include "formats/mcap/read.h"
#include "tests/command.h"

#define RATE_HZ 20
#define WRITTEN_MS 2000 /* from a fault to its file */
#define MOST 4096       /* pictures that are remembered */
#define ARENA (1 << 20)

static pid_t recorder;

/* --- processes ------------------------------------------------------------------------------------------------------ */

static const char *path_of(const char *name)
{
    static char path[4][256];
    static unsigned turn;
    char *here = path[turn++ % 4];
    snprintf(here, sizeof path[0], "%s/%s", daemon_.directory, name);
    return here;
}

/* Waits until the recorder has said WORDS. */
static void wait_for_recorder(const char *words)
{
    static char text[16384];
    const int64_t begin_ms = now_ms();
    for (;;) {
        FILE *file = fopen(path_of("recorder.log"), "r");
        const size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
        if (file)
            fclose(file);
        text[bytes] = '\0';
        if (strstr(text, words))
            return;
        if (is_late(begin_ms, START_MS))
            fail_msg("expected \"%s\"; the recorder said: %s", words, text);
        usleep(5000);
    }
}

/* FILE_BYTES: its limit of file sizes; 0: none. */
static void start_recorder(const char *seconds, const char *flags, rlim_t file_bytes)
{
    static char keys[][160] = {"", "", "", "", "", "recorder.keep=3"};
    char *argv[16] = {(char *)"parallax-recorder"};
    snprintf(keys[0], sizeof keys[0], "publish.socket=%s", daemon_.socket);
    snprintf(keys[1], sizeof keys[1], "recorder.socket=%s/r", daemon_.directory);
    snprintf(keys[2], sizeof keys[2], "recorder.directory=%s/recorder", daemon_.directory);
    snprintf(keys[3], sizeof keys[3], "recorder.seconds=%s", seconds);
    snprintf(keys[4], sizeof keys[4], "recorder.flags=%s", flags);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        argv[1 + 2 * i] = (char *)"--set";
        argv[2 + 2 * i] = keys[i];
    }
    recorder = fork();
    assert_true(recorder >= 0);
    if (recorder > 0) {
        wait_for_recorder("memory for");
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int log = open(path_of("recorder.log"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (log < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    if (file_bytes > 0 && setrlimit(RLIMIT_FSIZE, &(struct rlimit){file_bytes, file_bytes}) < 0)
        _exit(127);
    exec_as(0, PLX_BINARY_DIR "/bin/parallax-recorder", argv);
}

static int end_recorder(int signal)
{
    int status;
    kill(recorder, signal);
    assert_int_equal(waitpid(recorder, &status, 0), recorder);
    recorder = 0;
    return status;
}

static void start_service(const char *calibration)
{
    char socket[160], directory[160];
    snprintf(socket, sizeof socket, "recorder.socket=%s/r", daemon_.directory);
    snprintf(directory, sizeof directory, "recorder.directory=%s/recorder", daemon_.directory);
    daemon_start(&daemon_, (const char *const[]){SMALL, "--set", "publish.right=true", "--set", socket, "--set", directory,
                                                 "--set", calibration, NULL});
}

static int begin(void **state)
{
    make(state);
    start_service("calibration=");
    return 0;
}

static int begin_raw(void **state)
{
    make(state);
    start_service("calibration=none");
    return 0;
}

static int end(void **state)
{
    if (recorder > 0)
        end_recorder(SIGKILL);
    return clean(state);
}

/* --- what a client sees, and what is in a file -------------------------------------------------------------------- */

static uint64_t seen[PLX_EYES][MOST];
static int seen_count;
static int unseen; /* frames that the client missed */

/* FNV-1a, of rows without their gaps. */
static uint64_t hash(const uint8_t *data, size_t pitch)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < WIDTH; x++)
            value = (value ^ data[y * pitch + x]) * UINT64_C(0x100000001b3);
    return value;
}

/* Remembers the pictures of the frames of MS milliseconds; returns how many frames there were. */
static int look(struct plx_client *client, int ms)
{
    static const enum plx_plane_id planes[] = {PLX_PLANE_LEFT, PLX_PLANE_RIGHT};
    const int before = seen_count;
    for (const int64_t begin_ms = now_ms(); now_ms() < begin_ms + ms;) {
        struct plx_view view;
        if (plx_next(client, 20, &view) < 0)
            continue;
        assert_true(seen_count < MOST);
        unseen += (int)view.missed;
        for (int eye = 0; eye < PLX_EYES; eye++)
            seen[eye][seen_count] = hash(view.plane[planes[eye]], view.layout[planes[eye]].pitch);
        if (plx_release(client, &view) == 0)
            seen_count++;
        else
            unseen++;
    }
    return seen_count - before;
}

struct contents {
    int pictures[PLX_EYES], unknown, infos, obstacles;
    uint64_t first_ns, last_ns;
};

/* The picture at DATA was seen by the client, behind the one before it. */
static bool was_seen(const struct plx_mcap_message *message, enum plx_eye eye, int *from)
{
    static _Alignas(8) uint8_t memory[ARENA];
    struct plx_cdr_arena arena = {.memory = memory, .capacity = ARENA};
    struct ros_image image;
    assert_int_equal(plx_cdr_decode(&ros_image_type, message->data, message->bytes, &arena, &image), 0);
    assert_true(image.width == WIDTH && image.height == HEIGHT && image.data.count == WIDTH * HEIGHT);
    const uint64_t value = hash(image.data.data, WIDTH);
    for (int i = *from; i < seen_count; i++)
        if (seen[eye][i] == value) {
            *from = i + 1;
            return true;
        }
    return false;
}

static struct contents contents_of(const char *path)
{
    struct contents contents = {.infos = 0};
    struct plx_error_message error = {""};
    struct plx_mcap_reader *reader;
    struct plx_mcap_message message;
    int result, from[PLX_EYES] = {0};

    if (plx_mcap_reader_create(path, PLX_MCAP_FILE_ORDER, &reader, &error) < 0)
        fail_msg("%s", error.text);
    while ((result = plx_mcap_next(reader, &message, &error)) == 0) {
        const char *topic = message.channel->topic;
        const enum plx_eye eye = strstr(topic, "right") ? PLX_RIGHT : PLX_LEFT;
        contents.infos += strstr(topic, "camera_info") != NULL;
        contents.obstacles += strstr(topic, "obstacles") != NULL;
        if (strstr(topic, "image_rect")) {
            contents.pictures[eye]++;
            contents.unknown += !was_seen(&message, eye, &from[eye]);
        }
        contents.first_ns = contents.first_ns ? contents.first_ns : message.header.log_ns;
        contents.last_ns = message.header.log_ns;
    }
    assert_int_equal(result, PLX_ERR_END);
    assert_false(plx_mcap_is_cut(reader));
    plx_mcap_reader_destroy(reader);
    return contents;
}

/* The files of the recorder whose names end with ENDING; RET_PATH, unless NULL, is one of them. */
static int files(const char *ending, char ret_path[512])
{
    int count = 0;
    DIR *folder = opendir(path_of("recorder"));
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const size_t length = strlen(entry->d_name), end_length = strlen(ending);
        if (length < end_length || strcmp(entry->d_name + length - end_length, ending) != 0)
            continue;
        count++;
        if (ret_path)
            snprintf(ret_path, 512, "%s/recorder/%s", daemon_.directory, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return count;
}

/* The machine had time for the service: FRAMES in MS milliseconds. */
static bool is_quiet(int frames, int ms)
{
    return frames > RATE_HZ * ms / 1000 * 9 / 10;
}

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
}

/* Waits for a file, which must be there in time, while the client goes on. */
static void wait_for_file(struct plx_client *client, const char *ending, int64_t begin_ms, char ret_path[512])
{
    while (files(ending, ret_path) == 0) {
        if (is_late(begin_ms, WRITTEN_MS))
            fail_msg("no file *%s after %d ms", ending, WRITTEN_MS);
        look(client, 20);
    }
    print_message("file after %d ms\n", (int)(now_ms() - begin_ms));
}

/* Metadata is not compressed, so its words can be found. */
static bool file_says(const char *path, const char *words)
{
    static char bytes[1 << 26];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return memmem(bytes, count, words, strlen(words)) != NULL;
}

/* --- tests ---------------------------------------------------------------------------------------------------------- */

static void a_killed_engine_leaves_the_seconds_around_it(void **state)
{
    (void)state;
    char path[512];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("2", "", 0);
    seen_count = unseen = 0;
    const int before = look(client, 3000);
    const int64_t begin_ms = now_ms(), killed_ns = wall_ns();
    kill(engine_of(&daemon_), SIGKILL);
    const int after = look(client, 900);
    wait_for_file(client, "-engine-replaced.mcap", begin_ms, path);
    look(client, 200); /* the last pairs of the file */

    const struct contents contents = contents_of(path);
    assert_true(contents.pictures[PLX_LEFT] == contents.pictures[PLX_RIGHT]);
    assert_true(contents.infos == 2 * contents.pictures[PLX_LEFT] && contents.obstacles == contents.pictures[PLX_LEFT]);
    if (is_quiet(before, 3000))
        assert_in_range(killed_ns - (int64_t)contents.first_ns, PLX_NS_PER_S, 5 * PLX_NS_PER_S / 2);
    assert_true(after == 0 || (int64_t)contents.last_ns > killed_ns); /* pairs after the fault too */
    if (contents.unknown > 2 * unseen)
        fail_msg("%d of %d pictures are not those of the service", contents.unknown, 2 * contents.pictures[PLX_LEFT]);
    assert_true(file_says(path, "parallax.recorder") && file_says(path, "engine-replaced"));
    assert_int_equal(files(".part", NULL), 0);
    plx_disconnect(client);
}

static void the_end_of_the_service_leaves_its_last_seconds(void **state)
{
    (void)state;
    char path[512];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("10", "", 0);
    seen_count = 0;
    look(client, 2000);
    const int64_t begin_ms = now_ms();
    kill(daemon_.pid, SIGKILL);
    wait_for_file(client, "-service-gone.mcap", begin_ms, path);
    assert_true(contents_of(path).pictures[PLX_LEFT] > 2);
    assert_true(daemon_wait(&daemon_, 5000) > 128);
    plx_disconnect(client);

    struct command command; /* without the service, the default place of the recorder is asked */
    command_run(&command, (const char *const[]){"snapshot", "--socket", daemon_.socket, "--last", "5", NULL});
    assert_int_equal(command.code, PLX_EXIT_UNAVAILABLE);
    assert_non_null(strstr(command.err, "no flight recorder answers there"));
    command_free(&command);
}

/* As when the machine reboots in the middle of a fault: all that is in memory is in the file, the newest pair too. */
static void an_end_in_the_middle_of_a_file_loses_nothing(void **state)
{
    (void)state;
    char path[512];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("10", "", 0);
    seen_count = unseen = 0;
    const int before = look(client, 4000);
    const int64_t killed_ns = wall_ns();
    kill(engine_of(&daemon_), SIGKILL);
    wait_for_recorder("fault: engine-replaced");
    assert_int_equal(end_recorder(SIGTERM), 0);
    assert_int_equal(files(".part", NULL), 0);
    assert_int_equal(files("-engine-replaced.mcap", path), 1);
    const struct contents contents = contents_of(path);
    if (is_quiet(before, 4000)) {
        assert_in_range(contents.pictures[PLX_LEFT], before - 2, before + 4);
        assert_in_range(contents.last_ns, killed_ns - 250 * PLX_NS_PER_MS, killed_ns + 2 * PLX_NS_PER_S);
    }
    assert_true(file_says(path, "left_out"));
    plx_disconnect(client);
}

/* New sizes of frames after a reload: the service is not gone, and no file displaces those of real faults. */
static void a_reload_is_no_fault(void **state)
{
    (void)state;
    char config[160];
    const char *const small = SMALL_SOURCE "match:\n  disparities: 64\n",
                      *const large = "source:\n  width: 96\n  height: 64\n  rate_hz: 20\nmatch:\n  disparities: 64\n";
    write_config(small);
    snprintf(config, sizeof config, "%s/parallax.yaml", daemon_.directory);
    daemon_start(&daemon_, (const char *const[]){"--config", config, NULL});
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("2", "", 0);
    wait_for_recorder("memory for");
    write_config(large);
    kill(daemon_.pid, SIGHUP);
    wait_until_said("frames have another size", START_MS);
    for (const int64_t begin_ms = now_ms(); now_ms() < begin_ms + WRITTEN_MS;) {
        struct plx_view view;
        if (plx_next(client, 20, &view) == 0)
            plx_release(client, &view);
        assert_int_not_equal(plx_state(client), PLX_STATE_STOPPED);
    }
    assert_int_equal(files(".part", NULL) + files(".mcap", NULL), 0);
    const int64_t begin_ms = now_ms();
    kill(daemon_.pid, SIGKILL); /* and this one is */
    while (files("-service-gone.mcap", NULL) == 0) {
        assert_false(is_late(begin_ms, WRITTEN_MS));
        usleep(5000);
    }
    assert_true(daemon_wait(&daemon_, 5000) > 128);
    plx_disconnect(client);
}

static void snapshot(struct command *command, const char *seconds, const char *file)
{
    command_run(command, (const char *const[]){"snapshot", "--socket", daemon_.socket, "--last", seconds, file, NULL});
}

static void a_person_asks(void **state)
{
    (void)state;
    struct command command;
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    snapshot(&command, "1", NULL);
    assert_int_equal(command.code, PLX_EXIT_UNAVAILABLE);
    command_free(&command);

    start_recorder("1", "", 0);
    seen_count = 0;
    const int frames = look(client, 2500);
    snapshot(&command, "1.5", path_of("mine.mcap"));
    if (command.code != 0)
        fail_msg("%s", command.err);
    assert_non_null(strstr(command.out, "mine.mcap: "));
    command_free(&command);
    const struct contents contents = contents_of(path_of("mine.mcap"));
    assert_true(contents.pictures[PLX_LEFT] > 0);
    if (is_quiet(frames, 2500))
        assert_true(contents.pictures[PLX_LEFT] > RATE_HZ && contents.last_ns - contents.first_ns < 1500000000);

    snapshot(&command, "10", path_of("mine.mcap")); /* exists */
    assert_int_equal(command.code, PLX_EXIT_CANNOT_WRITE);
    assert_non_null(strstr(command.err, "File exists; the recorder's file is"));
    command_free(&command);
    command_run(&command, (const char *const[]){"snapshot", "--socket", daemon_.socket, path_of("mine.mcap"), NULL});
    assert_int_equal(command.code, PLX_EXIT_USAGE);
    command_free(&command);
    for (int i = 0; i < 3; i++) {
        snapshot(&command, "10", NULL);
        assert_int_equal(command.code, 0);
        assert_non_null(strstr(command.out, "-snapshot.mcap: "));
        command_free(&command);
    }
    assert_int_equal(files("-snapshot.mcap", NULL), 3); /* recorder.keep */
    assert_true(file_says(path_of("mine.mcap"), "snapshot"));
    plx_disconnect(client);
}

static int connect_recorder(void);

/* Any viewer of the page may ask, and must not erase what the recorder is there for. */
static void those_who_ask_displace_no_fault(void **state)
{
    (void)state;
    enum { SILENT = 60, ENOUGH = 8 };
    struct command command;
    char path[512];
    int silent[SILENT];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("1", "", 0);
    look(client, 300);
    kill(engine_of(&daemon_), SIGKILL);
    wait_for_file(client, "-engine-replaced.mcap", now_ms(), path);
    for (int i = 0; i < SILENT; i++)
        silent[i] = connect_recorder();
    const int64_t begin_ms = now_ms();
    for (int i = 0; i < ENOUGH; i++) {
        snapshot(&command, "1", NULL);
        if (command.code != 0)
            fail_msg("%d: %s", i, command.err);
        command_free(&command);
    }
    assert_false(is_late(begin_ms, 6000)); /* the silent ones held nobody up */
    snapshot(&command, "1", NULL);
    assert_int_not_equal(command.code, 0);
    assert_non_null(strstr(command.err, "snapshots within 60 s are enough"));
    command_free(&command);
    assert_int_equal(files("-snapshot.mcap", NULL), 3);
    assert_int_equal(files("-engine-replaced.mcap", NULL), 1);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    plx_disconnect(client);
}

static int connect_recorder(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path_of("r"));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void wrong_requests_are_dropped(void **state)
{
    (void)state;
    const struct plx_recorder_request good = {PLX_RECORDER_MAGIC, PLX_RECORDER_VERSION, 1000, 0};
    struct plx_recorder_request bad[] = {good, good, good, good, good};
    struct plx_client *client = connect_client();
    struct command command;
    char byte;
    running_frame(client, START_MS);
    start_recorder("1", "", 0);
    bad[0].magic++;
    bad[1].version++;
    bad[2].milliseconds = 0;
    bad[3].milliseconds = 1000 * PLX_RECORDER_MAX_SECONDS + 1;
    bad[4].reserved = 1;
    for (size_t i = 0; i < 7; i++) { /* the last two: too short, too long */
        const size_t bytes = i < 5 ? sizeof *bad : i == 5 ? 3 : sizeof bad;
        const int fd = connect_recorder();
        assert_int_equal(send(fd, &bad[i < 5 ? i : 0], bytes, MSG_NOSIGNAL), bytes);
        assert_int_equal(recv(fd, &byte, 1, 0), 0); /* the end of the connection */
        close(fd);
    }
    const int silent = connect_recorder();
    look(client, 300);
    snapshot(&command, "10", NULL); /* after the second of the silent one */
    assert_int_equal(command.code, 0);
    command_free(&command);
    close(silent);
    plx_disconnect(client);
}

/* The flag is there from the start, so that the file has nothing but the second after it. */
static void a_flag_of_choice_is_a_fault(void **state)
{
    (void)state;
    char path[512];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    seen_count = 0;
    start_recorder("2", "desync,not_calibrated", 0);
    const int64_t begin_ms = now_ms();
    wait_for_file(client, "-flag-not-calibrated.mcap", begin_ms, path);
    assert_true(file_says(path, "/parallax/left/image_raw") && file_says(path, "flag-not-calibrated"));
    plx_disconnect(client);
}

static void a_full_disk_is_said_and_harms_nobody(void **state)
{
    (void)state;
    struct command command;
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("2", "", 30000);
    look(client, 1500);
    snapshot(&command, "5", NULL);
    assert_int_equal(command.code, PLX_EXIT_CANNOT_WRITE);
    command_free(&command);
    kill(engine_of(&daemon_), SIGKILL);
    look(client, 2000);
    assert_int_equal(files(".part", NULL) + files(".mcap", NULL), 0);
    wait_for_recorder("File too large");
    running_frame(client, START_MS);
    assert_int_equal(WEXITSTATUS(end_recorder(SIGTERM)), 0);
    plx_disconnect(client);
}

/* Whether the service publishes as many frames beside a recorder that is stopped, and after its kill, as alone. */
static bool keeps_its_rate(struct plx_client *client)
{
    seen_count = 0;
    const int alone = look(client, 2000);
    start_recorder("2", "", 0);
    look(client, 500);
    kill(recorder, SIGSTOP);
    const int stopped = look(client, 2000);
    end_recorder(SIGKILL);
    const int killed = look(client, 2000);
    print_message("frames in 2 s: %d alone, %d stopped, %d killed\n", alone, stopped, killed);
    return stopped >= alone * 3 / 4 && killed >= alone * 3 / 4; /* none, if it waited */
}

static void the_service_never_waits_for_it(void **state)
{
    (void)state;
    struct plx_client *client = connect_client();
    int rounds = 0;
    running_frame(client, START_MS);
    while (!keeps_its_rate(client)) /* other programs of the machine slow it down at some time, a recorder would each time */
        assert_true(++rounds < 6);
    start_recorder("2", "", 0); /* the socket of the killed one is replaced */
    plx_disconnect(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_killed_engine_leaves_the_seconds_around_it, begin, end),
        cmocka_unit_test_setup_teardown(the_end_of_the_service_leaves_its_last_seconds, begin, end),
        cmocka_unit_test_setup_teardown(an_end_in_the_middle_of_a_file_loses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_reload_is_no_fault, make, end),
        cmocka_unit_test_setup_teardown(a_person_asks, begin, end),
        cmocka_unit_test_setup_teardown(those_who_ask_displace_no_fault, begin, end),
        cmocka_unit_test_setup_teardown(wrong_requests_are_dropped, begin, end),
        cmocka_unit_test_setup_teardown(a_flag_of_choice_is_a_fault, begin_raw, end),
        cmocka_unit_test_setup_teardown(a_full_disk_is_said_and_harms_nobody, begin, end),
        cmocka_unit_test_setup_teardown(the_service_never_waits_for_it, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
