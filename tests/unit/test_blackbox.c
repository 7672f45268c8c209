/* SPDX-License-Identifier: Apache-2.0 */
/* The black box's file: what was written is read, whatever is cut off, overwritten or made up; old boxes are kept, but not
 * many. */
#include "app/blackbox/box.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <parallax/error.h>

#include "app/blackbox/read.h"
#include "app/log.h"
#include "app/supervisor/blackbox.h"
#include "app/supervisor/service_clock.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/unit/files.h"

static struct plx_box *box;
static struct plx_error_message message;

static void open_box(void)
{
    if (plx_box_create(files_directory, "1.2.3", &box, &message) < 0)
        fail_msg("%s", message.text);
}

static void append(enum plx_box_kind kind, const void *data, size_t bytes)
{
    assert_int_equal(plx_box_append(box, kind, (struct plx_box_part){data, bytes}, (struct plx_box_part){NULL, 0}, &message),
                     0);
}

/* A record that says NUMBER. */
static void append_number(uint32_t number, size_t bytes)
{
    unsigned char memory[4096];
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)(number + i);
    memcpy(memory, &number, sizeof number);
    append(PLX_BOX_LOG, memory, bytes);
}

static uint32_t number_of(const struct plx_box_entry *entry)
{
    uint32_t number;
    assert_true(entry->record.bytes >= sizeof number);
    memcpy(&number, entry->data, sizeof number);
    for (uint32_t i = sizeof number; i < entry->record.bytes; i++)
        assert_int_equal(entry->data[i], (unsigned char)(number + i));
    return number;
}

static struct plx_box_content read_live(void)
{
    struct plx_box_content content;
    if (plx_box_read(files_path(PLX_BOX_LIVE), &content, &message) < 0)
        fail_msg("%s", message.text);
    return content;
}

/* Files whose name holds WORDS. */
static int count_files(const char *words)
{
    int count = 0;
    DIR *directory = opendir(files_directory);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += strstr(entry->d_name, words) != NULL;
    closedir(directory);
    return count;
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    static unsigned char large[2 * PLX_BOX_MAX_PAYLOAD];
    open_box();
    append_number(1, 4);
    append(PLX_BOX_STATE, "", 0);
    append(PLX_BOX_PICTURE, large, PLX_BOX_MAX_PAYLOAD);
    assert_int_equal(plx_box_append(box, PLX_BOX_LOG, (struct plx_box_part){"head", 4},
                                    (struct plx_box_part){large, sizeof large}, &message),
                     0);
    struct plx_box_content content = read_live();
    assert_int_equal(content.count, 4);
    assert_string_equal(content.header.program, "1.2.3");
    assert_int_equal(content.header.ended, 0);
    assert_int_equal(number_of(&content.entry[0]), 1);
    assert_int_equal(content.entry[1].record.bytes, 0);
    assert_int_equal(content.entry[2].record.kind, PLX_BOX_PICTURE);
    assert_int_equal(content.entry[3].record.bytes, PLX_BOX_MAX_PAYLOAD); /* cut */
    assert_memory_equal(content.entry[3].data, "head", 4);
    for (int i = 0; i < content.count; i++)
        assert_int_equal(content.entry[i].record.number, i + 1);
    plx_box_free(&content);
    plx_box_destroy(box);
    content = read_live();
    assert_int_equal(content.header.ended, 1);
    plx_box_free(&content);
}

/* Seconds that the ring holds at RATE frames a second with OBSTACLES each, beside the threads and the largest pictures. */
static int seconds_held(double rate, double obstacles)
{
    const double head = sizeof(struct plx_box_record);
    const double frame = head + PLX_BOX_FRAME_BYTES + obstacles * sizeof(struct plx_obstacle);
    const double beats = head + PLX_THREAD_COUNT * sizeof(struct plx_box_beat);
    const double picture = head + sizeof(struct plx_box_picture) + PLX_BOX_PICTURE_SIDE * PLX_BOX_PICTURE_SIDE;
    return (int)(PLX_BOX_RING_BYTES / (rate * frame + 10 * beats + picture));
}

/* docs/operation.md names these numbers. */
static void the_ring_holds_as_long_as_the_page_says(void **state)
{
    (void)state;
    assert_int_equal(seconds_held(120, 0), 7);
    assert_int_equal(seconds_held(20, 0), 36);
    assert_int_equal(seconds_held(120, PLX_BOX_OBSTACLES), 4);
    assert_int_equal(seconds_held(20, PLX_BOX_OBSTACLES), 23);
}

