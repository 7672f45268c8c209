/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `parallax doctor`: each looks at one thing and fills a finding, which begins with zeros. */
#ifndef PLX_APP_DOCTOR_CHECK_H
#define PLX_APP_DOCTOR_CHECK_H

#include <sys/types.h>

#include "app/doctor/doctor.h"
#include "app/view/status.h"
#include "config/config.h"
#include "core/base/text.h"

/* What all checks look at, read once. */
struct doctor_subject {
    const char *root;
    bool all;

    const char *config_path;
    bool config_is_default;                  /* the command line names none */
    int config_error;                        /* 0, or the plx_error of reading the file */
    struct plx_error_message config_message; /* what that error says */
    struct plx_config file;                  /* defaults after an error */

    const char *socket_path;
    int connection;           /* 0, or the plx_error of plx_connect */
    bool has_config_in_force; /* the service told it */
    struct plx_config config; /* in force; without a service that of the file */
    struct plx_status status; /* zeros without a service */
    pid_t service;            /* process of the supervisor; 0: not known */

    int clock_status; /* STA_ bits of adjtimex, negative: not known */
};

void doctor_subject_read(const struct doctor_request *request, struct doctor_subject *ret_subject); /* subject.c */

/* Whether CONFIG can be relied on: the service told it, or the file was read. Else sets FINDING to unknown. */
bool doctor_knows_config(const struct doctor_subject *subject, struct doctor_finding *finding);

/* Whether there is a frame of a running service. Else sets FINDING to unknown. */
bool doctor_has_frame(const struct doctor_subject *subject, struct doctor_finding *finding);

/* Whether pictures come from cameras, in FRAME or by the configuration. Else sets FINDING to not applicable, or unknown. */
bool doctor_uses_cameras(const struct doctor_subject *subject, struct doctor_finding *finding);

/* --- for checks: the state becomes the worst that was found, and texts are added to those before --------------------- */

__attribute__((format(printf, 3, 4))) void doctor_find(struct doctor_finding *finding, enum doctor_state state,
                                                       const char *format, ...);
__attribute__((format(printf, 2, 3))) void doctor_advise(struct doctor_finding *finding, const char *format, ...);

/* --- the checks, by file ---------------------------------------------------------------------------------------------- */

void doctor_check_configuration(const struct doctor_subject *subject, struct doctor_finding *finding); /* configuration.c */
void doctor_check_calibration(const struct doctor_subject *subject, struct doctor_finding *finding);   /* configuration.c */
void doctor_check_socket(const struct doctor_subject *subject, struct doctor_finding *finding);        /* service.c */
void doctor_check_service(const struct doctor_subject *subject, struct doctor_finding *finding);       /* service.c */
void doctor_check_cameras(const struct doctor_subject *subject, struct doctor_finding *finding);       /* cameras.c */
void doctor_check_pictures(const struct doctor_subject *subject, struct doctor_finding *finding);      /* pictures.c */
void doctor_check_camera_clock(const struct doctor_subject *subject, struct doctor_finding *finding);  /* pictures.c */
void doctor_check_drift(const struct doctor_subject *subject, struct doctor_finding *finding);         /* pictures.c */
void doctor_check_gpu(const struct doctor_subject *subject, struct doctor_finding *finding);           /* machine.c */
void doctor_check_clock(const struct doctor_subject *subject, struct doctor_finding *finding);         /* machine.c */
void doctor_check_network(const struct doctor_subject *subject, struct doctor_finding *finding);       /* machine.c */
void doctor_check_jetson(const struct doctor_subject *subject, struct doctor_finding *finding);        /* machine.c */
void doctor_check_memory(const struct doctor_subject *subject, struct doctor_finding *finding);        /* latency.c */
void doctor_check_priority(const struct doctor_subject *subject, struct doctor_finding *finding);      /* latency.c */
void doctor_check_processors(const struct doctor_subject *subject, struct doctor_finding *finding);    /* latency.c */

#endif
