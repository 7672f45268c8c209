#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev release with a throw-away key: what it refuses; twice the same bytes; signatures; what apt makes of the folder, intact and changed, and
# in a roll back; the list of contents. Arguments: source directory, Python environment of toolchain/python.txt. The packages are
# those that system/package built, and those of ./dev package arm64-cpu if they are there, with a release's version.
set -euo pipefail
source=$(readlink -f "$1") python=$(readlink -m "$2")
fail() { echo "release.sh: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

for tool in apt-ftparchive apt-get dpkg-deb git gpg gpgv; do command -v $tool >/dev/null || skip "no $tool (./dev setup --all)"; done
[[ -x $python/bin/pip ]] || skip "no $python, which makes the wheel (./dev setup --all)"
built=${PLX_PACKAGE_TEST-$source/build/package-test}/one/build/package-release/packages
compgen -G "$built/*.deb" >/dev/null || skip "no packages in $built (system/package builds them)"
for_arm64=$source/build/package-arm64-cpu/packages
work=$(mktemp -d)
trap 'gpgconf --homedir "$work/keys" --kill all 2>/dev/null; rm -rf "$work"' EXIT
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; fail "$*"; }; }
refuses() { # WHAT PATTERN COMMAND...
    local what=$1 pattern=$2
    shift 2
    ! "$@" >"$work/log" 2>&1 || fail "$what passes"
    grep -q "$pattern" "$work/log" || { tail -n 5 "$work/log"; fail "$what: expected the message $pattern"; }
}

# --- keys, packages, a tag -----------------------------------------------------------------------------------------

export GNUPGHOME=$work/keys GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
mkdir -m 700 "$GNUPGHOME"
for name in release other; do quietly gpg --batch --passphrase '' --quick-generate-key "$name@test.example" ed25519 sign never; done

