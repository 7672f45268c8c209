/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys: complete, bounded, and the same whether written by dump, read by load or given to set. */
#include "config/schema.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/words.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

#ifndef __has_builtin
#    define __has_builtin(x) 0
#endif

static struct scratch scratch;

static int setup(void **state)
{
    *state = &scratch;
    return scratch_begin(&scratch, "c.yaml");
}

static void assert_load(const char *text, struct plx_config *ret_config)
{
    struct plx_error_message message = {""};
    assert_int_equal(scratch_write(&scratch, text, strlen(text)), 0);
    if (plx_config_load(scratch.path, ret_config, &message) != 0)
        fail_msg("%s", message.text);
}

static void assert_set(struct plx_config *config, const char *assignment)
{
    struct plx_error_message message = {""};
    if (plx_config_set(config, assignment, &message) != 0)
        fail_msg("%s: %s", assignment, message.text);
}

/* The first key whose values differ, or NULL. */
static const struct plx_key *difference(const struct plx_config *a, const struct plx_config *b)
{
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++)
        if (memcmp((const char *)a + key->offset, (const char *)b + key->offset, key->size) != 0)
            return key;
    return NULL;
}

static void assert_same(const struct plx_config *a, const struct plx_config *b)
{
    const struct plx_key *key = difference(a, b);
    if (key)
        fail_msg("%s differs", key->name);
}

static void every_field_has_a_key(void **state)
{
    (void)state;
#if __has_builtin(__builtin_clear_padding)
    static struct plx_config config;
    unsigned char *byte = (unsigned char *)&config;
    memset(&config, 0xFF, sizeof config);
    __builtin_clear_padding(&config);
    /* The last field is an array of structures, for which GCC 12 clears the wrong bytes. It has no padding. */
    _Static_assert(sizeof(struct plx_zone) ==
                       PLX_ZONE_NAME + 2 * PLX_ZONE_POINTS * sizeof(float) + 4 * sizeof(int) + 7 * sizeof(double),
                   "no padding");
    memset(&config.pipeline.zones, 0xFF, sizeof config.pipeline.zones);
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        for (size_t i = 0; i < key->size; i++)
            if (byte[key->offset + i] == 0)
                fail_msg("%s overlaps another key or padding", key->name);
        memset(byte + key->offset, 0, key->size);
    }
    for (size_t i = 0; i < sizeof config; i++)
        if (byte[i] != 0)
            fail_msg("the field at byte %zu of struct plx_config has no key in config/schema.c", i);
#else
    skip(); /* this compiler cannot tell padding from fields */
#endif
}

static void keys_are_well_formed(void **state)
{
    (void)state;
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        assert_ptr_equal(plx_key_find(key->name), key); /* unique, too */
        assert_true(strlen(key->name) < PLX_KEY_NAME);
        assert_true(strlen(key->help) > 0 && key->help[strlen(key->help) - 1] != '.');
        assert_true((key->type == PLX_KEY_WORD || key->type == PLX_KEY_PRESET) == (key->words != NULL));
        char nearest[PLX_KEY_NAME];
        plx_key_nearest(key->name, nearest);
        assert_string_equal(nearest, key->name);
    }
}

static void nothing_written_is_all_defaults(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",  "# nothing but a comment\n",        "{}",     "---\n",        "\xEF\xBB\xBF# byte order mark\n",
        "~", "match:\n#  paths: 4\nexposure:\n", "\n\n\n", "--- {}\n...\n"};
    struct plx_config defaults, config;
    plx_config_default(&defaults);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_load(texts[i], &config);
        assert_same(&config, &defaults);
    }
}

typedef int dump_function(const struct plx_config *config, FILE *out);
static dump_function *const dumps[] = {plx_config_dump, plx_config_dump_common};

