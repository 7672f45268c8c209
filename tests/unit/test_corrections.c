/* SPDX-License-Identifier: Apache-2.0 */
/* The history of corrections: what it keeps, its file, accept and undo. */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/corrections/residuals.h"
#include "app/corrections/store.h"
#include "core/base/checksum.h"
#include "tests/cmocka.h"

/* What is in force is not in the list. */
#define NUMBER_WITHOUT_ENTRY                                                                                                   \
    "{\"calibration\": \"a\", \"cameras\": \"b\", \"focal_baseline_px_m\": 50, \"in_force\": 3, \"proposed\": 0, \"last\": "   \
    "3, "                                                                                                                      \
    "\"hold\": false, \"corrections\": []}"

static char path[64];

/* A file whose last write works, whatever went wrong before: fclose reports no error then. */
static bool closes_well;

int fclose(FILE *file)
{
    int (*const real)(FILE *) = (int (*)(FILE *))(uintptr_t)dlsym(RTLD_NEXT, "fclose");
    const int result = real(file);
    return closes_well ? 0 : result;
}

/* No test waits for a lock: how long it would have. */
static int64_t slept_ns;

int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    slept_ns += time->tv_nsec + 1000000000 * (int64_t)time->tv_sec;
    return 0;
}

static struct plx_stereo_calibration calibration(double fx)
{
    const struct plx_calibration_info info = {.fx = fx, .fy = fx, .cx = 320, .cy = 240, .cx_right = 320, .baseline_m = 0.1};
    struct plx_stereo_calibration made;
    plx_calibration_pinhole(640, 480, &info, &made);
    return made;
}

static struct plx_correction_evidence evidence(bool applied, float pitch, float columns)
{
    static const struct plx_row_match match[] = {{0.1F, 0.1F, 0.5F, false, 2, 0}, {-0.3F, 0.2F, -0.2F, true, 2, 0}};
    return (struct plx_correction_evidence){.applied = applied,
                                            .after = {.pitch_rad = pitch, .disparity_offset_px = columns},
                                            .drift = {.matches = 300, .epipolar_error_px = 0.5F, .residual_px = 0.1F},
                                            .match = match,
                                            .matches = 2,
                                            .focal_length = 500};
}

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "corrections-%d.json", (int)getpid());
    return 0;
}

static void open_as(struct plx_corrections *corrections, const char *file, const char *socket,
                    const struct plx_stereo_calibration *base, const char *cameras)
{
    plx_corrections_open(corrections, file, socket, base);
    plx_corrections_name_cameras(corrections, cameras);
}

static int tear_down(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -f %s*", path);
    return system(command);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static struct plx_correction_history history, found;
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_error_message message;

    plx_corrections_begin(&base, "card \"A\" 1, card 2", &history);
    for (int i = 0; i < 2 * PLX_CORRECTIONS_KEPT; i++) {
        const struct plx_correction_evidence e = evidence(i % 3 != 0, 0.001F * (float)i / 7, 0.1F);
        assert_int_equal(plx_corrections_add(&history, &e, 1000 + i), i + 1);
    }
    assert_int_equal(history.count, PLX_CORRECTIONS_KEPT);
    assert_int_equal(history.number, 63);
    assert_int_equal(history.proposed, 64);
    assert_int_equal(plx_corrections_write(path, &history, &message), 0);
    assert_int_equal(plx_corrections_read(path, &found, &message), 0);
    assert_true(plx_corrections_match(&history, &found));
    assert_int_equal(found.number, 63);
    for (int i = 0; i < found.count; i++) {
        assert_memory_equal(&found.entry[i].correction, &history.entry[i].correction, sizeof(struct plx_correction));
        assert_int_equal(found.entry[i].before, history.entry[i].before);
    }
}

