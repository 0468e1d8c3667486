#!/usr/bin/env bash
# Three development nodes on this machine, as one installation: what `make cluster` runs. The state stays in .signet, .signet-2 and .signet-3; the next start goes on with it.
#   scripts/cluster.sh SIGNET [arguments of `signet serve --dev`]
set -euo pipefail
signet=$1
shift
ports=(8443 8444 8445)
directories=(.signet .signet-2 .signet-3)
started=()

stop() {
    trap - EXIT INT TERM
    # By their own ids, the last one first.
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do kill -TERM "${started[i]}" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
}
trap stop EXIT
trap 'stop; exit 0' INT TERM

# launch NUMBER [arguments]: starts a node.
launch() {
    local number=$1 directory=${directories[$1]} port=${ports[$1]}
    shift
    "$signet" serve --dev --listen "127.0.0.1:$port" --data-dir "$directory" "$@" >"$directory.log" 2>&1 &
    started[number]=$!
}

# await NUMBER: waits until a node answers.
await() {
    local number=$1 directory=${directories[$1]} port=${ports[$1]} pid=${started[$1]}
    local log=$directory.log
    for _ in $(seq 600); do
        if [ -f "$directory/dev.json" ] && curl --silent --fail --max-time 2 --cacert "$directory/ca.pem" "https://localhost:$port/health/ready" >/dev/null; then
            echo "node $((number + 1)) answers at https://localhost:$port (its log: $log)"
            return
        fi
        if ! kill -0 "$pid" 2>/dev/null; then
            echo "node $((number + 1)) ended; its log, $log, says why:" >&2
            tail -5 "$log" >&2
            exit 1
        fi
        sleep 0.1
    done
    echo "node $((number + 1)) does not answer after a minute; its log: $log" >&2
    exit 1
}

# Nodes that know each other are started together: one alone is no majority.
known() { [ -f "${directories[$1]}/cluster/node.json" ]; }
launch 0 "$@"
for number in 1 2; do if known "$number"; then launch "$number" "$@"; fi; done
await 0
for number in 1 2; do
    if ! known "$number"; then
        # The token is a secret for as long as it can be used: it goes by the environment, not by an argument.
        SIGNET_JOIN=$("$signet" node invite --data-dir "${directories[0]}")
        export SIGNET_JOIN
        launch "$number" "$@"
        unset SIGNET_JOIN
    fi
    await "$number"
done

cat <<TEXT

Three nodes are one server, whose issuer is https://localhost:${ports[0]}. Try:

  $signet node list --data-dir .signet                 # who they are, and how far each is
  $signet dev token --data-dir .signet-2               # a token of the second node, good at all
  $signet session list --data-dir .signet-3            # log in at https://localhost:${ports[1]}/account first: dev show has the password
  $signet revoke --user alice --data-dir .signet-2     # at once everywhere, with a receipt
  kill -9 ${started[0]}                                     # the first node; the others go on

Ctrl-C stops all three.
TEXT
wait
