#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types the commands of README.md and docs/*.md as printed, page after page and in order, into the installed programs.

Commands are the lines of ```sh blocks, the lines of blocks without a language that begin with a program, the blocks of
```python, and the code in the tables whose header is in COMMAND_TABLES; of a synopsis, without what is optional. A command that
is neither run nor in LEFT_OUT fails the test, and so does an entry of LEFT_OUT, STAND_INS or ENDLESS that no page needs. Code in
running text, and the whole of a synopsis, has only options that the program's help has. Arguments: source and build directory, and
pages to try alone.
"""
import ctypes
import fnmatch
import functools
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMMAND_TABLES = ("do", "does", "use", "live, beside the service", "offline, without the service", "`libparallax`")

# Files that the reader of a page has, of those that make_files makes.
FILES = {
    "README.md": ["raw.yaml", "minimal.c"],
    "docs/calibration.md": ["raw.yaml", "left.png", "right.png", "stereo.yaml", "left.yaml", "right.yaml"],
    "docs/cameras.md": ["raw.yaml"],
    "docs/client.md": ["minimal.c"],
    "docs/command.md": ["left.png", "right.png", "stereo.yaml", "PAIRS", "SEQUENCE"],
    "docs/configuration.md": ["raw.yaml"],
}

# Programs that the reader of a page has running, as the units start them, unless the page itself started or ended one.
RUNNING = {
    "docs/client.md": ["parallaxd"],
    "docs/command.md": ["parallaxd --set publish.right=true", "parallax-recorder"],
    "docs/configuration.md": ["parallaxd"],
    "docs/flight-recorder.md": ["parallaxd --set publish.right=true", "parallax-recorder"],
    "docs/locate.md": ["parallaxd"],
    "docs/motion.md": ["parallaxd"],
    "docs/operation.md": ["parallaxd"],
    "docs/web.md": ["parallaxd"],
}

PROGRAM = (r"(parallax|parallaxd|parallax-[a-z]+|\./dev|toolchain/\w+|sudo|systemctl|journalctl|ssh|export|pip|python3|cc(?= )"
           r"|ros2|rviz2|cp|head|chgrp)( |$)")

# Commands that the test leaves out: a pattern, and what they need.
LEFT_OUT = {
    "./dev *": "the source tree; and minutes: they build, test or deploy",
    "toolchain/sysroot *": "a Jetson's files",
    "sudo *": "root",
    "systemctl *": "root and systemd",
    "journalctl *": "a service that systemd started",
    "chgrp parallax *": "the group that the package makes",
    "ssh *": "another machine",
    "docker compose *": "docker; system/container reads compose.yaml",
    "podman run *": "images, and cameras; system/container runs containers",
    "echo * | sudo tee *": "root; system/release writes such a line",
    "export PARALLAX_SOCKET=*; *": "a fresh system; ./dev check release types it there",
    "gpg --*": "a release; system/release checks its signatures",
    "pip install *": "the network; test_wheel builds and installs it",
    "parallax cameras": "cameras; vm_cameras runs it",
    "gpiodetect*": "a GPIO chip",
    "parallax-gpio *": "a GPIO chip; vm_gpio runs it",
    "parallax calibrate *": "pictures of a chessboard; test_calibrate_command draws them",
    "parallax doctor*": "a robot: elsewhere its exit code says that something is missing; test_doctor_command runs it",
    "parallax wall*": "a wall, at several distances; test_wall_command renders some",
    "parallax selftest": "half a minute; test_selftest runs it",
    "parallax tune*": "a GPU; test_tune",
    "parallax pipe * | ff*": "ffmpeg and a screen or a virtual camera; test_cli_stream decodes the streams",
    "python3 -c *torch*": "a GPU and PyTorch; test_cuda_gpu reads planes of a service there",
    "export ROS_DOMAIN_ID=*": "ROS",
    "ros2 *": "ROS",
    "rviz2": "ROS",
}

# What stands in for places of the machine, and for a reader's files: pages, a regular expression, and the text.
# {root} is the folder in which the places are.
STAND_INS = [
    ("", r"/tmp/", "{root}/tmp/"),
    ("", r"/etc/parallax/", "{root}/etc/parallax/"),
    ("", r"/var/lib/prometheus/node-exporter/", "{root}/tmp/"),
    ("", r"/var/lib/parallax/blackbox/\S+\.box|(?<=blackbox )FILE$", "{root}/blackbox/live.box"),
    ("", r"config FILE\b", "config raw.yaml"),
    ("docs/command.md", r" PICTURE$", " left"),
    ("docs/command.md", r"--last S$", "--last 1"),
    ("docs/command.md", r"record DIR$", "record pairs"),
    ("docs/command.md", r" LEFT RIGHT$", " left.png right.png"),
]

# Commands that go on until Ctrl-C, which comes when their output has a line of this pattern, or when this file has content.
# {0} is the group of the expression.
ENDLESS = [
    (r"parallax record (?:--raw )?(\w+)(?: --seconds 60)?$", "file", "{0}/image_1/000003.png"),
    (r"parallax record (FILE\.mcap)$", "file", "{0}"),
    (r"parallax pipe left > (\S+)$", "file", "{0}"),
    (r"parallax (pipe left)$", "line", r"FRAME"),
    (r"parallax (watch)\b", "line", r"\d"),
    (r"cc .* && (\./a\.out)$", "line", "the service at"),
    (r"python3 (-c) '\nimport parallax_stereo", "line", r"\d \["),
]

# Programs that stay until the page ends, and what their log says when they are ready. parallaxd is ready when it has a frame.
SERVICES = {
    "parallaxd": "",
    "parallax-web": "the page is at",
    "parallax-recorder": "memory for",
}

ENDS_ITSELF = r"--(check|dump)-config|source\.type=replay"  # with these, parallaxd does not stay

# In front of the installed programs: they keep away from the places of the machine, and their pictures are small and slow.
# What a page prints after that wins.
WRAPPERS = {
    "parallaxd": "--config {root}/empty.yaml --set publish.socket={root}/run/parallax.sock "
    "--set recorder.socket={root}/run/recorder.sock --set blackbox.directory={root}/blackbox "
    "--set calibration_history={root}/calibration.json --set source.width=320 --set source.height=240 --set source.rate_hz=4 --set match.disparities=64",
    "parallax-web": "--config {root}/empty.yaml --listen 127.0.0.1:0",
    "parallax-recorder": "--config {root}/empty.yaml --set recorder.socket={root}/run/recorder.sock "
    "--set recorder.directory={root}/recorder --set recorder.memory_mb=64",
}

used = set()  # entries of the lists above that a page needed


def fail(what):
    sys.exit(f"pages.py: {what}")


def die_with_parent():
    """The kernel ends a service whose test was killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def notes_use(entry, is_match):
    if is_match:
        used.add(entry)
    return is_match


