/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax report`: collects in one directory what another person needs to understand a fault. It needs neither the service
 * nor any tool: contents.txt lists what is missing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/blackbox/format.h"
#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/version.h"
#include "app/view/json.h"
#include "config/config.h"
#include "core/pipeline/stages.h"
#include "gpu/gpu.h"

#define ITEM_S 20 /* time limit of an item */
#define FRAME_MS 1000
#define NO_PROGRAM 127 /* as in a shell */

/* Set by the options; the items, which run in child processes, read them. */
static const char *config_path, *socket_path;

/* --- items of this program: their output is the file --------------------------------------------------------------- */

static int print_version(int argc, char **argv)
{
    (void)argc, (void)argv;
    plx_print_version("parallax");
    return PLX_EXIT_OK;
}

/* The file may differ from the configuration that the service uses. */
static int print_config_file(int argc, char **argv)
{
    (void)argc, (void)argv;
    static struct plx_config config; /* large */
    struct plx_error_message message;
    int result = plx_config_load(config_path, &config, &message);
    if (result < 0) {
        puts(message.text);
        return plx_exit_code(result);
    }
    return plx_config_dump(&config, stdout) < 0 ? PLX_EXIT_IO : PLX_EXIT_OK;
}

static int print_header(int argc, char **argv)
{
    (void)argc, (void)argv;
    static struct plx_frame frame; /* large */
    struct plx_connection connection = {.command = "report"};
    int result = plx_connect(socket_path, &connection.client);
    if (result == 0)
        result = plx_connection_next_header(&connection, FRAME_MS, &frame);
    if (result == PLX_ERR_TIMEOUT || result == PLX_ERR_LOST)
        result = plx_last_header(connection.client, &frame); /* an old one helps too */
    if (result == 0 && fwrite(&frame, sizeof frame, 1, stdout) != 1)
        result = PLX_ERR_IO;
    plx_disconnect(connection.client);
    return plx_exit_code(result);
}

static int print_blackbox(int argc, char **argv)
{
    static char directory[PLX_DIRECTORY_BYTES], path[PLX_DIRECTORY_BYTES + 16];
    char *arguments[] = {argv[0], path, NULL};

    plx_blackbox_directory(socket_path, config_path, directory);
    if (directory[0] == '\0')
        return plx_command_blackbox(argc, argv); /* says why there is none */
    snprintf(path, sizeof path, "%s/" PLX_BOX_LIVE, directory);
    return plx_command_blackbox(argc + 1, arguments);
}

/* The black box and all its copies, as a compressed tar archive. */
static int pack_blackbox(int argc, char **argv)
{
    static char directory[PLX_DIRECTORY_BYTES];

    (void)argc, (void)argv;
    plx_blackbox_directory(socket_path, config_path, directory);
    if (directory[0] != '\0')
        execlp("tar", "tar", "-czf", "-", "-C", directory, ".", (char *)NULL);
    return PLX_EXIT_NO_INPUT;
}

/* CUDA's words, which the log of a service on the CPU leaves out. */
static int print_gpu(int argc, char **argv)
{
    const struct plx_limits small = {.width = 64, .height = 64, .disparities = 64, .threads = 1};
    struct plx_error_message message = {""};
    struct plx_stages *stages;

    (void)argc, (void)argv;
    const int result = plx_gpu_create(&small, &stages, &message);
    if (result < 0) {
        puts(message.text);
        return plx_exit_code(result);
    }
    puts(plx_gpu_device(stages));
    stages->ops->destroy(stages);
    return PLX_EXIT_OK;
}

/* --- the table ------------------------------------------------------------------------------------------------------ */

#define ARGUMENTS 10

/* INSIDE writes the file; NULL: the program argument[0] of the system writes it. */
static const struct item {
    const char *file, *content;
    int (*inside)(int argc, char **argv);
    const char *argument[ARGUMENTS];
} items[] = {
    {"version.txt", "version and build", print_version, {"version"}},
    {"configuration.yaml", "configuration that the service uses", plx_command_config, {"config"}},
    {"configuration-file.yaml", "configuration file, as a start would read it", print_config_file, {"config"}},
    {"status.json", "what the service is doing", plx_command_status, {"status", "--json"}},
    {"metrics.txt", "state, faults, counters", plx_command_metrics, {"metrics"}},
    {"cameras.json", "cameras: formats, controls, serial numbers", plx_command_cameras, {"cameras", "--json"}},
    {"frame-header.bin", "header of the newest frame (struct plx_frame)", print_header, {"header"}},
    {"blackbox.txt", "black box: the last seconds of the service", print_blackbox, {"blackbox"}},
    {"blackbox.tar.gz", "the black box and its copies, with small pictures", pack_blackbox, {"blackbox"}},
    {"journal.txt",
     "the service's last 1000 lines in the journal",
     NULL,
     {"journalctl", "--unit=parallaxd*", "--lines=1000", "--no-pager", "--no-hostname", "--output=short-monotonic"}},
    {"unit.txt", "the service as systemd sees it", NULL, {"systemctl", "--no-pager", "--lines=0", "status", "parallaxd*"}},
    {"kernel.txt", "kernel", NULL, {"uname", "-srvm"}},
    {"system.txt", "distribution", NULL, {"cat", "/etc/os-release"}},
    {"cpu.txt", "processor", NULL, {"lscpu"}},
    {"memory.txt", "memory", NULL, {"cat", "/proc/meminfo"}},
    {"gpu-backend.txt", "GPU backend: the GPU, or why none computes", print_gpu, {"gpu"}},
    {"gpu.txt", "GPU", NULL, {"nvidia-smi", "--query"}},
    {"tegra.txt", "Jetson release", NULL, {"cat", "/etc/nv_tegra_release"}},
    {"devices.txt", "video nodes and who may open them", NULL, {"sh", "-c", "ls -lR /dev/v4l /dev/video*"}},
};
#define ITEMS (int)(sizeof items / sizeof *items)

/* --- collecting ----------------------------------------------------------------------------------------------------- */

/* In the child: runs the item. Error messages go into text files too, but not into JSON or binary files. */
static void run_item(const struct item *item, int fd)
{
    static char name[ARGUMENTS][64]; /* argp and exec take them without const */
    char *argv[ARGUMENTS + 1] = {NULL};
    int argc = 0;
    for (; argc < ARGUMENTS && item->argument[argc]; argc++) {
        snprintf(name[argc], sizeof name[argc], "%s", item->argument[argc]);
        argv[argc] = name[argc];
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const char *ending = strrchr(item->file, '.');
    bool takes_errors = strcmp(ending, ".txt") == 0 || strcmp(ending, ".yaml") == 0;
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
        dup2(takes_errors ? fd : null, STDERR_FILENO) < 0)
        _exit(PLX_EXIT_OS);
    alarm(ITEM_S); /* exec keeps the alarm */
    if (item->inside) {
        int exit_code = item->inside(argc, argv);
        _exit(fflush(stdout) == 0 ? exit_code : PLX_EXIT_IO);
    }
    if (argv[0])
        execvp(argv[0], argv);
    _exit(NO_PROGRAM);
}

/* How the item ended, for people. */
static void describe_end(int status, const struct item *item, char *ret_text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(ret_text, size, "stopped: %s",
                 WTERMSIG(status) == SIGALRM ? "no answer in 20 s" : strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == NO_PROGRAM && !item->inside)
        snprintf(ret_text, size, "missing: %s is not installed", item->argument[0]);
    else if (WEXITSTATUS(status) != 0)
        snprintf(ret_text, size, "missing or incomplete: exit code %d", WEXITSTATUS(status));
    else
        snprintf(ret_text, size, "ok");
}

static int collect(const struct item *item, int directory, FILE *list, cJSON *json)
{
    char end[96];
    int status = 0;
    int fd = openat(directory, item->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return plx_exit_error("parallax report", PLX_EXIT_CANNOT_WRITE, "%s: cannot create: %s", item->file, strerror(errno));
    fflush(stdout); /* else the child would print the buffered text again */
    fflush(list);
    pid_t child = fork();
    if (child == 0)
        run_item(item, fd);
    close(fd);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return plx_exit_error("parallax report", PLX_EXIT_OS, "cannot start a process: %s", strerror(errno));
    describe_end(status, item, end, sizeof end);
    if (json) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "file", item->file);
        cJSON_AddStringToObject(entry, "content", item->content);
        cJSON_AddStringToObject(entry, "result", end);
        cJSON_AddItemToArray(json, entry);
    } else {
        printf("  %-23s %-46s %s\n", item->file, item->content, end);
    }
    fprintf(list, "%-23s %-46s %s\n", item->file, item->content, end);
    return PLX_EXIT_OK;
}

/* Into JSON, an array, if it is not NULL; else onto standard output. */
static int collect_all(int directory, cJSON *json)
{
    int exit_code = PLX_EXIT_OK;
    int fd = openat(directory, "contents.txt", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *list = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!list)
        return plx_exit_error("parallax report", PLX_EXIT_CANNOT_WRITE, "contents.txt: cannot create: %s", strerror(errno));
    for (int i = 0; i < ITEMS && exit_code == PLX_EXIT_OK; i++)
        exit_code = collect(&items[i], directory, list, json);
    if (fclose(list) != 0 && exit_code == PLX_EXIT_OK)
        return plx_exit_error("parallax report", PLX_EXIT_CANNOT_WRITE, "contents.txt: cannot write: %s", strerror(errno));
    return exit_code;
}

int plx_command_report(int argc, char **argv)
{
    char default_output[64];
    const char *output = default_output;
    bool json = false;
    const time_t now = time(NULL);
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket_path),
        PLX_OPTION("config", "FILE", config_path, "reads this configuration file (default: " PLX_DEFAULT_CONFIG ")"),
        PLX_OPTION("output", "DIR", output, "makes this directory (default: parallax-report-DATE-TIME)"),
        PLX_OPTION("json", NULL, json, "prints JSON: {directory, files: [{file, content, result}]}"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax report",
        .about =
            "Collects in one directory what another person needs to understand a fault: version, configuration, status, "
            "metrics, cameras, the newest frame's header, the black box, the journal, kernel, processor and GPU. The black box "
            "holds small pictures (`parallax blackbox --pictures` shows them). The report holds no environment variables, "
            "and nothing is sent. `report` needs no running service.",
        .option = options};

    config_path = PLX_DEFAULT_CONFIG;
    strftime(default_output, sizeof default_output, "parallax-report-%Y%m%d-%H%M%S", localtime(&now));
    plx_parse_command_line(&line, argc, argv, NULL);
    if (socket_path)
        setenv("PARALLAX_SOCKET", socket_path, 1); /* for the commands that are items */
    if (mkdir(output, 0700) < 0)
        return plx_exit_error("parallax report", PLX_EXIT_CANNOT_WRITE, "%s: cannot create: %s", output, strerror(errno));
    int directory = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return plx_exit_error("parallax report", PLX_EXIT_CANNOT_WRITE, "%s: cannot open: %s", output, strerror(errno));
    cJSON *object = json ? cJSON_CreateObject() : NULL, *files = NULL;
    if (json) {
        cJSON_AddStringToObject(object, "directory", output);
        files = cJSON_AddArrayToObject(object, "files");
    } else {
        printf("%s/\n", output);
    }
    const int exit_code = collect_all(directory, files);
    close(directory);
    if (json)
        plx_json_print(object);
    else if (exit_code == PLX_EXIT_OK)
        printf("Check it for private data (it holds camera names and paths), then run: tar czf %s.tar.gz %s\n", output, output);
    return exit_code;
}
