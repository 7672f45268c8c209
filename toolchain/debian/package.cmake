# SPDX-License-Identifier: Apache-2.0
# Debian packages of what was installed by component; toolchain/package.sh configures for them and runs cpack. The same commit gives the
# same bytes: times are those of the commit, and toolchain/debian/stage.cmake finishes the files.
set(PLX_SOURCE_DIR ${CMAKE_SOURCE_DIR})
include(toolchain/commit.cmake)

# A release (toolchain/release.sh) has its number. Everything else comes before it, and after what was committed earlier.
set(epoch_before "$ENV{SOURCE_DATE_EPOCH}")
set(ENV{SOURCE_DATE_EPOCH} ${PLX_COMMIT_EPOCH})
string(TIMESTAMP commit_time %Y%m%d%H%M%S UTC)
string(TIMESTAMP PLX_CHANGELOG_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(ENV{SOURCE_DATE_EPOCH} "${epoch_before}")
string(REPLACE - . commit_word ${PLX_COMMIT})
set(PLX_DEB_VERSION ${PROJECT_VERSION}~git${commit_time}.${commit_word})
if(DEFINED ENV{PLX_RELEASE})
    set(PLX_DEB_VERSION ${PROJECT_VERSION})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME parallax)
set(CPACK_PACKAGE_VERSION ${PLX_DEB_VERSION})
set(CPACK_PACKAGE_VENDOR "Parallax")
set(CPACK_PACKAGE_CONTACT "The Parallax authors <maintainers@users.noreply.a-seed-ba07d69c.example>")
set(CPACK_PACKAGE_HOMEPAGE_URL "")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL parallax libparallax0 libparallax-dev python3-parallax parallax-tests)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
endif()

set(service_needs "systemd | systemd-standalone-sysusers" "systemd | systemd-standalone-tmpfiles" "init-system-helpers (>= 1.54~)" passwd)
string(JOIN ", " CPACK_DEBIAN_PARALLAX_PACKAGE_DEPENDS ${service_needs})
set(CPACK_DEBIAN_PARALLAX_PACKAGE_NAME parallax)
set(CPACK_DEBIAN_PARALLAX_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PARALLAX_PACKAGE_SUGGESTS libparallax-dev)
set(CPACK_DEBIAN_PARALLAX_PACKAGE_CONTROL_EXTRA
    "${CMAKE_CURRENT_LIST_DIR}/postinst;${CMAKE_CURRENT_LIST_DIR}/prerm;${CMAKE_CURRENT_LIST_DIR}/postrm")
