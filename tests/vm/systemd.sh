#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest with systemd, as its guest.service (./dev vm systemd): installs the packages, reboots, and sees what an
# engineer who bets a robot on the service would want to see. Leaves the guest with its exit code.
set -u
. /payload/guest.sh

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
    write_calibration 320 200
    configure 'calibration: /etc/parallax/stereo.yaml
source:
  type: v4l2
  left: card=stereocam left
  right: card=stereocam right
  width: 320
  height: 200
  rate_hz: 2'
    systemctl restart parallaxd.service || fail "it does not start on cameras"
    within 60 "publishes from two cameras as the user parallax" streaming
}
streaming() { running && [[ $(</sys/kernel/debug/stereocam/left/streaming) == 1 ]]; }

# Somebody, or NTP, sets the date: no clock is suspected, no camera missed, nothing stalls, no age is negative or that of an hour.
# (Frames late or dropped are this guest's own, which is slow.)
date_set() {
    local hours before metrics
    for hours in 1 -2 1; do
        before=$(metric parallax_frames_total)
        date -s "@$(($(date +%s) + hours * 3600))" >/dev/null || fail "the date cannot be set"
        for _ in 1 2 3 4 5 6; do
            metrics=$(parallax metrics)
            ! grep -E '^parallax_fault\{fault="(timestamp|desync|camera_lost_left|camera_lost_right)"\} 1' <<<"$metrics" ||
                fail "flagged when the date was set by $hours hours"
            awk '$1 == "parallax_frame_age_seconds" { exit !($2 >= 0 && $2 < 60) }' <<<"$metrics" || fail "wrong age of a frame"
            sleep 0.5
        done
        within 20 "frames go on after the date was set by $hours h" newer_than "$before"
    done
}
newer_than() { [[ $(metric parallax_frames_total) -gt $1 ]]; }
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
    local pid setting=/sys/kernel/debug/stereocam/left/connected
    pid=$(property MainPID)
    echo 0 >$setting
    within 20 "unplugged: status says that the left camera is lost" lost
    echo 1 >$setting
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
    (echo $BASHPID >/sys/fs/cgroup/system.slice/parallaxd.service/cgroup.procs; head -c 60000000 /dev/zero | tail -c 60000000 >/dev/null)
    journalctl --no-pager -b -u parallaxd.service | grep -m 1 'engine died of signal 9' || fail "the engine was not killed for lack of memory"
    systemctl set-property --runtime parallaxd.service MemoryMax=infinity
    within 30 "killed for lack of memory, the engine was replaced" streaming
    [[ $(property MainPID) == "$pid" ]] || fail "the service was restarted for it"
}

gpio=parallax-gpio.service

# The line of docs/verdict.md, on a chip that appears after its unit was started: it toggles while the verdict is go, stands still while the
# service is stopped, and comes back after its own death. A service that somebody stopped stays so whatever happens to the unit.
gpio_line() {
    [[ -x /usr/bin/parallax-gpio ]] || { ok "no parallax-gpio: these packages were built without libgpiod 1"; return; }
    [[ $(systemctl is-enabled $gpio) == enabled && $(property ConditionResult $gpio) == no ]] || fail "$gpio runs although no line is named"
    systemctl stop parallaxd.service
    modprobe -r stereocam
    modprobe stereocam width=64 height=48 || fail "the small test camera does not load" # for go, no picture may be late
    configure_go
    systemctl start parallaxd.service || fail "it does not start with a zone"
    within 60 "the verdict is go" is_go
    echo 'SUBSYSTEM=="gpio", KERNEL=="gpiochip0", GROUP="parallax", MODE="0660"' >/etc/udev/rules.d/71-parallax-gpio.rules
    udevadm control --reload
    echo 'PARALLAX_GPIO=--chip gpiochip0 --line verdict' >/etc/default/parallax-gpio
    systemctl start --no-block $gpio
    within 20 "without its chip, $gpio tries again" tried_again
    modprobe gpiotest || fail "the test's GPIO chip does not load"
    within 20 "the chip appeared: the line toggles" toggles
    gpio_confined

    systemctl stop parallaxd.service
    within 5 "the service was stopped: the line stands still at low" stands_still
    gpio_killed
    [[ $(property ActiveState) == inactive ]] || fail "the restart of $gpio started the service"
    within 5 "the service stays stopped, and the line low" stands_still
    systemctl start parallaxd.service || fail "the service does not start again"
    within 60 "the service was started: the line toggles" toggles
    gpio_killed
    within 20 "the line toggles again" toggles
    systemctl stop $gpio || fail "$gpio does not stop"
    within 1 "stopped, the line is low" stands_still
}