/* CONFIG comes back from what DUMP prints. PLACE: what to say before an error. */
static void assert_survives(const struct plx_config *config, dump_function *dump, const char *place)
{
    static struct plx_config read;
    struct plx_error_message message = {""};
    FILE *out = fopen(scratch.path, "we");
    assert_non_null(out);
    assert_int_equal(dump(config, out), 0);
    assert_int_equal(fclose(out), 0);
    if (plx_config_load(scratch.path, &read, &message) != 0)
        fail_msg("%s%s", place, message.text);
    if (difference(config, &read))
        fail_msg("%s%s differs", place, difference(config, &read)->name);
}

static void defaults_survive_dump_and_load(void **state)
{
    (void)state;
    struct plx_config defaults;
    plx_config_default(&defaults);
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++)
        assert_survives(&defaults, dumps[i], "");
}

/* What DUMP prints of CONFIG. The caller frees it. */
static char *dump_text(const struct plx_config *config, dump_function *dump)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    assert_int_equal(dump(config, out), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* True if TEXT, a dump, has a value for KEY. */
static bool has_key(const char *text, const struct plx_key *key)
{
    char line[2 * PLX_KEY_NAME];
    const char *dot = strchr(key->name, '.'), *begin = text;
    if (dot) {
        snprintf(line, sizeof line, "\n%.*s:\n", (int)(dot - key->name), key->name);
        begin = strstr(text, line);
    }
    if (!begin)
        return false;
    const char *end = dot ? strstr(begin + 1, "\n\n") : NULL;
    snprintf(line, sizeof line, dot ? "\n  %s: " : "\n%s: ", dot ? dot + 1 : key->name);
    const char *found = strstr(begin, line);
    return found && (!end || found < end);
}

static void expert_keys_are_dumped_on_demand(void **state)
{
    (void)state;
    static struct plx_config config;
    int experts = 0;
    plx_config_default(&config);
    char *every = dump_text(&config, plx_config_dump), *common = dump_text(&config, plx_config_dump_common);
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        if (!has_key(every, key))
            fail_msg("the whole dump lacks %s", key->name);
        if (has_key(common, key) == key->expert)
            fail_msg("the common dump has %s, or lacks it", key->name);
        experts += key->expert;
    }
    assert_true(experts > 0);
    assert_null(strstr(common, "\nprefilter:\n")); /* a section whose keys are all expert ones */
    free(common);
    free(every);
}

static void an_expert_key_that_differs_is_dumped(void **state)
{
    (void)state;
    static struct plx_config config;
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        if (!key->expert)
            continue;
        plx_config_default(&config);
        ((char *)&config)[key->offset] ^= 1;
        char *common = dump_text(&config, plx_config_dump_common);
        if (!has_key(common, key))
            fail_msg("the common dump lacks %s", key->name);
        free(common);
    }
}

/* The dump names the preset, which sets keys that have their defaults in this configuration. */
static void a_preset_survives_the_common_dump(void **state)
{
    (void)state;
    static struct plx_config config;
    plx_config_default(&config);
    assert_set(&config, "match=classic");
    assert_survives(&config, plx_config_dump_common, "");
    assert_set(&config, "match.smooth=true");
    assert_survives(&config, plx_config_dump_common, "");
}

