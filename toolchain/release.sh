#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the folder of a release, build/dist/parallax-VERSION, from the tag at HEAD; called by ./dev release. The same tag gives the same
# bytes, but for signatures. With FOLDERs the Debian packages in them are taken, instead of built. PLX_SIGNING_KEY names the key of gpg.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
umask 022 # modes are part of the source archive and the wheel
export LC_ALL=C

dist=$PWD/build/dist
signatures=(SHA256SUMS.asc parallax.asc UNSIGNED apt/InRelease apt/Release.gpg) # what differs from key to key

die() { printf 'release: %s\n' "$*" >&2; exit 1; }
say() { printf '    %s\n' "$*"; }

# --- what is released ----------------------------------------------------------------------------------------------

project_version() { sed -n 's/^project(parallax VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# Sets tag, version, and the variables that the packages take commit and time from.
choose_tag() { # [TAG]
    version=$(project_version)
    tag=${1-v$version}
    [[ $tag == "v$version" ]] || die "the tag $tag is not v$version, the version in CMakeLists.txt"
    local tagged
    tagged=$(git rev-parse --quiet --verify "refs/tags/$tag^{commit}" || true)
    [[ ! $tagged || $tagged == $(git rev-parse HEAD) ]] || die "HEAD is not $tag: git checkout $tag"
    [[ -z $(git status --porcelain) ]] || die "the tree is not as committed (git status): commit, or remove what is not to be released"
    grep -qF "__version__ = \"$version\"" client/python/parallax_stereo/__init__.py || die "client/python has another version than CMakeLists.txt"
    [[ $(changes) ]] || die "CHANGELOG.md has no section '## $version': give 'Unreleased' this name and commit, before the tag"
    [[ $tagged ]] || die "HEAD has no tag $tag: git tag -a $tag -m 'Parallax $version'"
    # shellcheck disable=SC2155 # git answered before
    export SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) PLX_RELEASE=1
}

# The section of this version in CHANGELOG.md, without its heading.
changes() { awk -v version="$version" '/^## / { inside = $2 == version; next } inside' CHANGELOG.md; }

# --- parts of the folder -------------------------------------------------------------------------------------------

build_packages() {
    [[ $(dpkg --print-architecture) == amd64 ]] || die "a release is made on amd64, where the packages for arm64 are cross-built"
    local preset
    for preset in release arm64-cpu; do ./dev package "$preset"; done
}

# The repository has the packages themselves. One for all architectures is in both builds, with the same bytes.
copy_packages() { # FOLDER...
    local folder deb copy
    mkdir apt
    for folder; do
        for deb in "$folder"/*.deb; do
            copy=apt/$(basename "$deb")
            [[ $(dpkg-deb -f "$deb" Version) == "$version" ]] || die "$deb is not of version $version"
            [[ ! -e $copy ]] || cmp "$deb" "$copy" || die "two builds of $(basename "$deb") differ"
            install -m 644 "$deb" "$copy"
        done
    done
}

make_sources() { git -C "$source" archive --format=tar --prefix="parallax-$version/" "$tag" | gzip -9n >"parallax-$version.tar.gz"; }

# From the source archive, because setuptools writes beside its sources.
make_wheel() {
    local work=$dist/wheel
    rm -rf "$work" && mkdir "$work"
    tar -C "$work" -xf "parallax-$version.tar.gz"
    "$source/build/python/bin/pip" wheel --quiet --no-deps --no-build-isolation --disable-pip-version-check --wheel-dir . \
        "$work/parallax-$version/client/python"
    rm -rf "$work"
}

# What apt reads: a flat repository, so that a copy of the folder is one too.
index_packages() {
    (
        cd apt
        apt-ftparchive -o APT::FTPArchive::MD5=false -o APT::FTPArchive::SHA1=false packages . >Packages
        gzip -9nk Packages
        apt-ftparchive -o APT::FTPArchive::MD5=false -o APT::FTPArchive::SHA1=false -o APT::FTPArchive::Release::Origin=Parallax \
            -o APT::FTPArchive::Release::Label=Parallax -o APT::FTPArchive::Release::Suite=stable \
            -o APT::FTPArchive::Release::Version="$version" -o APT::FTPArchive::Release::Architectures="$(architectures)" release . >../Release
        sed "s/^Date: .*/Date: $(date --utc --date="@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S UTC')/" ../Release >Release
        rm ../Release
    )
}

architectures() { sed -n 's/^Architecture: //p' Packages | grep -vx all | sort -u | paste -sd' '; }

