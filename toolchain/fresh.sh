#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Keeps the promise of README.md on a fresh Debian 12: ./dev demo and ./dev test, typed in a clean clone of HEAD in a root of its own. Once as
# root with ../shared beside the clone, once without it as a user whom ./dev asks before it uses sudo. Called by ./dev check fresh; exits 77 with
# the reason where it cannot run. With the word release it types the four commands of docs/install.md instead, in the newest signed release of
# build/dist (./dev check release). With the word base it makes build/fresh/base.tar alone, for images. Takes some 3 GB of disk. Nothing
# stays mounted, and nothing of this machine is changed but build/fresh and build/log.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

suite=bookworm
fresh=$PWD/build/fresh
logs=build/log
question='Install them with sudo apt-get?' # of ./dev

skip() { printf 'skipped: %s\n' "$*"; exit 77; }

check_tools() {
    local tool
    [[ $EUID == 0 ]] || skip "only root can make a fresh system (sudo ./dev check fresh)"
    command -v apt-get >/dev/null || skip "the fresh system is made of Debian packages, and there is no apt-get here"
    PATH=$PATH:/sbin:/usr/sbin command -v debootstrap >/dev/null || skip "no debootstrap here, of the package debootstrap (./dev setup --all)"
    for tool in git unshare chroot; do command -v "$tool" >/dev/null || skip "no $tool here: apt-get install git util-linux coreutils"; done
    unshare --mount --pid --fork true 2>/dev/null || skip "this machine allows no mounts of a process's own (in a container? start it with --privileged)"
}

# Where this machine's apt finds Debian: the archive, or with -security the updates of security.
debian_mirror() { # [-security]
    # shellcheck disable=SC2016 # apt fills these in
    apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' 'Identifier: Packages' |
        awk -v kind="$1" '$1 == "Debian" && $2 ~ "^[a-z]+" kind "$" { print $3; exit }'
}

# How this machine's apt reaches its mirrors: proxies, certificates, credentials. Its hooks stay here: they start programs that a fresh system lacks.
copy_apt_configuration() { # ROOT
    local security file
    security=$(debian_mirror -security)
    {
        printf 'deb %s %s main\n' "$mirror" "$suite" "$mirror" "$suite-updates"
        [[ ! $security ]] || printf 'deb %s %s-security main\n' "$security" "$suite"
    } >"$1/etc/apt/sources.list"
    apt-config dump | grep '^Acquire::' | grep -vi 'auto-\?detect' >"$1/etc/apt/apt.conf.d/99fresh" || true
    for file in etc/apt/auth.conf etc/apt/auth.conf.d etc/ssl/certs/ca-certificates.crt; do
        [[ ! -e /$file ]] || { mkdir -p "$1/${file%/*}" && cp -rLT "/$file" "$1/$file"; }
    done
}

# Makes base.tar, the system as debootstrap leaves it; ./dev clean forgets it.
make_base() {
    local wanted proxy='' work=$fresh/base
    mirror=$(debian_mirror '')
    [[ $mirror ]] || skip "apt here knows no mirror of Debian (on Debian: apt-get update)"
    wanted="$suite $mirror $(sha256sum <toolchain/fresh.sh)"
    [[ ! -f $fresh/base.tar || ! -f $fresh/base.wanted || $(<"$fresh/base.wanted") != "$wanted" ]] || return 0
    echo "making a fresh Debian ($suite), once"
    rm -rf --one-file-system "$work"
    rm -f "$fresh/base.wanted"
    eval "$(apt-config shell proxy Acquire::http::Proxy)" # debootstrap does not ask apt
    [[ ! $proxy || $proxy == DIRECT ]] || export http_proxy=$proxy
    PATH=$PATH:/sbin:/usr/sbin debootstrap --variant=minbase "$suite" "$work" "$mirror" >"$logs/fresh-base.log" 2>&1 ||
        { tail -n 5 "$logs/fresh-base.log"; skip "debootstrap cannot make the system (see $logs/fresh-base.log; it needs the network once)"; }
    copy_apt_configuration "$work"
    tar -C "$work" --numeric-owner -cf "$fresh/base.tar" .
    rm -rf --one-file-system "$work"
    echo "$wanted" >"$fresh/base.wanted"
}

unpack_base() { # ROOT
    rm -rf --one-file-system "$1"
    mkdir "$1"
    tar -C "$1" --numeric-owner -xpf "$fresh/base.tar"
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    printf '127.0.0.1 localhost %s\n' "$(hostname)" >"$1/etc/hosts"
}

