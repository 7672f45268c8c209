/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `parallax doctor` that look at configuration, service, cameras and pictures. */
#include "tests/unit/doctor.h"

#include <parallax/error.h>

#include "app/exit.h"

static void configuration_is_read_and_judged(void **state)
{
    (void)state;
    expect(doctor_check_configuration, DOCTOR_GOOD, "parallax.yaml has no errors", NULL);
    subject_.config.publish.slots = subject_.file.publish.slots + 1;
    expect(doctor_check_configuration, DOCTOR_DOUBTFUL, "other values than the file", "systemctl reload parallaxd");
    subject_.config = subject_.file;
    subject_.config.source.type = PLX_SOURCE_REPLAY;
    expect(doctor_check_configuration, DOCTOR_DOUBTFUL, "source.type is replay", "parallax cameras");
    subject_.config = subject_.file;
    subject_.config.blackbox.directory[0] = '\0';
    expect(doctor_check_configuration, DOCTOR_DOUBTFUL, "blackbox.directory is empty", "remove the key");
    subject_.config = subject_.file;
    subject_.config.source.noise += 1;
    expect(doctor_check_configuration, DOCTOR_DOUBTFUL, "1 expert keys differ from their defaults (source.noise_levels)",
           "measured");
}

static void configuration_cannot_be_read(void **state)
{
    (void)state;
    stop_service();
    subject_.config_error = PLX_ERR_FORMAT;
    plx_say(&subject_.config_message, "parallax.yaml:3:1: unknown key nonsense");
    expect(doctor_check_configuration, DOCTOR_BAD, "unknown key nonsense", "parallaxd --check-config parallax.yaml");
    subject_.config_error = PLX_ERR_PERMISSION;
    expect(doctor_check_configuration, DOCTOR_UNKNOWN, "parallax.yaml", "sudo parallax doctor");
    subject_.config_error = PLX_ERR_NOT_FOUND;
    expect(doctor_check_configuration, DOCTOR_BAD, "parallax.yaml", "--config");
    subject_.config_is_default = true;
    expect(doctor_check_configuration, DOCTOR_DOUBTFUL, "does not start without one", "sudo cp ");
    /* then nothing that depends on it is good */
    expect(doctor_check_cameras, DOCTOR_UNKNOWN, "no configuration", NULL);
    expect(doctor_check_calibration, DOCTOR_UNKNOWN, "no configuration", NULL);
    expect(doctor_check_priority, DOCTOR_UNKNOWN, "no configuration", NULL);
}

static void socket_says_why_it_refuses(void **state)
{
    (void)state;
    expect(doctor_check_socket, DOCTOR_GOOD, "a place is left", NULL);
    stop_service();
    expect(doctor_check_socket, DOCTOR_DOUBTFUL, "no service answers", "systemctl enable --now parallaxd");
    subject_.connection = PLX_ERR_PERMISSION;
    expect(doctor_check_socket, DOCTOR_BAD, "may not connect", "sudo usermod -aG ");
    subject_.connection = PLX_ERR_BUSY;
    expect(doctor_check_socket, DOCTOR_BAD, "no place left", "publish.max_clients");
    subject_.connection = PLX_ERR_VERSION;
    expect(doctor_check_socket, DOCTOR_BAD, "different versions", "one version");
    subject_.connection = PLX_ERR_IO; /* a new error of the library has words as well */
    expect(doctor_check_socket, DOCTOR_BAD, plx_strerror(PLX_ERR_IO), NULL);
    subject_.connection = PLX_ERR_NOT_FOUND;
    snprintf(subject_.file.publish.socket, sizeof subject_.file.publish.socket, "/run/other.sock");
    expect(doctor_check_socket, DOCTOR_DOUBTFUL, "publish.socket is /run/other.sock", "export PARALLAX_SOCKET=/run/other.sock");
}

