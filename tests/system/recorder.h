/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the tests of parallax-recorder: it beside a real parallaxd, a client that remembers the pictures, and the files.
 */
#ifndef PLX_TESTS_SYSTEM_RECORDER_H
#define PLX_TESTS_SYSTEM_RECORDER_H

#include "tests/system/service.h"

#include <parallax/error.h>

#include "app/exit.h"
#include "formats/cdr/ros_types.h"
#include "formats/mcap/read.h"
#include "tests/command.h"

#define RATE_HZ 20
#define WRITTEN_MS 2000   /* from a fault to its file */
#define MAX_PICTURES 4096 /* pictures that are remembered */
#define ARENA (1 << 20)

static pid_t recorder_pid;

/* --- processes ------------------------------------------------------------------------------------------------------ */

static inline const char *path_of(const char *name)
{
    return daemon_path(&daemon_, name);
}

/* Waits until the recorder has said WORDS. */
static inline void wait_for_recorder(const char *words)
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
static inline void start_recorder(const char *seconds, const char *flags, rlim_t file_bytes)
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
    recorder_pid = fork();
    assert_true(recorder_pid >= 0);
    if (recorder_pid > 0) {
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

static inline int end_recorder(int signal)
{
    int status;
    kill(recorder_pid, signal);
    assert_int_equal(waitpid(recorder_pid, &status, 0), recorder_pid);
    recorder_pid = 0;
    return status;
}

static inline void start_service(const char *calibration)
{
    char socket[160], directory[160];
    snprintf(socket, sizeof socket, "recorder.socket=%s/r", daemon_.directory);
    snprintf(directory, sizeof directory, "recorder.directory=%s/recorder", daemon_.directory);
    daemon_start(&daemon_, (const char *const[]){SMALL, "--set", "publish.right=true", "--set", socket, "--set", directory,
                                                 "--set", calibration, NULL});
}

static inline int begin_with_service(void **state)
{
    make(state);
    start_service("calibration=");
    return 0;
}

static inline int end_all(void **state)
{
    if (recorder_pid > 0)
        end_recorder(SIGKILL);
    return clean(state);
}

/* --- what a client sees, and what is in a file -------------------------------------------------------------------- */

static uint64_t seen_hash[PLX_EYES][MAX_PICTURES];
static int seen_count;
static int unseen; /* frames that the client missed */

/* FNV-1a, of rows without their gaps. */
static inline uint64_t picture_hash(const uint8_t *data, size_t pitch)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < WIDTH; x++)
            value = (value ^ data[y * pitch + x]) * UINT64_C(0x100000001b3);
    return value;
}

/* Remembers the pictures of the frames of MS milliseconds; returns how many frames there were. */
static inline int remember_frames(struct plx_client *client, int ms)
{
    static const enum plx_plane_id planes[] = {PLX_PLANE_LEFT, PLX_PLANE_RIGHT};
    const int before = seen_count;
    for (const int64_t begin_ms = now_ms(); now_ms() < begin_ms + ms;) {
        struct plx_view view;
        if (plx_next(client, 20, &view) < 0)
            continue;
        assert_true(seen_count < MAX_PICTURES);
        unseen += (int)view.missed;
        for (int eye = 0; eye < PLX_EYES; eye++)
            seen_hash[eye][seen_count] = picture_hash(view.plane[planes[eye]], view.layout[planes[eye]].pitch);
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

/* The picture at DATA was seen_hash by the client, behind the one before it. */
static inline bool was_seen(const struct plx_mcap_message *message, enum plx_eye eye, int *from)
{
    static _Alignas(8) uint8_t memory[ARENA];
    struct plx_cdr_arena arena = {.memory = memory, .capacity = ARENA};
    struct ros_image image;
    assert_int_equal(plx_cdr_decode(&ros_image_type, message->data, message->bytes, &arena, &image), 0);
    assert_true(image.width == WIDTH && image.height == HEIGHT && image.data.count == WIDTH * HEIGHT);
    const uint64_t value = picture_hash(image.data.data, WIDTH);
    for (int i = *from; i < seen_count; i++)
        if (seen_hash[eye][i] == value) {
            *from = i + 1;
            return true;
        }
    return false;
}

static inline struct contents contents_of(const char *path)
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
static inline int count_files(const char *ending, char ret_path[512])
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
static inline bool is_quiet(int frames, int ms)
{
    return frames > RATE_HZ * ms / 1000 * 9 / 10;
}

static inline int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
}

/* Waits for a file, which must be there in time, while the client goes on. */
static inline void wait_for_file(struct plx_client *client, const char *ending, int64_t begin_ms, char ret_path[512])
{
    while (count_files(ending, ret_path) == 0) {
        if (is_late(begin_ms, WRITTEN_MS))
            fail_msg("no file *%s after %d ms", ending, WRITTEN_MS);
        remember_frames(client, 20);
    }
    print_message("file after %d ms\n", (int)(now_ms() - begin_ms));
}

/* Metadata is not compressed, so its words can be found. */
static inline bool file_says(const char *path, const char *words)
{
    static char bytes[1 << 26];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return memmem(bytes, count, words, strlen(words)) != NULL;
}

/* Runs `parallax snapshot` for the last SECONDS; FILE NULL: the recorder names it. */
static inline void snapshot(struct command *command, const char *seconds, const char *file)
{
    command_run(command, (const char *const[]){"snapshot", "--socket", daemon_.socket, "--last", seconds, file, NULL});
}

#endif
