/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallaxd with a fault of the test's choice: linked into the program parallaxd_faulty in front of the real functions (ld
 * --wrap, tests/CMakeLists.txt). Without PLX_FAULT it is parallaxd. PLX_FAULT is one of
 *   fail NAME N   the N-th call of NAME by any of its processes fails, as if the system had no more to give
 *   hang NAME N   the N-th call of NAME never returns
 *   stop NAME N   the process stops in the N-th call of NAME (SIGSTOP), until SIGCONT
 *   ignore NAME N likewise; and no signal of the service has an effect, as on a process in state D that a driver holds
 *   stick NAME N  neither that one nor any call after it returns
 *   slow NAME MS  every call of NAME takes so much longer
 *   drag NAME MS  likewise, while there is a file $PLX_FAULT_WHILE
 *   cover         while there is a file $PLX_FAULT_WHILE, the lenses that it names are covered: 1 left, 2 right, 3 both
 *   lose N        there is a GPU, which is the CPU, and each engine loses it after N frames; 0: it cannot be opened
 *   stall N       likewise, but it does not answer any more
 *   steady N      an engine ends with a message if it asks for memory, a file or a thread after it has published N frames; not
 *                 for its sensors, which are read once a second beside the frames
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <systemd/sd-event.h>

#include <parallax/error.h>

#include "app/engine/sensors.h"
#include "app/publish/shm.h"
#include "core/base/heartbeat.h"
#include "core/motion/motion.h"
#include "core/source/pairing.h"
#include "core/tracks/tracks.h"
#include "cpu/cpu.h"
#include "cpu/internal.h"
#include "gpu/gpu.h"

static struct {
    char kind[8], name[32];
    long number;
    atomic_long *calls; /* calls of NAME in all processes: in memory that they share */
} fault;

