#!/bin/bash
# Runs in the Debian that scripts/test-packages.sh boots: the package is installed, started, upgraded, removed and purged.
set -euo pipefail
exec 2>&1
fail() { echo "FAILED: $*"; journalctl --no-pager -n 40 -u signet || true; exit 1; }
trap 'fail "line $LINENO"' ERR
ask() { SIGNET_PASSWORD=a-password-of-the-test-7 signet "$@" --server https://localhost:8443 --ca-cert /etc/signet/tls/cert.pem; }
ready() { for _ in $(seq 100); do ask status >/dev/null 2>&1 && return; sleep 0.2; done; ask status || fail "it did not become ready"; }

dpkg -i /packages/before.deb
[ "$(systemctl is-enabled signet)" = enabled ]
# Without a configuration it waits, and that is no failure.
[ "$(systemctl is-active signet || true)" = inactive ]
[ "$(stat -c '%a %U:%G' /etc/signet)" = "750 root:signet" ]

install -d -m 750 -g signet /etc/signet/tls
install -m 640 -g signet /packages/cert.pem /packages/key.pem -t /etc/signet/tls
printf '%s\n' 'issuer = "https://localhost:8443"' 'data_dir = "/var/lib/signet"' '[[listeners]]' 'address = "127.0.0.1:8443"' 'protocol = "https"' \
    '[tls]' 'certificate = "tls/cert.pem"' 'key = "tls/key.pem"' >/etc/signet/signet.toml
chgrp signet /etc/signet/signet.toml
chmod 640 /etc/signet/signet.toml
signet config check /etc/signet/signet.toml
echo a-password-of-the-test-7 | signet user add root --admin --password-stdin --config /etc/signet/signet.toml
systemctl start signet
ready
[ "$(stat -c '%a %U' /var/lib/signet)" = "700 signet" ]
ask client add --client-id kept --grant-type client_credentials --login root --json >/packages/client
before=$(ask key list --login root --json)
systemd-analyze security --no-pager signet.service | tail -1
systemctl reload signet
ready

dpkg -i /packages/after.deb
ready
[ "$(systemctl is-active signet)" = active ]
[ "$(ask key list --login root --json)" = "$before" ] || fail "other keys after the upgrade"
ask client show kept --login root >/dev/null

dpkg -r signet
[ "$(systemctl is-active signet || true)" != active ]
[ -e /var/lib/signet/signet.db ] || ls /var/lib/signet
[ -d /var/lib/signet ] && [ -e /etc/signet/signet.toml ]
[ ! -e /usr/bin/signet ]
dpkg --purge signet
[ ! -e /var/lib/signet ] && [ ! -e /etc/signet ]
echo "installed, started, upgraded, removed, purged"
echo done >/packages/result
