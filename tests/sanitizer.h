/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this is a build with AddressSanitizer or ThreadSanitizer, where slow tests take a sample. */
#ifndef PLX_TESTS_SANITIZER_H
#define PLX_TESTS_SANITIZER_H

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#    define SANITIZED 1
#else
#    define SANITIZED 0
#endif

#endif
