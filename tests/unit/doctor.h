/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up machine for the checks of `parallax doctor`: a folder of files, and what the service would have said. */
#ifndef PLX_TESTS_UNIT_DOCTOR_H
#define PLX_TESTS_UNIT_DOCTOR_H

#include "tests/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/doctor/check.h"

static char root_[64];
static struct doctor_subject subject_; /* large */
static struct doctor_finding finding_;

/* The file NAME below the root now has this TEXT. */
static inline void write_file(const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", root_, name);
    for (char *slash = strchr(path + strlen(root_) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* An empty machine, the default configuration from a file that was read, and a service that runs on cameras without a fault. */
static inline int doctor_begin(void **state)
{
    (void)state;
    memset(&subject_, 0, sizeof subject_);
    snprintf(root_, sizeof root_, "/tmp/plx-doctor-XXXXXX");
    if (!mkdtemp(root_))
        return -1;
    subject_.root = root_;
    subject_.config_path = "parallax.yaml";
    subject_.socket_path = "/run/parallax/parallax.sock";
    plx_config_default(&subject_.file);
    subject_.file.source.type = PLX_SOURCE_V4L2;
    subject_.config = subject_.file;
    subject_.has_config_in_force = true;
    subject_.status.up = subject_.status.any = subject_.status.fresh = true;
    subject_.status.state = PLX_STATE_RUNNING;
    subject_.status.frame.source = PLX_SOURCE_V4L2;
    subject_.status.frame.sequence = 100000;
    subject_.status.frame.width = 640;
    subject_.status.frame.height = 480;
    return 0;
}

static inline int doctor_end(void **state)
{
    char command[96];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root_);
    return system(command);
}

/* No service answers, so that the configuration is that of the file. */
static inline void stop_service(void)
{
    subject_.connection = PLX_ERR_NOT_FOUND;
    subject_.has_config_in_force = false;
    memset(&subject_.status, 0, sizeof subject_.status);
    subject_.service = 0;
}

typedef void doctor_check(const struct doctor_subject *subject, struct doctor_finding *finding);

/* CHECK comes to STATE, finds FOUND and advises ADVICE, parts of the texts; NULL: no advice at all. */
static inline void expect(doctor_check *check, enum doctor_state state, const char *found, const char *advice)
{
    memset(&finding_, 0, sizeof finding_);
    check(&subject_, &finding_);
    if (finding_.state != state || !strstr(finding_.found, found))
        fail_msg("%s: %s; expected %s: %s", doctor_state_word(finding_.state), finding_.found, doctor_state_word(state), found);
    if (advice ? !strstr(finding_.advice, advice) : finding_.advice[0] != '\0')
        fail_msg("advice: %s; expected %s", finding_.advice, advice ? advice : "none");
}

#define DOCTOR_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, doctor_begin, doctor_end)

#endif
