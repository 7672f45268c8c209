/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs that cross the bus while the frame before them is computed. Two sets of memory take turns, so that no frame's pair is
 * written over while it is read. */
#include "core/raw.h"
#include "gpu/internal.h"

#define PIXEL_BYTES 4 /* three of colour, and room for a pitch; or two eyes of two bytes side by side */

int plx_gpu_uploads_create(struct plx_gpu *gpu)
{
    struct plx_gpu_uploads *uploads = &gpu->uploads;

    if (gpu->memory != PLX_GPU_MEMORY_COPIED)
        return 0;
    uploads->bytes = (size_t)gpu->limits.width * (size_t)gpu->limits.height * PIXEL_BYTES;
    int result = PLX_CUDA(gpu, cudaStreamCreateWithFlags(&uploads->stream, cudaStreamNonBlocking));
    for (int i = 0; i < 2 * PLX_EYES && result == 0; i++)
        result = plx_gpu_alloc_local(&gpu->base, uploads->bytes, &uploads->data[i / PLX_EYES][i % PLX_EYES]);
    if (result == 0) /* cleared on that stream, written on the other */
        result = PLX_CUDA(gpu, cudaStreamSynchronize(gpu->stream));
    return result;
}

void plx_gpu_uploads_destroy(struct plx_gpu *gpu)
{
    struct plx_gpu_uploads *uploads = &gpu->uploads;

    if (uploads->stream)
        cudaStreamSynchronize(uploads->stream);
    for (int i = 0; i < 2 * PLX_EYES; i++)
        plx_gpu_free(&gpu->base, uploads->data[i / PLX_EYES][i % PLX_EYES]);
    if (uploads->stream)
        cudaStreamDestroy(uploads->stream);
}

static int upload_eye(struct plx_gpu *gpu, struct plx_raw *raw, void *to)
{
    raw->uploaded = NULL;
    if (plx_raw_check(raw, NULL) < 0)
        return 0;
    const struct plx_format_layout *layout = plx_format_layout(raw->format);
    const size_t pixel = (size_t)(layout->unit_bytes / layout->unit_pixels), row = pixel * (size_t)raw->eye_width;
    if ((size_t)(raw->height - 1) * raw->pitch + row > gpu->uploads.bytes)
        return 0;
    gpu->uploads.busy = true;
    const int result =
        PLX_CUDA(gpu, cudaMemcpy2DAsync(to, raw->pitch, (const uint8_t *)raw->data + pixel * (size_t)raw->eye_x, raw->pitch,
                                        row, (size_t)raw->height, cudaMemcpyHostToDevice, gpu->uploads.stream));
    if (result == 0)
        raw->uploaded = to;
    return result;
}

int plx_gpu_upload(struct plx_stages *self, struct plx_raw *left, struct plx_raw *right)
{
    struct plx_gpu *gpu = plx_gpu(self);
    void **to = gpu->uploads.data[gpu->uploads.free];

    const int result = upload_eye(gpu, left, to[PLX_LEFT]);
    return result < 0 ? result : upload_eye(gpu, right, to[PLX_RIGHT]);
}

int plx_gpu_uploads_join(struct plx_gpu *gpu)
{
    struct plx_gpu_uploads *uploads = &gpu->uploads;

    if (!uploads->busy)
        return 0;
    uploads->busy = false;
    uploads->free = 1 - uploads->free;
    return PLX_CUDA(gpu, cudaStreamSynchronize(uploads->stream));
}
