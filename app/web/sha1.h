/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1 (FIPS 180-4), for the handshake of WebSocket alone: it protects nothing. */
#ifndef PLX_APP_WEB_SHA1_H
#define PLX_APP_WEB_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define PLX_SHA1_BYTES 20
#define PLX_SHA1_MAX_TEXT 119 /* two blocks, with the end that is added */

/* Hashes LENGTH bytes of TEXT, at most PLX_SHA1_MAX_TEXT. */
void plx_sha1(const void *text, size_t length, uint8_t ret_hash[PLX_SHA1_BYTES]);

#endif
