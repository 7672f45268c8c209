// SPDX-License-Identifier: GPL-2.0-only
/*
 * A GPIO chip for tests, without hardware, for kernels that are built without gpio-sim and gpio-mockup (Debian's): label
 * gpiotest, 8 lines, of which 5 is named "verdict" and 6 cannot be an output. It sees each edge of a line as a wire would, and
 * tells in debugfs, /sys/kernel/debug/gpiotest/LINE/: value (level), edges (changes of it so far), last_ns (CLOCK_MONOTONIC of
 * the newest).
 */
#include <linux/debugfs.h>
#include <linux/gpio/driver.h>
#include <linux/ktime.h>
#include <linux/module.h>

#define LINES 8
#define INPUT_ONLY 6

static struct wire {
    u32 value;
    u64 edges, last_ns;
    bool is_output;
} wires[LINES];
static struct dentry *root;

static void set(struct gpio_chip *chip, unsigned int offset, int value)
{
    struct wire *wire = &wires[offset];
    if (wire->value == !!value)
        return;
    wire->last_ns = ktime_get_ns();
    wire->value = !!value;
    wire->edges++;
}

static int get(struct gpio_chip *chip, unsigned int offset)
{
    return wires[offset].value;
}

static int get_direction(struct gpio_chip *chip, unsigned int offset)
{
    return wires[offset].is_output ? GPIO_LINE_DIRECTION_OUT : GPIO_LINE_DIRECTION_IN;
}

static int direction_input(struct gpio_chip *chip, unsigned int offset)
{
    wires[offset].is_output = false;
    return 0;
}

static int direction_output(struct gpio_chip *chip, unsigned int offset, int value)
{
    if (offset == INPUT_ONLY)
        return -EINVAL;
    wires[offset].is_output = true;
    set(chip, offset, value);
    return 0;
}

static const char *const names[LINES] = {[5] = "verdict"};
static struct gpio_chip chip = {
    .label = "gpiotest",
    .owner = THIS_MODULE,
    .base = -1,
    .ngpio = LINES,
    .names = names,
    .get_direction = get_direction,
    .direction_input = direction_input,
    .direction_output = direction_output,
    .get = get,
    .set = set,
};

static int __init begin(void)
{
    char name[4];
    root = debugfs_create_dir("gpiotest", NULL);
    for (unsigned int i = 0; i < LINES; i++) {
        snprintf(name, sizeof name, "%u", i);
        struct dentry *folder = debugfs_create_dir(name, root);
        debugfs_create_u32("value", 0444, folder, &wires[i].value);
        debugfs_create_u64("edges", 0444, folder, &wires[i].edges);
        debugfs_create_u64("last_ns", 0444, folder, &wires[i].last_ns);
    }
    const int result = gpiochip_add_data(&chip, NULL);
    if (result)
        debugfs_remove(root);
    return result;
}

static void __exit end(void)
{
    gpiochip_remove(&chip);
    debugfs_remove(root);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("a GPIO chip whose edges are counted, for tests");
MODULE_LICENSE("GPL");
