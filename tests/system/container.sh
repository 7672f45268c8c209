#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The folder container/: what its files name exists; its images, built by buildah on a fresh Debian, run by podman and runc: a client in
# another container, a read-only root, a killed engine, a killed and a frozen supervisor, a reload, an orderly end; page and topics.
# Arguments: source directory, Python environment of toolchain/python.txt.
set -euo pipefail
source=$(readlink -f "$1") python=$(readlink -m "$2")
fail() { echo "container.sh: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
skip_rest() { echo "skipped in part: $*"; exit 77; }

# --- files ---------------------------------------------------------------------------------------------------------

[[ -x $python/bin/python ]] || skip "no $python, which reads YAML (./dev setup --all)"
"$python/bin/python" - "$source" <<'CHECK'
import glob, hashlib, re, sys
from ruamel.yaml import YAML
source = sys.argv[1]
def read(path): return open(f"{source}/{path}", encoding="utf-8").read()
def fail(what): sys.exit(f"container.sh: {what}")

targets = set(re.findall(r"^FROM \S+ AS (\w+)$", read("container/Dockerfile"), re.M))
compose = YAML(typ="safe").load(read("container/compose.yaml"))
for name, service in compose["services"].items():
    service["build"]["target"] in targets or fail(f"compose.yaml: {name}: the Dockerfile has no target {service['build']['target']}")
    service["image"] == f"parallax:{service['build']['target']}" or fail(f"compose.yaml: {name}: another image than target")
    service["read_only"] and service["cap_drop"] == ["ALL"] and service["restart"] == "unless-stopped" or fail(f"compose.yaml: {name}")
    for volume in service["volumes"]:
        volume = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", volume).split(":")[0]
        volume.startswith("/") or volume in compose["volumes"] or fail(f"compose.yaml: {name}: no volume {volume}")

package = read("container/jetson-containers/parallax/Dockerfile")
head = YAML(typ="safe").load("\n".join(line[2:] for line in re.match(r"#---\n(.*?)#---\n", package, re.S)[1].splitlines()))
head["name"] == "parallax" or fail("jetson-containers: another name")
for name in ("group", "depends", "requires", "test"):
    head[name] or fail(f"jetson-containers: no {name}")
for name in head["test"]:
    read(f"container/jetson-containers/parallax/{name}")

recipe = read("container/yocto/parallax_git.bb")
def variable(name): return re.search(rf'^{re.escape(name)} = "([^"]*)"', recipe.replace("\\\n", ""), re.M)[1]
variable("LIC_FILES_CHKSUM") == f"file://LICENSE;md5={hashlib.md5(open(f'{source}/LICENSE', 'rb').read()).hexdigest()}" or fail("recipe: LICENSE has another md5")
cmake = read("CMakeLists.txt")
variable("PV").startswith(re.search(r"project\(parallax VERSION (\S+)", cmake)[1] + "+") or fail("recipe: another version than CMakeLists.txt")
recipes = {"yaml-0.1": "libyaml", "libturbojpeg": "libjpeg-turbo", "liblz4": "lz4", "libzstd": "zstd", "libv4l2": "v4l-utils", "libcjson": "cjson", "libsystemd": "systemd"}
modules = re.findall(r"^pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\S+)\)", cmake, re.M)
sorted(recipes.get(module, module) for module in modules) == sorted(variable("DEPENDS").split()) or fail("recipe: DEPENDS does not fit CMakeLists.txt")
{"cmake", "cuda", "systemd"} <= set(re.search(r"^inherit (.*)", recipe, re.M)[1].split()) or fail("recipe: a class is missing")
for unit in " ".join(re.findall(r'^SYSTEMD_SERVICE:.* = "([^"]*)"', recipe, re.M)).split():
    read(f"systemd/{unit}.in")
installed = "".join(read(each.removeprefix(f"{source}/")) for each in glob.glob(f"{source}/app/*/CMakeLists.txt"))
for program in re.findall(r"\$\{bindir\}/([\w-]+)", recipe):
    program in installed or fail(f"recipe: no build installs {program}")
print("ok: compose.yaml, the head of jetson-containers' Dockerfile, the recipe")
CHECK
for script in "$source"/container/jetson-containers/parallax/*.sh; do bash -n "$script"; done

# --- images --------------------------------------------------------------------------------------------------------

[[ $EUID == 0 ]] || skip_rest "only root can build images here (sudo ./dev test)"
for tool in buildah podman runc; do command -v $tool >/dev/null || skip_rest "no $tool (./dev setup --all)"; done
"$source/toolchain/fresh.sh" base || { [[ $? == 77 ]] && skip_rest "no base for the images"; fail "cannot make the base"; }

work=$(mktemp -d)
images=$source/build/images # not in the temporary folder, which may be an overlay itself: overlays do not nest
rm -rf --one-file-system "$images"
storage=(--root "$images" --runroot "$work/run" --storage-driver overlay)
tidy() {
    pod rm --all --force --time 0 >/dev/null 2>&1 || true
    buildah "${storage[@]}" rm --all >/dev/null 2>&1 || true
    umount "$images/overlay" 2>/dev/null || true
    rm -rf --one-file-system "$work" "$images"
}
# podman wants systemd for the timer of its health check, which the test runs itself.
pod() { podman --log-level fatal "${storage[@]}" --tmpdir "$work/tmp" --cgroup-manager cgroupfs --runtime runc "$@"; }
trap tidy EXIT
build() { buildah "${storage[@]}" "$@"; }
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; fail "$*"; }; }

# The present files, lest a change between two targets builds all anew.
mkdir "$work/tree"
if [[ -e $source/.git ]]; then
    git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null --ignore-failed-read -T - -c 2>/dev/null
else
    tar -C "$source" --exclude ./build --exclude ./demo -c .
fi | tar -C "$work/tree" -x

begun=$SECONDS
container=$(build from scratch 2>"$work/log") || skip_rest "buildah cannot keep images here ($(tail -n 1 "$work/log"))"
quietly build add "$container" "$source/build/fresh/base.tar" /
quietly build commit --rm "$container" localhost/base
for target in service web ros; do
    quietly build build --isolation chroot --layers --format docker --build-arg BASE=localhost/base --build-arg GPU=OFF \
        --build-arg PLX_COMMIT=0123456789ab --target $target --tag "localhost/parallax:$target" --file "$work/tree/container/Dockerfile" "$work/tree"
done
echo "ok: three images in $((SECONDS - begun)) s"

# --- containers ----------------------------------------------------------------------------------------------------

# No more than this machine's shell may have.
limits=(--ulimit nofile=1024:1024 --ulimit nproc=1024:1024)
confined=("${limits[@]}" --read-only --network none --cap-drop all --security-opt no-new-privileges)
until_true() { # WHAT COMMAND...
    local what=$1 rounds
    shift
    for ((rounds = 0; rounds < 600; rounds++)); do
        ! "$@" >"$work/said" 2>&1 || return 0
        sleep 0.1
    done
    cat "$work/said"
    pod logs service 2>&1 | tail -n 20
    fail "$what: not within a minute"
}
serve() { pod run --detach --name service "${confined[@]}" -v "$work/etc:/etc/parallax:ro" -v run:/run/parallax -v state:/var/lib/parallax "$@" localhost/parallax:service; }
# A client with processes, files, memory and a network of its own, and the volume of the socket.
client() { pod run --rm "${confined[@]}" --user "${user-951:950}" --tmpfs /out:mode=1777 -v run:/run/parallax:ro --entrypoint sh localhost/parallax:service -c "$1"; }
of_service() { pod inspect service --format "{{.$1}}"; }
state() { client 'parallax status --json' | "$python/bin/python" -c 'import json, sys; said = json.load(sys.stdin); print(said["state"], said["engine_restarts"])'; }
said_by() { pod logs "$1" 2>&1 | grep "$2"; }
is_unhealthy() { ! pod healthcheck run service; }
is_running() { [[ $(state) == "running $1" ]]; }
is_pid_other_than() { local pid; pid=$(of_service State.Pid) && [[ $pid != 0 && $pid != "$1" ]]; }

mkdir "$work/etc"
printf 'source: {width: 320, height: 240, rate_hz: 5}\nmatch: {disparities: 64}\npublish: {group: parallax}\n' >"$work/etc/parallax.yaml"
chmod 755 "$work" "$work/etc"
pod run --rm "${limits[@]}" --network none localhost/base true >"$work/log" 2>&1 || skip_rest "podman starts no container here ($(tail -n 1 "$work/log"))"

code=0
said=$(pod run --rm "${confined[@]}" localhost/parallax:service 2>&1) || code=$?
[[ $code == 66 ]] || fail "without a configuration: exit code $code: $said"
serve --restart unless-stopped >/dev/null
until_true "the first frame" is_running 0
client 'parallax snapshot --output=/out && test -s /out/points.ply && test -s /out/left.png' >"$work/said" || fail "no snapshot: $(<"$work/said")"
code=0
said=$(user=1234:1234 client 'parallax status' 2>&1) || code=$?
[[ $code == 77 ]] || fail "a user who is not in the group: exit code $code: $said"
! pod exec --user 0 service touch /usr/bin/new 2>/dev/null || fail "the root can be written"
echo "ok: a client in another container; a stranger is refused"

# More clients than one process may have connections: all have pid 0 for the service, which must not take them for one process.
# shellcheck disable=SC2016 # for the shell in the container
client 'for i in 1 2 3 4 5 6 7 8 9 10; do parallax watch >/out/$i 2>&1 & done
    for _ in $(seq 600); do [ "$(grep -l running /out/* | wc -l)" = 10 ] && exit; sleep 0.1; done; tail -n 1 /out/*; exit 1' >"$work/said" ||
    fail "not all of ten clients got frames: $(<"$work/said")"

# shellcheck disable=SC2016 # for the shell in the container
pod exec service sh -c 'kill -9 $(cat /proc/1/task/1/children)'
until_true "frames after the engine was killed" is_running 1
pod kill --signal HUP service >/dev/null
until_true "the reload" said_by service "configuration reloaded"
pod healthcheck run service >"$work/said" || fail "not healthy: $(<"$work/said")"
pid=$(of_service State.Pid)
kill -9 "$pid"
until_true "a new supervisor" is_pid_other_than "$pid"
until_true "frames after the supervisor was killed" is_running 0
pod stop --time 5 service >/dev/null
[[ $(of_service State.ExitCode) == 0 ]] || fail "the end was not orderly: exit code $(of_service State.ExitCode)"
pod rm service >/dev/null
echo "ok: killed engine, killed supervisor, reload, end"

# What the watchdog of systemd is elsewhere: a supervisor that does not answer fails the health check, on which podman starts it anew.
serve --health-cmd 'parallax status' --health-retries 1 --health-on-failure restart --stop-timeout 1 >/dev/null
until_true "the first frame" is_running 0
pid=$(of_service State.Pid)
kill -STOP "$pid" "$(<"/proc/$pid/task/$pid/children")"
until_true "a failed health check" is_unhealthy
until_true "a new supervisor" is_pid_other_than "$pid"
until_true "frames after the supervisor was frozen" is_running 0
echo "ok: a frozen supervisor"

for target in web ros; do
    pod run --detach --name $target "${confined[@]}" -v "$work/etc:/etc/parallax:ro" -v run:/run/parallax:ro localhost/parallax:$target >/dev/null
done
until_true "the page" said_by web "the page is at"
until_true "the topics" said_by ros "reading the service"
# The page asks who owns the other end of the connection: a user of the image who is in the group.
page() { pod exec web bash -c 'exec 3<>/dev/tcp/127.0.0.1/8765; printf "GET / HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nConnection: close\r\n\r\n" >&3; head -n 1 <&3'; }
until_true "an answer of the page" page
grep -q " 200 " "$work/said" || fail "the page answers: $(<"$work/said")"
for target in web ros; do
    pod stop --time 5 $target >/dev/null
    [[ $(pod inspect $target --format '{{.State.ExitCode}}') == 0 ]] || { pod logs $target; fail "$target did not end in order"; }
done
pod stop --time 5 service >/dev/null
echo "ok: page and topics"
