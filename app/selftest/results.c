/* SPDX-License-Identifier: Apache-2.0 */
#include "app/selftest/check.h"

#include <string.h>
#include <unistd.h>

#include "config/replace.h"

void results_tap(FILE *file, int number, const struct check_result *result)
{
    static const char *const line[] = {
        [CHECK_PASSED] = "ok %d - %s\n",
        [CHECK_FAILED] = "not ok %d - %s\n# %s\n",
        [CHECK_SKIPPED] = "ok %d - %s # SKIP %s\n",
        [CHECK_DOUBTED] = "not ok %d - %s # TODO %s\n",
    };
    const struct check_outcome *outcome = &result->outcome;
    fprintf(file, line[outcome->verdict], number, result->name, outcome->message);
    for (const char *note = outcome->note; *note;) {
        const int length = (int)strcspn(note, "\n");
        fprintf(file, "#   %.*s\n", length, note);
        note += length + (note[length] == '\n');
    }
    fflush(file);
}

/* Writes TEXT as XML 1.0 text or attribute value. Characters outside of printable ASCII become question marks. */
static void escape(FILE *file, const char *text)
{
    static const char *const entity[256] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (entity[c])
            fputs(entity[c], file);
        else
            fputc((c < 0x20 && c != '\n' && c != '\t') || c >= 0x7F ? '?' : c, file);
    }
}

static void element(FILE *file, const char *name, const char *message)
{
    fprintf(file, "    <%s message=\"", name);
    escape(file, message);
    fputs("\"/>\n", file);
}

static void test_case(FILE *file, const struct check_result *result)
{
    fputs("  <testcase classname=\"parallax-selftest\" name=\"", file);
    escape(file, result->name);
    fprintf(file, "\" time=\"%.3f\">\n", result->seconds);
    if (result->outcome.verdict == CHECK_FAILED)
        element(file, "failure", result->outcome.message);
    else if (result->outcome.verdict != CHECK_PASSED)
        element(file, "skipped", result->outcome.message);
    fputs("    <system-out>", file);
    escape(file, result->outcome.note);
    fputs("</system-out>\n  </testcase>\n", file);
}

int results_junit(const char *path, const struct check_result *result, int count, struct plx_error_message *message)
{
    const struct stat like = {.st_mode = 0644, .st_uid = geteuid(), .st_gid = getegid()};
    struct plx_replacement replacement;
    int failures = 0, skipped = 0;
    double seconds = 0;

    const int error = plx_replacement_begin(path, &replacement, message);
    if (error < 0)
        return error;
    for (int i = 0; i < count; i++) {
        failures += result[i].outcome.verdict == CHECK_FAILED;
        skipped += result[i].outcome.verdict == CHECK_SKIPPED || result[i].outcome.verdict == CHECK_DOUBTED;
        seconds += result[i].seconds;
    }
    fprintf(replacement.file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"parallax-selftest\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" time=\"%.3f\">\n",
            count, failures, skipped, seconds);
    for (int i = 0; i < count; i++)
        test_case(replacement.file, &result[i]);
    fputs("</testsuite>\n", replacement.file);
    return plx_replacement_finish(&replacement, &like, message);
}