# What the programs were linked with is here for amd64, in the sysroot for arm64.
list_contents() {
    local roots=() architecture
    for architecture in $(cd apt && architectures); do
        if [[ $architecture == "$(dpkg --print-architecture)" ]]; then roots+=("$architecture=/"); else roots+=("$architecture=$source/build/sysroot-$architecture"); fi
    done
    "$source/toolchain/spdx.py" . "$version" "$SOURCE_DATE_EPOCH" "${roots[@]}" >"parallax-$version.spdx.json"
}

# GPU or CPU: nvcc leaves a section of its own in the service.
backend() { # ARCHITECTURE
    local program
    program=$(mktemp)
    dpkg-deb --fsys-tarfile "apt/parallax_${version}_$1.deb" | tar -xO ./usr/bin/parallaxd >"$program"
    if readelf -SW "$program" | grep -q nv_fatbin; then echo "GPU (CUDA) or CPU"; else echo "CPU only: built without CUDA"; fi
    rm "$program"
}

write_notes() {
    local architecture system
    # shellcheck source=/dev/null
    system=$(. /etc/os-release && echo "$PRETTY_NAME")
    {
        printf '# Parallax %s\n\n' "$version"
        printf 'Commit %s, built on %s. INSTALL.md says how to install it.\n\n' "$(git -C "$source" rev-parse --short=12 HEAD)" "$system"
        printf '| packages for | compute on |\n|---|---|\n'
        for architecture in $(cd apt && architectures); do printf '| %s | %s |\n' "$architecture" "$(backend "$architecture")"; done
        (cd "$source" && changes)
    } >NOTES.md
    # Its links lead to other pages of docs/, which are in the source archive.
    sed -E 's/\[([^]]*)\]\([a-z-]+\.md[^)]*\)/\1/g' "$source/docs/install.md" >INSTALL.md
}

# Everything but signatures, so that whoever builds the tag without the key gets the same sums.
sum_files() {
    local but=() file
    for file in "${signatures[@]}" SHA256SUMS; do but+=(! -path "./$file"); done
    find . -type f "${but[@]}" -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS
}

sign() {
    if [[ ! ${PLX_SIGNING_KEY-} ]]; then
        echo "This release is not signed, so apt refuses it: PLX_SIGNING_KEY named no key." >UNSIGNED
        return
    fi
    local gpg=(gpg --batch --yes --armor --digest-algo SHA512 --local-user "$PLX_SIGNING_KEY")
    "${gpg[@]}" --export "$PLX_SIGNING_KEY" >parallax.asc
    "${gpg[@]}" --output apt/InRelease --clearsign apt/Release
    "${gpg[@]}" --output apt/Release.gpg --detach-sign apt/Release
    "${gpg[@]}" --output SHA256SUMS.asc --detach-sign SHA256SUMS
}

# --- all of it -----------------------------------------------------------------------------------------------------

for tool in apt-ftparchive dpkg-deb gpg readelf; do command -v $tool >/dev/null || die "no $tool here (./dev setup --all)"; done
[[ -x build/python/bin/pip ]] || die "no build/python, which makes the wheel (./dev setup --all)"
[[ ! ${PLX_SIGNING_KEY-} ]] || gpg --batch --list-secret-keys "$PLX_SIGNING_KEY" >/dev/null 2>&1 ||
    die "gpg knows no secret key $PLX_SIGNING_KEY (PLX_SIGNING_KEY)"
source=$PWD
choose_tag ${1+"$1"}
[[ $# == 0 ]] || shift
folders=("$@")
for ((i = 0; i < ${#folders[@]}; i++)); do folders[i]=$(readlink -f "${folders[i]}"); done
if [[ ${#folders[@]} == 0 ]]; then
    build_packages
    folders=("$source"/build/package-{release,arm64-cpu}/packages)
fi

mkdir -p "$dist"
rm -rf "$dist/partial" "$dist/parallax-$version"
mkdir "$dist/partial"
cd "$dist/partial"
say "copying the packages"
copy_packages "${folders[@]}"
say "packing sources and wheel"
make_sources
make_wheel
say "listing the contents"
index_packages
list_contents
write_notes
sum_files
sign
mv "$dist/partial" "$dist/parallax-$version"
say "build/dist/parallax-$version"
[[ ! -e $dist/parallax-$version/UNSIGNED ]] || say "$(<"$dist/parallax-$version/UNSIGNED")"
