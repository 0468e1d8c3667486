#!/usr/bin/env bash
# Prints where tests keep what they write: in memory, if there is room for it, else where the system keeps temporary files.
# Hundreds of databases that are flushed at the same moment would make a slow disk the measure of every deadline; what a
# killed process had written is still there, so the tests of durability lose nothing.
set -euo pipefail
memory=/dev/shm
if [ -w "$memory" ] && [ "$(df --output=fstype "$memory" 2>/dev/null | tail -1)" = tmpfs ] &&
    [ "$(df --output=avail -k "$memory" | tail -1)" -ge $((6 * 1024 * 1024)) ]; then
    echo "$memory"
else
    echo "${TMPDIR:-/tmp}"
fi
