#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the arm64 guest with systemd, as its guest.service (./dev vm arm64): what a robot would see of its packages. They are installed, the
# service comes up at boot on the synthetic source and at the next boot on cameras, the self-test runs as its unit, then the tests of
# tests/system that are in /payload/bin. Leaves the guest with its exit code, and powers off.
set -u
. /payload/guest.sh
export PLX_EXACT_CLOCK=1

# What supervisor and engine take of the memory, each with its share of what they have together.
memory() {
    local pid
    for pid in $(property MainPID) $(pgrep -P "$(property MainPID)"); do
        printf '    %s %s: %d MB (PSS)\n' "$(</proc/$pid/comm)" "$pid" $(($(awk '/^Pss:/ {print $2}' "/proc/$pid/smaps_rollup") / 1024))
    done
}

# Two cameras of the stock driver, there before the service is, as those of a robot are.
expect_cameras() {
    echo vivid >/etc/modules-load.d/cameras.conf
    echo 'options vivid n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x0,0x0' >/etc/modprobe.d/cameras.conf
    write_calibration 320 180
    configure 'calibration: /etc/parallax/stereo.yaml
source:
  type: v4l2
  left: bus=platform:vivid-000
  right: bus=platform:vivid-001
  format: GREY
  width: 320
  height: 180
  rate_hz: 5
  pair_tolerance_ms: 90'
}

selftest() {
    systemctl stop parallaxd.service || fail "the service does not stop"
    systemctl start parallax-selftest.service
    journalctl --no-pager -b -o cat -u parallax-selftest.service | sed 's/^/    /'
    [[ $(property Result parallax-selftest.service) == success ]] || fail "parallax-selftest.service: $(property Result parallax-selftest.service)"
    grep -q '<testsuite ' /var/lib/parallax/selftest.xml || fail "no report in /var/lib/parallax/selftest.xml"
    ok "parallax-selftest.service (--full, as the user parallax, with its hardening)"
}

# Left to the PC: what takes minutes here. The fault matrix waits for hundreds of failures; the ring is flooded for 64 readers; two judge
# hundreds of large frames, whose bits the self-test's golden frames hold here; one runs the self-test over and over.
elsewhere='test_(fault_|obstacles|picture_faults|ring|selftest)'

# The tests find their programs and documents where they were compiled to look for them.
system_tests() {
    local program name code begun failed=
    rm /etc/parallax/parallax.yaml # they bring their own
    mkdir -p "$(dirname "$(</payload/binaries)")" "$(</payload/sources)"
    ln -sfn /payload "$(</payload/binaries)"
    ln -sfn /payload/docs "$(</payload/sources)/docs"
    for program in $(ls /payload/bin/test_* | grep -Ev "$elsewhere"); do
        name=${program##*/} begun=$SECONDS
        timeout -k 5 400 "$program" >/tmp/said 2>&1 </dev/null
        code=$?
        case $code in
        0) ok "system/$name ($((SECONDS - begun)) s, $(grep -c '^\[       OK' /tmp/said) cases)" ;;
        77) ok "system/$name skipped: $(grep -m 1 -i skip /tmp/said)" ;;
        *) echo "FAILED: system/$name, code $code"; grep -v '^\[ RUN' /tmp/said | tail -n 25; failed="$failed $name" ;;
        esac
    done
    [[ ! $failed ]] || fail "system tests:$failed"
}

case $(guest_phase) in
new)
    install_packages
    configure "$synthetic"
    reboot_into synthetic
    ;;
synthetic)
    starts_at_boot
    memory
    parallax status
    expect_cameras
    reboot_into cameras
    ;;
cameras)
    starts_at_boot
    parallax status
    memory
    selftest
    system_tests
    ok "all"
    leave 0
    ;;
esac
