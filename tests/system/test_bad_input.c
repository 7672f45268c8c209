/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input: a documented exit code and one clear line, a row a case. `@` in an argument is the case's directory. */
#include "tests/system/daemon.h"

#include <png.h>

#include "app/exit.h"

#define WIDTH 96
#define HEIGHT 64

static struct daemon daemon_;

/* --- the bad things ---------------------------------------------------------------------------------------------- */

static void write_picture(const char *name, int width, long keep_bytes)
{
    static uint8_t pixels[HEIGHT][WIDTH];
    char path[256];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)width, .height = HEIGHT, .format = PNG_FORMAT_GRAY};

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            pixels[y][x] = (uint8_t)(x * 37 ^ y * 61);
    snprintf(path, sizeof path, "%s/%s", daemon_.directory, name);
    assert_true(png_image_write_to_file(&image, path, 0, pixels, WIDTH, NULL));
    if (keep_bytes > 0)
        assert_int_equal(truncate(path, keep_bytes), 0);
}

static void make_directory(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", daemon_.directory, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* A KITTI-style directory with a calibration for WIDTH x HEIGHT. */
static void make_pairs(const char *name, int right_width, long keep_bytes)
{
    char path[128];
    static const char *const sides[] = {"", "/image_0", "/image_1"};

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", name, sides[i]);
        make_directory(path);
    }
    snprintf(path, sizeof path, "%s/image_0/000000.png", name);
    write_picture(path, WIDTH, 0);
    snprintf(path, sizeof path, "%s/image_1/000000.png", name);
    write_picture(path, right_width, keep_bytes);
    snprintf(path, sizeof path, "%s/times.txt", name);
    write_text(daemon_.directory, path, "0.0\n");
    snprintf(path, sizeof path, "%s/calib.txt", name);
    write_text(daemon_.directory, path,
               "P0: 80 0 48 0 0 80 32 0 0 0 1 0\n"
               "P1: 80 0 48 -8 0 80 32 0 0 0 1 0\n");
}

/* OpenCV's FileStorage, with focal length F and translation T along x. */
static void write_calibration(const char *name, const char *f, const char *t)
{
    char text[2048];
    snprintf(text, sizeof text,
             "%%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\n"
             "M1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [ %s, 0., 320., 0., %s, 240., 0., 0., 1. ]\n"
             "D1: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n   data: [ 0., 0., 0., 0., 0. ]\n"
             "M2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [ %s, 0., 320., 0., %s, 240., 0., 0., 1. ]\n"
             "D2: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n   data: [ 0., 0., 0., 0., 0. ]\n"
             "R: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]\n"
             "T: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n   data: [ %s, 0., 0. ]\n",
             f, f, f, f, t);
    write_text(daemon_.directory, name, text);
}

/* A configuration with two cameras; RIGHT may be "@link", a link to /dev/null, which stands for a camera. */
static void write_cameras(const char *name, const char *left, const char *right)
{
    char text[512], link[256];
    snprintf(link, sizeof link, "%s/link", daemon_.directory);
    if (strcmp(right, "@link") == 0) {
        assert_int_equal(symlink("/dev/null", link), 0);
        right = link;
    }
    snprintf(text, sizeof text, "source:\n  type: v4l2\n  left: %s\n  right: %s\n", left, right);
    write_text(daemon_.directory, name, text);
}

static int make_bad_things(void **state)
{
    (void)state;
    daemon_make(&daemon_);
    write_text(daemon_.directory, "unknown.yaml", "match:\n  pahts: 4\n");
    write_text(daemon_.directory, "empty.yaml", "");
    write_text(daemon_.directory, "range.yaml", "publish:\n  slots: 3\n");
    write_text(daemon_.directory, "syntax.yaml", "match: [\n");
    write_cameras("same.yaml", "card=a", "card=a");
    write_cameras("links.yaml", "/dev/null", "@link");
    write_text(daemon_.directory, "mjpeg.yaml", "source:\n  type: v4l2\n  format: MJPEG\n  left: card=a\n");
    write_text(daemon_.directory, "number.yaml", "source:\n  type: v4l2\n  left: /dev/video0\n");
    write_calibration("zero.yaml", "500.", "0.");
    write_calibration("negative.yaml", "-500.", "-0.1");
    write_calibration("infinite.yaml", ".inf", "-0.1");
    write_calibration("good.yaml", "500.", "-0.1");
    write_text(daemon_.directory, "nonsense.yaml", "this is no calibration\n");
    make_pairs("pairs", WIDTH, 0);
    make_pairs("truncated", WIDTH, 200);
    make_pairs("unlike", WIDTH / 2, 0);
    make_directory("locked");
    return 0;
}