static void accept_and_undo(void **state)
{
    (void)state;
    static struct plx_correction_history history;
    const struct plx_stereo_calibration base = calibration(500);
    const struct plx_correction_evidence first = evidence(true, 0.001F, 0), second = evidence(false, 0.001F, 0.5F);
    struct plx_error_message message;

    plx_corrections_begin(&base, "", &history);
    assert_int_equal(plx_corrections_undo(&history, false, &message), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_corrections_accept(&history, &message), PLX_ERR_NOT_FOUND);
    plx_corrections_add(&history, &first, 1);
    plx_corrections_add(&history, &second, 2);
    assert_int_equal(history.number, 1);
    assert_int_equal(plx_corrections_accept(&history, &message), 0);
    assert_true(history.number == 2 && history.proposed == 0);
    assert_int_equal(plx_corrections_undo(&history, false, &message), 0);
    assert_true(history.number == 1 && history.hold);
    assert_int_equal(plx_corrections_undo(&history, false, &message), 0);
    assert_int_equal(history.number, 0);
    assert_int_equal(plx_corrections_accept(&history, &message), 0);
    assert_false(history.hold);
    /* 0.5 px more disparity at 5 m, where it is 10 px: 4.8 % nearer */
    assert_true(plx_corrections_distance_percent(&history, 0.5, 5) < -4.7 &&
                plx_corrections_distance_percent(&history, 0.5, 5) > -4.8);
}

static void a_damaged_file_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{\"calibration\": 1}",
                                        "{\"calibration\": \"a\", \"cameras\": \"\", \"focal_baseline_px_m\": 5, \"in_force\": "
                                        "3, \"last\": 3, \"corrections\": []}",
                                        NUMBER_WITHOUT_ENTRY};
    static struct plx_correction_history history;
    struct plx_error_message message;

    assert_int_equal(plx_corrections_read(path, &history, &message), PLX_ERR_NOT_FOUND);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        fputs(texts[i], file);
        fclose(file);
        assert_int_equal(plx_corrections_read(path, &history, &message), PLX_ERR_FORMAT);
        assert_non_null(strstr(message.text, ".json:1:"));
    }
}

/* What the service does: it keeps, is told otherwise by a command, and starts again, also with another calibration. */
static void the_service_follows_the_file(void **state)
{
    (void)state;
    static struct plx_corrections corrections;
    static struct plx_correction_history history;
    const struct plx_stereo_calibration base = calibration(500), other = calibration(501);
    struct plx_correction_evidence e = evidence(true, 0.001F, 0);
    struct plx_correction_order order = {0};
    struct plx_error_message message;
    char picture[80];

    open_as(&corrections, path, NULL, &base, "one");
    const struct plx_correction_store store = plx_corrections_store(&corrections);
    assert_false(store.wanted(store.context, &order));
    assert_false(order.hold);
    order.number = store.keep(store.context, &e);
    assert_int_equal(order.number, 1);
    snprintf(picture, sizeof picture, "%s.1.svg", path);
    assert_int_equal(access(picture, R_OK), 0);
    assert_true(atomic_load(&corrections.has_note));

    assert_int_equal(plx_corrections_read(path, &history, &message), 0);
    assert_int_equal(plx_corrections_undo(&history, false, &message), 0);
    assert_int_equal(plx_corrections_write(path, &history, &message), 0);
    assert_true(store.wanted(store.context, &order));
    assert_true(order.number == 0 && order.hold && order.correction.pitch_rad == 0);

    history.number = 1;
    assert_int_equal(plx_corrections_write(path, &history, &message), 0);
    open_as(&corrections, path, NULL, &base, "one"); /* a restart */
    order.number = 0;
    assert_true(store.wanted(store.context, &order));
    assert_true(order.number == 1 && order.correction.pitch_rad == 0.001F);

    open_as(&corrections, path, NULL, &other, "one");
    order.number = 0;
    assert_false(store.wanted(store.context, &order));
    open_as(&corrections, path, NULL, &base, "two");
    assert_false(store.wanted(store.context, &order));
    assert_int_equal(store.keep(store.context, &e), 1); /* begins anew, beside the old file */
    snprintf(picture, sizeof picture, "%s.old", path);
    assert_int_equal(access(picture, R_OK), 0);
}

