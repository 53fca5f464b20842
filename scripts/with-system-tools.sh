#!/usr/bin/env bash
# Runs a command with the tools that some tests need (strace, nmap, promtool, openssl, ssh-agent, Go with
# golang.org/x/mod), installing them with apt if possible; Go takes 10 s and 450 MB. If tools are not available, the
# tests that need them are skipped with a message. With CI=true the test of Go's sumdb fails instead.
set -euo pipefail
have() { command -v strace && command -v nmap && command -v promtool && command -v openssl && command -v ssh-agent && command -v go && [ -d /usr/share/gocode/src/golang.org/x/mod ]; }
if ! have >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  packages=(strace nmap prometheus openssl openssh-client golang-go golang-golang-x-mod-dev)
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; } >&2 ||
    echo 'strace, nmap, promtool, openssl, ssh-agent and Go cannot be installed here: the tests that need them are skipped' >&2
fi
exec "$@"