/* Three times round: the newest are there without a gap, and the file has not grown. */
static void the_ring_holds_the_newest(void **state)
{
    (void)state;
    const uint32_t records = 3 * PLX_BOX_RING_BYTES / 1000;
    struct stat info;
    open_box();
    for (uint32_t i = 1; i <= records; i++)
        append_number(i, 500 + i % 1000);
    struct plx_box_content content = read_live();
    assert_in_range(content.count, PLX_BOX_RING_BYTES / 1600, PLX_BOX_RING_BYTES / 900);
    for (int i = 0; i < content.count; i++)
        assert_int_equal(number_of(&content.entry[i]), records - (uint32_t)(content.count - 1 - i));
    assert_int_equal(stat(files_path(PLX_BOX_LIVE), &info), 0);
    assert_int_equal(info.st_size, PLX_BOX_BYTES);
    assert_int_equal(info.st_mode & 0777, 0640);
    plx_box_free(&content);
    plx_box_destroy(box);
}

/* A file with records 1 to 20, of 100 bytes each, all of it within the ring's first 3 KiB. */
#define RECORDS 20
#define RECORD_BYTES 144 /* 32 + 100, rounded up */

static unsigned char *make_file(void)
{
    size_t size = PLX_BOX_BYTES;
    unsigned char *file = malloc(size);
    open_box();
    for (uint32_t i = 1; i <= RECORDS; i++)
        append_number(i, 100);
    plx_box_destroy(box);
    FILE *in = fopen(files_path(PLX_BOX_LIVE), "re");
    assert_non_null(in);
    assert_int_equal(fread(file, 1, size, in), size);
    fclose(in);
    return file;
}

static void cut_off_anywhere_it_tells_what_is_whole(void **state)
{
    (void)state;
    unsigned char *file = make_file();
    struct plx_box_content content;
    for (size_t size = 0; size < PLX_BOX_HEADER_BYTES; size += 97)
        assert_int_equal(plx_box_parse(file, size, &content, &message), PLX_ERR_FORMAT);
    for (size_t bytes = 0; bytes <= RECORDS * RECORD_BYTES; bytes += 7) {
        assert_int_equal(plx_box_parse(file, PLX_BOX_HEADER_BYTES + bytes, &content, &message), 0);
        assert_in_range(content.count, bytes / RECORD_BYTES, (bytes + 12) / RECORD_BYTES); /* 12 bytes round it up */
        for (int i = 0; i < content.count; i++)
            assert_int_equal(number_of(&content.entry[i]), i + 1);
        plx_box_free(&content);
    }
    free(file);
}

static void any_byte_that_is_wrong_costs_its_record_alone(void **state)
{
    (void)state;
    unsigned char *file = make_file();
    struct plx_box_content content;
    for (size_t at = 0; at < RECORDS * RECORD_BYTES; at += 11) {
        const bool counts = at % RECORD_BYTES < 32 + 100;
        file[PLX_BOX_HEADER_BYTES + at] ^= 0x40;
        assert_int_equal(plx_box_parse(file, PLX_BOX_BYTES, &content, &message), 0);
        assert_int_equal(content.count, RECORDS - counts);
        for (int i = 0; i < content.count; i++)
            if (counts)
                assert_int_not_equal(number_of(&content.entry[i]), 1 + at / RECORD_BYTES);
        plx_box_free(&content);
        file[PLX_BOX_HEADER_BYTES + at] ^= 0x40;
    }
    for (size_t at = 0; at < sizeof(struct plx_box_header); at++) {
        file[at] ^= 0x40;
        assert_int_equal(plx_box_parse(file, PLX_BOX_BYTES, &content, &message), PLX_ERR_FORMAT);
        file[at] ^= 0x40;
    }
    free(file);
}