/* It is in force under a number, until the next restart. */
static void without_a_file_it_counts_all_the_same(void **state)
{
    (void)state;
    static struct plx_corrections corrections;
    static const char *const paths[] = {"", "/nowhere/at/all.json"};
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_correction_evidence e = evidence(true, 0.001F, 0);
    struct plx_correction_order order = {0};

    for (int i = 0; i < 2; i++) {
        open_as(&corrections, paths[i], NULL, &base, "one");
        const struct plx_correction_store store = plx_corrections_store(&corrections);
        order.number = store.keep(store.context, &e);
        assert_int_equal(order.number, 1);
        assert_false(store.wanted(store.context, &order));
        assert_int_equal(strstr(corrections.note.text, "is lost with the next restart") != NULL, i == 1);
    }
}

/* Writes TEXT with the checksum that fits. */
static void write_text(const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "%s\"checksum\": \"%016" PRIx64 "\"}", text, plx_fnv1a(PLX_FNV1A_BEGIN, text, strlen(text)));
    assert_int_equal(fclose(file), 0);
}

/* The text of the file, without the checksum and what follows. */
static char *read_text(void)
{
    static char text[8192];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *end = strstr(text, "\"checksum\"");
    assert_non_null(end);
    *end = '\0';
    return text;
}

/* Writes a history with correction 1 in force. */
static void write_one(const struct plx_stereo_calibration *base, float pitch, float columns)
{
    static struct plx_correction_history history;
    struct plx_error_message message;
    struct plx_correction_evidence e = evidence(true, pitch, columns);
    plx_corrections_begin(base, "one", &history);
    plx_corrections_add(&history, &e, 1);
    assert_int_equal(plx_corrections_write(path, &history, &message), 0);
}

static void cut(char *text, const char *begin, const char *end)
{
    char *first = strstr(text, begin), *last = first ? strstr(first, end) : NULL;
    assert_non_null(last);
    memmove(first, last, strlen(last) + 1);
}

/* Files of before there was a curve say nothing of it. */
static void a_curve_is_kept_and_older_files_lack_it(void **state)
{
    (void)state;
    static struct plx_correction_history history, older;
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_error_message message;
    struct plx_correction_evidence e = evidence(true, 0.001F, 0.5F);
    e.after.curve_px = -1.5F;
    e.drift.curve_deviation_px = 0.25F;
    e.drift.side_deviation_px = 0.125F;
    plx_corrections_begin(&base, "one", &history);
    assert_float_equal(history.side, 0.4096, 0.01); /* 320 px of 500 */
    plx_corrections_add(&history, &e, 1);
    assert_int_equal(plx_corrections_write(path, &history, &message), 0);
    assert_int_equal(plx_corrections_read(path, &older, &message), 0);
    assert_true(older.entry[0].correction.curve_px == -1.5F && older.entry[0].drift.curve_deviation_px == 0.25F);
    assert_true(older.entry[0].drift.side_deviation_px == 0.125F);
    assert_float_equal(older.side, history.side, 1e-6);

    char *text = read_text();
    cut(text, "  \"side_x2\"", "  \"in_force\"");
    cut(text, ", \"curve_px\"", ", \"rows_before_px\"");
    write_text(text);
    assert_int_equal(plx_corrections_read(path, &older, &message), 0);
    assert_true(older.side == 0 && older.entry[0].correction.curve_px == 0 &&
                older.entry[0].correction.disparity_offset_px == 0.5F);
}

