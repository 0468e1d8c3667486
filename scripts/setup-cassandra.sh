#!/usr/bin/env bash
# Downloads Apache Cassandra's server for the tests: its jars from Maven Central, each checked against tests/cassandra/jars.sha256.
set -euo pipefail
if ! command -v java >/dev/null 2>&1; then
    echo "These tests need Java 17: apt-get install openjdk-17-jre-headless" >&2
    exit 2
fi
cd "$(dirname "$0")/../tests/cassandra"
central=https://repo1.maven.org/maven2
stamp=$(sha256sum jars.sha256 | cut -d' ' -f1)
if [ "$(cat .jars/.stamp 2>/dev/null)" != "$stamp" ]; then
    echo "Downloading the jars of Apache Cassandra (64 MB)"
    rm -rf .jars .jars.new
    mkdir .jars.new
    while read -r sum path; do
        echo "url = \"$central/$path\""
        echo "output = \".jars.new/$(basename "$path")\""
    done < jars.sha256 | curl --no-progress-meter --fail --retry 3 --proto '=https' --parallel --parallel-max 8 --config -
    sed -E 's|  .*/|  |' jars.sha256 | (cd .jars.new && sha256sum --quiet --strict --check -)
    echo "$stamp" > .jars.new/.stamp
    mv .jars.new .jars
fi
