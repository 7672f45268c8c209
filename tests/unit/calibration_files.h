/* SPDX-License-Identifier: Apache-2.0 */
/* Two scratch files for calibrations, and the expected results of reading them. */
#ifndef PLX_TESTS_CALIBRATION_FILES_H
#define PLX_TESTS_CALIBRATION_FILES_H

#include <parallax/error.h>

#include "config/config.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"
#include "tests/unit/calibration_texts.h"

static struct scratch file, second;
static char both[300]; /* "file,second" */
static const struct plx_calibration_options metres = {.scale = 1};

static inline int setup(void **state)
{
    (void)state;
    if (scratch_begin(&file, "a.yaml") < 0 || scratch_begin(&second, "b.yaml") < 0)
        return -1;
    snprintf(both, sizeof both, "%s,%s", file.path, second.path);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    scratch_end(&file);
    scratch_end(&second);
    return 0;
}

static inline void write_text(const struct scratch *to, const char *text)
{
    assert_int_equal(scratch_write(to, text, strlen(text)), 0);
}

/* TEXT with the first FIND replaced by REPLACE; good until the call after the next. */
static inline const char *edited(const char *text, const char *find, const char *replace)
{
    static char buffer[2][8192];
    static int turns;
    char *result = buffer[turns++ % 2], *end = result;
    const char *at = strstr(text, find);
    if (!at) {
        fail_msg("the test looks for \"%s\", which is not there", find);
        return text;
    }
    assert_true(strlen(text) + strlen(replace) < sizeof buffer[0]);
    end = mempcpy(end, text, (size_t)(at - text));
    end = stpcpy(end, replace);
    stpcpy(end, at + strlen(find)); /* not snprintf: gcc 11 takes the two buffers for one */
    return result;
}

/* Reading PATH fails with ERROR, a sentence that begins with the path of WHERE and SENTENCE, and leaves the result alone. */
static inline void assert_refused(const char *path, const struct scratch *where, int error, const char *sentence)
{
    static struct plx_stereo_calibration calibration, before;
    struct plx_error_message message = {""};
    char expected[sizeof message.text];
    memset(&calibration, 0x5A, sizeof calibration);
    memset(&before, 0x5A, sizeof before);
    int result = plx_calibration_read(path, &metres, &calibration, &message);
    snprintf(expected, sizeof expected, "%s%s", where ? where->path : both, sentence);
    if (result != error || strncmp(message.text, expected, strlen(expected)) != 0)
        fail_msg("%d \"%s\", not %d \"%s\"", result, message.text, error, expected);
    assert_memory_equal(&calibration, &before, sizeof calibration);
}

#endif