def has_content(path):
    return os.path.exists(path) and os.path.getsize(path) > 0


def is_whole(command):
    try:
        return bool(shlex.split(command, comments=True)) and not command.endswith("\\")
    except ValueError:
        return False


def table_commands(line):
    """The commands of a row of a command table; what is optional in a synopsis is left out."""
    for code in re.findall(r"`([^`]+)`", line.replace(r"\|", "|")):
        if re.match(PROGRAM, code):
            yield re.sub(r" \[[^]]*\]", "", code)


def commands_of(path):
    """Yields line number and command, in the order of the page."""
    language = header = None
    begun = block = ""
    with open(path, encoding="utf-8") as page:
        for number, line in enumerate((line.rstrip("\n") for line in page), 1):
            fence = re.match(r" *```(\w*)$", line)
            if fence:
                if begun:
                    fail(f"{path}:{number}: the command does not end: {begun}")
                if language == "python":
                    yield number, "python3 -c " + shlex.quote("\n" + block)
                block = ""
                language = fence[1] if language is None else None
                if language in ("bash", "console", "shell"):
                    fail(f"{path}:{number}: a block of {language}; expected ```sh for commands")
            elif language == "sh" or language == "" and re.match(r"(\$ )?" + PROGRAM, line):
                begun += ("\n" if begun else "") + line.removeprefix("$ ")
                if is_whole(begun):
                    yield number, re.sub(r"\s+# .*$", "", begun)
                if is_whole(begun) or not begun.split("#")[0].strip():
                    begun = ""
            elif language == "python":
                block += line + "\n"
            elif language is None and re.match("    " + PROGRAM, line):
                fail(f"{path}:{number}: a command in an indented block; expected a block of ```sh")
            elif language is None and line.startswith("|"):
                header = header or [cell.strip() for cell in line.split("|")]
                if any(cell in COMMAND_TABLES for cell in header):
                    yield from ((number, command) for command in table_commands(line))
            else:
                header = None