static int remove_bad_things(void **state)
{
    (void)state;
    daemon_remove(&daemon_);
    return 0;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

static const struct bad {
    const char *name;
    const char *args[10];
    int exit_code;
    const char *says; /* part of the line */
} table[] = {
    {"unknown option", {"--colour"}, PLX_EXIT_USAGE, "colour"},
    {"argument without --", {"frames"}, PLX_EXIT_USAGE, "--help"},
    {"missing configuration", {"--config", "@/none.yaml"}, PLX_EXIT_NO_INPUT, "none.yaml"},
    {"unknown key", {"--config", "@/unknown.yaml"}, PLX_EXIT_CONFIG, "unknown.yaml:2:3"},
    {"number out of range", {"--config", "@/range.yaml"}, PLX_EXIT_CONFIG, "range.yaml:2:"},
    {"broken YAML", {"--config", "@/syntax.yaml"}, PLX_EXIT_CONFIG, "syntax.yaml:"},
    {"check of a wrong file", {"--check-config", "@/unknown.yaml"}, PLX_EXIT_CONFIG, "match.paths"},
    {"check with a missing calibration",
     {"--check-config", "@/empty.yaml", "--set", "calibration=@/none.yaml"},
     PLX_EXIT_NO_INPUT,
     "none.yaml"},
    {"check with a wrong calibration",
     {"--check-config", "@/empty.yaml", "--set", "calibration=@/zero.yaml"},
     PLX_EXIT_CONFIG,
     "baseline"},
    {"unknown key on the command line", {"--set", "match.pahts=4"}, PLX_EXIT_CONFIG, "match.paths"},
    {"D larger than the width",
     {"--set", "source.width=100", "--set", "match.disparities=128"},
     PLX_EXIT_CONFIG,
     "width of 100 pixels"},
    {"no cameras here", {"--set", "source.type=v4l2"}, PLX_EXIT_CONFIG, "v4l2"},
    {"one camera for both eyes",
     {"--check-config", "@/same.yaml"},
     PLX_EXIT_CONFIG,
     "same.yaml:4:10: source.right is the same"},
    {"two links to one camera",
     {"--check-config", "@/links.yaml"},
     PLX_EXIT_CONFIG,
     "links.yaml:4:10: source.right is the same"},
    {"a start with one camera for both eyes",
     {"--config", "@/links.yaml"},
     PLX_EXIT_CONFIG,
     "links.yaml:4:10: source.right is"},
    {"a format that V4L2 does not have",
     {"--check-config", "@/mjpeg.yaml"},
     PLX_EXIT_CONFIG,
     "mjpeg.yaml:3:11: source.format is \"MJPEG\"; expected nothing, or one of GREY Y10 Y12 Y16 NV12"},
    {"a name of a format that is in use elsewhere",
     {"--check-config", "@/empty.yaml", "--set", "source.type=v4l2", "--set", "source.left=card=a", "--set",
      "source.format=RAW10"},
     PLX_EXIT_CONFIG,
     "source.format is \"RAW10\""},
    {"a camera by its number", {"--check-config", "@/number.yaml"}, PLX_EXIT_CONFIG, "number.yaml:3:9: camera \"/dev/video0\""},
    {"missing calibration", {"--set", "calibration=@/none.yaml"}, PLX_EXIT_NO_INPUT, "none.yaml"},
    {"no calibration at all", {"--set", "calibration=@/nonsense.yaml"}, PLX_EXIT_CONFIG, "nonsense.yaml"},
    {"zero baseline", {"--set", "calibration=@/zero.yaml"}, PLX_EXIT_CONFIG, "baseline"},
    {"negative focal length", {"--set", "calibration=@/negative.yaml"}, PLX_EXIT_CONFIG, "focal"},
    {"infinite focal length", {"--set", "calibration=@/infinite.yaml"}, PLX_EXIT_CONFIG, "infinite.yaml"},
    {"calibration of another size",
     {"--set", "calibration=@/good.yaml", "--set", "source.width=320", "--set", "source.height=240"},
     PLX_EXIT_CONFIG,
     "640 x 480 pixels, the source gives 320 x 240; let the source give that size"},
    {"obstacles out of the searched range",
     {"--set", "match.min_disparity=250", "--set", "obstacles.range_min_m=50", "--set", "obstacles.range_max_m=60"},
     PLX_EXIT_CONFIG,
     "obstacles"},
    {"replay without a path", {"--set", "source.type=replay"}, PLX_EXIT_CONFIG, "source.path"},
    {"no such replay directory",
     {"--set", "source.type=replay", "--set", "source.path=@/nowhere"},
     PLX_EXIT_NO_INPUT,
     "nowhere"},
    {"truncated PNG",
     {"--set", "source.type=replay", "--set", "source.path=@/truncated", "--set", "match.disparities=64"},
     PLX_EXIT_DATA,
     "truncated/image_1/000000.png"},
    {"left and right of different size",
     {"--set", "source.type=replay", "--set", "source.path=@/unlike", "--set", "match.disparities=64"},
     PLX_EXIT_DATA,
     "unlike/image_1/000000.png"},
    {"no directory for the socket", {"--set", "publish.socket=@/nowhere/s"}, PLX_EXIT_NO_INPUT, "nowhere"},
    {"no such group", {"--set", "publish.group=no-such-group"}, PLX_EXIT_NO_INPUT, "no-such-group"},
    {"no such user", {"--set", "motion.hint_user=no-such-user"}, PLX_EXIT_NO_INPUT, "no-such-user"},
};

static const char *replace_at(const char *arg, char *buffer, size_t size)
{
    const char *at = strchr(arg, '@');
    if (!at)
        return arg;
    snprintf(buffer, size, "%.*s%s%s", (int)(at - arg), arg, daemon_.directory, at + 1);
    return buffer;
}

/* Warnings about the machine, not the input: most of these runs have no configuration file, and a user may have a memory limit.
 */
static const char *const warnings[] = {"the pictures are simulated\n", "memory is not locked"};

/* Runs parallaxd with ARGS and checks its end: EXIT_CODE, and besides warnings one line with SAYS in it. */
static void check_end(const char *const *args, int exit_code, const char *says)
{
    char buffer[10][256];
    const char *real[11] = {NULL};

    for (int i = 0; i < 10 && args[i]; i++)
        real[i] = replace_at(args[i], buffer[i], sizeof buffer[i]);
    unlink(daemon_.log);
    daemon_start(&daemon_, real);
    int code = daemon_wait(&daemon_, 20000);
    const char *said = daemon_said(&daemon_);
    for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++) {
        const char *warning = strstr(said, warnings[i]);
        if (warning && strchr(warning, '\n'))
            said = strchr(warning, '\n') + 1;
    }
    const char *newline = strchr(said, '\n');
    if (code != exit_code || !strstr(said, says) || !newline || newline[1] != '\0')
        fail_msg("exit code %d, expected %d; said:\n%s\nexpected one line with: %s", code, exit_code, said, says);
}

