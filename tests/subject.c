/* SPDX-License-Identifier: Apache-2.0 */
/* A program that every test runner must report as failed (system/runners.sh). Its name selects the behaviour: subject_crash
 * crashes, subject_silent waits for ever, subject_end ends at once without output. */
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
