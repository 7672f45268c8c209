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
ok "all"
leave 0
