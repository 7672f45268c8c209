/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping of the memory with a count of its references: views may outlive their client, and a restart of the service. */
#ifndef PLX_CLIENT_MAPPING_H
#define PLX_CLIENT_MAPPING_H

#include <stddef.h>

#include <parallax/client.h>

/* Maps BYTES of FD read-only. The caller's reference ends with plx_mapping_unref. NOMEM, IO. */
int plx_mapping_create(int fd, size_t bytes, const struct plx_mapping **ret_mapping);

/* MAPPING with one more reference, which ends with plx_mapping_unref. */
const struct plx_mapping *plx_mapping_share(const struct plx_mapping *mapping);

/* munmap holds the lock of the address space, for which other threads' mmap waits: plx_verdict maps a header where it attaches.
 * So this unmaps pieces of this size, a multiple of every size of pages, and lets others go first after each. */
#define PLX_MAPPING_PIECE ((size_t)2 << 20)

/* As plx_mapping_unref, but takes longer, and no other thread waits for it. */
void plx_mapping_unref_gently(const struct plx_mapping *mapping);

#endif
