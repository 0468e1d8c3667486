#!/usr/bin/env bash
# Installs what the tests need and this machine lacks: Debian packages, and the test clients at pinned versions
# (tests/clients/package-lock.json, tests/clients/requirements.txt) inside the project's own folders.
set -euo pipefail
cd "$(dirname "$0")/.."

need=()
have() { command -v "$1" >/dev/null 2>&1; }
installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

have chromium || need+=(chromium)
have certutil || need+=(libnss3-tools)
have apache2 || [ -x /usr/sbin/apache2 ] || need+=(apache2-bin)
installed libapache2-mod-auth-openidc || need+=(libapache2-mod-auth-openidc)
have nginx || [ -x /usr/sbin/nginx ] || need+=(nginx-light)
have caddy || need+=(caddy)
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need+=(postgresql)
have node || need+=(nodejs)
have npm || need+=(npm)
have curl || need+=(curl)
have openssl || need+=(openssl)
if ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then need+=(python3 python3-venv); fi

if [ ${#need[@]} -gt 0 ]; then
    echo "Installing Debian packages: ${need[*]}"
    sudo=()
    if [ "$(id -u)" -ne 0 ]; then sudo=(sudo); fi
    log=$(mktemp)
    if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${need[@]}"; } >"$log" 2>&1; then
        cat "$log" >&2
        echo "These Debian packages could not be installed: ${need[*]}" >&2
        exit 2
    fi
    rm -f "$log"
fi

cd tests/clients
# A stamp per lock file: a second run installs nothing.
stamp() { sha256sum "$1" | cut -d' ' -f1; }
if [ "$(cat node_modules/.stamp 2>/dev/null)" != "$(stamp package-lock.json)" ]; then
    echo "Installing the npm test clients"
    npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
    stamp package-lock.json > node_modules/.stamp
fi
install_python() {
    if [ "$(cat .venv/.stamp 2>/dev/null)" != "$(stamp requirements.txt)" ]; then
        echo "Installing $1"
        rm -rf .venv
        python3 -m venv .venv
        .venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
        stamp requirements.txt > .venv/.stamp
    fi
}
install_python "the Python test clients"
cd ../gate
install_python "the proxies of docs/gate.md that Debian does not have"
cd ../apps
install_python "the applications of docs/apps that a registry has"
if ! ../../scripts/find-go.sh >/dev/null; then
    cd ../../integrations/terraform
    install_python "Go, for the tests of integrations"
    cd - >/dev/null
fi
go=$(../../scripts/find-go.sh)
for modules in ../../integrations/terraform ../kubernetes; do (cd "$modules" && "$go" mod download); done

# Debian's servers that tests talk to are unpacked and not installed: nothing listens afterwards, and they run as whoever runs the test.
cd ../clients
# unpack FOLDER PROGRAM PACKAGE...: the packages, where the program is not there yet.
unpack() {
    local folder=$1 program=$2
    shift 2
    if [ -x "$folder/$program" ]; then return; fi
    echo "Unpacking Debian's $(basename "$program")"
    local packages
    packages=$(mktemp -d)
    (
        cd "$packages"
        # The list of packages may be missing, or older than what the mirror still has.
        apt-get download -q "$@" >log 2>&1 || {
            sudo=()
            if [ "$(id -u)" -ne 0 ]; then sudo=(sudo); fi
            "${sudo[@]}" apt-get update >>log 2>&1 && apt-get download -q "$@" >>log 2>&1
        } || { cat log >&2; exit 2; }
    )
    rm -rf "$folder"
    for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$folder"; done
    chmod u-s "$folder/$program"
    rm -rf "$packages"
}
# exim4 receives mails.
unpack .debian usr/sbin/exim4 exim4-daemon-light libdb5.3 libevent-2.1-7 libgnutls-dane0 libidn12 libnsl2 libnss-wrapper libunbound8
# OpenLDAP is a directory that people come from.
unpack .debian-ldap usr/sbin/slapd slapd libldap-2.5-0 libltdl7 libodbc2 libsasl2-2 libsasl2-modules-db libwrap0 libargon2-1 libnsl2
# promtool checks the alert rules. The server beside it is not needed.
unpack .debian-prometheus usr/bin/promtool prometheus
rm -f .debian-prometheus/usr/bin/prometheus
