/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping of the memory with a count of its references: views may outlive their client, and a restart of the service. */
#ifndef PLX_CLIENT_MAPPING_H
#define PLX_CLIENT_MAPPING_H

#include <stddef.h>

#include <parallax/client.h>

/* Maps BYTES of FD read-only. The caller's reference ends with plx_mapping_unref. NOMEM, IO. */
int plx_mapping_create(int fd, size_t bytes, const struct plx_mapping **ret_mapping);

#endif
