#!/usr/bin/env bash
# Runs a command with the system's tools that some tests need (strace, promtool), installing them where apt can.
set -euo pipefail
if ! { command -v strace && command -v promtool; } >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq && apt-get install -y -qq --no-install-recommends strace prometheus
fi
exec "$@"
