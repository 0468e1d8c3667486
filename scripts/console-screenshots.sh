#!/usr/bin/env bash
# Draws every view of the console (docs/console.md) from a development server that it fills, into docs/assets/console.
# Usage: scripts/console-screenshots.sh SIGNET_BINARY
set -euo pipefail
cd "$(dirname "$0")/.."
signet=$(realpath "${1:?usage: scripts/console-screenshots.sh SIGNET_BINARY}")
work=$(mktemp -d)
server=
cleanup() {
    status=$?
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    if [ "$status" -ne 0 ]; then tail -20 "$work/server.log" >&2 || true; fi
    rm -rf "$work"
    exit "$status"
}
trap cleanup EXIT
"$signet" serve --dev --listen 127.0.0.1:0 --data-dir "$work/data" >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 300); do
    [ -s "$work/data/dev.json" ] && break
    kill -0 "$server" 2>/dev/null || { echo "the server ended before it was ready" >&2; exit 2; }
    sleep 0.1
done
[ -s "$work/data/dev.json" ] || { echo "the server was not ready within 30 seconds" >&2; exit 2; }
ca="$work/data/ca.pem"
export SIGNET_BIN="$signet" SIGNET_DEV_JSON="$work/data/dev.json" SIGNET_DATA="$work/data" NODE_EXTRA_CA_CERTS="$ca"
export SHOTS="${SHOTS:-$PWD/docs/assets/console}" SCREENSHOTS="$work"
# The browser trusts the development CA as it would a real one: in a home directory of its own.
export BROWSER_HOME="$work/home"
mkdir -p "$BROWSER_HOME/.pki/nssdb"
certutil -d "sql:$BROWSER_HOME/.pki/nssdb" -N --empty-password
certutil -d "sql:$BROWSER_HOME/.pki/nssdb" -A -t "C,," -n "signet development" -i "$ca"
cd tests/clients
flags=()
if [ "$(node -p 'Number(process.versions.node.split(".")[0]) < 20')" = true ]; then flags=(--experimental-global-webcrypto); fi
node "${flags[@]}" console-shots.mjs
