#!/usr/bin/env bash
# Makes dist/: the static binary, .deb, .rpm, the OCI image's layout, the Helm chart, the compose file, the list of components, checksums and their signature.
# Usage: scripts/dist.sh [--binary FILE] [--out DIR]     without --binary the static binary is built first
#
# The same binary is packed into the same bytes: times are the commit's, paths of this machine are not in it. Only the signature differs, for it has its own time.
# The identity that signs: SIGNET_RELEASE_IDENTITY (a file of `signet agent create --alg ed25519+ml-dsa-65`, its passphrase in SIGNET_PASSPHRASE).
# Without it one is made for this machine, in target/dist, and the last line says so.
set -euo pipefail
cd "$(dirname "$0")/.."
binary= out=dist
while [ $# -gt 0 ]; do
    case "$1" in
        --binary) binary=$(realpath "$2"); shift 2 ;;
        --out) out=$2; shift 2 ;;
        *) echo "usage: scripts/dist.sh [--binary FILE] [--out DIR]" >&2; exit 2 ;;
    esac
done

need=()
for pair in dpkg-deb:dpkg rpmbuild:rpm umoci:umoci; do command -v "${pair%%:*}" >/dev/null || need+=("${pair##*:}"); done
if [ ${#need[@]} -gt 0 ]; then echo "Debian packages are missing: apt-get install --no-install-recommends ${need[*]}" >&2; exit 2; fi

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
work=target/dist
mkdir -p "$work"

# musl's C library is linked in whole where this toolchain has it, and glibc's otherwise. Both are static; the file's name says which.
installed=$(rustc --print sysroot)/lib/rustlib
machine=$(uname -m)
target=$machine-unknown-linux-musl
[ -d "$installed/$target/lib" ] && command -v musl-gcc >/dev/null || target=$machine-unknown-linux-gnu
if [ -z "$binary" ]; then
    echo "== The static binary, for $target"
    flags="-C target-feature=+crt-static --remap-path-prefix=$PWD=/signet --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    # RUSTFLAGS replaces what .cargo/config.toml says, so that is said again.
    [ "$machine" = x86_64 ] && flags+=' --cfg curve25519_dalek_backend="avx512"'
    commit=$(git rev-parse --short=12 HEAD 2>/dev/null || true)
    map="-ffile-prefix-map=$PWD=/signet -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    RUSTFLAGS=$flags CFLAGS=$map CXXFLAGS=$map SIGNET_COMMIT=$commit CARGO_INCREMENTAL=0 \
        cargo build --release --locked -p signet --target "$target" --target-dir "$work/build"
    binary=$work/build/$target/release/signet
fi
case "$machine" in x86_64) deb=amd64 oci=amd64 ;; aarch64) deb=arm64 oci=arm64 ;; *) echo "no packages are made for $machine" >&2; exit 2 ;; esac

rm -rf "$out" "$work/stage" "$work/deb" "$work/rpm" "$work/image" "$work/chart"
mkdir -p "$out"
stage=$work/stage