# Unpacks a fresh system with a clone of HEAD in the home of USER.
make_root() { # ROOT USER HOME
    unpack_base "$1"
    [[ $2 == root ]] || add_user "$1" "$2"
    # By a URL, because a plain path would share files with this repository, whose owner then changed.
    git clone --quiet --depth 1 "file://$PWD" "$1$3/parallax"
    in_root "$1" root /root "chown -R $2: $3/parallax"
}

# A user whom sudo obeys; a minimal system has no sudo.
add_user() { # ROOT USER
    in_root "$1" root /root "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends sudo"
    in_root "$1" root /root "useradd --create-home --shell /bin/bash $2"
    echo "$2 ALL=(ALL) NOPASSWD: ALL" >"$1/etc/sudoers.d/$2"
}

# Mounts what a running system has. In a mount namespace that ends with its processes.
mount_system() { # ROOT
    local node
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount -t tmpfs -o mode=755 dev "$1/dev"
    for node in null zero full random urandom tty loop-control $(cd /dev && compgen -G 'loop[0-9]*'); do
        [[ -c /dev/$node || -b /dev/$node ]] || continue # not every machine has loop devices
        touch "$1/dev/$node"
        mount --bind "/dev/$node" "$1/dev/$node"
    done
    mkdir "$1/dev/pts" "$1/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$1/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$1/dev/shm"
    ln -s pts/ptmx "$1/dev/ptmx"
    ln -s /proc/self/fd "$1/dev/fd"
    ln -s fd/0 "$1/dev/stdin"
    ln -s fd/1 "$1/dev/stdout"
    ln -s fd/2 "$1/dev/stderr"
}

# The first process in the namespaces, which also takes orphans: so it waits for the command instead of becoming it.
first_process() { # ROOT SHARED USER HOME COMMAND
    set -euo pipefail
    mount_system "$1"
    if [[ $2 ]]; then
        mkdir -p "$1$4/shared"
        mount --bind "$2" "$1$4/shared"
        mount -o remount,bind,ro "$1$4/shared"
    fi
    local code=0 name variables=()
    for name in http_proxy https_proxy no_proxy; do [[ ! ${!name-} ]] || variables+=("$name=${!name}"); done
    chroot --userspec="$3" "$1" /usr/bin/env -i "${variables[@]}" HOME="$4" USER="$3" LOGNAME="$3" SHELL=/bin/bash TERM=xterm \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -c "$5" || code=$?
    return "$code"
}

# Runs COMMAND as USER in ROOT. SHARED, if set, is mounted beside the clone, for reading.
in_root() { # ROOT USER HOME COMMAND
    unshare --mount --propagation private --pid --fork --kill-child \
        bash -c "$(declare -f mount_system first_process); first_process \"\$@\"; exit" first_process "$1" "${SHARED-}" "$2" "$3" "$4"
}

# One command of README.md, with its time and its log.
run_command() { # NAME ROOT USER HOME WORD
    local log=$logs/fresh-$1-$5.log begun=$SECONDS code=0
    if [[ $3 == root ]]; then
        in_root "$2" "$3" "$4" "cd ~/parallax && ./dev $5" >"$log" 2>&1 </dev/null || code=$?
    else # on a terminal, for the question; the answers lie ready, one for each question that there may be
        printf 'y\ny\ny\n' | in_root "$2" "$3" "$4" "cd ~/parallax && script --quiet --return --command './dev $5' /dev/null" >"$log" 2>&1 || code=$?
        sed -i 's/\r$//' "$log"
    fi
    if [[ $code == 0 ]]; then
        echo "time: $1: ./dev $5: $((SECONDS - begun)) s"
    else
        echo "fresh: $1: ./dev $5 failed after $((SECONDS - begun)) s, with exit code $code; its log: $log"
        return 1
    fi
}

# Both commands of README.md; the second one also if the first one fails.
run_both() { # NAME USER HOME
    local root=$fresh/$1 wrong=0 word
    for word in demo test; do run_command "$1" "$root" "$2" "$3" "$word" || wrong=1; done
    if [[ $2 != root ]] && ! grep -qF "$question" "$logs/fresh-$1-demo.log"; then
        echo "fresh: $1: ./dev demo did not ask before it used sudo; its log: $logs/fresh-$1-demo.log"
        wrong=1
    fi
    return $wrong
}

