#!/usr/bin/env bash
# The manual as a site of static pages with search, in target/docs: it opens from the folder, and any web server can serve it.
# A link or an anchor that leads nowhere is an error, and so is a page that the navigation (scripts/site/mkdocs.yml) leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=target/site-tools
wanted=$(sha256sum scripts/site/requirements.txt | cut -d' ' -f1)
if [ "$(cat "$tools/.stamp" 2>/dev/null)" != "$wanted" ]; then
    echo "Installing MkDocs"
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check -r scripts/site/requirements.txt
    echo "$wanted" >"$tools/.stamp"
fi
pages=target/site-pages
rm -rf "$pages"
mkdir -p "$pages"
# What pages link to is there as well: definitions, manifests, the format of compact tokens.
cp --parents -r README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE docs crates/compact/compact.proto \
    integrations/kubernetes/*.yaml packaging/systemd/*.service integrations/terraform/README.md "$pages"
# The theme is kept until May 2027; its successor (Zensical) reads the same configuration.
NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build --quiet --clean --config-file scripts/site/mkdocs.yml
echo "The manual is in target/docs: open target/docs/index.html"
