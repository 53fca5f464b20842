#!/usr/bin/env bash
# Runs a command with the official clients of the shippers' protocols, and with generators of clients from the OpenAPI
# document, in a separate folder, CLIENT_LIBRARIES: 110 MB that only tests need. If they cannot be installed, the tests
# that use them are skipped.
set -euo pipefail
export CLIENT_LIBRARIES=${CLIENT_LIBRARIES:-${TMPDIR:-/tmp}/candor-clients-$(id -u)}
packages=(
  @elastic/elasticsearch@9.5.1
  @opentelemetry/api-logs@0.223.1
  @opentelemetry/exporter-logs-otlp-http@0.301.0
  @opentelemetry/exporter-logs-otlp-proto@0.301.0
  @opentelemetry/resources@3.1.1
  @opentelemetry/sdk-logs@3.1.1
  openapi-fetch@0.17.0
  openapi-typescript@7.13.0
  typescript@5.9.3
)
mkdir -p -m 700 "$CLIENT_LIBRARIES"
if ! npm install --prefix "$CLIENT_LIBRARIES" --no-audit --no-fund --silent "${packages[@]}" >&2; then
  echo 'the official clients cannot be installed here: the tests that need them are skipped' >&2
  unset CLIENT_LIBRARIES
fi
exec "$@"
