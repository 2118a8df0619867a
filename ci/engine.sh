#!/usr/bin/env bash
# Makes a container engine available for the cells, and takes it away again.
#
#   ci/engine.sh start   nothing where an engine answers; else install and start one
#   ci/engine.sh stop    end what start started, nothing else
#   ci/engine.sh status  print the engine that answers; exit 1 when none does
#
# Where none answers: apt installs docker.io without its recommendations, and
# dockerd runs with what a bare machine has: no systemd, no bridge (cells have
# NetworkMode none), no packet filter, storage by what works. It never starts a
# daemon beside another one: --bridge=none deletes the docker0 of the first.
set -euo pipefail

state=/run/bridgecheck-engine   # what start notes for stop
ready_timeout=60s               # for dockerd to answer; under 1 s on a good day
stop_timeout=30                 # seconds for dockerd to end on SIGTERM
# What dockerd makes beside its data, removed unless it was there before.
beside=(/run/docker /run/docker.sock /run/containerd /etc/docker /opt/containerd)

say() { echo "engine: $*"; }
die() { echo "engine: $*" >&2; exit 1; }

cd "$(dirname "$0")/.."

# enginecheck asks the sockets; it is Go, since a bare machine has no curl.
enginecheck() {
  command -v go >/dev/null || die "go is not in PATH; install Go 1.26 and put its bin folder into PATH"
  CGO_ENABLED=0 go run ./containers/cmd/enginecheck "$@"
}

# start_time prints field 22 of /proc/PID/stat: with the pid, it names a process
# for as long as the machine runs. Empty when the process is gone or a zombie.
start_time() {
  local line
  line=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  set -- ${line##*) }
  [ "$1" = Z ] || echo "${20}"
}

running_daemon() {
  local process
  for process in /proc/[0-9]*; do
    if [ "$(cat "$process/comm" 2>/dev/null)" = dockerd ] && [ -n "$(start_time "${process##*/}")" ]; then
      echo "${process##*/}"
      return
    fi
  done
}

install_dockerd() {
  command -v dockerd >/dev/null && return
  command -v apt-get >/dev/null || die "dockerd is missing and apt-get too; install Docker or podman by hand"
  # The package would start the service: keep that to us, or stop could not end it.
  local policy=/usr/sbin/policy-rc.d made=
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    made=$policy
  fi
  local rc=0
  apt_install || { apt-get -q update && apt_install; } || rc=$?
  [ -z "$made" ] || rm -f "$made"
  [ "$rc" = 0 ] || die "apt-get could not install docker.io (exit $rc); its output is above"
  say "installed docker.io: $(dockerd --version)"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    install --no-install-recommends docker.io
}

# try_daemon starts dockerd with one storage driver (none: its own choice) and
# waits until it answers or ends.
try_daemon() {
  local driver=$1 root=$2 log=$state/dockerd.log
  local args=(--data-root "$root" --exec-root "$state/exec" --pidfile "$state/dockerd.pid"
    --bridge=none --iptables=false --ip6tables=false)
  [ -z "$driver" ] || args+=(--storage-driver "$driver")
  local made=() path
  for path in "${beside[@]}"; do [ -e "$path" ] || made+=("$path"); done
  setsid dockerd "${args[@]}" >"$log" 2>&1 </dev/null &
  local pid=$!
  echo "$pid $(start_time "$pid") $root ${made[*]}" >"$state/started"
  local answer
  if answer=$(enginecheck -wait "$ready_timeout" -pid "$pid"); then
    say "started $answer, pid $pid, storage ${driver:-by its own choice}, data in $root"
    return
  fi
  say "dockerd ${args[*]} did not come up; the end of its log:"
  tail -n 5 "$log"
  stop_daemon
  return 1
}

start() {
  local answer
  if answer=$(enginecheck 2>/dev/null); then
    say "$answer answers: nothing to do"
    return
  fi
  if [ "$(id -u)" != 0 ]; then
    enginecheck || die "run '$0 start' as root, or start Docker or podman yourself"
  fi
  [ -z "${DOCKER_HOST:-}" ] || die "DOCKER_HOST is $DOCKER_HOST, and nothing answers there; start that engine, or unset it"
  [ ! -e "$state/started" ] || stop_daemon # one that was killed
  mkdir -p "$state"
  install_dockerd
  local other
  other=$(running_daemon)
  [ -z "$other" ] || die "dockerd runs already (pid $other) but does not answer; end or mend it first"
  local driver
  for driver in "" vfs; do
    try_daemon "$driver" "$(mktemp -d /var/tmp/bridgecheck-engine.XXXXXX)" && return
  done
  die "dockerd does not come up; $state/dockerd.log has the reason"
}

stop_daemon() {
  local pid began root made
  read -r pid began root made <"$state/started"
  if [ -n "$began" ] && [ "$(start_time "$pid")" = "$began" ]; then
    kill -TERM "$pid"
    local tries=$((stop_timeout * 10))
    while [ "$(start_time "$pid")" = "$began" ]; do
      [ $((tries--)) -gt 0 ] || die "dockerd (pid $pid) did not end within $stop_timeout s of SIGTERM; look at $state/dockerd.log"
      sleep 0.1
    done
    say "stopped dockerd, pid $pid"
  fi
  remove_data "$root"
  [ -z "$made" ] || rm -rf --one-file-system $made
  # Its control groups; those in use cannot be removed.
  rmdir /sys/fs/cgroup/docker /sys/fs/cgroup/*/docker 2>/dev/null || true
  rm -f "$state/started"
}

# remove_data removes the daemon's data. It binds the folder to itself where the
# root file system is not shared, and leaves that mount.
remove_data() {
  local point
  while read -r _ point _; do
    case $point in "$1" | "$1"/* | "$state"/*) umount -l "$point" ;; esac
  done </proc/mounts
  rm -rf --one-file-system "$1"
}

stop() {
  if [ ! -e "$state/started" ]; then
    say "nothing was started here: nothing to stop"
  else
    stop_daemon
  fi
  rm -rf "$state"
}

case "${1:-}" in
  start) start ;;
  stop) stop ;;
  status) enginecheck ;;
  *) die "usage: $0 start|stop|status" ;;
esac
