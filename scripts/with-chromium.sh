#!/usr/bin/env bash
# Runs a command with the browser that the console's tests need, in CHROMIUM. Where none is named it is the build without
# windows, to which a page costs half as much, installed where apt can (60 MB); else any that is there. Without one the
# command fails: what these tests show can't be seen otherwise.
set -euo pipefail
install() {
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$1"; } >&2
}
find_first() {
  for name in "$@"; do command -v "$name" && return; done
  return 1
}
if [ -z "${CHROMIUM:-}" ]; then
  shell=chromium-headless-shell
  CHROMIUM=$(find_first "$shell") || {
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
      export DEBIAN_FRONTEND=noninteractive
      install "$shell" || find_first chromium chromium-browser google-chrome >/dev/null || install chromium || true
    fi
    CHROMIUM=$(find_first "$shell" chromium chromium-browser google-chrome) || true
  }
fi
if [ -z "$CHROMIUM" ]; then
  echo 'Chromium is neither found nor can it be installed here: name one in CHROMIUM' >&2
  exit 1
fi
export CHROMIUM
exec "$@"
