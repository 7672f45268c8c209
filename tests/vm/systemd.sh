#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest with systemd, as its guest.service (./dev vm systemd): installs the packages, reboots, and sees what an
# engineer who bets a robot on the service would want to see. Leaves the guest with its exit code.
set -u
leave() { # CODE
    sync
    echo "guest: exit $1"
    printf "\\x0$1" | dd of=/dev/port bs=1 seek=244 2>/dev/null # on amd64 this is the end
    poweroff -ff
}
fail() {
    echo "FAILED: $*"
    systemctl status --no-pager -l parallaxd.service | head -n 30
    journalctl --no-pager -b -n 40
    leave 1
}
ok() { printf 'ok %6.1f s  %s\n' "$(cut -d' ' -f1 /proc/uptime)" "$*"; }

property() { systemctl show -P "$1" "${2-parallaxd.service}"; }
running() { parallax status >/dev/null 2>&1 && [[ $(property ActiveState) == active ]]; }

within() { # SECONDS WHAT COMMAND...
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [[ $SECONDS -lt $end ]] || fail "not in time: $what"
        sleep 0.2
    done
    ok "$what"
}

configure() { # LINES
    mkdir -p /etc/parallax
    printf '%s\n' "$1" 'backend: cpu' 'match:' '  disparities: 64' >/etc/parallax/parallax.yaml
}

install_packages() {
    dpkg -i /payload/*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "the packages do not install"; }
    [[ $(systemctl is-enabled parallaxd.service) == enabled ]] || fail "the service is not enabled by its package"
    configure 'source:
  kind: synthetic
  width: 320
  height: 200
  rate_hz: 2'
    ok "packages installed; rebooting"
    echo installed >/var/lib/guest-phase
    sync
    systemctl start --no-block --job-mode=replace-irreversibly reboot.target # the guest has no logind to ask
    sleep 60
    fail "no reboot"
}

starts_at_boot() {
    running || fail "the service does not run after multi-user.target"
    local service target
    service=$(property ActiveEnterTimestampMonotonic)
    target=$(property ActiveEnterTimestampMonotonic multi-user.target)
    [[ $service -gt 0 && $service -le $target ]] || fail "ready at $service µs, after multi-user.target at $target µs"
    ok "ready $((service / 1000)) ms after the kernel's start, multi-user.target at $((target / 1000)) ms"
    [[ $(stat -c %U "/proc/$(property MainPID)") == parallax ]] || fail "it does not run as the user parallax"
    systemd-analyze time | sed 's/^/    /'
}

watchdog_restarts() {
    local before=$SECONDS
    kill -STOP "$(property MainPID)"
    within 40 "hung supervisor restarted by the watchdog" restarted
    journalctl --no-pager -b -u parallaxd.service | grep -m 1 'Watchdog timeout' || fail "no word of the watchdog in the journal"
    within 60 "published again, $((SECONDS - before)) s after it hung" running
}
restarted() { [[ $(property NRestarts) == 1 && $(property ActiveState) == active ]]; }

cameras() {
    modprobe stereocam standard_controls=1 || fail "the test camera does not load"
    udevadm settle
    cat >/etc/parallax/stereo.yaml <<'YAML'
cam0:
  camera_model: pinhole
  intrinsics: [300, 300, 160, 100]
  distortion_model: none
  distortion_coeffs: []
  resolution: [320, 200]
cam1:
  camera_model: pinhole
  intrinsics: [300, 300, 160, 100]
  distortion_model: none
  distortion_coeffs: []
  resolution: [320, 200]
  T_cn_cnm1: [[1, 0, 0, -0.12], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
YAML
    configure 'calibration: /etc/parallax/stereo.yaml
source:
  kind: v4l2
  left: card=stereocam left
  right: card=stereocam right
  width: 320
  height: 200
  rate_hz: 2'
    systemctl restart parallaxd.service || fail "it does not start on cameras"
    within 60 "publishes from two cameras as the user parallax" streaming
}
streaming() { running && [[ $(</sys/kernel/debug/stereocam/left/streaming) == 1 ]]; }

# Somebody, or NTP, sets the date: nothing is flagged, nothing stalls, and no age is negative or that of an hour.
date_set() {
    local hours before metrics
    for hours in 1 -2 1; do
        before=$(metric parallax_frames_total)
        date -s "@$(($(date +%s) + hours * 3600))" >/dev/null || fail "the date cannot be set"
        for _ in 1 2 3 4 5 6; do
            metrics=$(parallax metrics)
            ! grep -E '^parallax_fault\{fault="(timestamp|desync|no_frames|camera_lost_left|camera_lost_right|dropped)"\} 1' <<<"$metrics" ||
                fail "flagged when the date was set by $hours hours"
            awk '$1 == "parallax_frame_age_seconds" { exit !($2 >= 0 && $2 < 5) }' <<<"$metrics" || fail "wrong age of a frame"
            sleep 0.5
        done
        [[ $(metric parallax_frames_total) -gt $before ]] || fail "no frames after the date was set by $hours hours"
    done
    ok "the date set by 1, -2 and 1 hours: no flag, no stall, ages below 5 s"
}
metric() { parallax metrics | awk -v name="$1" '$1 == name { print $2 }'; }

# A process in the service's control group meets what the service would.
device_policy() {
    [[ $(property DevicePolicy) == closed ]] || fail "DevicePolicy is not closed"
    (echo $BASHPID >/sys/fs/cgroup/system.slice/parallaxd.service/cgroup.procs
        ! head -c 1 /dev/vda >/dev/null 2>&1 && exec 3<>/dev/video0) || fail "in the service's group a disk opens, or a camera does not"
    head -c 1 /dev/vda >/dev/null || fail "the disk does not open here either"
    ok "DevicePolicy in force: the disk is refused, cameras are not"
}

replug() {
    local pid knob=/sys/kernel/debug/stereocam/left/connected
    pid=$(property MainPID)
    echo 0 >$knob
    within 20 "unplugged: status says that the left camera is lost" lost
    echo 1 >$knob
    within 30 "plugged in: all is well again" well
    [[ $(property MainPID) == "$pid" ]] || fail "the service was restarted for it"
}
lost() { parallax metrics | grep -q '^parallax_fault{fault="camera_lost_left"} 1'; }
well() { ! lost && streaming; }

# The kernel kills the engine for lack of memory: the unit goes on, with another engine.
out_of_memory() {
    local pid engine
    pid=$(property MainPID)
    engine=$(pgrep -P "$pid" | head -n 1)
    echo 1000 >"/proc/$engine/oom_score_adj"
    systemctl set-property --runtime parallaxd.service MemoryMax="$(($(property MemoryCurrent) + 20000000))"
    (echo $BASHPID >/sys/fs/cgroup/system.slice/parallaxd.service/cgroup.procs; tail -c 60000000 /dev/zero >/dev/null)
    journalctl --no-pager -b -u parallaxd.service | grep -m 1 'engine died of signal 9' || fail "the engine was not killed for lack of memory"
    systemctl set-property --runtime parallaxd.service MemoryMax=infinity
    within 30 "killed for lack of memory, the engine was replaced" streaming
    [[ $(property MainPID) == "$pid" ]] || fail "the service was restarted for it"
}

mountpoint -q /sys/kernel/debug || mount -t debugfs debug /sys/kernel/debug
if [[ ! -e /var/lib/guest-phase ]]; then
    install_packages
fi
starts_at_boot
watchdog_restarts
cameras
date_set
device_policy
replug
out_of_memory
ok "all"
leave 0