/* A number that was changed, by hand or by a disk, and a correction that no estimate makes although the checksum is right. */
static void no_correction_of_a_damaged_file_is_used(void **state)
{
    (void)state;
    static struct plx_correction_history history;
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_error_message message;
    static const float impossible[][2] = {{0.0351F, 0}, {-1, 0}, {0, 4.01F}, {0, -100}};

    write_one(&base, 0.001F, 0.5F);
    assert_int_equal(plx_corrections_read(path, &history, &message), 0);
    char *text = read_text(), *digit = strstr(text, "\"columns_px\": 0.5");
    assert_non_null(digit);
    write_text(text); /* the same */
    assert_int_equal(plx_corrections_read(path, &history, &message), 0);
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    fseek(file, digit - text + 14, SEEK_SET);
    fputc('3', file); /* 3.5 px: inside the limits */
    fclose(file);
    assert_int_equal(plx_corrections_read(path, &history, &message), PLX_ERR_FORMAT);
    assert_non_null(strstr(message.text, ".json:1:1: the checksum is wrong or missing"));
    assert_non_null(strstr(message.text, "move the file away"));

    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        write_one(&base, impossible[i][0], impossible[i][1]);
        assert_int_equal(plx_corrections_read(path, &history, &message), PLX_ERR_FORMAT);
        assert_non_null(strstr(message.text, ".json:12:5: has a correction larger than any drift"));
    }
}

/* What the file said, an undo perhaps, is not known: nothing is put in force by itself, and the file is kept. */
static void after_a_damaged_file_corrections_are_proposed(void **state)
{
    (void)state;
    static struct plx_corrections corrections;
    static struct plx_correction_history history;
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_correction_evidence e = evidence(true, 0.001F, 0);
    struct plx_correction_order order = {0};
    struct plx_error_message message;
    char name[80];

    for (int i = 0; i < 3; i++) {
        unlink(path);
        if (i < 2)
            write_one(&base, 1, 0);
        else
            assert_int_equal(mkfifo(path, 0600), 0); /* is not waited for */
        open_as(&corrections, path, NULL, &base, "one");
        const struct plx_correction_store store = plx_corrections_store(&corrections);
        assert_false(store.wanted(store.context, &order));
        assert_true(order.hold);
        assert_non_null(strstr(corrections.note.text, path));
        atomic_store(&corrections.has_note, false);
        assert_int_equal(store.keep(store.context, &e), 1);
        assert_int_equal(plx_corrections_read(path, &history, &message), 0);
        assert_true(history.number == 0 && history.proposed == 1 && history.hold);
        snprintf(name, sizeof name, i == 0 ? "%s.damaged" : "%s.damaged.%d", path, i);
        assert_int_equal(access(name, F_OK), 0);
        assert_non_null(strstr(corrections.note.text, name));
    }
    write_one(&base, 1, 0);
    open_as(&corrections, path, NULL, &base, "one");
    const struct plx_correction_store store = plx_corrections_store(&corrections);
    assert_false(store.wanted(store.context, &order));
    unlink(path); /* a person has seen it */
    assert_false(store.wanted(store.context, &order));
    assert_false(order.hold);
}

/* The service decides, a person undoes, the service writes: the undo is what holds. */
static void an_undo_before_the_write_holds(void **state)
{
    (void)state;
    static struct plx_corrections corrections;
    static struct plx_correction_history history;
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_correction_evidence e = evidence(true, 0.001F, 0);
    struct plx_correction_order order = {0};
    struct plx_error_message message;

    for (int accepted = 0; accepted < 2; accepted++) {
        unlink(path);
        write_one(&base, 0.002F, 0);
        open_as(&corrections, path, NULL, &base, "one");
        const struct plx_correction_store store = plx_corrections_store(&corrections);
        order.number = 0;
        assert_true(store.wanted(store.context, &order));
        assert_int_equal(plx_corrections_read(path, &history, &message), 0);
        assert_int_equal(plx_corrections_undo(&history, true, &message), 0);
        if (accepted) /* lets corrections go on, but from another one than was in force at the decision */
            assert_int_equal(plx_corrections_accept(&history, &message), 0);
        assert_int_equal(plx_corrections_write(path, &history, &message), 0);
        e.applied = true;
        order.number = store.keep(store.context, &e);
        assert_int_equal(order.number, 2);
        assert_false(e.applied); /* the learner does not even begin */
        assert_int_equal(plx_corrections_read(path, &history, &message), 0);
        assert_true(history.number == 0 && history.proposed == 2 && history.hold == (accepted == 0));
        assert_true(store.wanted(store.context, &order)); /* the learner takes it back */
        assert_true(order.number == 0 && order.correction.pitch_rad == 0);
    }
}

