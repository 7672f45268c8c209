/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/sha1.h"

#include <assert.h>
#include <string.h>

#define BLOCK 64

static uint32_t rotated(uint32_t value, int bits)
{
    return value << bits | value >> (32 - bits);
}

static void add_block(uint32_t hash[5], const uint8_t block[BLOCK])
{
    static const uint32_t constant[4] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
    uint32_t w[80], a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (int t = 16; t < 80; t++)
        w[t] = rotated(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        const int round = t / 20;
        const uint32_t mixed = round == 0 ? (b & c) | (~b & d) : round == 2 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        const uint32_t next = rotated(a, 5) + mixed + e + constant[round] + w[t];
        e = d;
        d = c;
        c = rotated(b, 30);
        b = a;
        a = next;
    }
    const uint32_t sum[5] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++)
        hash[i] += sum[i];
}

void plx_sha1(const void *text, size_t length, uint8_t ret_hash[PLX_SHA1_BYTES])
{
    uint32_t hash[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    uint8_t padded[2 * BLOCK] = {0};
    assert(length <= PLX_SHA1_MAX_TEXT);
    const size_t blocks = length + 9 > BLOCK ? 2 : 1;
    memcpy(padded, text, length);
    padded[length] = 0x80;
    padded[blocks * BLOCK - 2] = (uint8_t)(length * 8 >> 8);
    padded[blocks * BLOCK - 1] = (uint8_t)(length * 8);
    for (size_t i = 0; i < blocks; i++)
        add_block(hash, padded + i * BLOCK);
    for (int i = 0; i < PLX_SHA1_BYTES; i++)
        ret_hash[i] = (uint8_t)(hash[i / 4] >> (24 - 8 * (i % 4)));
}