echo "== What every package has"
install -D -m 755 "$binary" "$stage/usr/bin/signet"
signet=$stage/usr/bin/signet
dynamic=$(objdump -p "$signet" 2>/dev/null | sed -n 's/^ *NEEDED *//p' | tr '\n' ' ')
kind=$target
[ -z "$dynamic" ] || kind=$machine-dynamic
cp "$signet" "$out/signet-$version-$kind"
for unit in signet signet-gate; do install -D -m 644 packaging/systemd/$unit.service "$stage/usr/lib/systemd/system/$unit.service"; done
install -D -m 644 packaging/systemd/sysusers.conf "$stage/usr/lib/sysusers.d/signet.conf"
install -D -m 644 packaging/systemd/tmpfiles.conf "$stage/usr/lib/tmpfiles.d/signet.conf"
mkdir -p "$stage"/usr/share/{bash-completion/completions,fish/vendor_completions.d,zsh/vendor-completions,man/man1,doc/signet}
"$signet" completions bash >"$stage/usr/share/bash-completion/completions/signet"
"$signet" completions fish >"$stage/usr/share/fish/vendor_completions.d/signet.fish"
"$signet" completions zsh >"$stage/usr/share/zsh/vendor-completions/_signet"
"$signet" man --out "$stage/usr/share/man/man1" >/dev/null
gzip -9n "$stage"/usr/share/man/man1/*.1
"$signet" config example >"$stage/usr/share/doc/signet/signet.example.toml"
cp LICENSE "$stage/usr/share/doc/signet/copyright"
cp THIRD-PARTY-NOTICES.md CHANGELOG.md "$stage/usr/share/doc/signet/"
gzip -9n "$stage"/usr/share/doc/signet/*.md
# Modes and times are the tree's, whatever the umask and the clock were.
settle() { find "$1" -type d -exec chmod 755 {} + ; find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} + ; }

echo "== .deb"
mkdir -p "$work/deb"
cp -a "$stage/." "$work/deb/"
mkdir "$work/deb/DEBIAN"
size=$(du -k --apparent-size -s "$stage" | cut -f1)
depends=
# A static binary needs no library. Another one is for trying the packages out, and names what it was linked with.
[ -z "$dynamic" ] || depends="libc6, libgcc-s1, "
sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$deb/" -e "s/@SIZE@/$size/" -e "s/@DEPENDS@/$depends/" packaging/deb/control.in >"$work/deb/DEBIAN/control"
install -m 755 packaging/deb/postinst packaging/deb/prerm packaging/deb/postrm "$work/deb/DEBIAN/"
settle "$work/deb"
dpkg-deb --root-owner-group -Zxz --build "$work/deb" "$out/signet_${version}_$deb.deb" >/dev/null

echo "== .rpm"
mkdir -p "$work/rpm/stage" "$work/rpm/top"
cp -a "$stage/." "$work/rpm/stage/"
mkdir -p "$work/rpm/stage/usr/share/zsh/site-functions"
mv "$work/rpm/stage/usr/share/zsh/vendor-completions/_signet" "$work/rpm/stage/usr/share/zsh/site-functions/"
rmdir "$work/rpm/stage/usr/share/zsh/vendor-completions"
settle "$work/rpm/stage"
rpmbuild -bb --quiet --target "$machine" --define "_topdir $PWD/$work/rpm/top" --define "stage $PWD/$work/rpm/stage" --define "version $version" \
    --define "license $(sed -n 's/^license = "\(.*\)"/\1/p' Cargo.toml | head -1)" --define '_buildhost signet' --define 'use_source_date_epoch_as_buildtime 1' \
    --define 'clamp_mtime_to_source_date_epoch 1' --define '_rpmdir %{_topdir}' --define '_build_name_fmt out.rpm' --define '_binary_payload w19.zstdio' \
    packaging/rpm/signet.spec >"$work/rpm/log" 2>&1 || { cat "$work/rpm/log" >&2; exit 1; }
mv "$work/rpm/top/out.rpm" "$out/signet-$version-1.$machine.rpm"

echo "== The image"
image=$work/image/root
mkdir -p "$image"/{usr/bin,etc/signet,etc/ssl/certs,var/lib/signet,tmp}
cp "$signet" "$image/usr/bin/"
cp /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/"
echo 'signet:x:65532:65532:Signet:/var/lib/signet:/sbin/nologin' >"$image/etc/passwd"
echo 'signet:x:65532:' >"$image/etc/group"
settle "$image"
chmod 1777 "$image/tmp"
chmod 700 "$image/var/lib/signet"
owned() { tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner --owner="$1" --group="$1" --format=gnu -C "$image" "${@:2}"; }
owned 0 --exclude=./var/lib/signet -cf "$work/image/layer.tar" .
owned 65532 -rf "$work/image/layer.tar" ./var/lib/signet
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umoci init --layout "$out/oci"
umoci new --image "$out/oci:$version"
umoci raw add-layer --no-history --image "$out/oci:$version" "$work/image/layer.tar"
umoci config --image "$out/oci:$version" --no-history --created "$created" --architecture "$oci" --os linux --author Signet --config.user 65532:65532 \
    --config.entrypoint /usr/bin/signet --config.workingdir /var/lib/signet --config.env PATH=/usr/bin --config.exposedports 8443/tcp --config.volume /var/lib/signet \
    --config.label "org.opencontainers.image.title=Signet" --config.label "org.opencontainers.image.version=$version" \
    --config.label "org.opencontainers.image.licenses=Apache-2.0"
umoci gc --layout "$out/oci"

echo "== The chart, and the compose file"
mkdir -p "$work/chart"
cp -a packaging/chart "$work/chart/signet"
sed -i -e "s/^version: .*/version: $version/" -e "s/^appVersion: .*/appVersion: \"$version\"/" "$work/chart/signet/Chart.yaml"
"$signet" config schema | python3 scripts/dist/values-schema.py packaging/chart/values.schema.in.json >"$work/chart/signet/values.schema.json"
cp LICENSE "$work/chart/signet/"
settle "$work/chart/signet"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner --owner=0 --group=0 --format=gnu -C "$work/chart" -cf - signet | gzip -9n >"$out/signet-chart-$version.tgz"
mkdir "$out/compose"
cp packaging/compose/compose.yaml "$out/compose/"
"$signet" config example >"$out/compose/signet.example.toml"

echo "== The list of components"
tools=$work/tools
wanted=$(sha256sum scripts/dist/requirements.txt | cut -d' ' -f1)
if [ "$(cat "$tools/.stamp" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check -r scripts/dist/requirements.txt
    echo "$wanted" >"$tools/.stamp"
fi
digest=$(sha256sum "$signet" | cut -d' ' -f1)
cargo metadata --format-version 1 --locked --filter-platform "$target" | "$tools/bin/python" scripts/dist/sbom.py "$target" "$digest" >"$out/signet-$version.cdx.json"

echo "== Checksums, and their signature"
(cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS)
identity=${SIGNET_RELEASE_IDENTITY:-}
made=
if [ -z "$identity" ]; then
    identity=$work/release.aid made=yes
    if [ ! -e "$identity" ]; then
        (umask 077 && head -c 32 /dev/urandom | base64 -w0 >"$work/release.passphrase")
        SIGNET_PASSPHRASE=$(cat "$work/release.passphrase") "$signet" agent create --name "Signet, built here" --alg ed25519+ml-dsa-65 --out "$identity" >/dev/null
    fi
    SIGNET_PASSPHRASE=$(cat "$work/release.passphrase")
    export SIGNET_PASSPHRASE
fi
"$signet" agent receipt sign --identity "$identity" --action release --content "$out/SHA256SUMS" --outcome success --out "$out/SHA256SUMS.receipt.json" >/dev/null
"$signet" agent show --document "$identity" >"$out/release-identity.json"
"$signet" agent receipt verify --identity "$out/release-identity.json" --content "$out/SHA256SUMS" "$out/SHA256SUMS.receipt.json"
[ -z "$made" ] || echo "Signed by an identity of this machine ($identity): SIGNET_RELEASE_IDENTITY names the one that your users know."
