#!/usr/bin/env bash
# Runs a command with the system's tools that some tests need (strace, promtool), installing them where apt can.
# Where they cannot be had, those tests are skipped and say so.
set -euo pipefail
if ! { command -v strace && command -v promtool; } >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends strace prometheus; } >&2 ||
    echo 'strace and promtool cannot be installed here: the tests that need them are skipped' >&2
fi
exec "$@"