static void random_text(uint64_t *seed, char *ret_text, size_t size)
{
    static const char *const piece[] = {
        "a", "/", " ", "\"", "\\", "'", "#", ": ", "\xC3\xA4", "{", "%", "~", "-", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    const size_t most = scratch_random(seed) % 2 ? 8 : size;
    ret_text[0] = '\0';
    for (size_t used = 0;;) {
        const char *next = piece[scratch_random(seed) % (sizeof piece / sizeof *piece)];
        const size_t length = strlen(next);
        if (used + length >= most)
            return;
        memcpy(ret_text + used, next, length + 1);
        used += length;
    }
}

/* A number within RANGE. */
static double random_number(const struct plx_range *range, uint64_t *seed)
{
    const double part = (double)(scratch_random(seed) >> 11) / 9007199254740992.0;
    const double number = range->min + part * (range->max - range->min);
    if (range->number == PLX_NUMBER_CHOICE)
        return range->choice[scratch_random(seed) % (uint64_t)range->choices];
    return range->number == PLX_NUMBER_REAL ? number : (double)((int)floor(number) | (range->number == PLX_NUMBER_ODD));
}

/* Up to 16 zones, each with all of its keys, and with as many digits as numbers have. */
static void random_zones(uint64_t *seed, char *ret_text, size_t size)
{
    static const struct plx_range range = {.number = PLX_NUMBER_REAL, .min = 0, .max = 1};
    size_t used = (size_t)snprintf(ret_text, size, "[");
#define PUT(...) used += (size_t)snprintf(ret_text + used, size - used, __VA_ARGS__)
#define PART random_number(&range, seed)
    for (uint64_t i = 0, count = scratch_random(seed) % (PLX_MAX_ZONES + 1); i < count; i++) {
        const int points = 3 + (int)(scratch_random(seed) % (PLX_ZONE_POINTS - 2));
        PUT("%s{name: zone%d, polygon: [", i > 0 ? ", " : "", (int)i);
        for (int p = 0; p < points; p++) {
            const double radius = 1 + 3.9 * PART, angle = 2 * 3.14159265 * p / points;
            PUT("%s[%.9g, %.9g]", p > 0 ? ", " : "", radius * cos(angle), radius * sin(angle));
        }
        PUT("], height_m: [%.17g, %.17g], speed_mps: [%.17g, %.17g], clear_s: %.17g, max_unknown: %.17g, min_depth: %.17g",
            PART, 1 + PART, PART, 1 + PART, PART, PART, PART);
        PUT(", frames: %d, occupied: %s, unknown: %s}", 1 + (int)(scratch_random(seed) % 30),
            scratch_random(seed) % 2 ? "stop" : "slow", scratch_random(seed) % 2 ? "go" : "slow");
    }
    PUT("]");
#undef PUT
#undef PART
}

static void random_flags(uint64_t *seed, char *ret_text, size_t size)
{
    const char *before = "";
    size_t used = 0;
    ret_text[0] = '\0';
    for (int bit = 0; bit < PLX_HEALTH_FLAGS; bit++)
        if (scratch_random(seed) % 2) {
            used += (size_t)snprintf(ret_text + used, size - used, "%s%s", before, plx_health_name(bit));
            before = ",";
        }
}

/* KEY gets a random value within its limits, by the way of `--set`. */
static void set_random(struct plx_config *config, const struct plx_key *key, uint64_t *seed)
{
    static char assignment[PLX_VALUE_TEXT];
    size_t used = (size_t)snprintf(assignment, sizeof assignment, "%s=", key->name);
    const size_t room = sizeof assignment - used;
    const struct plx_range *range = plx_key_range(key);
    if (key->words) {
        uint64_t count = 1;
        while (key->words[count].text && (!range || plx_range_contains(range, key->words[count].value)))
            count++;
        snprintf(assignment + used, room, "%s", key->words[scratch_random(seed) % count].text);
    } else if (key->type == PLX_KEY_TEXT) {
        random_text(seed, assignment + used, key->size);
    } else if (key->type == PLX_KEY_BOOL) {
        snprintf(assignment + used, room, "%s", scratch_random(seed) % 2 ? "true" : "false");
    } else if (key->type == PLX_KEY_BYTES) {
        for (size_t i = 0; i < key->size; i++)
            used += (size_t)snprintf(assignment + used, sizeof assignment - used, "%s%d", i ? "," : "",
                                     (int)(scratch_random(seed) % 256));
    } else if (key->type == PLX_KEY_REALS) {
        for (size_t i = 0; i < key->size / sizeof(double); i++)
            used += (size_t)snprintf(assignment + used, sizeof assignment - used, "%s%.17g", i ? "," : "",
                                     random_number(range, seed));
    } else if (key->type == PLX_KEY_FLAGS) {
        random_flags(seed, assignment + used, room);
    } else if (key->type == PLX_KEY_ZONES) {
        random_zones(seed, assignment + used, room);
    } else {
        const double number = random_number(range, seed);
        snprintf(assignment + used, room, "%.17g", key->type == PLX_KEY_PX ? number / PLX_DISPARITY_ONE : number);
    }
    assert_set(config, assignment);
}

static void random_values_survive_dump_and_load(void **state)
{
    (void)state;
    static struct plx_config written;
    struct plx_error_message message = {""};
    char place[64];
    const uint64_t first = scratch_seed();
    int tried = 0;
    for (uint64_t i = first; i < first + 600; i++) {
        uint64_t seed = i * 7919;
        plx_config_default(&written);
        written.pipeline.mount.z_m = 1; /* for zones */
        for (uint64_t n = 1 + scratch_random(&seed) % 6; n > 0; n--)
            set_random(&written, &plx_keys[scratch_random(&seed) % (uint64_t)plx_key_count], &seed);
        if (plx_config_check(&written, &message) != 0)
            continue; /* each value is fine, the combination is not */
        tried++;
        snprintf(place, sizeof place, "PLX_TEST_SEED=%llu: ", (unsigned long long)i);
        assert_survives(&written, dumps[i % 2], place);
    }
    assert_true(tried > 200);
}

static int try_number(const struct plx_key *key, double value, const char *format)
{
    static struct plx_config config, before;
    char assignment[512];
    struct plx_error_message message = {""};
    plx_config_default(&config);
    before = config;
    size_t used = (size_t)snprintf(assignment, sizeof assignment, "%s=", key->name);
    used += (size_t)snprintf(assignment + used, sizeof assignment - used, format, value);
    const size_t items = key->type == PLX_KEY_BYTES ? key->size : key->type == PLX_KEY_REALS ? key->size / sizeof(double) : 1;
    for (size_t i = 1; i < items; i++)
        used += (size_t)snprintf(assignment + used, sizeof assignment - used, ",1");
    int result = plx_config_set(&config, assignment, &message);
    if (result < 0) {
        assert_same(&config, &before);
        assert_non_null(strstr(message.text, key->name));
        assert_non_null(strstr(message.text, "; expected "));
    }
    return result;
}

static void limits_are_the_table_s(void **state)
{
    (void)state;
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        const struct plx_range *range = plx_key_range(key);
        if (key->words || !range)
            continue;
        const bool real = key->type == PLX_KEY_REAL || key->type == PLX_KEY_REALS, fraction = real || key->type == PLX_KEY_PX;
        const double unit = key->type == PLX_KEY_PX ? 1.0 / PLX_DISPARITY_ONE : 1;
        const char *format = fraction ? "%.17g" : "%.0f";
        const bool choice = range->number == PLX_NUMBER_CHOICE;
        const double min = (choice ? range->choice[0] : range->min) * unit;
        const double max = (choice ? range->choice[range->choices - 1] : range->max) * unit;
        assert_true(min < max);
        assert_int_equal(try_number(key, min, format), 0);
        assert_int_equal(try_number(key, max, format), 0);
        assert_int_equal(try_number(key, real ? nextafter(min, -DBL_MAX) : min - unit, format), PLX_ERR_RANGE);
        assert_int_equal(try_number(key, real ? nextafter(max, DBL_MAX) : max + unit, format), PLX_ERR_RANGE);
        if (!fraction)
            assert_int_equal(try_number(key, min, "%.1f"), PLX_ERR_FORMAT);
        if (key->type == PLX_KEY_PX)
            assert_int_equal(try_number(key, min + unit / 2, format), PLX_ERR_RANGE);
    }
}

