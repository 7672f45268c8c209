#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/man/parallax.1 from docs/man/parallax.1.in and from what `parallax COMMAND --help` says.

usage: manual.py PARALLAX [--check]     (PARALLAX: the program; --check: only says whether the page is as it should be)
"""
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs/man"
COMMON = ("socket", "help", "usage", "version")


def help_of(program, *command):
    """The lines of a help, each paragraph on one line."""
    environment = {**os.environ, "ARGP_HELP_FMT": "rmargin=4000"}
    return subprocess.run([program, *command, "--help"], env=environment, check=True, capture_output=True, text=True).stdout.splitlines()


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub("`([^`]*)`", r"\\fB\1\\fR", text)
    return "\\&" + text if text[:1] in (".", "'") else text


def usages(lines):
    """The ways to call a command, without the word [OPTION...]."""
    for line in lines:
        call = re.match(r"(?:Usage:|  or: ) +(.*)", line)
        if not call:
            return
        yield re.sub(r" \[OPTION\.\.\.\]", "", call[1])


def paragraphs(lines):
    """What stands between usage and options."""
    count = len(list(usages(lines)))
    return [line for line in lines[count:lines.index("", count)] if line]


def options(lines):
    """Name, argument and text of each option."""
    for line in lines:
        found = re.match(r"  (?:-\w,|   ) --([a-z-]+)(?:=(\S+))? +(.*)", line)
        if found:
            yield found[1], found[2], found[3]


def option_text(name, argument, text):
    text = text[0].upper() + text[1:]
    head = f".BI {escape('--' + name)} \" {argument}\"" if argument else f".B {escape('--' + name)}"
    return f".TP\n{head}\n{escape(text)}.\n"


def manual(program):
    names = [found[1] for line in help_of(program) if (found := re.match(r"  ([a-z]+) +\S", line))]
    help_texts = {name: help_of(program, name) for name in names}
    synopsis = [f".B {escape(call)}\n.RI [ options ]" for name in names for call in usages(help_texts[name])]
    common = {name: (argument, text) for lines in help_texts.values() for name, argument, text in options(lines) if name in COMMON}
    commands = ""
    for name, lines in help_texts.items():
        commands += f".SS {name}\n" + "\n.PP\n".join(map(escape, paragraphs(lines))) + "\n"
        commands += "".join(option_text(*option) for option in options(lines) if option[0] not in COMMON)
    page = (FOLDER / "parallax.1.in").read_text()
    return (page.replace("@SYNOPSIS@", "\n.br\n".join(synopsis))
            .replace("@OPTIONS@\n", "".join(option_text(name, *common[name]) for name in COMMON))
            .replace("@COMMANDS@\n", commands))


path = FOLDER / "parallax.1"
if sys.argv[2:] == ["--check"]:
    if path.read_text() != manual(sys.argv[1]):
        sys.exit(f"docs/man/{path.name} is not what the help says: run toolchain/manual.py {sys.argv[1]}")
else:
    path.write_text(manual(sys.argv[1]))
