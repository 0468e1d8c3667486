#!/usr/bin/env bash
# Starts a development server in a directory of its own and runs the client libraries and the browser against it.
# Usage: scripts/test-clients.sh SIGNET_BINARY
set -euo pipefail
cd "$(dirname "$0")/.."
signet=$(realpath "${1:?usage: scripts/test-clients.sh SIGNET_BINARY}")
work=$(mktemp -d)
chmod 755 "$work"
server=
cleanup() {
    status=$?
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    if [ "$status" -ne 0 ]; then echo "--- the end of the server's log" >&2; tail -40 "$work/server.log" >&2 || true; fi
    if [ -z "${KEEP:-}" ]; then rm -rf "$work"; else echo "kept: $work"; fi
    exit "$status"
}
trap cleanup EXIT

# The system chooses the port; dev.json says which it was.
"$signet" serve --dev --listen 127.0.0.1:0 --data-dir "$work/data" >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 300); do
    [ -s "$work/data/dev.json" ] && break
    kill -0 "$server" 2>/dev/null || { echo "the server ended before it was ready" >&2; exit 2; }
    sleep 0.1
done
[ -s "$work/data/dev.json" ] || { echo "the server was not ready within 30 seconds" >&2; exit 2; }

ca="$work/data/ca.pem"
export SIGNET_BIN="$signet" SIGNET_DEV_JSON="$work/data/dev.json" SIGNET_SERVER_LOG="$work/server.log"
export NODE_EXTRA_CA_CERTS="$ca" REQUESTS_CA_BUNDLE="$ca" SSL_CERT_FILE="$ca" CURL_CA_BUNDLE="$ca"
export SCREENSHOTS="${SCREENSHOTS:-$work/screenshots}"
mkdir -p "$SCREENSHOTS"

# The browser trusts the development CA as it would a real one: in a home directory of its own.
export BROWSER_HOME="$work/home"
mkdir -p "$BROWSER_HOME/.pki/nssdb"
certutil -d "sql:$BROWSER_HOME/.pki/nssdb" -N --empty-password
certutil -d "sql:$BROWSER_HOME/.pki/nssdb" -A -t "C,," -n "signet development" -i "$ca"

export APACHE_DIR="$work/apache"
mkdir -p "$APACHE_DIR"

cd tests/clients
echo "== Python: authlib, pyoidc, protobuf, the certification plans, applications"
.venv/bin/python -m pytest -q -p no:cacheprovider
echo "== Node: openid-client, a browser, Apache as the relying party, oidc-provider as the identity provider"
flags=()
if [ "$(node -p 'Number(process.versions.node.split(".")[0]) < 20')" = true ]; then flags=(--experimental-global-webcrypto); fi
node "${flags[@]}" --test --test-concurrency=1 ./*.test.mjs
