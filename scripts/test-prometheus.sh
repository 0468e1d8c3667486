#!/usr/bin/env bash
# The alert rules, as Prometheus reads them: their syntax, and what some of them say of made-up series.
set -euo pipefail
cd "$(dirname "$0")/.."
promtool=$(command -v promtool || echo "$PWD/tests/clients/.debian-prometheus/usr/bin/promtool")
if [ ! -x "$promtool" ]; then
    echo "promtool is missing: scripts/setup-tests.sh unpacks it" >&2
    exit 2
fi
cd integrations/prometheus
"$promtool" check rules signet-alerts.yaml
"$promtool" test rules signet-alerts-test.yaml
