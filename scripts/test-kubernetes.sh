#!/usr/bin/env bash
# Checks integrations/kubernetes by Kubernetes' own code, and applies from a real API server for custom resources.
# Usage: scripts/test-kubernetes.sh SIGNET_BINARY
set -euo pipefail
cd "$(dirname "$0")/.."
SIGNET_BIN=$(realpath "${1:?usage: scripts/test-kubernetes.sh SIGNET_BINARY}")
export SIGNET_BIN
if ! command -v go >/dev/null; then
    echo "Go 1.26 or later is needed to test the manifests of Kubernetes" >&2
    exit 2
fi
cd tests/kubernetes
go test -count=1 .
