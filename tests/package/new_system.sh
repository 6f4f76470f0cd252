# Sourced by tests that install and use something in a new minimal system, which debootstrap makes in $system with apt's
# mirror. Needs the folder $work, root, and the programs apt-get, debootstrap and unshare.
# shellcheck shell=bash

system=$work/system

# The lines of apt's sources for this release: of the release, its updates and their security fixes.
apt_sources() {  # RELEASE
    # shellcheck disable=SC2016  # apt-get expands it
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v release="$1" '$3 == release || index($3, release "-") == 1' | grep -E ' (main|universe)$'
}

# Uses this machine's network settings.
new_system() {  # [PACKAGES, separated by commas]
    local release mirror components
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    apt_sources "$release" | sort -u >"$work/sources.list"
    mirror=$(awk -v release="$release" '$3 == release { print $2; exit }' "$work/sources.list")
    components=$(awk -v release="$release" '$3 == release { print $4 }' "$work/sources.list" | sort -u | paste -sd,)
    [[ $mirror ]] || { echo "apt has no source of $release"; return 1; }
    apt-config dump Acquire::http::Proxy Acquire::https::Proxy >"$work/proxy.conf"
    PATH=$PATH:/usr/sbin debootstrap --variant=minbase ${1:+"--include=$1"} "--components=$components" "$release" "$system" "$mirror" || return
    cp "$work/sources.list" "$system/etc/apt/sources.list"
    cp "$work/proxy.conf" "$system/etc/apt/apt.conf.d/proxy"
    cp -L /etc/resolv.conf /etc/hosts "$system/etc"
    [[ ! -e /etc/pip.conf ]] || cp -L /etc/pip.conf "$system/etc"
    [[ ! -d $system/etc/ssl/certs ]] || cp -L /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs"
    inside apt-get -q update
}

# Runs a command in the new system, as root in the folder /. Its processes and mounts end with it.
inside() {  # COMMAND...
    # shellcheck disable=SC2016  # the inner shell expands it
    unshare --mount --pid --fork bash -c 'mount --bind "$0" "$0" && cd "$0" && mount -t proc proc proc &&
        mount --rbind /sys sys && mount --rbind /dev dev && mkdir -p old && pivot_root . old && umount -l old && rmdir old && exec "$@"' \
        "$system" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@"
}
