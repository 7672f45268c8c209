/* SPDX-License-Identifier: Apache-2.0 */
/* Golden tests compare with real pictures, which are not part of the project: without these pictures a program is skipped. */
#ifndef PLX_TESTS_GOLDEN_H
#define PLX_TESTS_GOLDEN_H

#include <stdio.h>
#include <unistd.h>

#define GOLDEN_SKIPPED 77 /* SKIP_RETURN_CODE in tests/CMakeLists.txt */

static inline int golden_data_missing(void)
{
    if (access(PLX_TEST_DATA, R_OK) == 0)
        return 0;
    puts("skipped: no data in " PLX_TEST_DATA);
    return 1;
}

/* Instead of cmocka_run_group_tests. */
#define golden_run(tests, begin, end) (golden_data_missing() ? GOLDEN_SKIPPED : cmocka_run_group_tests(tests, begin, end))

#endif
