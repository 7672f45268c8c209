/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/live/snapshot_last.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/exit.h"
#include "app/flight_recorder/request.h"
#include "app/options.h"
#include "app/service_config.h"
#include "core/base/text.h"

#define ANSWER_S 60 /* a file of gigabytes takes its time */
#define COPY_BYTES (1 << 24)

/* recorder.socket of the service, or, without a service, of the configuration file; without that, the default. */
static void find_socket(const char *socket_path, struct sockaddr_un *ret_address)
{
    static struct plx_config config; /* large */
    struct plx_error_message message;

    if (!plx_service_config_ask(socket_path, &config) && plx_config_load(PLX_DEFAULT_CONFIG, &config, &message) < 0)
        plx_config_default(&config);
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret_address->sun_path, sizeof ret_address->sun_path, "%s", config.recorder.socket);
}

static bool ask(int fd, const struct sockaddr_un *address, double seconds, struct plx_recorder_answer *ret_answer)
{
    const struct timeval limit = {.tv_sec = ANSWER_S};
    const struct plx_recorder_request request = {
        .magic = PLX_RECORDER_MAGIC, .version = PLX_RECORDER_VERSION, .milliseconds = (uint32_t)(seconds * 1000)};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
           send(fd, &request, sizeof request, MSG_NOSIGNAL) == (ssize_t)sizeof request &&
           recv(fd, ret_answer, sizeof *ret_answer, MSG_TRUNC) == (ssize_t)sizeof *ret_answer &&
           ret_answer->magic == PLX_RECORDER_MAGIC && ret_answer->version == PLX_RECORDER_VERSION &&
           memchr(ret_answer->text, '\0', sizeof ret_answer->text);
}

static bool copy(int from, int to)
{
    ssize_t bytes;
    do
        bytes = sendfile(to, from, NULL, COPY_BYTES);
    while (bytes > 0 || (bytes < 0 && errno == EINTR));
    return bytes == 0;
}

static int copy_file(const char *command, const char *recorded, const char *path)
{
    const int from = open(recorded, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return plx_exit_error(command, PLX_EXIT_NO_INPUT, "%s: %s", recorded, strerror(errno));
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool is_new = to >= 0;
    bool copied = is_new && copy(from, to);
    if (is_new && close(to) < 0)
        copied = false;
    const int error = errno;
    close(from);
    if (copied)
        return PLX_EXIT_OK;
    if (is_new)
        unlink(path);
    return plx_exit_error(command, PLX_EXIT_CANNOT_WRITE, "%s: %s; the recorder's file is %s", path, strerror(error), recorded);
}

int plx_snapshot_last(const char *command, const char *socket_path, double seconds, const char *path)
{
    static struct plx_recorder_answer answer; /* large */
    struct sockaddr_un address;
    find_socket(socket_path, &address);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return plx_exit_error(command, PLX_EXIT_OS, "%s", strerror(errno));
    errno = 0;
    const bool answered = ask(fd, &address, seconds, &answer);
    const int error = errno;
    close(fd);
    if (!answered)
        return plx_exit_error(command, error == EACCES ? PLX_EXIT_PERMISSION : PLX_EXIT_UNAVAILABLE,
                              "%s: no flight recorder answers there (%s); start parallax-recorder", address.sun_path,
                              error ? strerror(error) : "not its answer");
    plx_clean_text(answer.text);
    if (answer.error != 0)
        return plx_exit_error(command, answer.error == PLX_ERR_NOT_FOUND ? PLX_EXIT_UNAVAILABLE : PLX_EXIT_CANNOT_WRITE, "%s",
                              answer.text);
    if (path) {
        const int exit_code = copy_file(command, answer.text, path);
        if (exit_code != PLX_EXIT_OK)
            return exit_code;
    }
    printf("%s: %u pairs\n", path ? path : answer.text, answer.pairs);
    return PLX_EXIT_OK;
}