/* A command that hangs while it holds the lock stops no other, and no thread of the service. */
static void nobody_waits_for_a_lock_for_ever(void **state)
{
    (void)state;
    struct plx_error_message message;
    int held, lock;

    slept_ns = 0;
    assert_int_equal(plx_corrections_lock(path, &held, &message), 0);
    assert_int_equal(slept_ns, 0);
    assert_int_equal(plx_corrections_lock(path, &lock, &message), PLX_ERR_BUSY);
    assert_int_equal(slept_ns, 5000000000);
    close(held);
    assert_int_equal(plx_corrections_lock(path, &lock, &message), 0);
    close(lock);
}

/* Who the cameras are is not known: what was learned of others, or of none, is not in force, and nothing is added to it. */
static void unknown_cameras_have_no_corrections(void **state)
{
    (void)state;
    static struct plx_corrections corrections;
    static struct plx_correction_history history;
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_correction_evidence e = evidence(true, 0.003F, 0);
    struct plx_error_message message;

    for (int of_unknown = 0; of_unknown < 2; of_unknown++) {
        struct plx_correction_order order = {0};
        plx_corrections_begin(&base, of_unknown ? "" : "one", &history);
        const struct plx_correction_evidence kept = evidence(true, 0.001F, 0);
        plx_corrections_add(&history, &kept, 1);
        assert_int_equal(plx_corrections_write(path, &history, &message), 0);
        open_as(&corrections, path, path, &base, "");
        const struct plx_correction_store store = plx_corrections_store(&corrections);
        assert_false(store.wanted(store.context, &order));
        assert_true(order.hold);
        e.applied = true;
        store.keep(store.context, &e);
        assert_false(e.applied);
        assert_int_equal(plx_corrections_read(path, &history, &message), 0);
        assert_int_equal(history.count, 1);
        open_as(&corrections, path, path, &base, "one");
        assert_int_equal(store.wanted(store.context, &order), !of_unknown);
    }
}

/* Two corrections were taken back: a new engine does not begin as if nothing had been. */
static void giving_up_outlasts_a_restart(void **state)
{
    (void)state;
    static struct plx_corrections corrections;
    static struct plx_correction_history history;
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_correction_evidence e = evidence(true, 0.001F, 0);
    struct plx_correction_order order = {0};
    struct plx_error_message message;

    for (int undone = 0; undone < 2; undone++) {
        e.applied = e.gave_up = true;
        open_as(&corrections, path, NULL, &base, "one");
        const struct plx_correction_store store = plx_corrections_store(&corrections);
        store.keep(store.context, &e);
        open_as(&corrections, path, NULL, &base, "one");
        store.wanted(store.context, &order);
        assert_true(order.off && !order.hold);
        assert_int_equal(plx_corrections_read(path, &history, &message), 0);
        assert_int_equal(undone ? plx_corrections_undo(&history, false, &message) : plx_corrections_accept(&history, &message),
                         0);
        assert_int_equal(plx_corrections_write(path, &history, &message), 0);
        store.wanted(store.context, &order);
        assert_true(!order.off && order.hold == (undone != 0));
    }
}