static void words_and_texts_are_bounded(void **state)
{
    (void)state;
    static struct plx_config config;
    static char assignment[PLX_VALUE_TEXT];
    struct plx_error_message message;
    plx_config_default(&config);
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        int used = snprintf(assignment, sizeof assignment, "%s=", key->name);
        for (const struct plx_word *word = key->words; word && word->text; word++) {
            const struct plx_range *range = plx_key_range(key);
            if (range && !plx_range_contains(range, word->value))
                continue;
            snprintf(assignment + used, sizeof assignment - (size_t)used, "%s", word->text);
            assert_set(&config, assignment);
        }
        if (key->type == PLX_KEY_TEXT) {
            memset(assignment + used, 'x', key->size);
            assignment[(size_t)used + key->size] = '\0';
            assert_int_equal(plx_config_set(&config, assignment, &message), PLX_ERR_RANGE);
            assignment[(size_t)used + key->size - 1] = '\0';
            assert_set(&config, assignment);
        } else {
            snprintf(assignment + used, sizeof assignment - (size_t)used, "nonsense");
            assert_true(plx_config_set(&config, assignment, &message) < 0);
        }
    }
}

static void a_preset_comes_before_its_numbers(void **state)
{
    (void)state;
    struct plx_config config, other;
    struct plx_match classic;
    plx_match_classic(&classic);

    assert_load("match: classic\n", &config);
    assert_int_equal(config.pipeline.match.p2_min, classic.p2_min);
    assert_int_equal(config.pipeline.match.census, classic.census);
    assert_int_equal(plx_match_preset_of(&config.pipeline.match), PLX_MATCH_PRESET_CLASSIC);

    assert_load("match: {preset: classic, paths: 4, p1_straight: 8}\n", &config);
    assert_load("match: {p1_straight: 8, paths: 4, preset: classic}\n", &other);
    assert_same(&config, &other);
    assert_int_equal(config.pipeline.match.paths, 4);
    assert_int_equal(config.pipeline.match.p1_straight, 8);
    assert_int_equal(config.pipeline.match.census, classic.census);
    assert_int_equal(plx_match_preset_of(&config.pipeline.match), PLX_MATCH_PRESET_CLASSIC);

    plx_config_default(&config);
    assert_int_equal(plx_match_preset_of(&config.pipeline.match), PLX_MATCH_PRESET_DEFAULT);
    assert_set(&config, "match.paths=4");
    assert_set(&config, "match=classic");
    assert_set(&config, "match.p1_straight=8");
    assert_same(&config, &other);
    assert_set(&config, "match.preset=default");
    plx_config_default(&other);
    assert_set(&other, "match.paths=4"); /* the size of the search stays */
    assert_same(&config, &other);
}

