# SPDX-License-Identifier: Apache-2.0
# For meta-tegra; apriltag and cyclonedds are in meta-ros, cjson and v4l-utils in meta-openembedded's meta-oe (docs/container.md).
SUMMARY = "Stereo vision service for robots"
DESCRIPTION = "Takes synchronized pairs of pictures, computes disparity and obstacles on the GPU or the CPU, and publishes them over shared memory."
HOMEPAGE = "https://git.example.com/parallax"
SECTION = "multimedia"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

DEPENDS = "apriltag cjson libjpeg-turbo libpng libyaml lz4 systemd v4l-utils zlib zstd"
PV = "0.1.0+git"

# Your copy of the repository, and a commit of it: in local.conf or in a .bbappend.
PARALLAX_GIT ??= "git://git.example.com/parallax.git;protocol=https;branch=main"
SRC_URI = "${PARALLAX_GIT}"
SRCREV ?= "${AUTOREV}"

inherit cmake cuda features_check pkgconfig python3-dir systemd useradd

REQUIRED_DISTRO_FEATURES = "systemd usrmerge"

# meta-tegra's class cuda gives compiler and architectures, where the machine has the override cuda.
PLX_GPU = "OFF"
PLX_GPU:cuda = "ON"
EXTRA_OECMAKE = "-DBUILD_TESTING=OFF -DPLX_GPU=${PLX_GPU} -DPLX_SYSTEMD_DIR=${nonarch_base_libdir}"
# parallax-ros is built where Cyclone DDS is, parallax-gpio where libgpiod 1 is.
PACKAGECONFIG ??= ""
PACKAGECONFIG[ros] = ",,cyclonedds cyclonedds-native"

USERADD_PACKAGES = "${PN}"
USERADD_PARAM:${PN} = "--system --home-dir ${localstatedir}/lib/parallax --no-create-home --shell /sbin/nologin --user-group --groups video,render parallax"
GROUPADD_PARAM:${PN} = "--system render"

# The Python package is installed where Debian looks for it.
do_install:append() {
    install -d ${D}${PYTHON_SITEPACKAGES_DIR}
    mv ${D}${prefix}/lib/python3/dist-packages/parallax_stereo ${D}${PYTHON_SITEPACKAGES_DIR}
    rm -rf ${D}${prefix}/lib/python3
}

PACKAGES =+ "libparallax ${PN}-web ${PN}-selftest ${PN}-python ${@bb.utils.contains('PACKAGECONFIG', 'ros', '${PN}-ros', '', d)}"

FILES:libparallax = "${libdir}/libparallax.so.*"
FILES:${PN}-web = "${bindir}/parallax-web ${systemd_system_unitdir}/parallax-web*.service"
FILES:${PN}-ros = "${bindir}/parallax-ros ${systemd_system_unitdir}/parallax-ros*.service ${nonarch_base_libdir}/sysctl.d"
FILES:${PN}-selftest = "${bindir}/parallax-selftest ${systemd_system_unitdir}/parallax-selftest.service"
FILES:${PN}-python = "${PYTHON_SITEPACKAGES_DIR}"
FILES:${PN} += "${nonarch_base_libdir}/sysusers.d ${nonarch_base_libdir}/tmpfiles.d ${nonarch_base_libdir}/udev \
    ${systemd_system_unitdir}/parallaxd*.service ${systemd_system_unitdir}/parallax-recorder*.service \
    ${datadir}/bash-completion ${datadir}/zsh"

RDEPENDS:${PN}-web = "${PN}"
RDEPENDS:${PN}-ros = "${PN}"
RDEPENDS:${PN}-selftest = "${PN}"
RDEPENDS:${PN}-python = "libparallax python3-numpy"

# A service without a configuration does not start, so the units may be enabled.
SYSTEMD_PACKAGES = "${PN} ${PN}-web ${@bb.utils.contains('PACKAGECONFIG', 'ros', '${PN}-ros', '', d)}"
SYSTEMD_SERVICE:${PN} = "parallaxd.service parallax-recorder.service"
SYSTEMD_SERVICE:${PN}-web = "parallax-web.service"
SYSTEMD_SERVICE:${PN}-ros = "parallax-ros.service"
