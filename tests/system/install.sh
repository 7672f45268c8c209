#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs libparallax alone into an empty directory and uses it from there, as a robot's build would: pkg-config, the CMake
# package, C++, the Python package. Arguments: source and build directory.
set -eu
source=$1
build=$2
work=$(mktemp -d)
service=
trap 'test -z "$service" || kill "$service"; rm -rf "$work"' EXIT
fail() { echo "install.sh: $*" >&2; exit 1; }

for component in libparallax0 libparallax-dev python3-parallax; do
    cmake --install "$build" --prefix "$work/usr" --component $component >"$work/log" || { cat "$work/log"; fail "cannot install"; }
done
lib=$(dirname "$(find "$work/usr" -name libparallax.so)")
export PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib"
test -f "$(find "$work/usr" -name libparallax.3)" || fail "no man page"

# What is exported is what the headers name as calls, no more and no less.
(cd "$source/include/parallax" && cat client.h cuda.h error.h words.h) | grep -o 'plx_[a-z_]*(' | tr -d '(' | sort -u >"$work/declared"
nm -D --defined-only "$lib/libparallax.so" | sed -n 's/.* T \([a-z_]*\).*/\1/p' | sort >"$work/exported"
nm -D --defined-only "$lib/libparallax.so" | grep -v ' T plx_\| A PARALLAX_0' && fail "this should not be exported"
cmp "$work/declared" "$work/exported" || { diff "$work/declared" "$work/exported"; fail "exports differ from the headers"; }
while read -r function; do
    grep -q "[ *]$function(" "$source/client/libparallax.3" || fail "libparallax.3 does not name $function"
    test -f "$work/usr/share/man/man3/$function.3" || fail "there is no manual page of $function"
done <"$work/exported"

# pkg-config, shared and then static.
flags=${PLX_SANITIZE:+-fsanitize=$PLX_SANITIZE}
${CC:-cc} $flags -Wall -Wextra -Werror -o "$work/shared" "$source/docs/examples/minimal.c" $(pkg-config --cflags --libs parallax)
${CC:-cc} $flags -Wall -Wextra -Werror $(pkg-config --cflags parallax) -o "$work/static" "$source/docs/examples/minimal.c" "$lib/libparallax.a"
for program in shared static; do
    code=0 # it says which service it waits for, and waits
    said=$(PARALLAX_SOCKET=$work/none timeout 0.3 "$work/$program" 2>&1) || code=$?
    test "$code" = 124 || fail "$program: no service, and it ended with $code"
    test "$said" = "the service at $work/none" || fail "$program said: $said"
done
if test -z "$flags" && command -v c++ >/dev/null; then
    printf '#include <parallax/client.h>\n#include <parallax/cuda.h>\n#include <parallax/shm.h>\n#include <parallax/words.h>\nint main() { return plx_state(nullptr) == 0; }\n' >"$work/a.cc"
    c++ -Wall -Wextra -Werror -o "$work/cxx" "$work/a.cc" $(pkg-config --cflags --libs parallax)
    "$work/cxx"
fi

# The CMake package.
mkdir "$work/robot"
cp "$source/docs/examples/minimal.c" "$work/robot/"
cat >"$work/robot/CMakeLists.txt" <<'ROBOT'
cmake_minimum_required(VERSION 3.22)
project(robot C)
find_package(parallax 0.1 REQUIRED)
add_executable(robot minimal.c)
target_link_libraries(robot parallax::parallax)
add_executable(robot_static minimal.c)
target_link_libraries(robot_static parallax::parallax_static)
ROBOT
cmake -G Ninja -S "$work/robot" -B "$work/robot/build" -DCMAKE_PREFIX_PATH="$work/usr" -DCMAKE_C_FLAGS="$flags" >"$work/log" &&
    cmake --build "$work/robot/build" >>"$work/log" || { cat "$work/log"; fail "find_package(parallax) does not serve"; }

# The program in the documentation is the one that was just built.
sed -n '/^#include/,$p' "$source/docs/examples/minimal.c" >"$work/example"
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '1d;$d' >"$work/documented"
cmp "$work/example" "$work/documented" || fail "README.md does not show docs/examples/minimal.c"

# A running service: the example, and Python where it has NumPy.
mkfifo "$work/commands"
"$build/bin/ring_peer" service "$work/socket" 1 8 8 <"$work/commands" >"$work/answers" &
service=$!
exec 3>"$work/commands"
until grep -q ready "$work/answers"; do sleep 0.05; done
echo "go 100000 10000" >&3
export PARALLAX_SOCKET="$work/socket"
# The peer's obstacles are a test pattern: the numbers do not matter, the line does.
timeout 10 "$work/shared" | head -n 3 | grep -c "obstacles; the largest begins at" >"$work/lines" || true
test "$(cat "$work/lines")" = 3 || fail "the example prints no obstacles"
python=
for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && { python=$candidate; break; }
done
if test -z "$python" || test "$flags"; then
    echo "install.sh: Python not tried (no NumPy, or a sanitizer)"
    exit 0
fi
PARALLAX_LIBRARY="$lib/libparallax.so.0" PYTHONPATH="$work/usr/lib/python3/dist-packages" "$python" "$source/tests/system/try_python.py"
