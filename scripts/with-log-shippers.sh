#!/usr/bin/env bash
# Runs a command with syslog-ng and rsyslog, which tests use as shippers and a benchmark as receivers, in a separate
# folder, LOG_SHIPPERS: 16 MB of packages that are unpacked and not installed, because installing one package removes the
# other. If they are not available, the tests that use them are skipped with a message.
set -euo pipefail
export LOG_SHIPPERS=${LOG_SHIPPERS:-${TMPDIR:-/tmp}/candor-shippers-$(id -u)}
packages=(syslog-ng-core syslog-ng-mod-http libivykis0 libnet1 libpcre3 libwrap0 rsyslog rsyslog-elasticsearch libestr0 libfastjson4 liblognorm5)
fetch() {
  mkdir -p -m 700 "$LOG_SHIPPERS/packages" && cd "$LOG_SHIPPERS/packages" && apt-get update -qq && apt-get download -qq "${packages[@]}" &&
    for package in *.deb; do dpkg -x "$package" "$LOG_SHIPPERS"; done
}
if ! [ -x "$LOG_SHIPPERS/usr/sbin/rsyslogd" ] && ! (command -v apt-get >/dev/null && fetch) >&2; then
  echo 'syslog-ng and rsyslog cannot be had here: the tests that need them are skipped' >&2
  unset LOG_SHIPPERS
fi
exec "$@"
