#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the contents of a release as SPDX 2.3 (JSON): its packages, wheel and archive, their files, and what each program is linked with.

Arguments: the release's folder, its version, its time in seconds, and ARCHITECTURE=ROOT, the root file system with the libraries that the
packages of this architecture were linked with. NEEDED entries of the programs name the libraries; dpkg's lists in ROOT name their packages
and versions; /usr/share/doc/*/copyright names their licences. The same folder and roots give the same bytes.
"""
import glob
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

OURS = "Apache-2.0"
AUTHORS = "Organization: The Parallax authors"
NVIDIA = "LicenseRef-NVIDIA-CUDA-Toolkit-EULA"

# Short names of Debian's copyright files, and SPDX's identifiers. Others become a LicenseRef with the text of the file.
LICENSES = {
    "apache-2.0": "Apache-2.0", "artistic": "Artistic-1.0-Perl", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause", "boost-1.0": "BSL-1.0",
    "bsl-1.0": "BSL-1.0", "cc0-1.0": "CC0-1.0", "epl-2": "EPL-2.0", "epl-2.0": "EPL-2.0", "expat": "MIT", "gpl-2": "GPL-2.0-only", "gpl-2+": "GPL-2.0-or-later",
    "gpl-2.0+": "GPL-2.0-or-later", "gpl-3": "GPL-3.0-only", "gpl-3+": "GPL-3.0-or-later", "gpl-3.0+": "GPL-3.0-or-later", "isc": "ISC", "lgpl-2": "LGPL-2.0-only",
    "lgpl-2+": "LGPL-2.0-or-later", "lgpl-2.1": "LGPL-2.1-only", "lgpl-2.1+": "LGPL-2.1-or-later", "lgpl-3": "LGPL-3.0-only",
    "lgpl-3+": "LGPL-3.0-or-later", "libpng": "Libpng", "mit": "MIT", "ntp": "NTP", "x11": "X11", "zlib": "Zlib",
}


def fail(what):
    sys.exit(f"spdx.py: {what}")


def identifier(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(words)).strip("-")


def digest(kind, content):
    return hashlib.new(kind, content).hexdigest()


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Root:
    """A root file system with dpkg's lists."""

    def __init__(self, root, machine):
        self.root = root
        self.folders = {f"{usr}{folder}" for usr in ("", "/usr") for folder in (f"/lib/{machine}", "/lib", "/lib64")}
        system = re.search(rb'(?m)^NAME="?([^"\n]*)', read(f"{root}/etc/os-release" if os.path.exists(f"{root}/etc/os-release") else "/etc/os-release"))
        self.distribution = system[1].decode()
        self.owners = {}
        for listed in sorted(glob.glob(f"{root}/var/lib/dpkg/info/*.list")):
            package = os.path.basename(listed).removesuffix(".list").split(":")[0]
            for path in read(listed).decode().split("\n"):
                if os.path.dirname(path) in self.folders:
                    self.owners.setdefault(os.path.basename(path), package)
        self.versions = {}
        for stanza in read(f"{root}/var/lib/dpkg/status").decode().split("\n\n"):
            fields = dict(re.findall(r"(?m)^(\w+): (.*)$", stanza))
            if "Package" in fields:
                self.versions.setdefault((fields["Package"], fields.get("Architecture")), fields["Version"])

    def owner(self, library):
        """The package of a library: where it is, or, for a link that only ldconfig makes, where its file is."""
        if library not in self.owners:
            for folder in self.folders:
                if os.path.exists(f"{self.root}{folder}/{library}"):
                    library = os.path.basename(os.path.realpath(f"{self.root}{folder}/{library}"))
                    break
        return self.owners.get(library)

    def copyright(self, package):
        path = f"{self.root}/usr/share/doc/{package}/copyright"
        return read(path).decode(errors="replace") if os.path.exists(path) else ""


class Document:
    def __init__(self, version, epoch, roots):
        self.version, self.epoch, self.roots = version, epoch, roots
        self.packages, self.files, self.relations, self.licenses = {}, {}, set(), {}

    def relate(self, one, kind, other):
        self.relations.add((one, kind, other))

    # --- licences ---

    def own_license(self, name, text, what):
        """A licence that SPDX has no identifier for."""
        reference = "LicenseRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-")
        self.licenses[reference] = {"licenseId": reference, "name": what, "extractedText": text}
        return reference

    def license_of(self, package, root):
        """An expression of all licences of a copyright file that machines can read; else the whole file as a licence of its own."""
        text = root.copyright(package)
        if not text:
            return "NOASSERTION"
        texts, names = {}, set()
        for stanza in text.split("\n\n"):
            name = re.search(r"(?m)^License: *(.+)((?:\n[ \t].*)*)", stanza)
            if name:
                texts[name[1].strip().lower()] = texts.get(name[1].strip().lower()) or name[2]
                files = re.search(r"(?m)^Files: *(.*)", stanza)
                if files and not files[1].startswith("debian/"):
                    names.add(name[1].strip())
        if not text.startswith("Format:") or not names:
            return self.own_license(f"copyright-{package}", text, f"the file copyright of the package {package}")
        def term(name):
            known = LICENSES.get(name.lower())
            return known or self.own_license(f"{package}-{name}", texts.get(name.lower()) or text, name)
        def expression(name):
            choices = [term(each) for each in re.split(r" or (?=\S)", name, flags=re.IGNORECASE)]
            return choices[0] if len(choices) == 1 else f"({' OR '.join(choices)})"
        return " AND ".join(sorted({expression(name) for name in names}))

    # --- what others made ---

    def library_package(self, library, architecture):
        root = self.roots[architecture]
        name = root.owner(library)
        if not name:
            fail(f"no package of {root.root} has {library}, which a program for {architecture} needs")
        reference = identifier("Package", name, architecture)
        version = root.versions.get((name, architecture), "NOASSERTION")
        self.packages[reference] = {
            "SPDXID": reference, "name": name, "versionInfo": version, "supplier": f"Organization: {root.distribution}",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": self.license_of(name, root), "copyrightText": "NOASSERTION",
            "comment": f"a package of the system that Parallax was built on; it has {library}, and is no part of this release",
        }
        return reference

    def cuda_part(self, name, comment, license=NVIDIA):
        reference = identifier("Package", name)
        if license == NVIDIA:
            self.licenses[NVIDIA] = {"licenseId": NVIDIA, "name": "NVIDIA CUDA Toolkit End User License Agreement",
                                     "extractedText": "https://docs.nvidia.com/cuda/eula/", "seeAlsos": ["https://docs.nvidia.com/cuda/eula/"]}
        self.packages[reference] = {
            "SPDXID": reference, "name": name, "supplier": "Organization: NVIDIA", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": license, "copyrightText": "NOASSERTION", "comment": comment,
        }
        return reference

    # --- what is ours ---

    def link(self, reference, content, architecture, provided):
        """Relations of a program or library to what it is linked with."""
        with tempfile.NamedTemporaryFile() as program:
            program.write(content)
            program.flush()
            said = subprocess.run(["readelf", "-dSW", program.name], check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
        for library in needed:
            if library in provided:
                self.relate(reference, "DYNAMIC_LINK", provided[library])
            elif library.startswith("libcudart"):
                self.relate(reference, "DYNAMIC_LINK", self.cuda_part("cuda-cudart", f"the CUDA runtime, {library}; no part of this release"))
            else:
                self.relate(reference, "DYNAMIC_LINK", self.library_package(library, architecture))
        if ".nv_fatbin" in said and not any(library.startswith("libcudart") for library in needed):
            self.relate(reference, "STATIC_LINK", self.cuda_part("cuda-cudart-static", "the CUDA runtime, linked into programs of this release"))
        if b"libcuda.so.1" in content:
            self.relate(self.cuda_part("libcuda", "the NVIDIA driver, loaded at run time where there is one; no part of this release", "NOASSERTION"),
                        "OPTIONAL_DEPENDENCY_OF", reference)

    def add_package(self, path, name, version, contents, architecture, comment=None):
        """A file of the release with its CONTENTS, pairs of path and bytes; returns its reference and its programs, which link() shall see."""
        content = read(path)
        reference = identifier("Package", os.path.basename(path))
        programs, sums = [], []
        for inside, data in sorted(contents):
            file = identifier("File", os.path.basename(path), inside)
            if file in self.files: # two names that differ only in characters that SPDX does not know
                file += "-" + digest("sha256", inside.encode())[:8]
            sums.append(digest("sha1", data))
            self.files[file] = {
                "SPDXID": file, "fileName": "./" + inside, "licenseConcluded": OURS, "copyrightText": "NOASSERTION",
                "checksums": [{"algorithm": "SHA1", "checksumValue": sums[-1]}, {"algorithm": "SHA256", "checksumValue": digest("sha256", data)}],
            }
            self.relate(reference, "CONTAINS", file)
            if data[:4] == b"\x7fELF" and not inside.endswith(".o"):
                programs.append((file, data))
        self.packages[reference] = {
            "SPDXID": reference, "name": name, "versionInfo": version, "packageFileName": os.path.relpath(path, self.folder), "supplier": AUTHORS,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": bool(sums), "licenseConcluded": OURS, "licenseDeclared": OURS,
            "copyrightText": "2026 the Parallax authors",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest("sha256", content)}], **({"comment": comment} if comment else {}),
        }
        if sums:
            verification = digest("sha1", "".join(sorted(sums)).encode())
            self.packages[reference]["packageVerificationCode"] = {"packageVerificationCodeValue": verification}
        self.relate("SPDXRef-DOCUMENT", "DESCRIBES", reference)
        return reference, [(file, data, architecture) for file, data in programs]

    def add_release(self, folder):
        self.folder = folder
        [source] = glob.glob(f"{folder}/parallax-*.tar.gz")
        source_reference, _ = self.add_package(source, "parallax", self.version, [], None, "the sources")
        programs, provided = [], {architecture: {} for architecture in self.roots}
        for deb in sorted(glob.glob(f"{folder}/apt/*.deb")):
            name, version, architecture = os.path.basename(deb).removesuffix(".deb").split("_")
            reference, more = self.add_package(deb, name, version, deb_contents(deb), architecture)
            self.relate(reference, "GENERATED_FROM", source_reference)
            programs += more
            if name == "libparallax0":
                provided[architecture]["libparallax.so.0"] = reference
        for wheel in glob.glob(f"{folder}/*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                contents = [(each.filename, archive.read(each)) for each in archive.infolist() if not each.is_dir()]
            reference, more = self.add_package(wheel, "parallax-stereo", self.version, contents, native_architecture())
            self.relate(reference, "GENERATED_FROM", source_reference)
            programs += more
        for file, data, architecture in programs:
            self.link(file, data, architecture, provided[architecture])

    def text(self):
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.epoch))
        document = {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"parallax-{self.version}",
            "documentNamespace": "",
            "creationInfo": {"created": created, "creators": [AUTHORS, f"Tool: parallax-spdx.py-{self.version}"]},
            "packages": [self.packages[each] for each in sorted(self.packages)],
            "files": [self.files[each] for each in sorted(self.files)],
            "hasExtractedLicensingInfos": [self.licenses[each] for each in sorted(self.licenses)],
            "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                              for one, kind, other in sorted(self.relations)],
        }
        content = digest("sha256", json.dumps(document, sort_keys=True).encode())
        document["documentNamespace"] = f"https://spdx.org/spdxdocs/parallax-{self.version}-{content[:32]}"
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def native_architecture():
    return subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()


def deb_contents(path):
    archive = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        return [(each.name.removeprefix("./"), files.extractfile(each).read()) for each in files if each.isfile()]


def main(folder, version, epoch, *roots):
    machines = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
    split = [each.split("=", 1) for each in roots]
    document = Document(version, int(epoch), {architecture: Root(root.rstrip("/"), machines[architecture]) for architecture, root in split})
    document.add_release(folder)
    sys.stdout.write(document.text())


main(*sys.argv[1:])