@functools.cache
def help_of(*command):
    return subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout


def check_options(source, page):
    """Every option in the page's code outside blocks is one of the program before it, or of its command."""
    text = re.sub(r"(?ms)^ *```.*?^ *```$", lambda block: "\n" * block[0].count("\n"), read(f"{source}/{page}"))
    for code in re.finditer(r"`((?:parallax|parallaxd|parallax-web|parallax-recorder) [^`]+)`", text):
        words = code[1].split()
        command = words[:2] if words[0] == "parallax" and words[1][0] != "-" else words[:1]
        for option in re.findall(r"--[a-z][a-z-]*", code[1]):
            if not re.search(re.escape(option) + r"(?![a-z-])", help_of(*command)):
                fail(f"{page}:{text.count(chr(10), 0, code.start()) + 1}: {' '.join(command)} does not know {option}")


def wait_until(is_ready, process, what, log):
    while not is_ready():
        if process.poll() is not None:
            fail(f"{what}: it ended with {process.returncode} before it was ready\n{read(log)}")
        time.sleep(0.05)


class Reader:
    """Somebody who types a page's commands, in a directory of their own."""

    def __init__(self, page, directory, root, environment):
        self.page, self.directory, self.root = page, directory, root
        self.environment = dict(environment)
        self.services = {}

    def start(self, command, log):
        with open(log, "wb") as output:
            return subprocess.Popen(["bash", "-o", "pipefail", "-c", command], cwd=self.directory, env=self.environment,
                                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                                    preexec_fn=die_with_parent)

    def end(self, process, what, log, codes=(0,)):
        """Ctrl-C, as a terminal sends it: to all processes of the command."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        if process.wait() not in codes:
            fail(f"{what}: exit code {process.returncode}\n{read(log)}")

    def end_service(self, name):
        if name in self.services:
            self.end(*self.services.pop(name))

    def has_frame(self, command):
        socket = re.search(r"publish\.socket=(\S+)", command)
        path = socket[1] if socket else f"{self.root}/run/parallax.sock"
        said = subprocess.run(["parallax", "status", "--json", "--socket", path], env=self.environment, capture_output=True)
        return said.stdout and "sequence" in json.loads(said.stdout)

    def serve(self, name, command, what):
        self.end_service(name)  # a page has one service at a time
        log = f"{self.directory}/{name}.log"
        process = self.start(command.removesuffix(" &"), log)
        self.services[name] = process, what, log
        is_ready = lambda: self.has_frame(command) if name == "parallaxd" else SERVICES[name] in read(log)
        wait_until(is_ready, process, what, log)

    def start_missing(self, services):
        for command in services:
            if command.split()[0] not in self.services:
                self.type(command, f"{self.page}: the reader's {command}")

    def run_endless(self, command, kind, pattern, what):
        log = f"{self.directory}/output.log"
        process = self.start(command, log)
        if kind == "line":
            wait_until(lambda: re.search(pattern, read(log)), process, what, log)
        else:
            wait_until(lambda: has_content(f"{self.directory}/{pattern}"), process, what, log)
        is_ours = not re.search("[|&]|^python3", command)  # Ctrl-C kills jq, or the example
        self.end(process, what, log, (0,) if is_ours else (0, -signal.SIGINT, 128 + signal.SIGINT))

    def type(self, command, what):
        name = command.split()[0]
        endless = [(kind, pattern.format(*re.match(entry, command).groups())) for entry, kind, pattern in ENDLESS
                   if notes_use(entry, re.match(entry, command))]
        if name == "export":
            key, value = command.removeprefix("export ").split("=")
            self.environment[key] = value
        elif command == "kill %1; wait":
            self.end_service("parallaxd")
        elif name in SERVICES and not re.search(ENDS_ITSELF, command):
            self.serve(name, command, what)
        elif endless:
            self.run_endless(command, *endless[0], what)
        else:
            log = f"{self.directory}/output.log"
            process = self.start(command, log)
            process.wait()
            self.end(process, what, log)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def stand_in(page, command, root):
    for where, pattern, text in STAND_INS:
        if where in page and notes_use(pattern, re.search(pattern, command)):
            command = re.sub(pattern, text.replace("{root}", root), command)
    return command


def type_page(source, page, given, root, environment):
    directory = os.path.join(root, os.path.basename(page).removesuffix(".md"))
    os.mkdir(directory)
    for name in FILES.get(page, []):
        os.symlink(os.path.join(given, name), os.path.join(directory, name))
    reader = Reader(page, directory, root, environment)
    count = 0
    for number, command in commands_of(os.path.join(source, page)):
        if any([notes_use(pattern, fnmatch.fnmatchcase(command, pattern)) for pattern in LEFT_OUT]):
            continue
        what = f"{page}:{number}: {command}"
        print(what, flush=True)
        if "| jq" in command and not shutil.which("jq"):
            print("skipped in part: no jq, so what is piped into it was not tried (./dev setup --all)")
            continue
        if command.split()[0] not in (*SERVICES, "kill"):
            reader.start_missing(RUNNING.get(page, []))
        reader.type(stand_in(page, command, root), what)
        count += 1
    for name in list(reader.services):
        reader.end_service(name)
    return count


def install(source, build, root):
    """The programs below ROOT/usr, and wrappers in front of them; returns the environment of a reader."""
    for component in ("parallax", "libparallax0", "libparallax-dev", "parallax-web"):
        subprocess.run(["cmake", "--install", build, "--prefix", f"{root}/usr", "--component", component],
                       check=True, stdout=subprocess.DEVNULL)
    for folder in ("bin", "run", "tmp", "home", "etc/parallax"):
        os.makedirs(f"{root}/{folder}")
    write(f"{root}/empty.yaml", "")
    for name, options in WRAPPERS.items():
        with open(f"{root}/bin/{name}", "w", encoding="utf-8") as wrapper:
            wrapper.write(f'#!/bin/sh\nexec {root}/usr/bin/{name} {options.replace("{root}", root)} "$@"\n')
            os.chmod(wrapper.fileno(), 0o755)
    library = os.path.dirname(glob.glob(f"{root}/usr/**/libparallax.so", recursive=True)[0])
    return {
        "PATH": f"{root}/bin:{root}/usr/bin:/usr/bin:{os.environ['PATH']}",  # /usr/bin: the Python that has python3-numpy
        "LD_LIBRARY_PATH": library, "PKG_CONFIG_PATH": f"{library}/pkgconfig", "PYTHONPATH": f"{source}/client/python",
        "PYTHONUNBUFFERED": "1", "PARALLAX_SOCKET": f"{root}/run/parallax.sock", "TMPDIR": f"{root}/tmp", "HOME": f"{root}/home",
        "XDG_RUNTIME_DIR": f"{root}/run", "LC_ALL": "C.UTF-8",
    }


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def calibration():
    """OpenCV's file of the synthetic cameras at 320 x 240."""
    camera = "256, 0, 159.5, 0, 256, 119.5, 0, 0, 1"
    matrices = (("M1", 3, 3, camera), ("D1", 1, 4, "0, 0, 0, 0"), ("M2", 3, 3, camera), ("D2", 1, 4, "0, 0, 0, 0"),
                ("R", 3, 3, "1, 0, 0, 0, 1, 0, 0, 0, 1"), ("T", 3, 1, "-0.12, 0, 0"))
    return "%YAML:1.0\n---\nimage_width: 320\nimage_height: 240\n" + "".join(
        f"{name}: !!opencv-matrix\n   rows: {rows}\n   cols: {columns}\n   dt: d\n   data: [ {data} ]\n"
        for name, rows, columns, data in matrices)


