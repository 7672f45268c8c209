/* SPDX-License-Identifier: Apache-2.0 */
/* What runners of tests must not take for a success (system/runners.sh), by the name that it is started as: subject_crash,
 * subject_silent, which waits for ever, and subject_end, which ends at once and says nothing. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc > 0 && strstr(argv[0], "crash"))
        raise(SIGSEGV);
    if (argc > 0 && strstr(argv[0], "silent"))
        pause();
    return 0;
}