set(CPACK_COMPONENT_PARALLAX_DESCRIPTION "stereo vision service for robots
Takes synchronized pairs of pictures, computes disparity and obstacles on the
GPU or the CPU, steers the cameras' exposure, and publishes every result over
shared memory. With the command parallax to look at it.")

set(CPACK_DEBIAN_LIBPARALLAX0_PACKAGE_NAME libparallax0)
set(CPACK_DEBIAN_LIBPARALLAX0_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBPARALLAX0_PACKAGE_MULTIARCH same)
set(CPACK_DEBIAN_LIBPARALLAX0_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/shlibs;${CMAKE_CURRENT_LIST_DIR}/triggers")
set(CPACK_COMPONENT_LIBPARALLAX0_DESCRIPTION "reads what the Parallax stereo service publishes
Frames, disparity and obstacles of parallaxd, in place in shared memory, with
detection of what was overwritten meanwhile. Needs nothing but libc.")

set(CPACK_DEBIAN_LIBPARALLAX-DEV_PACKAGE_NAME libparallax-dev)
set(CPACK_DEBIAN_LIBPARALLAX-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBPARALLAX-DEV_PACKAGE_MULTIARCH same)
set(CPACK_DEBIAN_LIBPARALLAX-DEV_PACKAGE_DEPENDS "libparallax0 (= ${PLX_DEB_VERSION})")
set(CPACK_COMPONENT_LIBPARALLAX-DEV_DESCRIPTION "for building robot programs with libparallax
Headers, the static library, pkg-config and CMake files, and the manual page
of libparallax.")

# The same version: the package has the structures of the shared memory in it.
string(JOIN ", " CPACK_DEBIAN_PYTHON3-PARALLAX_PACKAGE_DEPENDS "libparallax0 (= ${PLX_DEB_VERSION})" "python3 (>= 3.10~)"
       "python3-numpy (>= 1:1.21~)")
set(CPACK_DEBIAN_PYTHON3-PARALLAX_PACKAGE_NAME python3-parallax)
set(CPACK_DEBIAN_PYTHON3-PARALLAX_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-PARALLAX_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-PARALLAX_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/python/postinst;${CMAKE_CURRENT_LIST_DIR}/python/prerm")
set(CPACK_COMPONENT_PYTHON3-PARALLAX_DESCRIPTION "reads what the Parallax stereo service publishes, in Python
Images, disparity and points of parallaxd as NumPy views of shared memory,
obstacles and motion as Python objects, for asyncio too: the module
parallax_stereo.")

set(CPACK_DEBIAN_PARALLAX-TESTS_PACKAGE_NAME parallax-tests)
set(CPACK_DEBIAN_PARALLAX-TESTS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PARALLAX-TESTS_PACKAGE_DEPENDS "parallax (= ${PLX_DEB_VERSION})")
set(CPACK_DEBIAN_PARALLAX-TESTS_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/tests/postinst;${CMAKE_CURRENT_LIST_DIR}/tests/postrm")
set(CPACK_COMPONENT_PARALLAX-TESTS_DESCRIPTION "checks the Parallax stereo service on this very machine
parallax-selftest compares what the processors of this board compute with
oracles, with each other and with golden frames, and measures shared memory,
cameras and throughput.")

# A package of one program with its unit, which is enabled and started: toolchain/debian/unit.
function(plx_unit_package PLX_PACKAGE)
    string(TOUPPER ${PLX_PACKAGE} name)
    set(scripts)
    foreach(script postinst prerm postrm)
        configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/unit/${script}.in ${CMAKE_BINARY_DIR}/debian/${PLX_PACKAGE}/${script} @ONLY)
        list(APPEND scripts ${CMAKE_BINARY_DIR}/debian/${PLX_PACKAGE}/${script})
    endforeach()
    string(JOIN ", " needs "parallax (= ${PLX_DEB_VERSION})" "init-system-helpers (>= 1.54~)")
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${PLX_PACKAGE} PARENT_SCOPE)
    set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS ${needs} PARENT_SCOPE)
    set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${PLX_PACKAGE} PARENT_SCOPE)
    set(CPACK_DEBIAN_${name}_PACKAGE_SECTION science PARENT_SCOPE)
    set(CPACK_DEBIAN_${name}_PACKAGE_CONTROL_EXTRA "${scripts}" PARENT_SCOPE)
endfunction()

plx_unit_package(parallax-web)
set(CPACK_COMPONENT_PARALLAX-WEB_DESCRIPTION "shows what the Parallax stereo service sees in any browser
Pictures, depth, obstacles, points and health of parallaxd, live, and the same
for Foxglove. Listens at this machine only, unless it is told otherwise.")
if(TARGET parallax-ros)
    plx_unit_package(parallax-ros)
    set(CPACK_COMPONENT_PARALLAX-ROS_DESCRIPTION "publishes what the Parallax stereo service sees to ROS 2
Images, disparity, depth, points, scan, obstacles, odometry and diagnostics of
parallaxd as topics of ROS 2, by Cyclone DDS. Needs no ROS on this machine.")
endif()
if(TARGET parallax-gpio)
    plx_unit_package(parallax-gpio)
    set(CPACK_COMPONENT_PARALLAX-GPIO_DESCRIPTION "toggles a GPIO line while the Parallax stereo service says go
A line that stands still means stop, for a watchdog circuit behind it: slow,
stop, a verdict that is too old, a dead program. Nothing of this is certified.")
endif()

configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${CMAKE_BINARY_DIR}/debian/changelog @ONLY)
foreach(package ${CPACK_COMPONENTS_ALL})
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${CMAKE_BINARY_DIR}/debian/changelog
            DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${package})
endforeach()

set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/debian/cpack.cmake)
file(WRITE ${CPACK_PROJECT_CONFIG_FILE} "set(ENV{SOURCE_DATE_EPOCH} ${PLX_COMMIT_EPOCH})\n")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/stage.cmake)
set(CPACK_PLX_TARGET ${CMAKE_SYSROOT})
if(EXISTS "${PLX_CUDA_TARGET}/shlibs")
    list(APPEND CPACK_PLX_TARGET ${PLX_CUDA_TARGET}/shlibs)
endif()
include(CPack)