# The same packages with another version.
packages_of() { # VERSION
    local deb folder tree=$work/tree
    for deb in "$built"/*.deb "$for_arm64"/*.deb; do
        [[ -f $deb && $deb != "$for_arm64"/*_all.deb ]] || continue
        rm -rf "$tree"
        dpkg-deb -R "$deb" "$tree"
        sed -i "s/0\.1\.0~git[0-9a-z.]*/$1/" "$tree/DEBIAN/control"
        folder=$work/packages-$1/$([[ $deb == "$built"/* ]] && echo amd64 || echo arm64)
        mkdir -p "$folder"
        quietly dpkg-deb --root-owner-group -Zgzip -b "$tree" "$folder"
    done
}

# A repository of the present files, at the same commit in each place.
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
make_repository() { # PLACE VERSION
    mkdir -p "$1/build"
    if [[ -e $source/.git ]]; then
        git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null --ignore-failed-read -T - -c 2>/dev/null
    else
        tar -C "$source" --exclude ./build --exclude ./demo -c .
    fi | tar -C "$1" -x
    ln -s "$python" "$1/build/python"
    ln -s "$source/build/sysroot-arm64" "$1/build/sysroot-arm64" # if it is there
    sed -i "s/^project(parallax VERSION [0-9.]*/project(parallax VERSION $2/" "$1/CMakeLists.txt"
    sed -i "s/^__version__ = .*/__version__ = \"$2\"/" "$1/client/python/parallax_stereo/__init__.py"
    sed -i "s/^## Unreleased/## $2/" "$1/CHANGELOG.md"
    git -C "$1" init --quiet --initial-branch main
    git -C "$1" config user.name Test
    git -C "$1" config user.email test@test.example
    git -C "$1" add --all
    git -C "$1" commit --quiet --message "Release $2"
}
release() { # PLACE VERSION [UMASK]
    (umask "${3-022}" && "$1/toolchain/release.sh" "v$2" "$work/packages-$2"/*)
}

for version in 0.1.0 0.0.9; do packages_of $version; done
for version in 0.1.0 0.0.9; do make_repository "$work/one-$version" $version; done
make_repository "$work/another/place" 0.1.0
one=$work/one-0.1.0

# --- what is refused -----------------------------------------------------------------------------------------------

refuses "a HEAD without a tag" "HEAD has no tag v0.1.0: git tag" "$one/toolchain/release.sh"
for place in "$one" "$work/another/place"; do git -C "$place" tag --annotate v0.1.0 --message 0.1.0; done
git -C "$work/one-0.0.9" tag --annotate v0.0.9 --message 0.0.9
refuses "another version" "is not v0.1.0, the version in CMakeLists.txt" "$one/toolchain/release.sh" v0.2.0
echo >>"$one/README.md"
refuses "a changed tree" "not as committed" "$one/toolchain/release.sh"
git -C "$one" checkout --quiet README.md
git -C "$one" commit --quiet --allow-empty --message later
refuses "a later commit" "HEAD is not v0.1.0: git checkout v0.1.0" "$one/toolchain/release.sh"
git -C "$one" checkout --quiet v0.1.0
refuses "packages of another version" "is not of version 0.1.0" "$one/toolchain/release.sh" v0.1.0 "$work/packages-0.0.9/amd64"
PLX_SIGNING_KEY=nobody@test.example refuses "a key that is not there" "knows no secret key nobody@test.example" release "$one" 0.1.0
echo "ok: refusals"

# --- the same bytes, with a key and without ------------------------------------------------------------------------

PLX_SIGNING_KEY=release@test.example quietly release "$one" 0.1.0
PLX_SIGNING_KEY=other@test.example quietly release "$work/another/place" 0.1.0 077
PLX_SIGNING_KEY=release@test.example quietly release "$work/one-0.0.9" 0.0.9
folder=$one/build/dist/parallax-0.1.0 older=$work/one-0.0.9/build/dist/parallax-0.0.9
signed=(-x InRelease -x Release.gpg -x '*.asc')
diff -r "${signed[@]}" "$folder" "$work/another/place/build/dist/parallax-0.1.0" || fail "two releases of the same tag differ"
(cd "$folder" && sha256sum --quiet --check SHA256SUMS) || fail "SHA256SUMS is wrong"
unlisted=$(cd "$folder"; find . -type f -printf '%P\n' |
    { grep -vxF -f <(cut -c 67- SHA256SUMS; printf '%s\n' SHA256SUMS SHA256SUMS.asc parallax.asc apt/InRelease apt/Release.gpg) || true; })
[[ ! $unlisted ]] || fail "SHA256SUMS does not have $unlisted"
! grep -rqF "$work" "$folder" || fail "the release knows where it was made"
"$python/bin/python" -m zipfile -e "$folder"/*.whl "$work/wheel"
! grep -rqF "$work" "$work/wheel" || fail "the wheel knows where it was made"
mv "$folder" "$work/release"
quietly release "$one" 0.1.0
{ [[ -f $folder/UNSIGNED ]] && grep -q "not signed" "$work/log"; } || fail "a release without a key does not say so"
diff -r "${signed[@]}" -x UNSIGNED "$folder" "$work/release" || fail "a release without a key has other contents"
mv "$folder" "$work/unsigned"
folder=$work/release
tar -xOf "$folder/parallax-0.1.0.tar.gz" parallax-0.1.0/README.md | cmp - "$source/README.md" || fail "the source archive has other sources"
grep -q "^### Service" "$folder/NOTES.md" || fail "NOTES.md has not the section of CHANGELOG.md"
echo "ok: the same bytes"

# --- signatures ----------------------------------------------------------------------------------------------------

gpg --dearmor <"$folder/parallax.asc" >"$work/release.gpg"
quietly gpgv --keyring "$work/release.gpg" "$folder/apt/InRelease"
quietly gpgv --keyring "$work/release.gpg" "$folder/apt/Release.gpg" "$folder/apt/Release"
quietly gpgv --keyring "$work/release.gpg" "$folder/SHA256SUMS.asc" "$folder/SHA256SUMS"
gpg --export other@test.example >"$work/other.gpg"
refuses "a key of somebody else" "Can't check signature" gpgv --keyring "$work/other.gpg" "$folder/SHA256SUMS.asc" "$folder/SHA256SUMS"
echo "ok: signatures"

# --- apt -----------------------------------------------------------------------------------------------------------

# An apt of its own, which believes that what is installed here is installed, and perhaps more.
apt() { # FOLDER COMMAND...
    local apt=$work/apt
    mkdir -p "$apt"/{etc/apt/{apt.conf.d,preferences.d},var/lib/apt/lists/partial,var/cache/apt/archives/partial}
    echo "deb [signed-by=$folder/parallax.asc] file:$1/apt ./" >"$apt/etc/apt/sources.list"
    cat /var/lib/dpkg/status "$work/installed" >"$apt/status"
    shift
    (cd "$work" && apt-get -o Dir="$apt" -o Dir::State::status="$apt/status" -o APT::Sandbox::User="" -o Debug::NoLocking=true -y "$@")
}
: >"$work/installed"
chmod 755 "$work"
quietly apt "$folder" update
quietly apt "$folder" download parallax
cmp "$work/parallax_0.1.0_amd64.deb" "$folder/apt/parallax_0.1.0_amd64.deb" || fail "apt fetched something else"
names=$(for deb in "$folder"/apt/*_{amd64,all}.deb; do dpkg-deb -f "$deb" Package; done)
# shellcheck disable=SC2086 # one word a package
quietly apt "$folder" install --simulate $names
for name in $names; do grep -q "^Inst $name (0.1.0 " "$work/log" || fail "apt would not install $name"; done

# As docs/install.md says: from the older release to this one, and back.
believe_installed() { # FOLDER
    local deb
    for deb in "$1"/apt/*_{amd64,all}.deb; do
        dpkg-deb -f "$deb" | sed 's/^Package: .*/&\nStatus: install ok installed/'
        echo
    done >"$work/installed"
}
expect_change() { # FROM TO
    local name
    for name in $names; do grep -q "^Inst $name \[$1\] ($2 " "$work/log" || { cat "$work/log"; fail "apt would not go from $1 to $2 with $name"; }; done
    ! grep '^Remv' "$work/log" || fail "apt would remove packages on the way from $1 to $2"
}
believe_installed "$older"
quietly apt "$folder" update
quietly apt "$folder" upgrade --simulate
expect_change 0.0.9 0.1.0
believe_installed "$folder"
quietly apt "$older" update
# shellcheck disable=SC2086,SC2046 # one word a package
quietly apt "$older" install --simulate --allow-downgrades $(printf '%s=0.0.9 ' $names)
expect_change 0.1.0 0.0.9
: >"$work/installed"
rm -rf "$work/apt"

changed() { # FILE: prints a copy of the release in which the file has another byte
    local copy=$work/changed
    rm -rf "$copy" "$work/apt"
    cp -r "$folder" "$copy"
    printf 'x' | dd of="$copy/$1" bs=1 seek=200 conv=notrunc status=none
    echo "$copy"
}
copy=$(changed apt/parallax_0.1.0_amd64.deb)
quietly apt "$copy" update
rm -f "$work"/parallax_*.deb
refuses "a changed package" "Hash Sum mismatch" apt "$copy" download parallax
copy=$(changed apt/Packages)
rm "$copy/apt/Packages.gz"
refuses "a changed list of packages" "Hash Sum mismatch\|unexpected size" apt "$copy" update
copy=$(changed apt/InRelease)
refuses "a changed InRelease" "invalid\|NODATA\|BADSIG\|NO_PUBKEY\|Clearsigned" apt "$copy" update
rm -rf "$work/apt"
refuses "an unsigned release" "not signed" apt "$work/unsigned" update
rm -rf "$work/apt"
refuses "a release that somebody else signed" "NO_PUBKEY" apt "$work/another/place/build/dist/parallax-0.1.0" update
echo "ok: apt"

# --- the list of contents ------------------------------------------------------------------------------------------

python3 - "$folder" <<'CHECK'
import glob, hashlib, io, json, os, re, subprocess, sys, tarfile, tempfile, zipfile
folder = sys.argv[1]
def fail(what): sys.exit(f"release.sh: SPDX: {what}")
[path] = glob.glob(f"{folder}/*.spdx.json")
document = json.load(open(path, encoding="utf-8"))
for key in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages", "files", "relationships"):
    key in document or fail(f"no {key}")
document["spdxVersion"] == "SPDX-2.3" or fail("another version")
elements = {each["SPDXID"]: each for each in document["packages"] + document["files"]}
len(elements) == len(document["packages"]) + len(document["files"]) or fail("an identifier twice")
related = {}
for each in document["relationships"]:
    for end in ("spdxElementId", "relatedSpdxElement"):
        each[end] in elements or each[end] == "SPDXRef-DOCUMENT" or fail(f"no element {each[end]}")
    related.setdefault((each["spdxElementId"], each["relationshipType"]), []).append(elements.get(each["relatedSpdxElement"]))
known = {each["licenseId"] for each in document["hasExtractedLicensingInfos"]}
for each in document["packages"]:
    missing = set(re.findall(r"LicenseRef-[\w.-]+", each["licenseDeclared"])) - known
    missing and fail(f"{each['name']}: no text of {missing}")
def contents(file):
    if file.endswith(".whl"):
        with zipfile.ZipFile(file) as archive:
            return {f"./{name}": archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", file], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {"./" + each.name.removeprefix("./"): archive.extractfile(each).read() for each in archive if each.isfile()}
def sha256(data): return hashlib.sha256(data).hexdigest()
def listed(element): return {each["algorithm"]: each["checksumValue"] for each in element["checksums"]}["SHA256"]
shipped = {each["packageFileName"]: each for each in document["packages"] if "packageFileName" in each}
expected = {os.path.relpath(each, folder) for kind in ("apt/*.deb", "*.whl", "*.tar.gz") for each in glob.glob(f"{folder}/{kind}")}
set(shipped) == expected or fail(f"lists {set(shipped)}, there are {expected}")
programs = 0
for name, package in shipped.items():
    sha256(open(f"{folder}/{name}", "rb").read()) == listed(package) or fail(f"another {name}")
    if name.endswith(".gz"):
        continue
    real = contents(f"{folder}/{name}")
    files = {each["fileName"]: each for each in related.get((package["SPDXID"], "CONTAINS"), [])}
    set(files) == set(real) or fail(f"{name}: other files than listed")
    for file, data in real.items():
        sha256(data) == listed(files[file]) or fail(f"{name}: another {file}")
        if data[:4] != b"\x7fELF":
            continue
        with tempfile.NamedTemporaryFile() as program:
            program.write(data)
            program.flush()
            said = subprocess.run(["objdump", "-p", program.name], capture_output=True, text=True).stdout or \
                subprocess.run(["readelf", "-d", program.name], capture_output=True, text=True).stdout
        linked = related.get((files[file]["SPDXID"], "DYNAMIC_LINK"), [])
        programs += 1
        for library in re.findall(r"NEEDED\)?.*?([\w+.-]+\.so[\w.]*)", said):
            if library.startswith("libparallax"):
                found = [each for each in linked if each["name"] == "libparallax0"]
            elif os.path.exists(f"/usr/lib/x86_64-linux-gnu/{library}") and "arm64" not in name: # dpkg itself says whose it is
                real_path = os.path.realpath(f"/usr/lib/x86_64-linux-gnu/{library}")
                owner = subprocess.run(["dpkg-query", "-S", f"*/{os.path.basename(real_path)}"], capture_output=True, text=True).stdout
                owners = {line.split(":")[0] for line in owner.splitlines()}
                found = [each for each in linked if each["name"] in owners and each["versionInfo"] != "NOASSERTION"]
            else:
                found = linked
            found or fail(f"{name}: {file} needs {library}, which has no entry")
programs >= 8 or fail(f"only {programs} programs")
any(each["name"] == "libyaml-0-2" and each["licenseDeclared"] == "MIT" for each in document["packages"]) or fail("libyaml has no licence")
print(f"ok: list of contents: {len(shipped)} packages, {len(document['files'])} files, {programs} programs")
CHECK
