/* SPDX-License-Identifier: Apache-2.0 */
/* Another program on the same GPU: it reads memory at random places, on the multiprocessors that a bench leaves free. */
#ifndef PLX_TESTS_PARITY_CONTENTION_H
#define PLX_TESTS_PARITY_CONTENTION_H

struct contention;

/*
 * To be called after confine() and with its count OWN. WARPS: of a block, two blocks a multiprocessor; each reads 128 bytes
 * after another from 4 GiB; 0: no load, and NULL is returned. PAUSE_NS: between four reads. Allocates and frees nothing later,
 * as that would wait for the load. Exits with 1 where CUDA fails.
 */
struct contention *contention_create(int own, int warps, int pause_ns);

/* The load runs from begin to end. End prints how many GB/s a copy on the own multiprocessors moves meanwhile: levels of load
 * are compared by that. NULL does nothing. */
void contention_begin(struct contention *contention);
void contention_end(struct contention *contention);

#endif