/* Each place looks like a record of the greatest length: no minutes of summing. */
static void a_hostile_file_costs_no_time(void **state)
{
    (void)state;
    unsigned char *file = make_file();
    const struct plx_box_record lie = {.magic = PLX_BOX_RECORD_MAGIC, .bytes = PLX_BOX_MAX_PAYLOAD};
    struct plx_box_content content;
    for (size_t at = PLX_BOX_HEADER_BYTES; at + PLX_BOX_ALIGN <= PLX_BOX_BYTES; at += PLX_BOX_ALIGN)
        memcpy(file + at, &lie, PLX_BOX_ALIGN);
    const clock_t begin = clock(); /* processor time: other programs do not count */
    assert_int_equal(plx_box_parse(file, PLX_BOX_BYTES, &content, &message), 0);
    assert_true(clock() - begin < 30 * CLOCKS_PER_SEC);
    assert_int_equal(content.count, 0);
    plx_box_free(&content);
    free(file);
}

static void a_box_that_was_not_ended_is_put_aside(void **state)
{
    (void)state;
    open_box();
    append_number(7, 50);
    plx_box_close_in_child(box); /* as if it were killed */
    assert_int_equal(count_files("not-ended"), 0);
    open_box();
    assert_int_equal(count_files("not-ended"), 1);
    struct plx_box_content content = read_live();
    assert_int_equal(content.count, 0);
    plx_box_free(&content);
    plx_box_destroy(box);
    open_box();
    assert_int_equal(count_files("not-ended"), 1);
    plx_box_destroy(box);
}

static void a_bounded_number_is_kept_the_newest(void **state)
{
    (void)state;
    open_box();
    files_text("20200101T000000.000Z-failed.box", "the oldest");
    files_text("notes.txt", "not a box");
    for (uint32_t i = 0; i < PLX_BOX_SAVED + 2; i++) {
        append_number(i, 50);
        usleep(2000); /* names hold milliseconds */
        assert_int_equal(plx_box_save(box, "engine-died", &message), 0);
    }
    assert_int_equal(count_files("engine-died.box"), PLX_BOX_SAVED);
    assert_int_equal(count_files("failed"), 0);
    assert_int_equal(count_files("notes.txt"), 1);
    assert_int_equal(count_files("saving"), 0);
    append_number(99, 50); /* the box goes on */
    struct plx_box_content content = read_live();
    assert_int_equal(content.count, PLX_BOX_SAVED + 3);
    plx_box_free(&content);
    plx_box_destroy(box);
}

/* Runs TRY in a process of its own; it returns its exit code. */
static int in_a_process(int (*try)(void))
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(try());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int open_again(void)
{
    struct plx_box *second;
    return -plx_box_create(files_directory, "", &second, &message);
}

static void one_process_writes_it(void **state)
{
    (void)state;
    open_box();
    assert_int_equal(in_a_process(open_again), -PLX_ERR_BUSY);
    append_number(1, 50);
    struct plx_box_content content = read_live();
    assert_int_equal(content.count, 1); /* the other one has not emptied it */
    plx_box_free(&content);
    plx_box_destroy(box);
    assert_int_equal(in_a_process(open_again), 0);
}

static int open_with_little_room(void)
{
    struct plx_box *small;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, 1 << 20});
    const int result = plx_box_create(files_directory, "", &small, &message);
    return result == PLX_ERR_IO && strstr(message.text, "create a file of 4 MiB") &&
           access(files_path(PLX_BOX_LIVE), F_OK) != 0;
}

static void without_room_there_is_an_error_and_no_file(void **state)
{
    (void)state;
    assert_int_equal(in_a_process(open_with_little_room), 1);
}

static void links_are_not_followed(void **state)
{
    (void)state;
    files_text("precious", "precious");
    assert_int_equal(symlink("precious", files_path(PLX_BOX_LIVE)), 0);
    assert_int_not_equal(plx_box_create(files_directory, "", &box, &message), 0);
    struct stat info;
    assert_int_equal(stat(files_path("precious"), &info), 0);
    assert_int_equal(info.st_size, 8);
}

/* blackbox.directory is empty: the supervisor records nothing, and starts no process for a copy of nothing. */
static void a_supervisor_without_a_box_saves_nothing(void **state)
{
    (void)state;
    static const struct plx_heartbeats heartbeats;
    struct plx_blackbox blackbox = {.copier = PLX_CHILD_NONE};
    plx_blackbox_open(&blackbox, "");
    plx_blackbox_log(&blackbox, 4, "a line");
    plx_blackbox_state(&blackbox, PLX_STATE_FAILED, 0, "a reason");
    plx_blackbox_frame(&blackbox, NULL, 1);
    plx_blackbox_save(&blackbox, "failed");
    blackbox.save_ns = 0; /* long due */
    assert_false(plx_blackbox_tick(&blackbox, &heartbeats));
    assert_int_equal(blackbox.beat_ns, 0);
    plx_blackbox_close(&blackbox);
    assert_int_equal(count_files("box"), 0);
}

