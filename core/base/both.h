/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that every backend compiles. */
#ifndef PLX_CORE_BASE_BOTH_H
#define PLX_CORE_BASE_BOTH_H

#ifdef __CUDACC__
#    define PLX_BOTH static inline __host__ __device__
#else
#    define PLX_BOTH static inline
#endif

#endif
