#!/usr/bin/env bash
# Prints the path of a Go that builds the tests of integrations/: the machine's, or what `make setup` installed. None: exit 1.
set -euo pipefail
cd "$(dirname "$0")/.."
for go in go "$PWD/integrations/terraform/.venv/bin/go"; do
    found=$(command -v "$go") || continue
    # go1.26.4: later than 1.26 in the order of versions.
    version=$(GOTOOLCHAIN=local "$found" env GOVERSION 2>/dev/null) || continue
    if [ "$(printf '%s\n' go1.26 "$version" | sort -V | head -1)" = go1.26 ]; then
        echo "$found"
        exit 0
    fi
done
exit 1
