#!/usr/bin/env bash
# Runs a command with the browser that the console's tests need, in CHROMIUM, installing it where apt can (90 MB). Without
# one the command fails: what these tests show can't be seen otherwise.
set -euo pipefail
find_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome || true; }
CHROMIUM=${CHROMIUM:-$(find_chromium)}
if [ -z "$CHROMIUM" ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >&2
  CHROMIUM=$(find_chromium)
fi
if [ -z "$CHROMIUM" ]; then
  echo 'Chromium is neither found nor can it be installed here: name one in CHROMIUM' >&2
  exit 1
fi
export CHROMIUM
exec "$@"
