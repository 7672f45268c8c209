/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "cpu/internal.h"

const struct plx_kernels *plx_isa_kernels(enum plx_isa isa)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    switch (isa) {
    case PLX_ISA_AVX2:
        return __builtin_cpu_supports("avx2") ? &plx_kernels_avx2 : NULL;
    case PLX_ISA_AVX512:
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bitalg")
                   ? &plx_kernels_avx512
                   : NULL;
    default:
        break;
    }
#elif defined __aarch64__
    if (isa == PLX_ISA_NEON)
        return &plx_kernels_neon;
#endif
    return isa == PLX_ISA_GENERIC ? &plx_kernels_generic : NULL;
}
