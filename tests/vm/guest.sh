# SPDX-License-Identifier: Apache-2.0
# What the programs of the guest with systemd share (systemd.sh, target.sh); sourced there, in the guest.
leave() { # CODE
    sync
    echo "guest: exit $1"
    stty sane </dev/console # returns when the console has sent everything
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

# Installs the packages of this run. The service is enabled by them, but does not start: there is no configuration.
install_packages() {
    dpkg -i /payload/*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "the packages do not install"; }
    [[ $(systemctl is-enabled parallaxd.service) == enabled ]] || fail "the service is not enabled by its package"
    systemctl start parallaxd.service || fail "a start without a configuration is a failure"
    [[ $(property ActiveState) == inactive && $(property ConditionResult) == no ]] || fail "the service runs without a configuration"
    ok "packages installed"
}

configure() { # LINES
    mkdir -p /etc/parallax
    printf '%s\n' "$1" 'backend: cpu' 'match:' '  disparities: 64' >/etc/parallax/parallax.yaml
}

synthetic='source:
  type: synthetic
  width: 320
  height: 200
  rate_hz: 2'

# Two ideal cameras, 12 cm apart.
write_calibration() { # WIDTH HEIGHT
    cat >/etc/parallax/stereo.yaml <<YAML
cam0:
  camera_model: pinhole
  intrinsics: [300, 300, $(($1 / 2)), $(($2 / 2))]
  distortion_model: none
  distortion_coeffs: []
  resolution: [$1, $2]
cam1:
  camera_model: pinhole
  intrinsics: [300, 300, $(($1 / 2)), $(($2 / 2))]
  distortion_model: none
  distortion_coeffs: []
  resolution: [$1, $2]
  T_cn_cnm1: [[1, 0, 0, -0.12], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
YAML
}

# The guest goes on where guest_phase says.
guest_phase() { cat /var/lib/guest-phase 2>/dev/null || echo new; }
reboot_into() { # PHASE
    ok "rebooting"
    echo "$1" >/var/lib/guest-phase
    sync
    systemctl start --no-block --job-mode=replace-irreversibly reboot.target # the guest has no logind to ask
    sleep 300
    fail "no reboot"
}

starts_at_boot() {
    running || fail "the service does not run after multi-user.target"
    local begin service target
    begin=$(property InactiveExitTimestampMonotonic)
    service=$(property ActiveEnterTimestampMonotonic)
    target=$(property ActiveEnterTimestampMonotonic multi-user.target)
    [[ $service -gt 0 && $service -le $target ]] || fail "ready at $service µs, after multi-user.target at $target µs"
    ok "ready $((service / 1000)) ms after the kernel's start, $(((service - begin) / 1000)) ms after its own; multi-user.target at $((target / 1000)) ms"
    [[ $(stat -c %U "/proc/$(property MainPID)") == parallax ]] || fail "it does not run as the user parallax"
    systemd-analyze time | sed 's/^/    /'
}
