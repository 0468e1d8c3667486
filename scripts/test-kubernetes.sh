#!/usr/bin/env bash
# Checks integrations/kubernetes by Kubernetes' own code, and applies from a real API server for custom resources.
# Usage: scripts/test-kubernetes.sh SIGNET_BINARY
set -euo pipefail
cd "$(dirname "$0")/.."
SIGNET_BIN=$(realpath "${1:?usage: scripts/test-kubernetes.sh SIGNET_BINARY}")
export SIGNET_BIN
go=$(scripts/find-go.sh) || { echo "there is no Go 1.26 or later: make setup" >&2; exit 2; }
cd tests/kubernetes
exec "$go" test -count=1 .