static void service_has_flags_and_restarts(void **state)
{
    (void)state;
    expect(doctor_check_service, DOCTOR_GOOD, "the state is running", NULL);
    subject_.status.state = PLX_STATE_DEGRADED;
    subject_.status.health = PLX_HEALTH_HOT | PLX_HEALTH_DARK;
    expect(doctor_check_service, DOCTOR_DOUBTFUL, "the state is degraded\ntoo dark or covered\ntoo hot", "Check its cooling.");
    subject_.status.state = PLX_STATE_FAILED;
    expect(doctor_check_service, DOCTOR_BAD, "the state is failed", "cooling");
    subject_.status.state = PLX_STATE_RUNNING;
    subject_.status.health = 0;
    subject_.status.restarts = 2;
    expect(doctor_check_service, DOCTOR_DOUBTFUL, "2 engines died", "journalctl -u parallaxd");
    stop_service();
    expect(doctor_check_service, DOCTOR_UNKNOWN, "no service answers", NULL);
}

static void cameras_that_are_missing_are_bad(void **state)
{
    (void)state;
    struct plx_camera_options *cameras = &subject_.config.source.cameras;
    snprintf(cameras->camera[PLX_LEFT], sizeof cameras->camera[PLX_LEFT], "card=no such camera");
    snprintf(cameras->camera[PLX_RIGHT], sizeof cameras->camera[PLX_RIGHT], "card=nor such a one");
    expect(doctor_check_cameras, DOCTOR_BAD, "left: ", "compare source.left");
    assert_non_null(strstr(finding_.advice, "compare source.right"));
    subject_.status.frame.source = PLX_SOURCE_SYNTHETIC;
    expect(doctor_check_cameras, DOCTOR_NOT_APPLICABLE, "source.type is synthetic", NULL);
    expect(doctor_check_pictures, DOCTOR_NOT_APPLICABLE, "source.type is synthetic", NULL);
}

static void pictures_are_lost_by_one_camera_or_both(void **state)
{
    (void)state;
    struct plx_capture_info *capture = subject_.status.frame.capture;
    capture[PLX_LEFT].dropped = 100;
    expect(doctor_check_pictures, DOCTOR_GOOD, "100 left and 0 right pictures lost", NULL);
    capture[PLX_LEFT].dropped = 101;
    expect(doctor_check_pictures, DOCTOR_DOUBTFUL, "101 left", "only the left camera");
    capture[PLX_RIGHT].dropped = 500;
    expect(doctor_check_pictures, DOCTOR_DOUBTFUL, "500 right", "both cameras");
    subject_.status.health = PLX_HEALTH_DESYNC | PLX_HEALTH_HOT; /* heat is no fault of the cameras */
    expect(doctor_check_pictures, DOCTOR_BAD, "not taken at the same time", "trigger");
    assert_null(strstr(finding_.found, "hot"));
    stop_service();
    expect(doctor_check_pictures, DOCTOR_UNKNOWN, "no service answers", NULL);
}

static void camera_clock_and_skew(void **state)
{
    (void)state;
    struct plx_frame *frame = &subject_.status.frame;
    frame->skew_ns = -1000000;
    expect(doctor_check_camera_clock, DOCTOR_GOOD, "left monotonic\nright monotonic\nright -1.000 ms after left", NULL);
    frame->skew_ns = -1000001;
    expect(doctor_check_camera_clock, DOCTOR_DOUBTFUL, "ms after left", "trigger both cameras");
    frame->skew_ns = 0;
    frame->capture[PLX_LEFT].clock = PLX_CLOCK_REALTIME;
    expect(doctor_check_camera_clock, DOCTOR_DOUBTFUL, "left realtime", "time of day");
    stop_service();
    expect(doctor_check_camera_clock, DOCTOR_UNKNOWN, "no service answers", NULL);
}