static void a_copy_is_due_once(void **state)
{
    (void)state;
    static const struct plx_heartbeats heartbeats;
    struct plx_blackbox blackbox = {.copier = PLX_CHILD_NONE};
    plx_blackbox_open(&blackbox, files_directory);
    assert_non_null(blackbox.box);
    assert_false(plx_blackbox_tick(&blackbox, &heartbeats));
    const int64_t before_ns = plx_monotonic_ns();
    plx_blackbox_save(&blackbox, "engine-died");
    assert_true(blackbox.save_ns >= before_ns + 500 * PLX_NS_PER_MS);
    plx_blackbox_save(&blackbox, "failed"); /* the first reason names the copy */
    blackbox.save_ns = 0;                   /* not in half a second, but now */
    assert_true(plx_blackbox_tick(&blackbox, &heartbeats));
    assert_string_equal(blackbox.copy_reason, "engine-died");
    assert_false(plx_blackbox_tick(&blackbox, &heartbeats));
    const int64_t copied_ns = blackbox.saved_ns;
    plx_blackbox_save(&blackbox, "failed"); /* the next one: when the box holds other records */
    assert_int_equal(blackbox.save_ns, copied_ns + 10 * PLX_NS_PER_S);
    assert_false(plx_blackbox_tick(&blackbox, &heartbeats));
    plx_blackbox_close(&blackbox);
}

static int lines_copied;

static void count_line(void *context, int level, const char *line)
{
    (void)context;
    assert_int_equal(level, LOG_NOTICE);
    assert_non_null(strstr(line, "create it, or set blackbox.directory"));
    lines_copied++;
}

/* The supervisor asks for the note more than once. */
static void why_there_is_no_box_is_said_once(void **state)
{
    (void)state;
    struct plx_blackbox blackbox = {.copier = PLX_CHILD_NONE};
    lines_copied = 0;
    plx_log_copy(count_line, NULL);
    plx_blackbox_log_note(&blackbox);
    assert_int_equal(lines_copied, 0);
    plx_blackbox_open(&blackbox, files_path("no/such/parent"));
    assert_null(blackbox.box);
    for (int i = 0; i < 2; i++)
        plx_blackbox_log_note(&blackbox);
    assert_int_equal(lines_copied, 1);
    plx_log_copy(NULL, NULL);
    plx_blackbox_close(&blackbox);
}

/* The log keeps no address of a black box whose memory may serve something else by now. */
static void a_line_after_the_end_goes_nowhere(void **state)
{
    (void)state;
    static void (*const end[])(struct plx_blackbox *) = {plx_blackbox_close, plx_blackbox_close_in_child};
    for (int i = 0; i < 2; i++) {
        struct plx_blackbox blackbox = {.copier = PLX_CHILD_NONE};
        plx_blackbox_open(&blackbox, files_directory);
        plx_log(LOG_INFO, "a line of the test");
        struct plx_box_content content = read_live();
        assert_int_equal(content.count, 1);
        plx_box_free(&content);
        end[i](&blackbox);
        open_box();
        blackbox.box = box;
        plx_log(LOG_INFO, "another line of the test");
        content = read_live();
        assert_int_equal(content.count, 0);
        plx_box_free(&content);
        plx_box_destroy(box);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, files_begin, files_end)
    const struct CMUnitTest tests[] = {
        CASE(what_was_written_is_read),
        CASE(the_ring_holds_as_long_as_the_page_says),
        CASE(the_ring_holds_the_newest),
        CASE(cut_off_anywhere_it_tells_what_is_whole),
        CASE(any_byte_that_is_wrong_costs_its_record_alone),
        CASE(a_hostile_file_costs_no_time),
        CASE(a_box_that_was_not_ended_is_put_aside),
        CASE(a_bounded_number_is_kept_the_newest),
        CASE(one_process_writes_it),
        CASE(without_room_there_is_an_error_and_no_file),
        CASE(links_are_not_followed),
        CASE(a_supervisor_without_a_box_saves_nothing),
        CASE(a_copy_is_due_once),
        CASE(why_there_is_no_box_is_said_once),
        CASE(a_line_after_the_end_goes_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
