/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of the processor that works: what the key `backend` asks for, and what this machine has. */
#ifndef PLX_APP_BACKEND_H
#define PLX_APP_BACKEND_H

#include "config/config.h"
#include "core/pipeline/stages.h"

/*
 * Creates the backend that KIND names; auto is the GPU, and the CPU where there is none. *NOTE, if not NULL, then says why it
 * is the CPU; "" otherwise. MEMORY: what a GPU shares with the CPU. Errors: UNSUPPORTED (gpu where there is none), NOMEM,
 * RANGE, LOST, with a sentence in MESSAGE.
 */
int plx_backend_open(enum plx_backend_kind kind, enum plx_gpu_memory memory, const struct plx_limits *limits,
                     struct plx_stages **ret_stages, struct plx_error_message *note, struct plx_error_message *message);

#endif