static void reload_names_what_needs_a_restart(void **state)
{
    (void)state;
    static struct plx_config a, b;
    const char *name = NULL;
    plx_config_default(&a);
    assert_true(plx_config_reloadable(&a, &a, &name));
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        if (key->size == 0)
            continue;
        b = a;
        ((char *)&b)[key->offset] ^= 1;
        assert_int_equal(plx_config_reloadable(&a, &b, &name), key->reloadable);
        if (!key->reloadable)
            assert_string_equal(name, key->name);
        const char *fixed = plx_config_fixed_difference(&a, &b);
        assert_string_equal(fixed ? fixed : "", key->fixed ? key->name : "");
        assert_false(key->fixed && key->reloadable);
    }
    b = a;
    b.source.path[1] = 'x'; /* behind the end of the text */
    assert_true(plx_config_reloadable(&a, &b, &name));
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    struct plx_config config;
    FILE *full = fopen("/dev/full", "we");
    if (!full)
        skip();
    plx_config_default(&config);
    assert_int_equal(plx_config_dump(&config, full), PLX_ERR_IO);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_a_key),
        cmocka_unit_test(keys_are_well_formed),
        cmocka_unit_test(nothing_written_is_all_defaults),
        cmocka_unit_test(defaults_survive_dump_and_load),
        cmocka_unit_test(expert_keys_are_dumped_on_demand),
        cmocka_unit_test(an_expert_key_that_differs_is_dumped),
        cmocka_unit_test(a_preset_survives_the_common_dump),
        cmocka_unit_test(random_values_survive_dump_and_load),
        cmocka_unit_test(limits_are_the_table_s),
        cmocka_unit_test(words_and_texts_are_bounded),
        cmocka_unit_test(a_preset_comes_before_its_numbers),
        cmocka_unit_test(reload_names_what_needs_a_restart),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests_name("config", tests, setup, scratch_teardown);
}
