#!/usr/bin/env bash
# Runs the Terraform provider's tests against a server of their own.
# Usage: scripts/test-terraform.sh SIGNET_BINARY [GO TEST ARGUMENTS...]
set -euo pipefail
cd "$(dirname "$0")/.."
SIGNET_BIN=$(realpath "${1:?usage: scripts/test-terraform.sh SIGNET_BINARY}")
export SIGNET_BIN
shift
go=$(scripts/find-go.sh) || { echo "there is no Go 1.26 or later: make setup" >&2; exit 2; }
cd integrations/terraform
"$go" vet ./...
# What a server does is no part of Go's cache.
exec "$go" test -count=1 "$@" ./...
