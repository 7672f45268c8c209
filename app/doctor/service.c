/* SPDX-License-Identifier: Apache-2.0 */
/* The running service: whether this user reaches it, and what it says of itself. */
#include <grp.h>
#include <string.h>
#include <sys/stat.h>

#include <parallax/error.h>
#include <parallax/words.h>

#include "app/doctor/check.h"
#include "core/base/words.h"

/* The state and words for each error of plx_connect. */
static const struct refusal {
    int error;
    enum doctor_state state;
    const char *found, *advice; /* NULL: it depends on the socket */
} refusals[] = {
    {PLX_ERR_NOT_FOUND, DOCTOR_DOUBTFUL, "no service answers there", "start it: sudo systemctl enable --now parallaxd"},
    {PLX_ERR_PERMISSION, DOCTOR_BAD, "this user may not connect", NULL},
    {PLX_ERR_BUSY, DOCTOR_BAD, "the service has no place left for a client of this user",
     "end clients that are not needed, or raise publish.max_clients"},
    {PLX_ERR_VERSION, DOCTOR_BAD, "service and library are of different versions",
     "install packages of one version, then: sudo systemctl restart parallaxd"},
    {PLX_ERR_TIMEOUT, DOCTOR_BAD, "the service does not answer", "see its log: journalctl -u parallaxd"},
    {PLX_ERR_FORMAT, DOCTOR_BAD, "what answers is not parallaxd, or its shared memory is damaged", "check the option --socket"},
    {PLX_ERR_RANGE, DOCTOR_BAD, "the path is too long for a socket", "name one of at most 107 bytes with --socket"},
};

/* Where the socket cannot be looked at, its directory is closed: then the group is that of the package. */
static void advise_group(const char *path, struct doctor_finding *finding)
{
    struct stat status;
    const struct group *group = stat(path, &status) == 0 ? getgrgid(status.st_gid) : NULL;

    doctor_advise(finding, "join the socket's group, then log in again: sudo usermod -aG %s $USER",
                  group ? group->gr_name : "parallax");
}

/* Clients find the socket by $PARALLAX_SOCKET or at its default path, and not by the configuration file. */
static void compare_paths(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const char *configured = subject->file.publish.socket;

    if (subject->config_error < 0 || strcmp(configured, subject->socket_path) == 0)
        return;
    doctor_find(finding, DOCTOR_DOUBTFUL, "publish.socket is %s in the configuration file", configured);
    doctor_advise(finding, "for the service of that file type: export PARALLAX_SOCKET=%s", configured);
}

void doctor_check_socket(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const int error = subject->connection;

    if (error == 0) {
        doctor_find(finding, DOCTOR_GOOD, "%s: this user may connect, a place is left, and the versions agree",
                    subject->socket_path);
        return;
    }
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].error == error) {
            doctor_find(finding, refusals[i].state, "%s: %s", subject->socket_path, refusals[i].found);
            if (refusals[i].advice)
                doctor_advise(finding, "%s", refusals[i].advice);
        }
    if (error == PLX_ERR_PERMISSION)
        advise_group(subject->socket_path, finding);
    if (finding->found[0] == '\0')
        doctor_find(finding, DOCTOR_BAD, "%s: %s", subject->socket_path, plx_strerror(error));
    compare_paths(subject, finding);
}

static enum doctor_state judge_state(uint32_t state)
{
    return state == PLX_STATE_RUNNING                                   ? DOCTOR_GOOD
           : state == PLX_STATE_FAILED || state == PLX_STATE_RECOVERING ? DOCTOR_BAD
                                                                        : DOCTOR_DOUBTFUL;
}

void doctor_check_service(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const struct plx_status *status = &subject->status;

    if (subject->connection < 0) {
        doctor_find(finding, DOCTOR_UNKNOWN, "no service answers: see the row socket");
        return;
    }
    doctor_find(finding, judge_state(status->state), "the state is %s", plx_state_word(status->state));
    if (status->reason[0] != '\0')
        doctor_find(finding, DOCTOR_GOOD, "%s", status->reason);
    for (int bit = 0; bit < PLX_HEALTH_FLAGS; bit++)
        if (status->health >> bit & 1) {
            doctor_find(finding, DOCTOR_DOUBTFUL, "%s", plx_health_words(bit));
            doctor_advise(finding, "%s", plx_health_advice(bit));
        }
    if (status->restarts > 0) {
        doctor_find(finding, DOCTOR_DOUBTFUL, "%u engines died or hung and were replaced", status->restarts);
        doctor_advise(finding, "see why: journalctl -u parallaxd; parallax blackbox");
    }
}
