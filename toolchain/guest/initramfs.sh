# SPDX-License-Identifier: Apache-2.0
# For the scripts that boot a guest: sourced. What they put together is a folder that becomes the guest's first file system.

skip() { printf 'skipped: %s\n' "$*" >&2; exit 77; }

arch=${arch-amd64}                  # of the guest; or arm64
kernel=build/guest/kernel-$arch     # made by kernel.sh and modules.sh
# The guest's clock counts instructions, a nanosecond each, and jumps ahead while the guest idles: however slow or busy this machine is,
# times in the guest are those of one processor of 1,000 million instructions a second.
clock=(-accel tcg,thread=single -smp 1 -icount shift=0,sleep=off)
case $arch in
amd64) machine=(qemu-system-x86_64 -cpu max "${clock[@]}") console=ttyS0 ;;
arm64) machine=(qemu-system-aarch64 -M virt -cpu cortex-a76 "${clock[@]}") console=ttyAMA0 ;; # -cpu max boots four times slower
esac

guest_tools() { # NAME... = programs that must be there
    local tool
    for tool in "${machine[0]}" cpio depmod xz "$@"; do
        PATH=$PATH:/sbin:/usr/sbin command -v "$tool" >/dev/null ||
            skip "no $tool here; ./dev setup --all installs what the test guest needs"
    done
}

# Copies modules, with those that they need, into FOLDER/lib/modules as the kernel finds them. Standard input: a line each, the
# name and then perhaps parameters.
guest_modules() { # FOLDER
    local version root module needed kind file
    version=$(<$kernel/version)
    root=$PWD/$kernel/root
    mkdir -p "$1/lib/modules/$version"
    while read -r module _; do
        needed=$(modprobe -d "$root" -S "$version" --show-depends "$module") ||
            skip "there is no module $module for this kernel ($version)"
        while read -r kind file _; do
            [[ $kind != insmod ]] || install -D "$file" "$1/lib/modules/$version/${file#*/lib/modules/"$version"/}"
        done <<<"$needed"
    done
    cp "$root/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$1/lib/modules/$version"
    depmod -b "$1" "$version"
}

# FOLDER with INIT as its first process and busybox, and whatever else was put there, as an archive. It is not compressed, nor is the
# kernel: that halves the time to boot.
guest_pack() { # FOLDER INIT ARCHIVE
    mkdir -p "$1"/{bin,dev,proc,sys,root}
    cp "$(find "$kernel/root" -path '*/bin/busybox')" "$1/bin/busybox"
    cp "$2" "$1/init"
    (cd "$1" && find . | cpio -o -H newc --quiet) >"$3"
}

# The archive for systems on disks; FOLDER is new.
guest_disk_archive() { # FOLDER ARCHIVE
    guest_modules "$1" <<<$'virtio_pci\nvirtio_blk\ncrc32c_generic\next4'
    guest_pack "$1" "$here/init-disk" "$2"
}

# Boots with ARCHIVE; further arguments are QEMU's. Returns the exit code that the guest says last of all ("guest: exit CODE"), 1 with a
# word if it says none: what QEMU itself returns is no result of the guest.
guest_boot() { # TIMEOUT_S ARCHIVE [QEMU OPTION...]
    local seconds=$1 archive=$2 code=0
    shift 2
    timeout -k 5 "$seconds" "${machine[@]}" -m 1024 -display none -nodefaults -serial stdio \
        -kernel "$kernel/vmlinux" -initrd "$archive" -append "console=$console oops=panic panic=-1 quiet mitigations=off systemd.show_status=0 systemd.log_color=0" "$@" ${PLX_GUEST_QEMU_OPTION-} \
        </dev/null 2>&1 | tee "$archive.console" || code=${PIPESTATUS[0]}
    case $code in
    0) ;;
    124 | 137) echo "guest: it did not end in $seconds s"; return 1 ;;
    *) echo "guest: QEMU failed (its exit code is $code)"; return 1 ;;
    esac
    code=$(tr -d '\r' <"$archive.console" | sed -n 's/^guest: exit \([0-9][0-9]*\)$/\1/p' | tail -n 1)
    [[ $code ]] || { echo 'guest: it ended without a result'; return 1; }
    return "$code"
}
