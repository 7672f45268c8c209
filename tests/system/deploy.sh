#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev deploy and ./dev target over a real sshd, which runs in a root of its own over this machine's. Called by package.sh. Argument: a
# source directory with the packages of the preset release, which must be of version 0123456789ab.
set -euo pipefail
source=$1
fail() { echo "deploy.sh: $*" >&2; exit 1; }
for tool in ssh ssh-keygen /usr/sbin/sshd; do
    command -v $tool >/dev/null || { echo "skipped in part: no $tool, so deploying was not tried"; exit 0; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
port=$((20000 + RANDOM % 20000))
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/user"
cat >"$work/sshd_config" <<CONFIG
ListenAddress 127.0.0.1
Port $port
HostKey /plx/host
AuthorizedKeysFile /plx/user.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PidFile none
CONFIG
cat >"$work/ssh_config" <<CONFIG
Host robot
    HostName 127.0.0.1
    Port $port
    User root
    IdentityFile $work/user
    IdentitiesOnly yes
    UserKnownHostsFile $work/known
    StrictHostKeyChecking accept-new
    LogLevel ERROR
CONFIG
mkdir "$work/bin" # the only way to tell ssh its configuration
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$work/ssh_config" >"$work/bin/ssh"
chmod +x "$work/bin/ssh"
export PATH=$work/bin:$PATH work

# The robot: everything that it is ends with its first process.
unshare --mount --pid --fork --kill-child --propagation private bash -euc '
    mkdir "$work/root"
    mount -t tmpfs none "$work/root" && mkdir "$work"/root/{over,scratch,merged} || exit 77
    mount -t overlay none -o lowerdir=/,upperdir="$work/root/over",workdir="$work/root/scratch" "$work/root/merged" || exit 77
    cd "$work/root/merged"
    mount -t tmpfs none run
    mount -t tmpfs none tmp
    mount --bind /dev dev
    mount -t proc none proc
    mkdir plx run/sshd
    cp "$work"/{host,user.pub,sshd_config} plx/
    exec chroot . env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /usr/sbin/sshd -D -e -f /plx/sshd_config
' 2>"$work/sshd.log" &
robot=$!
trap 'kill -KILL $robot 2>/dev/null || true; wait $robot 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in {1..100}; do
    ssh robot true 2>/dev/null && break
    kill -0 $robot 2>/dev/null || { tail -n 3 "$work/sshd.log"; echo "skipped in part: no sshd in a root of its own here"; exit 0; }
    sleep 0.1
done
ssh robot true || { cat "$work/sshd.log"; fail "sshd does not answer"; }

! "$source/toolchain/target.sh" robot >"$work/log" 2>&1 || fail "a robot without the self-test passed it"
grep -q 'has no parallax-selftest: ./dev deploy robot' "$work/log" || { cat "$work/log"; fail "it is not said what to do"; }
"$source/toolchain/deploy.sh" robot release >"$work/log" 2>&1 || { cat "$work/log"; fail "cannot deploy"; }
grep -qx 'commit *0123456789ab' "$work/log" || fail "another version is installed than was built"
ssh robot 'echo "match: {paths: 4}" >/etc/parallax/parallax.yaml'
"$source/toolchain/deploy.sh" robot release >"$work/log" 2>&1 || { cat "$work/log"; fail "cannot deploy again"; }
ssh robot 'grep -q "paths: 4" /etc/parallax/parallax.yaml' || fail "the second deployment lost the configuration"
ssh robot 'test -z "$(ls -d /tmp/parallax.* 2>/dev/null)"' || fail "files were left in /tmp"
echo "deployed"

code=0
"$source/toolchain/target.sh" robot >"$work/log" 2>&1 || code=$?
report=$source/build/target/robot
[[ $code == 0 ]] || { cat "$work/log"; fail "the self-test ended with $code"; }
grep -q '^ok 1 - stages/cpu' "$report/selftest.tap" && grep -q '</testsuite>' "$report/selftest.xml" || fail "the report is not whole"
ssh robot 'cd /usr/bin && rm parallax-selftest && printf "#!/bin/sh\nparallax selftest \"\$@\"; exit 1\n" >parallax-selftest && chmod +x parallax-selftest'
code=0
"$source/toolchain/target.sh" robot >"$work/log" 2>&1 || code=$?
[[ $code == 1 ]] || fail "a failing self-test ended with $code"
echo "checked"
