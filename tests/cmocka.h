/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka.h, after the headers that it needs. */
#ifndef PLX_TESTS_CMOCKA_H
#define PLX_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