# The test camera's ramp is a wall and no ground: a zone behind the robot trips for nothing that is seen.
configure_go() {
    write_calibration 64 48
    configure 'calibration: /etc/parallax/stereo.yaml
mount: {z_m: 0.5}
motion: {source: none}
exposure: {enabled: false}
verdict: {slow_flags: ""}
zones:
  - {name: behind, polygon: [[-1.5, -0.5], [-0.5, -0.5], [-0.5, 0.5], [-1.5, 0.5]], unknown: go}
source:
  type: v4l2
  left: card=stereocam left
  right: card=stereocam right
  width: 64
  height: 48
  rate_hz: 10'
}
is_go() { parallax verdict >/dev/null; }
edges() { cat /sys/kernel/debug/gpiotest/5/edges; }
toggles() {
    local before
    before=$(edges 2>/dev/null) || return 1
    sleep 0.5
    [[ $(edges) -gt $((before + 10)) ]]
}
stands_still() {
    local before
    before=$(edges)
    sleep 1
    [[ $(edges) == "$before" && $(</sys/kernel/debug/gpiotest/5/value) == 0 ]]
}
tried_again() { [[ $(property NRestarts $gpio) -ge 2 ]]; }

gpio_killed() {
    local pid
    pid=$(property MainPID $gpio)
    kill -KILL "$pid"
    within 20 "killed, $gpio was restarted" gpio_is_new "$pid"
}
gpio_is_new() { [[ $(property ActiveState $gpio) == active && $(property MainPID $gpio) != "$1" ]]; }

# A user whom systemd made up, no capabilities, no network, and no device but the chip; even root opens no other in its group.
gpio_confined() {
    local pid user device
    pid=$(property MainPID $gpio)
    user=$(stat -c %u "/proc/$pid")
    [[ $user -ge 61184 && $user -le 65519 ]] || fail "$gpio runs as $user, not as a dynamic user"
    grep -q '^CapEff:.0*$' "/proc/$pid/status" && grep -q '^NoNewPrivs:.1$' "/proc/$pid/status" && grep -q '^Seccomp:.2$' "/proc/$pid/status" ||
        fail "$gpio may do more than its unit says"
    [[ $(readlink "/proc/$pid/ns/net") != "$(readlink /proc/self/ns/net)" ]] || fail "$gpio sees the network"
    (echo $BASHPID >/sys/fs/cgroup/system.slice/$gpio/cgroup.procs
        exec 3<>/dev/gpiochip0 || exit
        for device in /dev/vda /dev/video0 /dev/kmsg; do ! (exec 3<"$device") 2>/dev/null || exit; done) ||
        fail "in the group of $gpio its chip does not open, or something else does"
    for device in /dev/vda /dev/video0 /dev/kmsg; do (exec 3<"$device") || fail "$device does not open here either"; done
    ok "$gpio has a user of its own, and no device but GPIO chips"
}

mountpoint -q /sys/kernel/debug || mount -t debugfs debug /sys/kernel/debug
if [[ $(guest_phase) == new ]]; then
    install_packages
    configure "$synthetic"
    reboot_into service
fi
starts_at_boot
watchdog_restarts
cameras
date_set
device_policy
replug
out_of_memory
gpio_line
ok "all"
leave 0
