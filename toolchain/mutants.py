#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: would the tests notice a small mistake in the product's code? (./dev check mutants [N] [FOLDER...])

Draws N places in the C files of the folders, changes one at a time (an operator, a constant, a condition, a dropped statement), and runs
the tests that reach its line, the fastest first, until one fails or ENOUGH_S have passed. A mutant that no test notices is a *survivor*
and is listed. A mutant whose object code is that of the original is not counted: it is equivalent, and another one is drawn.

Which tests reach a line is measured once, by gcov. The tests are those of unit/, golden/ and system/, each at most SLOW_S long.
Everything happens in copies of the tree in build/mutants; the working tree stays untouched.
"""
import argparse
import collections
import concurrent.futures
import functools
import gzip
import hashlib
import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = os.path.join(SOURCE, "build/mutants")
FOLDERS = ["core", "client", "app/publish", "app/supervisor"]
SLOW_S = 60  # a test that takes longer is not one of the fast ones
ENOUGH_S = 120  # a mutant that tests of so long do not notice survives, whatever slower ones would say
JOBS = os.cpu_count() or 1
MOST_SURVIVORS = 0.25  # of all mutants
COUNTERS = 8  # counting lines, without optimizing, makes a test so much slower
# An optimized line that only returns a constant has no count. Coverage: a build type that has no options, nor some for files of core/.
COUNTED = ["-DCMAKE_BUILD_TYPE=Coverage", "-DCMAKE_C_FLAGS=-O0 --coverage"]
# A mutant that reads beyond an array may compute nothing else: it traps. Without messages, whose columns would show in the object code.
TRAPPED = "-DCMAKE_C_FLAGS=-O2 -fsanitize=undefined -fsanitize-undefined-trap-on-error"

# --- mutants -----------------------------------------------------------------------------------------------------------------

# What is replaced, by what. A binary operator stands between blanks, as clang-format leaves it.
OPERATORS = [(rf"(?<= ){re.escape(old)}(?= )", new) for old, new in (
    ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"), ("||", "&&"), ("+", "-"), ("-", "+"),
    ("*", "/"), ("/", "*"), ("+=", "-="), ("-=", "+="), ("&", "|"), ("|", "&"), ("<<", ">>"), (">>", "<<"), ("|=", "&="))]
CHANGES = OPERATORS + [
    (r"!(?=[\w(])", ""),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"(?<![\w.'])\d+(?![\w.'])", lambda match: str(int(match.group()) + 1)),
    (r"^[ \t]+(?!return|break|continue|goto|struct|const|static|enum|int|double|float|char|uint|size_t)[\w>.\[\]-]+(?:\(.*\)| [+-]?= .*);$",
     "    ;"),  # a dropped statement
]
# Statements whose change no result shows: they give back memory, or say how much of it an array has.
UNSEEN = re.compile(r"\s*(?:(?:static |const |unsigned )*(?:struct \w+|u?int\d*(?:_t)?|char|float|double|bool|size_t) \*?\w+\[[^\]]*\](?:\[[^\]]*\])*(?: = \{0\})?;"
                    r"|(?:free|munmap|close|closedir|fclose|\w+_destroy|\w+_unref)\()")
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)

Mutant = collections.namedtuple("Mutant", "path start end new line in_table")


def find_mutants(path):
    """All mutants of a C file."""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        text = file.read()
    # Comments, strings and directives become blanks of the same length.
    code = NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for pattern, new in CHANGES:
        for match in re.finditer(pattern, code, re.MULTILINE):
            line = code.count("\n", 0, match.start()) + 1
            # Only function bodies, which clang-format indents, and no tables or declarations at the top.
            statement = code.splitlines()[line - 1]
            if re.match(r"[ \t]", statement) and not UNSEEN.match(statement):
                in_table = bool(re.match(r"\s*[\[{.]", statement))
                yield Mutant(path, match.start(), match.end(), new(match) if callable(new) else new, line, in_table)


def mutate(text, mutant):
    return text[: mutant.start] + mutant.new + text[mutant.end :]


def describe(mutant):
    with open(os.path.join(SOURCE, mutant.path), encoding="utf-8") as file:
        text = file.read()
    changed = mutate(text, mutant).splitlines()[mutant.line - 1].strip()
    return f"{mutant.path}:{mutant.line}: {text.splitlines()[mutant.line - 1].strip()}   ->   {changed}"


# --- builds and tests --------------------------------------------------------------------------------------------------------


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace",
                          check=False, **options)
    if done.returncode:
        sys.exit(f"mutants: failed: {' '.join(command)}\n{done.stdout[-3000:]}")
    return done.stdout


class Tree:
    """A copy of the sources and its build."""

    def __init__(self, name, *options):
        self.source = os.path.join(HOME, name, "tree")
        self.build = os.path.join(HOME, name, "build")
        os.makedirs(self.source, exist_ok=True)
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE, check=True,
                                stdout=subprocess.PIPE).stdout.decode().split("\0")
        for folder, _, names in os.walk(self.source):
            for name in names:
                if os.path.relpath(os.path.join(folder, name), self.source) not in listed:
                    os.remove(os.path.join(folder, name))  # a source that is gone, which CMake would still find
        for path in filter(None, listed):
            self._copy(path)
        shared = os.path.join(SOURCE, "../shared/data")
        # No debugging information: the line of a change must not show in the object code.
        run(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DPLX_GPU=OFF", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=",
             f"-DPLX_TEST_DATA={os.path.abspath(shared)}", f"-DPLX_PYTHON_PACKAGES={SOURCE}/build/python", *options])

    def _copy(self, path):
        """Copies a file that has changed, so that what does not depend on it is not built again."""
        here, there = os.path.join(SOURCE, path), os.path.join(self.source, path)
        if not os.path.isfile(here):
            return
        with open(here, "rb") as file:
            content = file.read()
        if os.path.exists(there):
            with open(there, "rb") as file:
                if file.read() == content:
                    return
        os.makedirs(os.path.dirname(there), exist_ok=True)
        with open(there, "wb") as file:
            file.write(content)
        shutil.copymode(here, there)

    def make(self, *targets, jobs=JOBS):
        """The build's words if it fails, else None."""
        done = subprocess.run(["ninja", "-C", self.build, f"-j{jobs}", *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", check=False)
        return done.stdout if done.returncode else None

    @functools.cached_property
    def tests(self):
        """The tests that are a program of this build: name to command and environment."""
        listed = json.loads(run(["ctest", "--test-dir", self.build, "-C", "faults", "--show-only=json-v1"]))
        result = {}
        for test in listed["tests"]:
            command = test.get("command", [""])
            if not re.match(r"(unit|golden|system|host)/test_", test["name"]) or os.path.dirname(command[0]) != os.path.join(self.build, "bin"):
                continue
            words = [value for each in test["properties"] if each["name"] == "ENVIRONMENT" for value in each["value"]]
            result[test["name"]] = (command, dict(word.split("=", 1) for word in words))
        return result

    def passes(self, name, limit_s, **environment):
        """Whether a test passes (or skips); a test over its limit fails."""
        command, own = self.tests[name]
        with tempfile.TemporaryDirectory() as scratch:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=scratch,
                                       env={**os.environ, **own, **environment}, start_new_session=True)
            try:
                return process.wait(limit_s) in (0, 77)
            except subprocess.TimeoutExpired:
                return False
            finally:
                try:
                    os.killpg(process.pid, 9)  # and what a failed test left running
                except ProcessLookupError:
                    pass
                process.wait()


# --- which test reaches which line -------------------------------------------------------------------------------------------


def reached_lines(tree, data):
    """The lines that the counters in the folder DATA have seen: {(path, line)}."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(data) for name in names if name.endswith(".gcda")]
    lines = set()
    with tempfile.TemporaryDirectory() as work:
        for file in files:  # gcov looks for the notes beside the counters
            notes = file[len(data) : -len(".gcda")] + ".gcno"
            if os.path.exists(notes):
                shutil.copy(notes, file[: -len(".gcda")] + ".gcno")
        for first in range(0, len(files), 100):
            subprocess.run(["gcov", "--json-format", *files[first : first + 100]], cwd=work, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            for name in os.listdir(work):
                with gzip.open(os.path.join(work, name)) as file:
                    content = json.load(file)
                os.remove(os.path.join(work, name))
                for source in content["files"]:
                    path = os.path.relpath(os.path.join(tree.source, source["file"]), tree.source)  # the build maps paths to it
                    lines.update((path, line["line_number"]) for line in source["lines"] if line["count"])
    return lines


def measure_test(tree, name):
    """How long a test takes, and which lines of the product it reaches."""
    with tempfile.TemporaryDirectory(dir=HOME) as data:
        begun = time.monotonic()
        if not tree.passes(name, COUNTERS * SLOW_S, GCOV_PREFIX=data):
            return None
        took = (time.monotonic() - begun) / COUNTERS
        lines = sorted(line for line in reached_lines(tree, data) if not line[0].startswith(("..", "tests/")))
        return {"seconds": took, "lines": lines}


def measure_reach(folders):
    """[(seconds, test, {(path, line)})], the fastest test first. Kept until a source of the product or a test changes."""
    tree = Tree("coverage", *COUNTED)  # threads may lose counts, but hardly all of a line
    digest = hashlib.sha256()
    for path in sorted(run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.[ch]", "*CMakeLists.txt"], cwd=SOURCE).split()):
        with open(os.path.join(SOURCE, path), "rb") as file:
            digest.update(path.encode() + file.read())
    kept = os.path.join(HOME, f"reach-{digest.hexdigest()[:20]}.json")
    if not os.path.exists(kept):
        print("Measuring which test reaches which line", flush=True)
        problem = tree.make()
        if problem:
            sys.exit(f"mutants: does not build:\n{problem[-3000:]}")
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            measured = dict(zip(tree.tests, pool.map(lambda name: measure_test(tree, name), tree.tests)))
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(measured, file)
    with open(kept, encoding="utf-8") as file:
        measured = json.load(file)
    if not any(test["lines"] for test in measured.values() if test):
        sys.exit(f"mutants: no test reaches a line; look into {kept}")
    for name in (name for name, test in measured.items() if test is None):
        print(f"not used, for it fails or takes too long with coverage: {name}")
    inside = tuple(folder + "/" for folder in folders)
    return sorted((test["seconds"], name, {(path, line) for path, line in test["lines"] if path.startswith(inside)})
                  for name, test in measured.items() if test and test["seconds"] <= SLOW_S)


# --- one mutant --------------------------------------------------------------------------------------------------------------


class Judge:
    """Judges mutants, one at a time, in a tree of its own."""

    def __init__(self, number, reach):
        self.tree = Tree(f"worker{number}", TRAPPED)
        self.reach = reach
        with open(os.path.join(self.tree.build, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = json.load(file)
        listed = run(["ninja", "-C", self.tree.build, "-t", "targets", "all"])
        # A test's own program is a target of its name; tests of whole services start these too.
        self.programs = [name for name in ("parallaxd", "parallaxd_faulty", "parallax_command", "parallax-recorder", "parallax-web", "ring_peer",
                                           "ring_peer_mutant") if re.search(rf"^{name}: ", listed, re.MULTILINE)]

    def objects_of(self, path):
        """The object files that are made of a source; some libraries and tests compile it once more."""
        file = os.path.join(self.tree.source, path)
        return [os.path.join(self.tree.build, re.search(r" -o (\S+)", command["command"]).group(1)) for command in self.commands
                if command["file"] == file]

    def digest(self, path):
        total = hashlib.sha256()
        for name in sorted(self.objects_of(path)):
            with open(name, "rb") as file:
                total.update(file.read())
        return total.hexdigest()

    def compile(self, path):
        return self.tree.make(*(os.path.relpath(name, self.tree.build) for name in self.objects_of(path)), jobs=1)

    def judge(self, mutant):
        """*equivalent*, *invalid* (does not compile), *survived*, *unreached*, or the name of the test that notices the mutant."""
        file = os.path.join(self.tree.source, mutant.path)
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        before = self.digest(mutant.path)
        try:
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(mutate(text, mutant))
            if self.compile(mutant.path):
                return "invalid"
            if self.digest(mutant.path) == before:
                return "equivalent"
            return self.run_tests(mutant)
        finally:
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(text)
            self.compile(mutant.path)

    def run_tests(self, mutant):
        reaching = [(seconds, name) for seconds, name, lines in self.reach if (mutant.path, mutant.line) in lines]
        if not reaching and mutant.in_table:  # whose lines gcov does not count
            reaching = [(seconds, name) for seconds, name, lines in self.reach if any(path == mutant.path for path, _ in lines)]
        if not reaching:
            return "unreached"
        begun = time.monotonic()
        for seconds, name in reaching:
            if time.monotonic() - begun > ENOUGH_S:
                break
            targets = [os.path.basename(self.tree.tests[name][0][0])] + (self.programs if not name.startswith("unit/") else [])
            if self.tree.make(*targets, jobs=1):
                return "the build"
            if not self.tree.passes(name, 30 + 10 * seconds, PLX_TEST_PATIENCE_S="20"):
                return name
        return "survived"


def judge_all(judges, mutants, wanted, report):
    """Judges mutants in the order drawn until WANTED count; REPORT is told of each."""
    free = queue.Queue()
    for judge in judges:
        free.put(judge)

    def one(mutant):
        judge = free.get()
        try:
            return mutant, judge.judge(mutant)
        finally:
            free.put(judge)

    counted = []
    with concurrent.futures.ThreadPoolExecutor(len(judges)) as pool:
        waiting = collections.deque()
        draw = iter(mutants)
        while len(counted) < wanted:
            while len(waiting) < 3 * len(judges) and (mutant := next(draw, None)):
                waiting.append(pool.submit(one, mutant))
            if not waiting:
                break
            mutant, result = waiting.popleft().result()
            if result not in ("equivalent", "invalid"):
                counted.append((mutant, result))
                report(len(counted), mutant, result)
    return counted


def main():
    parser = argparse.ArgumentParser(prog="./dev check mutants", description="Would the tests notice a small mistake?")
    parser.add_argument("count", nargs="?", type=int, default=100, help="mutants to judge (default: 100)")
    parser.add_argument("folder", nargs="*", default=FOLDERS, help="folders or files to draw from (default: %(default)s)")
    arguments = parser.parse_args()
    seed = int(os.environ.get("PLX_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"{arguments.count} mutants of {' '.join(arguments.folder)}, PLX_TEST_SEED={seed}", flush=True)
    files = run(["git", "ls-files", *(f"{folder}/**.c" if os.path.isdir(os.path.join(SOURCE, folder)) else folder
                                      for folder in arguments.folder)], cwd=SOURCE).split()
    mutants = [mutant for path in sorted(files) for mutant in find_mutants(path)]
    if not mutants:
        sys.exit(f"mutants: no C code to change in {' '.join(arguments.folder)}")
    random.Random(seed).shuffle(mutants)
    reach = measure_reach(arguments.folder)
    judges = [Judge(number, reach) for number in range(JOBS)]
    for judge in judges:
        problem = judge.tree.make()
        if problem:
            sys.exit(f"mutants: does not build:\n{problem[-3000:]}")

    def report(number, mutant, result):
        print(f"{number:4d} {result:40s} {describe(mutant)}", flush=True)

    counted = judge_all(judges, mutants, arguments.count, report)
    survivors = [mutant for mutant, result in counted if result in ("survived", "unreached")]
    print(f"\n{len(counted) - len(survivors)} of {len(counted)} mutants noticed ({100 * (1 - len(survivors) / max(len(counted), 1)):.0f} %)")
    for mutant in survivors:
        print("survivor: " + describe(mutant))
    # The project's bar is a tenth, without mutants that change nothing anybody can see: only a reader can tell those, and they are 12 to 22 %
    # of what compiles to other code. So a run fails only where the tests have become clearly worse.
    sys.exit(0 if len(survivors) <= MOST_SURVIVORS * len(counted) else 1)


main()