/* The thresholds are those of docs/drift.md. */
static void drift_is_measured_before_it_is_good(void **state)
{
    (void)state;
    struct plx_frame *frame = &subject_.status.frame;
    frame->calibration = (struct plx_calibration_info){.fx = 500, .fy = 500, .cx = 320, .cx_right = 320, .baseline_m = 0.1};
    expect(doctor_check_drift, DOCTOR_UNKNOWN, "not measured", "drive");
    frame->drift.matches = 500;
    frame->drift.max_epipolar_error_px = 0.9F;
    expect(doctor_check_drift, DOCTOR_UNKNOWN, "rows match", "drive");
    frame->drift.disparity_offset_deviation_px = 0.05F;
    expect(doctor_check_drift, DOCTOR_GOOD, "no offset is certain", NULL);
    frame->drift.max_epipolar_error_px = 1.1F;
    expect(doctor_check_drift, DOCTOR_BAD, "1.1 px off", "parallax calibrate");
    frame->drift.max_epipolar_error_px = 0.1F;
    frame->drift.disparity_offset_px = 0.3F;
    expect(doctor_check_drift, DOCTOR_BAD, "too long at 10 m", "parallax calibrate");
    stop_service();
    expect(doctor_check_drift, DOCTOR_UNKNOWN, "no service answers", NULL);
}

static void calibration_is_there_and_can_be_read(void **state)
{
    (void)state;
    char *path = subject_.config.calibration;
    expect(doctor_check_calibration, DOCTOR_BAD, "there is none", "calibrate");
    snprintf(path, sizeof subject_.config.calibration, "%s/stereo.yaml", root_);
    expect(doctor_check_calibration, DOCTOR_BAD, "stereo.yaml", "calibrate again");
    write_file("stereo.yaml", "nonsense\n");
    expect(doctor_check_calibration, DOCTOR_BAD, "stereo.yaml", "calibrate again");
    static struct plx_stereo_calibration calibration; /* large */
    const struct plx_calibration_info info = {.fx = 500, .fy = 500, .cx = 320, .cy = 240, .cx_right = 320, .baseline_m = 0.1};
    plx_calibration_pinhole(640, 480, &info, &calibration);
    assert_int_equal(plx_calibration_save(path, &calibration, NULL), 0);
    expect(doctor_check_calibration, DOCTOR_GOOD, "is 0 days old", NULL);
    subject_.config.source.type = PLX_SOURCE_SYNTHETIC;
    path[0] = '\0';
    expect(doctor_check_calibration, DOCTOR_NOT_APPLICABLE, "its own", NULL);
    subject_.config.source.type = PLX_SOURCE_REPLAY;
    stop_service();
    expect(doctor_check_calibration, DOCTOR_UNKNOWN, "only a running service", NULL);
}

static void worst_state_is_the_exit_code(void **state)
{
    (void)state;
    struct doctor_row row[DOCTOR_ROWS] = {{.name = "configuration"}};
    assert_int_equal(doctor_exit_code(doctor_worst(row)), PLX_EXIT_OK);
    row[3].finding.state = DOCTOR_GOOD;
    assert_int_equal(doctor_exit_code(doctor_worst(row)), PLX_EXIT_OK);
    row[5].finding.state = DOCTOR_UNKNOWN; /* never taken for good */
    assert_int_equal(doctor_exit_code(doctor_worst(row)), PLX_EXIT_DOUBT);
    row[2].finding.state = DOCTOR_DOUBTFUL;
    assert_int_equal(doctor_exit_code(doctor_worst(row)), PLX_EXIT_DOUBT);
    row[DOCTOR_ROWS - 1].finding.state = DOCTOR_BAD;
    assert_int_equal(doctor_exit_code(doctor_worst(row)), PLX_EXIT_FAILURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(configuration_is_read_and_judged),
        DOCTOR_TEST(configuration_cannot_be_read),
        DOCTOR_TEST(socket_says_why_it_refuses),
        DOCTOR_TEST(service_has_flags_and_restarts),
        DOCTOR_TEST(cameras_that_are_missing_are_bad),
        DOCTOR_TEST(pictures_are_lost_by_one_camera_or_both),
        DOCTOR_TEST(camera_clock_and_skew),
        DOCTOR_TEST(drift_is_measured_before_it_is_good),
        DOCTOR_TEST(calibration_is_there_and_can_be_read),
        DOCTOR_TEST(worst_state_is_the_exit_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
