/* SPDX-License-Identifier: Apache-2.0 */
/* The black box of the real service: what it tells after each kind of end, and what it costs where it cannot be written. */
#include "tests/system/service.h"

#include <sys/mount.h>

#include "app/blackbox/box.h"
#include "app/blackbox/read.h"

static char directory[96], key[128];

static int make_box(void **state)
{
    make(state);
    snprintf(directory, sizeof directory, "%s/box", daemon_.directory);
    snprintf(key, sizeof key, "blackbox.directory=%s", directory);
    return 0;
}

static const char *const *box_args(void)
{
    static const char *args[] = {SMALL, "--set", key, NULL};
    return args;
}

/* The first file in the box's directory whose name holds WORDS, of now or within TIMEOUT_MS. */
static const char *wait_for_file(const char *words, int timeout_ms)
{
    static char path[400];
    const int64_t begin_ms = now_ms();

    for (;;) {
        DIR *folder = opendir(directory);
        for (const struct dirent *entry; folder && (entry = readdir(folder));)
            if (strstr(entry->d_name, words)) {
                snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
                closedir(folder);
                return path;
            }
        if (folder)
            closedir(folder);
        if (is_late(begin_ms, timeout_ms))
            fail_msg("no file *%s* in %s; the service said: %s", words, directory, daemon_said(&daemon_));
        usleep(10000);
    }
}

static int count_files(const char *words)
{
    int count = 0;
    DIR *folder = opendir(directory);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        count += strstr(entry->d_name, words) != NULL;
    if (folder)
        closedir(folder);
    return count;
}

static struct plx_box_content read_box(const char *path)
{
    struct plx_box_content content;
    struct plx_error_message message;
    if (plx_box_read(path, &content, &message) < 0)
        fail_msg("%s", message.text);
    return content;
}

static int count_kind(const struct plx_box_content *content, enum plx_box_kind kind)
{
    int count = 0;
    for (int i = 0; i < content->count; i++)
        count += content->entry[i].record.kind == kind;
    return count;
}

/* Sequence of the last frame in it; the box is that of frames of the small scene. */
static uint64_t last_frame(const struct plx_box_content *content)
{
    static struct plx_frame frame;
    uint64_t last = 0;

    for (int i = 0; i < content->count; i++)
        if (content->entry[i].record.kind == PLX_BOX_FRAME) {
            assert_true(content->entry[i].record.bytes >= PLX_BOX_FRAME_BYTES);
            memcpy(&frame, content->entry[i].data, PLX_BOX_FRAME_BYTES);
            assert_int_equal(frame.width, WIDTH);
            assert_true(frame.sequence > last);
            last = frame.sequence;
        }
    return last;
}

static void expect_log(const struct plx_box_content *content, const char *words)
{
    for (int i = 0; i < content->count; i++)
        if (content->entry[i].record.kind == PLX_BOX_LOG &&
            memmem(content->entry[i].data, content->entry[i].record.bytes, words, strlen(words)))
            return;
    fail_msg("no line in the black box says %s", words);
}

static struct plx_client *start_with_box(void)
{
    daemon_start(&daemon_, box_args());
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    return client;
}

static void a_killed_engine_is_in_a_copy(void **state)
{
    (void)state;
    struct plx_client *client = start_with_box();
    struct plx_frame frame = next_frame(client, START_MS);
    while (frame.sequence < 30)
        frame = next_frame(client, START_MS);
    kill(engine_of(&daemon_), SIGKILL);
    struct plx_box_content content = read_box(wait_for_file("-engine-died.box", 3000));
    assert_true(last_frame(&content) >= frame.sequence - 1);
    assert_true(count_kind(&content, PLX_BOX_FRAME) >= 25);
    assert_in_range(count_kind(&content, PLX_BOX_PICTURE), 1, 60);
    assert_true(count_kind(&content, PLX_BOX_HEARTBEATS) >= 5);
    assert_true(count_kind(&content, PLX_BOX_STATE) >= 2);
    expect_log(&content, "engine died of signal 9");
    plx_box_free(&content);
    running_frame(client, RECOVER_MS);
    kill(engine_of(&daemon_), SIGKILL); /* at once again: within what a box holds there is one copy */
    wait_until_said("restarting in 0.2 s", RECOVER_MS);
    running_frame(client, RECOVER_MS);
    usleep(700000);
    assert_int_equal(count_files("-engine-died.box"), 1);
    plx_disconnect(client);
    stop_daemon();
    assert_int_equal(count_files("-engine-died.box"), 2); /* what was due is made at the end */
}

static void sigkill_of_everything_leaves_the_last_frames(void **state)
{
    (void)state;
    struct plx_client *client = start_with_box();
    struct plx_frame frame = next_frame(client, START_MS);
    while (frame.sequence < 20)
        frame = next_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    kill(daemon_.pid, SIGKILL);
    kill(engine, SIGKILL);
    daemon_wait(&daemon_, RECOVER_MS);
    plx_disconnect(client);
    char live[128];
    snprintf(live, sizeof live, "%s/" PLX_BOX_LIVE, directory);
    struct plx_box_content content = read_box(live);
    const uint64_t last = last_frame(&content);
    assert_true(last >= frame.sequence - 1);
    assert_int_equal(content.header.ended, 0);
    plx_box_free(&content);

    plx_disconnect(start_with_box()); /* the next start puts it aside */
    content = read_box(wait_for_file("-not-ended.box", 0));
    assert_int_equal(last_frame(&content), last);
    plx_box_free(&content);
    stop_daemon();
    plx_disconnect(start_with_box()); /* an end in order is no reason to */
    assert_int_equal(count_files("-not-ended.box"), 1);
    stop_daemon();
}

