/* SPDX-License-Identifier: Apache-2.0 */
/* For the sgm.c of test_threads: before each sequentially consistent load, with which a thread looks once more before it
 * sleeps, the thread loses its processor for LATE_LOADS microseconds. */
#ifndef PLX_TESTS_LATE_LOADS_H
#define PLX_TESTS_LATE_LOADS_H

#include <stdatomic.h>
#include <unistd.h>

extern atomic_int late_loads;

#ifdef __clang__
#    define LATE_LOAD(object, order) __c11_atomic_load(object, order)
#else
#    define LATE_LOAD(object, order) __atomic_load_n(object, order)
#endif
#undef atomic_load_explicit
#define atomic_load_explicit(object, order)                                                                                    \
    (((order) == memory_order_seq_cst && LATE_LOAD(&late_loads, memory_order_relaxed) > 0                                      \
          ? (void)usleep((useconds_t)LATE_LOAD(&late_loads, memory_order_relaxed))                                             \
          : (void)0),                                                                                                          \
     LATE_LOAD(object, order))

#endif