# One run, with a root of its own.
run_fresh() { # NAME USER HOME
    local log=$logs/fresh-$1.log code
    set +e # not a condition instead, in which make_root would go on after what fails
    (set -e && make_root "$fresh/$1" "$2" "$3") >"$log" 2>&1
    code=$?
    set -e
    if [[ $code == 0 ]]; then
        run_both "$@" || failed=1
    else
        tail -n 5 "$log"
        echo "fresh: the system for $2 could not be made (see above); the log: $log"
        failed=1
    fi
    rm -rf --one-file-system "${fresh:?}/$1"
}

# --- a release -----------------------------------------------------------------------------------------------------

newest_release() {
    local folder
    for folder in $(find build/dist -mindepth 1 -maxdepth 1 -name 'parallax-*' -printf '%f\n' 2>/dev/null | sort -rV); do
        if [[ -f build/dist/$folder/apt/InRelease ]]; then echo "$folder"; return; fi
    done
    skip "no signed release in build/dist (PLX_SIGNING_KEY=KEY ./dev release)"
}

# The lines of the release's own INSTALL.md that have PATTERN. The system has no sudo: root types them.
install_lines() { # PATTERN
    grep -e "$1" "build/dist/$release/INSTALL.md" |
        sed "s/sudo //g; s/apt install/apt install -y/g; s/VERSION/${release#parallax-}/g; s/ *# .*//"
}

# The first block of commands: four.
install_commands() {
    # shellcheck disable=SC2016 # no command, but the marks of a block
    sed -n '/^```sh$/,/^```$/p' "build/dist/$release/INSTALL.md" | sed '1d; /^```$/,$d; s/sudo //g'
}

release_root() { # ROOT
    unpack_base "$1"
    cp -r "build/dist/$release" "$1/srv/"
}

# Types LINES in the release's folder in ROOT, with PREFIX before the shell.
type_lines() { # STEP ROOT LINES [PREFIX]
    local log="$logs/fresh-release-${1// /-}.log" begun=$SECONDS
    printf '%s\n' "$3" >"$2/srv/typed"
    if ! in_root "$2" root /root "cd /srv/$release && DEBIAN_FRONTEND=noninteractive ${4-} bash -ex /srv/typed" >"$log" 2>&1 </dev/null; then
        tail -n 5 "$log"
        echo "fresh: $release: $1 failed; its log: $log"
        exit 1
    fi
    echo "time: $release: $1: $((SECONDS - begun)) s"
}

# Three strangers: one types the four lines, which end with a picture, and rolls back (to the same version); one fetches packages with
# a network; one has no network, but these packages.
run_release() {
    local root=$fresh/release commands picture back fetch offline
    commands=$(install_commands)
    back=$(install_lines --allow-downgrades)
    fetch=$(install_lines --download-only)
    offline=$(install_lines " ./archives/")
    [[ $(wc -l <<<"$commands") == 4 ]] || { echo "fresh: INSTALL.md begins with other than four commands: $commands"; exit 1; }
    # shellcheck disable=SC2016 # for the shell in the fresh system
    picture='parallax status; kill %1; wait %1; test -s /tmp/points.ply; [[ $(head -c 8 /tmp/left.png | od -An -tx1) == " 89 50 4e 47 0d 0a 1a 0a" ]]'

    release_root "$root"
    type_lines "four commands to a picture" "$root" "$commands"$'\n'"$picture"
    type_lines "roll back" "$root" "$back"$'\n'"dpkg-query -W -f '\${Status}' parallax | grep 'ok installed'"

    release_root "$root"
    type_lines "fetch for offline" "$root" "$(head -n 2 <<<"$commands")"$'\n'"$fetch"
    rm -rf "$fresh/archives"
    cp -r "$root/var/cache/apt/archives" "$fresh/archives"

    release_root "$root"
    cp -r "$fresh/archives" "$root/srv/$release/"
    type_lines "offline" "$root" "$offline"$'\n'"$commands"$'\n'"$picture" "unshare --net"
    rm -rf --one-file-system "${root:?}" "$fresh/archives"
}

check_tools
mkdir -p "$fresh" "$logs"
exec 9>"$fresh/lock"
flock 9
if [[ ${1-} == release ]]; then
    release=$(newest_release) || { echo "$release"; exit 77; }
    make_base
    run_release
    exit
fi
make_base
[[ ${1-} != base ]] || exit 0
failed=0
shared=$(readlink -f ../shared)
[[ -d $shared ]] || { echo "no ../shared here: both runs go without it"; shared=; }
SHARED=$shared run_fresh root root /root
SHARED='' run_fresh user robot /home/robot
exit $failed
