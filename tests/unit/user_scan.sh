#!/bin/sh
# user_scan.sh NM OBJECT: the host kernels that user_scan.cpp instantiates are those of the variants that `auto`
# takes, and `serial`. They are most of the compile time of a user's operator.
export LC_ALL=C
nm=${1:?usage: user_scan.sh NM OBJECT} object=${2:?usage: user_scan.sh NM OBJECT}
expected='scan_partitioned scan_serial '
kernels=$("$nm" -C "$object" | sed -n 's/.*HostEntry<.*detail::host::\([a-z_]*\)<.*/\1/p' | sort -u | tr '\n' ' ')
[ "$kernels" = "$expected" ] && exit 0
echo "user_scan.cpp instantiates the host kernels $kernels; expected $expected" >&2
exit 1
