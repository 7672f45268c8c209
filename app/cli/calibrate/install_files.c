/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/calibrate/install_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/backend.h"
#include "config/file.h"
#include "config/replace.h"
#include "config/yaml.h"
#include "core/pipeline/pipeline.h"

/* Makes the service's pipeline, on the processors: a configuration that works raw may be wrong for a calibration, and a service
 * that is killed before it could say so would not start again. */
static int try_pipeline(const struct plx_config *config, const struct plx_stereo_calibration *calibration,
                        struct plx_error_message *message)
{
    const struct plx_limits limits = {.width = calibration->rectified_width,
                                      .height = calibration->rectified_height,
                                      .disparities = config->pipeline.match.disparities,
                                      .threads = 1};
    struct plx_stages *stages;
    struct plx_pipeline *pipeline = NULL;

    int result = plx_config_check_pipeline(&config->pipeline, limits.width, limits.height, message);
    if (result == 0)
        result = plx_backend_open(PLX_BACKEND_CPU, PLX_GPU_MEMORY_AUTO, &limits, &stages, NULL, message);
    if (result < 0)
        return result;
    result = plx_pipeline_create(stages, &config->pipeline, calibration, &pipeline, message);
    plx_pipeline_destroy(pipeline);
    stages->ops->destroy(stages);
    return result;
}

/* The new file at FRESH has the numbers of CALIBRATION, and the service would take it. */
static int check(const char *fresh, const struct plx_config *config, const struct plx_stereo_calibration *calibration,
                 struct plx_error_message *message)
{
    const struct plx_camera *left = &calibration->camera[PLX_LEFT];
    struct plx_stereo_calibration written = *calibration, read;
    const struct plx_calibration_options as_written = {.scale = 1, .width = left->width, .height = left->height};
    struct plx_calibration_options as_service = as_written;

    int result = plx_calibration_rectify(&written, 0, message);
    if (result == 0)
        result = plx_calibration_read(fresh, &as_written, &read, message);
    if (result == 0 && !plx_calibration_equals(&written, &read))
        result = plx_fail(message, PLX_ERR_IO, "%s: the file does not have what was written into it", fresh);
    as_service.alpha = config->rectify_alpha;
    if (result == 0)
        result = plx_calibration_read(fresh, &as_service, &read, message);
    if (result == 0)
        result = try_pipeline(config, &read, message);
    return result;
}

/* One rename is the step from the old calibration to the new one. The old one has two names before it, so it is never away. */
static int put_calibration(struct plx_installed_files *files, const struct plx_config *config,
                           const struct plx_stereo_calibration *calibration, struct plx_error_message *message)
{
    struct plx_replacement replacement;
    struct stat like = {.st_mode = 0644, .st_uid = geteuid(), .st_gid = getegid()}, there;
    const bool was_there = lstat(files->calibration, &there) == 0;

    if (was_there && S_ISREG(there.st_mode))
        like = there;
    int result = plx_replacement_begin(files->calibration, &replacement, message);
    if (result < 0)
        return result;
    result = plx_calibration_write(replacement.file, files->calibration, calibration, message);
    if (result == 0 && fflush(replacement.file) != 0)
        result = plx_fail(message, PLX_ERR_IO, "%s: cannot be written: %s", files->calibration, strerror(errno));
    if (result == 0)
        result = check(replacement.path, config, calibration, message);
    if (result == 0 && was_there)
        result = plx_file_keep_old(files->calibration, files->old, message);
    if (result < 0) {
        plx_replacement_cancel(&replacement);
        return result;
    }
    result = plx_replacement_finish(&replacement, &like, message);
    files->installed = result == 0;
    return result;
}

static int name_in_config(struct plx_installed_files *files, struct plx_error_message *message)
{
    if (strcmp(files->value, files->calibration) == 0)
        return 0;
    int result = plx_config_edit(files->config, "calibration", files->calibration, message);
    if (result < 0)
        return result;
    result = plx_file_read(files->config, PLX_YAML_MAX_BYTES, &files->config_after, &files->after_bytes, message);
    if (result < 0) /* undo needs them */
        plx_file_replace(files->config, files->config_before, files->before_bytes, NULL);
    return result;
}

int plx_installed_files_put(const char *config_path, const struct plx_config *config, const char *path,
                            const struct plx_stereo_calibration *calibration, struct plx_installed_files *ret_files,
                            struct plx_error_message *message)
{
    struct plx_installed_files files = {.value = config->calibration};

    snprintf(files.calibration, sizeof files.calibration, "%s", path);
    if (!realpath(config_path, files.config))
        return plx_fail(message, plx_error_of_errno(errno), "%s: %s", config_path, strerror(errno));
    int result = plx_file_read(files.config, PLX_YAML_MAX_BYTES, &files.config_before, &files.before_bytes, message);
    if (result == 0)
        result = put_calibration(&files, config, calibration, message);
    if (result == 0)
        result = name_in_config(&files, message);
    if (result == 0)
        *ret_files = files;
    else
        plx_installed_files_undo(&files);
    return result;
}

static void undo_config(const struct plx_installed_files *files)
{
    struct plx_error_message ignored;
    char *now = NULL;
    size_t bytes = 0;

    if (!files->config_after || plx_file_read(files->config, PLX_YAML_MAX_BYTES, &now, &bytes, &ignored) < 0)
        return;
    if (bytes == files->after_bytes && memcmp(now, files->config_after, bytes) == 0)
        plx_file_replace(files->config, files->config_before, files->before_bytes, &ignored);
    else
        plx_config_edit(files->config, "calibration", files->value, &ignored);
    free(now);
}

void plx_installed_files_undo(struct plx_installed_files *files)
{
    undo_config(files); /* first: the configuration never names a file that is not there */
    if (files->installed && *files->old)
        rename(files->old, files->calibration);
    else if (files->installed)
        unlink(files->calibration);
    else if (*files->old)
        unlink(files->old); /* the file has its first name still */
    plx_installed_files_free(files);
}

void plx_installed_files_free(struct plx_installed_files *files)
{
    free(files->config_before);
    free(files->config_after);
    files->config_before = files->config_after = NULL;
}