def camera_info(shift):
    """ROS's file of one of these cameras."""
    return f"""image_width: 320
image_height: 240
camera_name: eye
camera_matrix: {{rows: 3, cols: 3, data: [256, 0, 159.5, 0, 256, 119.5, 0, 0, 1]}}
distortion_model: plumb_bob
distortion_coefficients: {{rows: 1, cols: 5, data: [0, 0, 0, 0, 0]}}
rectification_matrix: {{rows: 3, cols: 3, data: [1, 0, 0, 0, 1, 0, 0, 0, 1]}}
projection_matrix: {{rows: 3, cols: 4, data: [256, 0, 159.5, {shift}, 0, 256, 119.5, 0, 0, 0, 1, 0]}}
"""


def make_files(source, given, root, environment):
    """What FILES names: pairs of the synthetic scene, and configurations and calibrations for them."""
    os.makedirs(f"{given}/PAIRS/room")
    os.symlink(os.path.abspath(f"{source}/docs/examples/minimal.c"), f"{given}/minimal.c")
    write(f"{given}/raw.yaml", "calibration: none\n")
    write(f"{given}/stereo.yaml", calibration())
    write(f"{given}/left.yaml", camera_info(0))
    write(f"{given}/right.yaml", camera_info(-256 * 0.12))
    reader = Reader("", given, root, environment)
    for command in ("parallaxd --set publish.right=true", "parallax snapshot", "parallax record SEQUENCE --pairs 4"):
        reader.type(command, f"files of the reader: {command}")
    reader.end_service("parallaxd")
    for name, copy in ("left.png", "left.png"), ("right.png", "right.png"), ("disparity16.png", "gt.png"):
        shutil.copy(f"{given}/{name}", f"{given}/PAIRS/room/{copy}")
    with open(f"{given}/PAIRS/room/nonocc.png", "wb") as mask:  # the program looks at the content: a white PGM
        mask.write(b"P5 320 240 255\n" + b"\xff" * 320 * 240)
    write(f"{given}/SEQUENCE/poses.txt", "1 0 0 0 0 1 0 0 0 0 1 0\n" * 4)  # the camera stands


def pages_of(source):
    return ["README.md"] + sorted(f"docs/{name}" for name in os.listdir(f"{source}/docs") if name.endswith(".md"))


def main(source, build, *pages):
    with tempfile.TemporaryDirectory(prefix="plx-", ignore_cleanup_errors=True) as root:
        environment = install(os.path.abspath(source), build, root)
        os.environ.update(environment)  # the test itself asks the installed command
        make_files(source, f"{root}/given", root, environment)
        names = pages or pages_of(source)
        for page in names:
            check_options(source, page)
        count = sum(type_page(source, page, f"{root}/given", root, environment) for page in names)
    idle = {*LEFT_OUT, *(entry[1] for entry in STAND_INS), *(entry[0] for entry in ENDLESS)} - used
    if idle and not pages:
        fail(f"no page prints these any more: {', '.join(sorted(idle))}")
    print(f"{count} commands of {len(names)} pages")


main(*sys.argv[1:])