/* As a read-only root has it: the history is beside the socket, where the command finds it. */
static void what_cannot_be_written_is_kept_beside_the_socket(void **state)
{
    (void)state;
    static struct plx_corrections corrections;
    static struct plx_correction_history history;
    const struct plx_stereo_calibration base = calibration(500);
    struct plx_correction_evidence e = evidence(true, 0.001F, 0);
    struct plx_correction_order order = {0};
    struct plx_error_message message;
    char stand_in[PLX_CORRECTIONS_PATH];

    plx_corrections_stand_in(path, stand_in);
    open_as(&corrections, "/nowhere/at/all.json", path, &base, "one");
    struct plx_correction_store store = plx_corrections_store(&corrections);
    assert_false(store.wanted(store.context, &order));
    order.number = store.keep(store.context, &e);
    assert_int_equal(plx_corrections_read(stand_in, &history, &message), 0);
    assert_int_equal(history.number, 1);
    assert_int_equal(plx_corrections_undo(&history, false, &message), 0);
    assert_int_equal(plx_corrections_write(stand_in, &history, &message), 0);
    assert_true(store.wanted(store.context, &order));
    assert_true(order.number == 0 && order.hold);

    plx_corrections_remove_stand_in(path); /* a command that cannot write to the history makes it */
    write_one(&base, 0.001F, 0);
    open_as(&corrections, path, path, &base, "one");
    store = plx_corrections_store(&corrections);
    assert_true(store.wanted(store.context, &order));
    assert_int_equal(plx_corrections_write(stand_in, &history, &message), 0);
    assert_true(store.wanted(store.context, &order));
    assert_true(order.number == 0 && order.hold);

    plx_corrections_remove_stand_in(path);
    open_as(&corrections, "", path, &base, "one"); /* so too where no file is named: an undo needs it */
    store = plx_corrections_store(&corrections);
    e.applied = true;
    assert_int_equal(store.keep(store.context, &e), 1);
    assert_int_equal(plx_corrections_read(stand_in, &history, &message), 0);
}

/* A command of root writes where the service's user can plant links. */
static void no_planted_link_is_followed(void **state)
{
    (void)state;
    const struct plx_stereo_calibration base = calibration(500);
    const struct plx_correction_evidence e = evidence(true, 0.001F, 0);
    static const char *const names[] = {"", ".new", ".lock", ".1.svg"};
    struct plx_error_message message;
    char victim[80], name[80];
    struct stat about;
    int lock;

    snprintf(victim, sizeof victim, "%s.victim", path);
    FILE *file = fopen(victim, "we");
    assert_non_null(file);
    assert_true(fputs("mine", file) >= 0 && fclose(file) == 0 && chmod(victim, 0600) == 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s%s", path, names[i]);
        assert_int_equal(symlink(victim, name), 0);
    }
    assert_true(plx_corrections_lock(path, &lock, &message) < 0);
    assert_non_null(strstr(message.text, ".lock: cannot be opened as a regular file"));
    write_one(&base, 0.001F, 0);
    assert_int_equal(plx_residuals_write(name, &e, &message), PLX_ERR_IO);
    assert_int_equal(stat(victim, &about), 0);
    assert_true(about.st_size == 4 && (about.st_mode & 07777) == 0600);
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISREG(about.st_mode));
}

/* A full disk: a small picture fails when it is closed, a large one while it is written. */
static void a_picture_that_is_not_whole_is_an_error(void **state)
{
    (void)state;
    static struct plx_row_match many[1000];
    struct plx_correction_evidence e = evidence(true, 0.001F, 0);
    struct plx_error_message message = {""};
    assert_int_equal(plx_residuals_write("/nowhere/at/all.svg", &e, &message), PLX_ERR_IO);
    assert_string_equal(message.text, "/nowhere/at/all.svg: No such file or directory");
    message.text[0] = '\0';
    assert_int_equal(plx_residuals_write("/dev/full", &e, &message), PLX_ERR_IO);
    assert_string_equal(message.text, "/dev/full: No space left on device");
    e.match = many;
    e.matches = sizeof many / sizeof *many;
    closes_well = true;
    const int result = plx_residuals_write("/dev/full", &e, &message);
    closes_well = false;
    assert_int_equal(result, PLX_ERR_IO);
    assert_int_equal(plx_residuals_write(path, &e, &message), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(accept_and_undo, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_refused_with_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_service_follows_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_curve_is_kept_and_older_files_lack_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_correction_of_a_damaged_file_is_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(after_a_damaged_file_corrections_are_proposed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_undo_before_the_write_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_kept_beside_the_socket, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_waits_for_a_lock_for_ever, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_cameras_have_no_corrections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(giving_up_outlasts_a_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_planted_link_is_followed, set_up, tear_down),
        cmocka_unit_test(without_a_file_it_counts_all_the_same),
        cmocka_unit_test_setup_teardown(a_picture_that_is_not_whole_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
