#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clocks.sh SOURCE: the wall clock, which people and NTP set, plays no role. Only drivers/v4l2 may read it, to convert the times of
# cameras that count by it, what names files by their date (report, black box), app/corrections/store.c, which dates corrections, client/realtime.c, for ROS, and
# app/web/viewer.c and foxglove.c, for the page's clock and the stamps of diagnostics; waits name their clock.
set -eu
cd "$1"
sources=$(find * \( -path build -o -path tests -o -path toolchain -o -path oracle \) -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print)
wall='[^_]CLOCK_REALTIME|gettimeofday|[^a-z_](time|localtime|gmtime|mktime|clock) ?\(|pthread_mutex_timedlock|sem_timedwait|TIMER_ABSTIME.*REAL'
if echo "$sources" | grep -vE '^drivers/v4l2/|^client/realtime.c|^app/cli/live/report.c|^app/blackbox/|^app/flight_recorder/|^app/corrections/store.c|^app/doctor/configuration.c|^app/web/(viewer|foxglove).c' | xargs grep -nE "$wall"; then
    echo "these lines read the wall clock: use plx_now_ns() of core/base/clock.h" >&2
    exit 1
fi
for file in $(echo "$sources" | xargs grep -l pthread_cond_timedwait); do
    grep -q 'pthread_condattr_setclock(.*CLOCK_MONOTONIC' "$file" || { echo "$file waits by the wall clock" >&2; exit 1; }
done
[ "$(echo "$sources" | wc -l)" -gt 100 ] # it looked at something