static void bad_input_ends_with_its_code_and_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        print_message("    %s\n", table[i].name);
        check_end(table[i].args, table[i].exit_code, table[i].says);
    }
}

static void no_gpu(void **state)
{
    (void)state;
    static const char *const args[] = {"--set", "backend=gpu", NULL};

    assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0); /* none, whatever this machine has */
    check_end(args, PLX_EXIT_CONFIG, "backend is gpu");
    unsetenv("CUDA_VISIBLE_DEVICES");
}

static void no_permission_for_the_socket(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* needs a second user */
    char path[96];
    const char *const args[10] = {"--set", "publish.socket=@/locked/s"};

    assert_int_equal(chmod(daemon_.directory, 0777), 0);
    snprintf(path, sizeof path, "%s/locked", daemon_.directory);
    assert_int_equal(chmod(path, 0755), 0);
    daemon_.user = 65534; /* nobody */
    check_end(args, PLX_EXIT_PERMISSION, "locked");
    daemon_.user = 0;
}

static void two_daemons_at_once(void **state)
{
    (void)state;
    static const char *const small[] = {"--set", "source.width=160",     "--set", "source.height=120",
                                        "--set", "match.disparities=64", NULL};
    struct daemon first = daemon_;
    snprintf(first.log, sizeof first.log, "%s/first", daemon_.directory);
    daemon_start(&first, small);
    for (int i = 0; i < 1000 && access(first.socket, F_OK) != 0; i++)
        usleep(10000);

    check_end(small, PLX_EXIT_BUSY, "another daemon");
    kill(first.pid, SIGTERM);
    assert_int_equal(daemon_wait(&first, 2000), 0); /* undisturbed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_input_ends_with_its_code_and_one_line),
        cmocka_unit_test(no_gpu),
        cmocka_unit_test(no_permission_for_the_socket),
        cmocka_unit_test(two_daemons_at_once),
    };
    return cmocka_run_group_tests(tests, make_bad_things, remove_bad_things);
}
