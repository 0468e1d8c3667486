#!/usr/bin/env python3
"""What is linked into the binary, as CycloneDX 1.6 JSON: `cargo metadata` says it, the library of CycloneDX writes and validates it.

Usage: sbom.py TARGET SHA256 < metadata.json > sbom.json; the time is SOURCE_DATE_EPOCH's, so the same source gives the same bytes."""
import json
import os
import sys
import uuid
from datetime import datetime, timezone

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL


def linked(metadata, root):
    """The packages that the root's program has in it: dependencies of building and of tests are not."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    edges, waiting = {}, [root]
    while waiting:
        package = waiting.pop()
        if package in edges:
            continue
        edges[package] = [d["pkg"] for d in nodes[package]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
        waiting.extend(edges[package])
    return edges


def main():
    target, digest = sys.argv[1:]
    metadata = json.load(sys.stdin)
    packages = {package["id"]: package for package in metadata["packages"]}
    root = next(p["id"] for p in metadata["packages"] if p["name"] == "signet")
    edges = linked(metadata, root)
    components = {}
    for identity in edges:
        package = packages[identity]
        own = package["source"] is None
        components[identity] = Component(
            type=ComponentType.APPLICATION if identity == root else ComponentType.LIBRARY,
            name=package["name"],
            version=package["version"],
            purl=None if own else PackageURL("cargo", None, package["name"], package["version"]),
            licenses=[LicenseExpression(package["license"].replace("/", " OR "))] if package["license"] else [],
            description=package["description"] and " ".join(package["description"].split()),
            bom_ref=f"{package['name']}@{package['version']}",
        )
    components[root].hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=digest))
    components[root].properties.add(Property(name="signet:target", value=target))
    bom = Bom(components=[c for i, c in components.items() if i != root], serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"urn:sha256:{digest}"))
    bom.metadata.component = components[root]
    bom.metadata.timestamp = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    # The library's own version would change the bytes, and is not of the product.
    bom.metadata.tools.components.clear()
    bom.metadata.tools.tools.clear()
    for identity, needed in edges.items():
        bom.register_dependency(components[identity], [components[one] for one in needed])
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong:
        sys.exit(f"the list of components is not CycloneDX: {wrong}")
    print(text)


main()
