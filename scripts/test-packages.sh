#!/usr/bin/env bash
# Tries what scripts/dist.sh makes: the same bytes twice, the signature, the image, the chart, the compose file; the .deb in a Debian that is booted for it
# (systemd-nspawn): installed, started under its unit's restrictions, upgraded, removed, purged. Root's rights are needed.
# Usage: scripts/test-packages.sh [SIGNET_BINARY]     without one, the static binary of `make dist`
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "a Debian is booted for this: run it as root" >&2; exit 2; }
binary=$(realpath "${1:-$(ls target/dist/build/*/release/signet)}")
need=()
for pair in systemd-nspawn:systemd-container mmdebstrap:mmdebstrap skopeo:skopeo rpmbuild:rpm umoci:umoci; do
    command -v "${pair%%:*}" >/dev/null || need+=("${pair##*:}")
done
if [ ${#need[@]} -gt 0 ]; then
    echo "Installing Debian packages: ${need[*]}"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${need[@]}"; } >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A commit meanwhile must not be another time.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
same() { diff -r --exclude='SHA256SUMS.receipt.json' "$1" "$2"; }

echo "== Twice, and the same bytes"
scripts/dist.sh --binary "$binary" --out "$work/dist" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
touch packaging/systemd/signet.service
(umask 077; scripts/dist.sh --binary "$binary" --out "$work/again" >"$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }
same "$work/dist" "$work/again"
signet=$(ls "$work"/dist/signet-*-x86_64-*)

echo "== The signature, and what a changed byte does to it"
verify() { "$signet" agent receipt verify --identity "$1/release-identity.json" --content "$1/SHA256SUMS" "$1/SHA256SUMS.receipt.json"; }
verify "$work/dist"
(cd "$work/dist" && sha256sum --quiet --check SHA256SUMS)
sed -i '1s/^./x/' "$work/again/SHA256SUMS"
if verify "$work/again" >/dev/null 2>&1; then echo "a changed list of checksums verified" >&2; exit 1; fi

echo "== The image"
skopeo inspect --config "oci:$work/dist/oci" | python3 -c '
import json, sys
image = json.load(sys.stdin)
assert image["config"]["User"] == "65532:65532", image
assert image["config"]["Entrypoint"] == ["/usr/bin/signet"], image
print("user", image["config"]["User"], "made", image["created"])'
umoci unpack --image "$work/dist/oci:$(ls "$work"/dist/signet-*.cdx.json | sed 's/.*signet-\(.*\)\.cdx\.json/\1/')" "$work/unpacked" >/dev/null 2>&1
# A static binary needs nothing but the image; another one is not run in it.
if ! objdump -p "$signet" | grep -q NEEDED; then chroot --userspec=65532:65532 "$work/unpacked/rootfs" /usr/bin/signet version; fi

echo "== The .rpm"
rpm --root "$work/rpmroot" --initdb
rpm --root "$work/rpmroot" --nodeps --noscripts -i "$work"/dist/*.rpm
rpm --root "$work/rpmroot" -V --nodeps --nouser --nogroup signet
cmp "$signet" "$work/rpmroot/usr/bin/signet"

echo "== The chart and the compose file, by Helm's and Compose's own code"
if go=$(scripts/find-go.sh); then (cd tests/packages && SIGNET_DIST="$work/dist" "$go" test -count=1 .); else echo "there is no Go 1.26 or later: make setup" >&2; exit 2; fi

echo "== The .deb, in a Debian of its own"
root=$work/debian
mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,ca-certificates bookworm "$root"
mkdir "$root/packages"
echo '127.0.0.1 localhost' >"$root/etc/hosts"
cp "$work"/dist/*.deb "$root/packages/after.deb"
# The version before: today's files under an earlier number, for there was no package before.
dpkg-deb -R "$root/packages/after.deb" "$work/before"
sed -i 's/^Version: \(.*\)/Version: \1~before/' "$work/before/DEBIAN/control"
dpkg-deb --root-owner-group -Zgzip -z1 --build "$work/before" "$root/packages/before.deb" >/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE \
    -keyout "$root/packages/key.pem" -out "$root/packages/cert.pem" 2>/dev/null
cp tests/packages/inside.sh "$root/packages/"
cat >"$root/etc/systemd/system/try.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
StandardOutput=file:/packages/log
StandardError=file:/packages/log
ExecStart=/bin/bash /packages/inside.sh
ExecStopPost=/bin/systemctl poweroff --no-block
UNIT
ln -s /etc/systemd/system/try.service "$root/etc/systemd/system/multi-user.target.wants/try.service"
sed -i 's/^After=.*/DefaultDependencies=no\nAfter=basic.target/' "$root/etc/systemd/system/try.service"
# No network of its own but loopback; nothing of it stays.
timeout 300 systemd-nspawn --quiet --directory="$root" --boot --register=no --keep-unit --private-network >"$work/boot" 2>&1 || true
cat "$root/packages/log"
[ "$(cat "$root/packages/result" 2>/dev/null)" = done ] || { tail -30 "$work/boot" >&2; echo "the package did not do what it should" >&2; exit 1; }
