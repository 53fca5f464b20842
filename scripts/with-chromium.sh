#!/usr/bin/env bash
# Runs a command with the browser that the console's tests need, in CHROMIUM. By default it is the headless shell, whose
# pages cost half as much, installed with apt if possible (60 MB); else any installed browser. Without a browser the
# command fails, because nothing else covers these tests.
set -euo pipefail
apt_install() {
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$1"; } >&2
}
find_first() {
  local name
  for name in "$@"; do command -v "$name" && return; done
  return 1
}
shell=chromium-headless-shell
others=(chromium chromium-browser google-chrome)
if [ -z "${CHROMIUM:-}" ]; then
  CHROMIUM=$(find_first "$shell") || {
    export DEBIAN_FRONTEND=noninteractive
    if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
      :
    elif ! find_first "${others[@]}" >/dev/null; then
      apt_install "$shell" || apt_install chromium || true
    elif apt-cache show "$shell" >/dev/null 2>&1; then
      apt_install "$shell" || true
    fi
    CHROMIUM=$(find_first "$shell" "${others[@]}") || true
  }
fi
if [ -z "$CHROMIUM" ]; then
  echo 'no Chromium found, and it cannot be installed here; set CHROMIUM to the path of a browser' >&2
  exit 1
fi
export CHROMIUM
exec "$@"