static __attribute__((constructor)) void read_fault(void)
{
    const char *text = getenv("PLX_FAULT");
    void *page = mmap(NULL, sizeof *fault.calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        abort();
    fault.calls = page;
    if (text && strcmp(text, "cover") == 0)
        sscanf(text, "%7s", fault.kind);
    else if (text && (sscanf(text, "lose %ld", &fault.number) == 1 || sscanf(text, "stall %ld", &fault.number) == 1 ||
                      sscanf(text, "steady %ld", &fault.number) == 1))
        sscanf(text, "%7s", fault.kind);
    else if (text && sscanf(text, "%7s %31s %ld", fault.kind, fault.name, &fault.number) != 3)
        abort();
}

/* True in the one call of NAME that the fault selects; it is logged. */
static bool is_due(const char *kind, const char *name)
{
    if (strcmp(fault.kind, kind) != 0 || strcmp(fault.name, name) != 0 || atomic_fetch_add(fault.calls, 1) + 1 != fault.number)
        return false;
    dprintf(STDERR_FILENO, "fault: %s %s %ld\n", kind, name, fault.number);
    return true;
}

static atomic_long published; /* frames, by this process */
static _Thread_local bool reads_sensors;

static void expect_steady(const char *name)
{
    if (strcmp(fault.kind, "steady") != 0 || reads_sensors || atomic_load(&published) < fault.number)
        return;
    dprintf(STDERR_FILENO, "fault: %s after %ld frames\n", name, atomic_load(&published));
    abort();
}

static void stop_if_due(const char *name)
{
    if (is_due("stop", name) || is_due("ignore", name))
        raise(SIGSTOP);
}

/* --- what the system gives ---------------------------------------------------------------------------------------- */

#define FALLIBLE(type, name, parameters, arguments, number, failed)                                                            \
    type __real_##name parameters;                                                                                             \
    type __wrap_##name parameters;                                                                                             \
    type __wrap_##name parameters                                                                                              \
    {                                                                                                                          \
        expect_steady(#name);                                                                                                  \
        stop_if_due(#name);                                                                                                    \
        if (is_due("fail", #name)) {                                                                                           \
            errno = number;                                                                                                    \
            return failed;                                                                                                     \
        }                                                                                                                      \
        return __real_##name arguments;                                                                                        \
    }

FALLIBLE(void *, malloc, (size_t bytes), (bytes), ENOMEM, NULL)
FALLIBLE(void *, calloc, (size_t count, size_t bytes), (count, bytes), ENOMEM, NULL)
FALLIBLE(void *, realloc, (void *old, size_t bytes), (old, bytes), ENOMEM, NULL)
FALLIBLE(void *, aligned_alloc, (size_t to, size_t bytes), (to, bytes), ENOMEM, NULL)
FALLIBLE(void *, mmap, (void *at, size_t bytes, int protection, int flags, int fd, off_t offset),
         (at, bytes, protection, flags, fd, offset), ENOMEM, MAP_FAILED)
FALLIBLE(int, memfd_create, (const char *name, unsigned flags), (name, flags), EMFILE, -1)
FALLIBLE(int, ftruncate, (int fd, off_t bytes), (fd, bytes), EIO, -1)
FALLIBLE(int, fallocate, (int fd, int mode, off_t offset, off_t bytes), (fd, mode, offset, bytes), ENOSPC, -1)
FALLIBLE(FILE *, fopen, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
FALLIBLE(FILE *, fdopen, (int fd, const char *mode), (fd, mode), ENOMEM, NULL)
FALLIBLE(int, socket, (int domain, int type, int protocol), (domain, type, protocol), EMFILE, -1)
FALLIBLE(int, socketpair, (int domain, int type, int protocol, int *fds), (domain, type, protocol, fds), EMFILE, -1)
FALLIBLE(int, bind, (int fd, const struct sockaddr *address, socklen_t bytes), (fd, address, bytes), ENOSPC, -1)
FALLIBLE(int, fork, (void), (), EAGAIN, -1)
FALLIBLE(int, epoll_create1, (int flags), (flags), EMFILE, -1)
FALLIBLE(int, epoll_ctl, (int epoll, int what, int fd, void *event), (epoll, what, fd, event), ENOMEM, -1)
FALLIBLE(int, sd_event_new, (sd_event * *ret), (ret), EMFILE, -EMFILE)
FALLIBLE(int, sd_event_add_io,
         (sd_event * event, sd_event_source **ret, int fd, uint32_t events, sd_event_io_handler_t handler, void *argument),
         (event, ret, fd, events, handler, argument), ENOMEM, -ENOMEM)
FALLIBLE(int, sd_event_add_signal,
         (sd_event * event, sd_event_source **ret, int signal, sd_event_signal_handler_t handler, void *argument),
         (event, ret, signal, handler, argument), ENOMEM, -ENOMEM)
FALLIBLE(int, timerfd_create, (int clock, int flags), (clock, flags), EMFILE, -1)
FALLIBLE(int, pthread_create, (void *thread, const void *how, void *(*run)(void *), void *argument),
         (thread, how, run, argument), EAGAIN, EAGAIN)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;

    va_start(rest, flags);
    const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    expect_steady("open");
    if (is_due("fail", "open")) {
        errno = EMFILE;
        return -1;
    }
    return __real_open(path, flags, mode);
}

/* --- what the engine does ----------------------------------------------------------------------------------------- */

static void delay(const char *name)
{
    bool stuck = is_due("hang", name);
    const char *drags_while = getenv("PLX_FAULT_WHILE"); /* path of a file; "drag" delays while the file exists */

    if (strcmp(fault.kind, "stick") == 0 && strcmp(fault.name, name) == 0)
        stuck = atomic_fetch_add(fault.calls, 1) + 1 >= fault.number;
    while (stuck && pause() < 0) /* for ever; a signal that ends the process at once is not told */
        dprintf(STDERR_FILENO, "fault: %s was asked to end\n", name);
    stop_if_due(name);
    if (strcmp(fault.name, name) == 0 &&
        (strcmp(fault.kind, "slow") == 0 || (strcmp(fault.kind, "drag") == 0 && drags_while && access(drags_while, F_OK) == 0)))
        usleep((useconds_t)fault.number * 1000);
}

#define STEP(type, name, parameters, arguments)                                                                                \
    type __real_##name parameters;                                                                                             \
    type __wrap_##name parameters;                                                                                             \
    type __wrap_##name parameters                                                                                              \
    {                                                                                                                          \
        delay(#name);                                                                                                          \
        return __real_##name arguments;                                                                                        \
    }

STEP(int, listen, (int fd, int backlog), (fd, backlog))

uint32_t __real_plx_system_health_read(struct plx_system_health *machine);
uint32_t __wrap_plx_system_health_read(struct plx_system_health *machine);
uint32_t __wrap_plx_system_health_read(struct plx_system_health *machine)
{
    reads_sensors = true;
    delay("plx_system_health_read");
    return __real_plx_system_health_read(machine);
}

/* PLX_FAKE_ROOT: below it lie /proc and /sys as the sensors are to read them. */
void __real_plx_system_health_init(struct plx_system_health *machine, const char *root);
void __wrap_plx_system_health_init(struct plx_system_health *machine, const char *root);
void __wrap_plx_system_health_init(struct plx_system_health *machine, const char *root)
{
    const char *fake = getenv("PLX_FAKE_ROOT");
    __real_plx_system_health_init(machine, fake ? fake : root);
}

#define SELF struct plx_stages *self
#define IMAGE const struct plx_image

/* A covered lens shows no light, but the camera's noise: its pictures are dark, and differ. */
static void cover(IMAGE *grey)
{
    static uint32_t noise = 1;

    for (int y = 0; y < grey->height; y++) {
        uint8_t *row8 = plx_row(grey, y);
        uint16_t *row16 = plx_row(grey, y);
        for (int x = 0; x < grey->width; x++) {
            noise = noise * 1664525U + 1013904223U;
            if (grey->type == PLX_U8)
                row8[x] = (uint8_t)(noise >> 30);
            else
                row16[x] = (uint16_t)(noise >> 30);
        }
    }
}

static void cover_if_due(IMAGE *grey)
{
    static unsigned calls; /* the left picture comes first */
    const char *path = getenv("PLX_FAULT_WHILE");
    const unsigned lens = 1U << (calls++ % PLX_EYES);
    unsigned lenses = 0;
    FILE *file = strcmp(fault.kind, "cover") == 0 && path ? __real_fopen(path, "re") : NULL;

    if (!file)
        return;
    if (fscanf(file, "%u", &lenses) == 1 && (lenses & lens))
        cover(grey);
    fclose(file);
}

int __real_plx_cpu_convert(SELF, const struct plx_raw *raw, IMAGE *grey);
int __wrap_plx_cpu_convert(SELF, const struct plx_raw *raw, IMAGE *grey);
int __wrap_plx_cpu_convert(SELF, const struct plx_raw *raw, IMAGE *grey)
{
    delay("plx_cpu_convert");
    const int result = __real_plx_cpu_convert(self, raw, grey);
    cover_if_due(grey);
    return result;
}

STEP(int, plx_cpu_rectify, (SELF, IMAGE *src, const struct plx_remap *map, IMAGE *dst, uint32_t *ret_masked),
     (self, src, map, dst, ret_masked))
STEP(int, plx_cpu_histogram, (SELF, IMAGE *grey, int bins, IMAGE *ret_bins), (self, grey, bins, ret_bins))
STEP(int, plx_cpu_match_template, (SELF, IMAGE *image, IMAGE *patch, struct plx_template_match *ret_best),
     (self, image, patch, ret_best))
STEP(int, plx_cpu_filter, (SELF, IMAGE *src, const struct plx_filter *filter, IMAGE *dst), (self, src, filter, dst))
STEP(int, plx_cpu_census, (SELF, IMAGE *grey, const struct plx_match *match, const struct plx_features *ret_features),
     (self, grey, match, ret_features))
STEP(int, plx_cpu_sgm,
     (SELF, const struct plx_features *left, const struct plx_features *right, IMAGE *grey, const struct plx_match *match,
      const struct plx_candidates *ret_candidates),
     (self, left, right, grey, match, ret_candidates))
STEP(int, plx_cpu_check, (SELF, IMAGE *left, IMAGE *right, IMAGE *grey, const struct plx_match *match, IMAGE *ret_disparity),
     (self, left, right, grey, match, ret_disparity))
STEP(int, plx_cpu_fill, (SELF, IMAGE *src, IMAGE *dst, IMAGE *ret_filled), (self, src, dst, ret_filled))
STEP(int, plx_cpu_ground,
     (SELF, IMAGE *disparity, const struct plx_ground_params *params, const struct plx_ground_prior *prior,
      struct plx_ground *ret_ground),
     (self, disparity, params, prior, ret_ground))
STEP(int, plx_cpu_stixels,
     (SELF, IMAGE *disparity, const struct plx_ground *ground, const struct plx_columns_params *params, IMAGE *ret_scan,
      IMAGE *ret_stixels),
     (self, disparity, ground, params, ret_scan, ret_stixels))
STEP(int, plx_cpu_segments,
     (SELF, IMAGE *disparity, const struct plx_ground *ground, const struct plx_segments_params *params,
      const struct plx_predictions *predictions, IMAGE *stixels, IMAGE *ret_labels, uint32_t *ret_count),
     (self, disparity, ground, params, predictions, stixels, ret_labels, ret_count))
STEP(int, plx_motion_update,
     (struct plx_motion * motion, IMAGE *left, IMAGE *disparity, int64_t capture_ns, struct plx_motion_info *ret_info),
     (motion, left, disparity, capture_ns, ret_info))
STEP(void, plx_tracks_update,
     (struct plx_tracks * tracks, int64_t capture_ns, const struct plx_calibration_info *calibration,
      const struct plx_motion_info *motion, struct plx_obstacle *obstacle, int *count, int capacity),
     (tracks, capture_ns, calibration, motion, obstacle, count, capacity))
STEP(int, plx_pairing_push,
     (struct plx_pairing * pairing, const struct plx_capture *capture, struct plx_pairing_result *ret_result),
     (pairing, capture, ret_result))

void __real_plx_ring_commit(struct plx_shm *region);
void __wrap_plx_ring_commit(struct plx_shm *region);
void __wrap_plx_ring_commit(struct plx_shm *region)
{
    delay("plx_ring_commit");
    __real_plx_ring_commit(region);
    atomic_fetch_add(&published, 1);
}

/* --- what a driver does --------------------------------------------------------------------------------------------- */

/* While a fault names ioctl, every camera is missing: VIDIOC_QUERYCAP finds no device. */
int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
    if (request != VIDIOC_QUERYCAP || strcmp(fault.name, "ioctl") != 0)
        return __real_ioctl(fd, request, argument);
    delay("ioctl");
    errno = ENODEV;
    return -1;
}

int __real_kill(pid_t process, int signal);
int __wrap_kill(pid_t process, int signal);
int __wrap_kill(pid_t process, int signal)
{
    return strcmp(fault.kind, "ignore") == 0 ? 0 : __real_kill(process, signal);
}

/* --- a GPU that is lost ------------------------------------------------------------------------------------------- */

static struct plx_stages_ops gpu_ops;

static int run_frame_or_lose(struct plx_stages *self, const struct plx_frame_run *run)
{
    static long frames;

    const int result = plx_run_frame_in_order(self, run);
    if (frames++ < fault.number)
        return result;
    plx_heartbeat_busy((int)run->step[run->backend_steps - 1].stage); /* the GPU's last stage: the thread waits for it */
    while (strcmp(fault.kind, "stall") == 0)
        pause();
    return plx_fail(&self->message, PLX_ERR_LOST, "the GPU of \"PLX_FAULT\" is gone");
}

int __real_plx_gpu_create_memory(const struct plx_limits *limits, enum plx_gpu_memory memory, struct plx_stages **ret_stages,
                                 struct plx_error_message *message);
int __wrap_plx_gpu_create_memory(const struct plx_limits *limits, enum plx_gpu_memory memory, struct plx_stages **ret_stages,
                                 struct plx_error_message *message);
int __wrap_plx_gpu_create_memory(const struct plx_limits *limits, enum plx_gpu_memory memory, struct plx_stages **ret_stages,
                                 struct plx_error_message *message)
{
    if (strcmp(fault.kind, "absent") == 0)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "there is no GPU that CUDA can use: no CUDA-capable device is detected");
    if (strcmp(fault.kind, "lose") != 0 && strcmp(fault.kind, "stall") != 0)
        return __real_plx_gpu_create_memory(limits, memory, ret_stages, message);
    if (fault.number == 0)
        return plx_fail(message, PLX_ERR_LOST, "the GPU of \"PLX_FAULT\" is gone");
    int result = plx_cpu_create(limits, ret_stages);
    if (result < 0)
        return plx_fail(message, result, "%s", plx_strerror(result));
    gpu_ops = *(*ret_stages)->ops;
    gpu_ops.name = "gpu";
    gpu_ops.run_frame = run_frame_or_lose;
    (*ret_stages)->ops = &gpu_ops;
    return 0;
}
