#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The units as systemd itself judges them: valid, exposure at most 2.0, and every point of exposure explained in the unit; users,
# directories and udev rules are accepted. Arguments: source and build directory. What this machine lacks is skipped, and said.
set -eu
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "units.sh: $*" >&2; exit 1; }

command -v systemd-analyze >/dev/null || { echo "skipped: no systemd-analyze"; exit 77; }
systemd-analyze --help | grep -q -- --offline || { echo "skipped: systemd-analyze is older than 250"; exit 77; }

# As installed, but for the program's place: it must exist.
units="parallaxd.service parallaxd@front.service parallax-recorder.service parallax-recorder@front.service parallax-web.service parallax-web@front.service"
! test -e "$build/systemd/parallax-ros.service" || units="$units parallax-ros.service parallax-ros@front.service"
! test -e "$build/systemd/parallax-gpio.service" || units="$units parallax-gpio.service parallax-gpio@front.service"
for unit in $units; do
    program=${unit%.service}
    program=${program%@front}
    template=$(echo "$unit" | sed 's/@front/@/')
    sed "s|^ExecStart=[^ ]*|ExecStart=$build/bin/$program|" "$build/systemd/$template" >"$work/$template"
    test "$unit" = "$template" || cp "$work/$template" "$work/$unit"
done
for unit in $units; do
    systemd-analyze verify --man=no "$work/$unit" >"$work/said" 2>&1 || { cat "$work/said"; fail "$unit is not valid"; }
    grep -q parallax "$work/said" && { cat "$work/said"; fail "$unit is not quite valid"; }
    systemd-analyze security --offline=yes --threshold=20 --no-pager "$work/$unit" >"$work/security" ||
        { cat "$work/security"; fail "$unit: exposure above 2.0"; }
    grep 'Overall exposure' "$work/security"
    sed -n 's/^✗ \([A-Za-z]*\).*/\1/p' "$work/security" | sort -u >"$work/given-up"
    sed -n '/^# Given up/,$s/^# \([A-Z][A-Za-z]*\): .*/\1/p' "$work/$unit" | sort -u >"$work/explained"
    test -s "$work/given-up" || fail "systemd-analyze speaks another language than this test"
    diff "$work/given-up" "$work/explained" || fail "$unit: given up (<) and explained (>) differ"
done

sed "s|^ExecStart=[^ ]*|ExecStart=$build/bin/parallax-selftest|" "$build/systemd/parallax-selftest.service" >"$work/parallax-selftest.service"
systemd-analyze verify --man=no "$work/parallax-selftest.service" >"$work/said" 2>&1 || { cat "$work/said"; fail "parallax-selftest.service"; }
grep -q parallax "$work/said" && { cat "$work/said"; fail "parallax-selftest.service is not quite valid"; }

# Restarted by systemd or not: the table for people says the same.
prevented=$(sed -n 's/^RestartPreventExitStatus=//p' "$work/parallaxd.service")
documented=$(grep -E '^\| [1-9][0-9]* .* no \|$' "$source/docs/exit-codes.md" | cut -d' ' -f2 | tr '\n' ' ')
test "$prevented " = "$documented" || fail "RestartPreventExitStatus is $prevented, documented $documented"

# Nothing starts without a configuration.
for name in parallax %i; do
    unit=parallaxd$(test $name = parallax || echo @).service
    grep -q "^ConditionPathExists=.*/parallax/$name.yaml\$" "$work/$unit" || fail "$unit starts without a configuration"
done

# An instance's file and socket.
grep -q -- '--config .*/parallax/%i.yaml --set publish.socket=/run/parallax-%i/parallax.sock --set blackbox.directory=/var/lib/parallax/blackbox-%i --set calibration_history=/var/lib/parallax/calibration-%i.json --set recorder.socket=/run/parallax-recorder-%i/recorder.sock$' "$work/parallaxd@.service" ||
    fail "parallaxd@ does not name its configuration, socket, black box and corrections"

# Users and directories, in a root of their own; only root may give files away.
if test "$(id -u)" = 0 && command -v systemd-sysusers >/dev/null && command -v systemd-tmpfiles >/dev/null; then
    mkdir -p "$work/root/etc"
    systemd-sysusers --root="$work/root" "$source/systemd/parallax.sysusers" >"$work/said" 2>&1 ||
        { cat "$work/said"; fail "sysusers"; }
    grep -q '^parallax:' "$work/root/etc/passwd" || fail "sysusers made no user"
    for group in video render; do
        grep -q "^$group:.*:parallax$" "$work/root/etc/group" || fail "the user is not in group $group"
    done
    systemd-tmpfiles --create --root="$work/root" "$source/systemd/parallax.tmpfiles" >"$work/said" 2>&1 ||
        { cat "$work/said"; fail "tmpfiles"; }
    test "$(stat -c %a "$work/root/run/parallax")" = 750 || fail "tmpfiles made no /run/parallax of mode 750"
else
    echo "skipped in part: sysusers and tmpfiles need root and their programs"
fi

if command -v udevadm >/dev/null && udevadm --help | grep -q verify; then
    udevadm verify "$source/systemd/parallax.rules" || fail "udev rules"
else
    echo "skipped in part: no udevadm verify (systemd 254)"
fi
