#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian packages: built twice, in different directories, with the same bytes; without errors of lintian; installed, upgraded
# with a changed configuration, removed and purged in a root of their own, over this machine's (its files are not touched). Arguments:
# the source directory; perhaps a preset for a robot, after ./dev package PRESET, whose packages cannot be installed here. What this machine
# lacks is skipped, and said.
set -euo pipefail
source=$(readlink -f "$1") preset=${2-release}
fail() { echo "package.sh: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

for tool in dpkg-deb dpkg-shlibdeps ninja; do command -v $tool >/dev/null || skip "no $tool"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- the same bytes ------------------------------------------------------------------------------------------------

# Two copies of the present files, whose builds are kept for the next time. A copy has no git, so it gets commit and time as variables.
export PLX_COMMIT=0123456789ab SOURCE_DATE_EPOCH=1700000000
builds=${PLX_PACKAGE_TEST-$source/build/package-test}
mkdir -p "$builds"
exec 9>"$builds/lock"
flock 9
for place in one another/place; do
    mkdir -p "$builds/$place"
    find "$builds/$place" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    if [[ -e $source/.git ]]; then
        git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null --ignore-failed-read -T - -c 2>/dev/null
    else
        tar -C "$source" --exclude ./build --exclude ./demo -c .
    fi | tar -C "$builds/$place" -x
done
if [[ $preset != release ]]; then # the target's libraries and CUDA are where ./dev package put them
    for place in one another/place; do
        mkdir -p "$builds/$place/build"
        ln -sf "$source"/build/{sysroot-arm64,cuda-*} "$builds/$place/build"
    done
fi
for place in one another/place; do
    (cd "$builds/$place" && toolchain/package.sh "$preset" $([[ $preset != release ]] || echo -DPLX_GPU=OFF)) >"$work/log" 2>&1 || { tail -n 30 "$work/log"; fail "cannot build"; }
    umask 077 # the second is built by somebody who is more careful
done
umask 022
packages=$builds/one/build/package-$preset/packages
count=0
for deb in "$packages"/*.deb; do
    other=$builds/another/place/build/package-$preset/packages/$(basename "$deb")
    cmp "$deb" "$other" || fail "two builds of the same sources differ"
    ! dpkg-deb --fsys-tarfile "$deb" | tar -xO | grep -qF "$builds" || fail "$(basename "$deb") knows where it was built"
    count=$((count + 1))
done
ros= gpio=
[[ ! -e $(echo "$packages"/parallax-ros_*.deb) ]] || ros=parallax-ros # where Cyclone DDS is installed
[[ ! -e $(echo "$packages"/parallax-gpio_*.deb) ]] || gpio=parallax-gpio # where libgpiod 1 is installed
[[ $count == $((6 + ${ros:+1} + ${gpio:+1})) ]] || fail "expected 6 packages, parallax-ros and parallax-gpio, found $count"
[[ $preset != release ]] || "$builds/one/build/package-release/bin/parallaxd" --version | grep -qx 'commit *0123456789ab' ||
    fail "--version tells another commit"

# --- lintian -------------------------------------------------------------------------------------------------------

if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$packages"/*.deb || fail "lintian found errors"
else
    echo "skipped in part: no lintian"
fi

# --- installed, upgraded, purged -----------------------------------------------------------------------------------

[[ $preset == release ]] || { echo "skipped in part: packages for another machine cannot be installed here"; exit 0; }
[[ $EUID == 0 ]] || { echo "skipped in part: only root can install, even into a root of its own"; exit 0; }
for needed in systemd init-system-helpers passwd libsystemd0 python3-numpy; do
    dpkg-query -W -f '${Status}' $needed 2>/dev/null | grep -q 'ok installed' || { echo "skipped in part: no package $needed"; exit 0; }
done

# A newer version, as an upgrade needs it: the same with another number.
mkdir "$work/newer"
for package in parallax libparallax0 libparallax-dev python3-parallax parallax-tests parallax-web $ros $gpio; do
    dpkg-deb -R "$packages"/${package}_*.deb "$work/tree"
    sed -i 's/0\.1\.0~git20231114221320/0.1.0~git20231114221321/' "$work/tree/DEBIAN/control"
    dpkg-deb -b "$work/tree" "$work/newer/$package.deb" >/dev/null
    rm -rf "$work/tree"
done

cat >"$work/inside" <<'INSIDE'
set -eu
fail() { echo "package.sh: $*" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
ours="$ROS $GPIO parallax-web python3-parallax parallax-tests libparallax-dev libparallax0 parallax"
user_was_there=$(getent passwd parallax || true)
test ! -e /etc/parallax || fail "this machine has a parallax already"
quietly() { "$@" >/plx/log 2>&1 || { cat /plx/log; fail "$*"; }; }

quietly dpkg -i /plx/packages/*.deb
test ! -e /etc/parallax/parallax.yaml || fail "the package brings a configuration, so that its unit would start"
grep -q 'not started, for there is no /etc/parallax/parallax.yaml' /plx/log || fail "the package does not say that it starts nothing"
grep -qx 'ConditionPathExists=/etc/parallax/parallax.yaml' /usr/lib/systemd/system/parallaxd.service || fail "the unit starts without a configuration"
cp /usr/share/doc/parallax/examples/parallax.yaml /etc/parallax/
parallaxd --check-config /etc/parallax/parallax.yaml --set calibration=none >/dev/null || fail "the example of a configuration is wrong"
! parallaxd --check-config /etc/parallax/parallax.yaml >/plx/log 2>&1 && grep -q '/etc/parallax/stereo.yaml: cannot be opened' /plx/log ||
    fail "a calibration that is not there passes"
# What the programs, manual pages and headers point to is there.
for page in configuration.md service.md exit-codes.md; do test -f /usr/share/doc/parallax/$page || fail "no $page"; done
for page in client.md shared-memory.md examples/minimal.c; do test -f /usr/share/doc/libparallax-dev/$page || fail "no $page"; done
dpkg -L $ours | grep -v /doc/ | while read -r file; do
    test ! -f "$file" || case $file in *.gz) zcat "$file" ;; *) cat "$file" ;; esac | tr -d '\0' | grep -aoE '[^a-z/]docs/[a-z-]+\.md' |
        sed "s|^|$file points to |"
done >/plx/pointers
test ! -s /plx/pointers || fail "$(head -n 1 /plx/pointers), which no package installs"
getent passwd parallax >/dev/null || fail "no user"
test "$(stat -c %U:%a /var/lib/parallax)" = parallax:750 || fail "no state directory"
test -L /etc/systemd/system/multi-user.target.wants/parallaxd.service || fail "not enabled"
grep -q /usr/bin/parallaxd /usr/lib/systemd/system/parallaxd.service || fail "the unit starts something else"
ldconfig -p | grep -q libparallax.so.0 || fail "the library is not found"
/usr/bin/python3 -c 'from parallax_stereo import Client, NotFound
try: Client()
except NotFound: pass' || fail "the Python package finds no library"
pkg-config --exists parallax || fail "no parallax for pkg-config"
! dpkg -V $ours | grep . || fail "files differ from the packages"
parallax-selftest --version | grep -q 0123456789ab || fail "parallax-selftest tells another commit"
test ! -e /etc/systemd/system/multi-user.target.wants/parallax-selftest.service || fail "the self-test is enabled unasked"
parallax-web --help >/dev/null || fail "parallax-web lacks a library"
test -L /etc/systemd/system/multi-user.target.wants/parallax-web.service || fail "parallax-web is not enabled"
if test "$ROS"; then
    parallax-ros --help >/dev/null || fail "parallax-ros lacks a library"
    test -L /etc/systemd/system/multi-user.target.wants/parallax-ros.service || fail "parallax-ros is not enabled"
    grep -qx 'net.core.rmem_default = 4194304' /usr/lib/sysctl.d/50-parallax-ros.conf || fail "no buffers for nodes of ROS 2"
fi
if test "$GPIO"; then
    parallax-gpio --help >/dev/null || fail "parallax-gpio lacks a library"
    test -L /etc/systemd/system/multi-user.target.wants/parallax-gpio.service || fail "parallax-gpio is not enabled"
fi
echo "installed"

echo 'match: {paths: 4}' >/etc/parallax/parallax.yaml
echo 'match: {paths: 8}' >/etc/parallax/front.yaml
echo 'measured by hand' >/etc/parallax/stereo.yaml
echo state >/var/lib/parallax/state
systemctl disable parallaxd.service >/dev/null 2>&1
quietly dpkg -i /plx/newer/*.deb
! grep -q 'not started' /plx/log || fail "it is said that nothing starts, where there is a configuration"
dpkg-query -W -f '${Version}' parallax | grep -q 20231114221321 || fail "not upgraded"
grep -q 'paths: 4' /etc/parallax/parallax.yaml || fail "the upgrade lost the configuration"
test -f /var/lib/parallax/state || fail "the upgrade lost the state"
test ! -e /etc/systemd/system/multi-user.target.wants/parallaxd.service || fail "the upgrade enabled what had been disabled"
echo "upgraded"

quietly dpkg -r $ours
test ! -e /usr/bin/parallaxd || fail "not removed"
grep -q 'paths: 4' /etc/parallax/parallax.yaml || fail "the removal lost the configuration"
quietly dpkg -P $ours
grep -q measured /etc/parallax/stereo.yaml || fail "the purge took the user's own calibration"
grep -q 'paths: 4' /etc/parallax/parallax.yaml || fail "the purge took the user's own configuration"
rm -r /etc/parallax
for left in $(find /etc /usr /var /run /lib -xdev \( -name '*parallax*' -o -user parallax \) -newer /plx/begun 2>/dev/null | grep -v '^/var/lib/dpkg/\|^/var/cache'); do
    fail "the purge left $left"
done
quietly dpkg -i /plx/packages/*.deb
quietly dpkg -P $ours
test ! -e /etc/parallax || fail "the purge left an empty /etc/parallax"
test "$user_was_there" || ! getent passwd parallax >/dev/null || fail "the purge left the user"
echo "purged"
INSIDE

# Its own name space of mounts: everything is gone with the last process in it.
code=0
export work packages ros gpio
unshare --mount --propagation private bash -euc '
    mkdir "$work/root"
    mount -t tmpfs none "$work/root" && mkdir "$work"/root/{over,scratch,merged} || exit 77
    mount -t overlay none -o lowerdir=/,upperdir="$work/root/over",workdir="$work/root/scratch" "$work/root/merged" || exit 77
    cd "$work/root/merged"
    mount -t tmpfs none run
    mount --bind /dev dev
    mount --bind /proc proc
    mkdir plx
    cp -r "$work/newer" "$work/inside" plx/
    mkdir plx/packages
    cp "$packages"/*.deb plx/packages/
    touch plx/begun
    chroot . env -i ROS="$ros" GPIO="$gpio" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash /plx/inside
' || code=$?
[[ $code != 77 ]] || { echo "skipped in part: no overlay file system here"; exit 0; }
[[ $code == 0 ]] || exit $code

"$source/tests/system/deploy.sh" "$builds/one"