static void an_engine_that_hangs_is_in_a_copy(void **state)
{
    (void)state;
    daemon_.fault = "hang plx_cpu_sgm 20";
    struct plx_client *client = start_with_box();
    wait_until_said("; ending the engine", 10000);
    struct plx_box_content content = read_box(wait_for_file("-engine-killed.box", 3000));
    expect_log(&content, "stage sgm");
    expect_log(&content, "; ending the engine");
    bool seen = false; /* by the heartbeats, since a second */
    for (int i = 0; i < content.count; i++) {
        struct plx_box_beat beat[PLX_THREAD_COUNT];
        if (content.entry[i].record.kind != PLX_BOX_HEARTBEATS)
            continue;
        memcpy(beat, content.entry[i].data, sizeof beat);
        seen = seen || (beat[0].what == PLX_STAGE_SGM && beat[0].since_ms > 500);
        /* the synthetic source decodes nothing: that thread never began anything */
        assert_int_equal(beat[PLX_THREAD_DECODE].since_ms, 0);
    }
    assert_true(seen);
    plx_box_free(&content);
    plx_disconnect(client);
    stop_daemon();
}

/* The engine's own lines are there too. */
static void lines_of_the_engine_are_in_it(void **state)
{
    (void)state;
    setenv("PLX_FAKE_ROOT", daemon_.directory, 1);
    char command[256];
    snprintf(command, sizeof command, "mkdir -p %s/proc/pressure", daemon_.directory);
    assert_int_equal(system(command), 0);
    write_text(daemon_.directory, "proc/pressure/memory", "some avg10=77.00\nfull avg10=0.00\n");
    daemon_.fault = "slow plx_system_health_read 0";
    struct plx_client *client = start_with_box();
    wait_until_said("waited for it 77 %", 5000);
    usleep(200000);
    char live[128];
    snprintf(live, sizeof live, "%s/" PLX_BOX_LIVE, directory);
    struct plx_box_content content = read_box(live);
    expect_log(&content, "waited for it 77 %");
    plx_box_free(&content);
    plx_disconnect(client);
    stop_daemon();
    unsetenv("PLX_FAKE_ROOT");
}

/* Frames come, and one line gives the reason for the missing box. */
static void expect_no_box(const char *words)
{
    struct plx_client *client = start_with_box();
    wait_until_said(words, RECOVER_MS);
    kill(engine_of(&daemon_), SIGKILL);
    running_frame(client, RECOVER_MS);
    plx_disconnect(client);
    stop_daemon();
    const char *said = strstr(daemon_said(&daemon_), "black box");
    assert_non_null(said);
    assert_null(strstr(said + 1, "black box"));
}

static void a_full_disk_costs_the_box_alone(void **state)
{
    (void)state;
    assert_int_equal(mkdir(directory, 0755), 0);
    if (mount("tmpfs", directory, "tmpfs", 0, "size=1m") < 0) {
        print_message("skipped: no tmpfs can be mounted here\n");
        skip();
    }
    expect_no_box("cannot create a file of 4 MiB: No space left on device");
    assert_int_equal(umount(directory), 0);
}

static void a_missing_directory_costs_the_box_alone(void **state)
{
    (void)state;
    snprintf(key, sizeof key, "blackbox.directory=%s/not/there", daemon_.directory);
    expect_no_box("cannot open the directory: No such file or directory");
}

/* `parallax blackbox` and `parallax report`, beside the service. */
static void commands_show_it(void **state)
{
    (void)state;
    char command[1024], text[4096] = "";
    struct plx_client *client = start_with_box();
    running_frame(client, START_MS);
    snprintf(
        command, sizeof command,
        "cd %s && %s/bin/parallax blackbox --pictures pictures box/live.box >text && ls pictures/frame-*.png >/dev/null && "
        "%s/bin/parallax report --socket s --output report >/dev/null",
        daemon_.directory, PLX_BINARY_DIR, PLX_BINARY_DIR);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "%s/%s", daemon_.directory, i ? "report/blackbox.txt" : "text");
        FILE *in = fopen(command, "re");
        assert_non_null(in);
        text[fread(text, 1, sizeof text - 1, in)] = '\0';
        fclose(in);
        assert_non_null(strstr(text, "black box of parallaxd"));
        assert_non_null(strstr(text, "frame     1, "));
        assert_non_null(strstr(text, "state     running"));
        assert_non_null(strstr(text, " sgm "));
    }
    snprintf(command, sizeof command, "tar -tzf %s/report/blackbox.tar.gz | grep -q live.box", daemon_.directory);
    assert_int_equal(system(command), 0);
    plx_disconnect(client);
    stop_daemon();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_box, clean)
    const struct CMUnitTest tests[] = {
        CASE(a_killed_engine_is_in_a_copy),
        CASE(sigkill_of_everything_leaves_the_last_frames),
        CASE(an_engine_that_hangs_is_in_a_copy),
        CASE(lines_of_the_engine_are_in_it),
        CASE(a_full_disk_costs_the_box_alone),
        CASE(a_missing_directory_costs_the_box_alone),
        CASE(commands_show_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
