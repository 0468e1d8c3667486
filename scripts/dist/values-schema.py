#!/usr/bin/env python3
"""The schema of the chart's values: `settings` has the schema of the configuration file (standard input), the rest is the given file's."""
import json
import sys


def main():
    settings = json.load(sys.stdin)
    schema = json.load(open(sys.argv[1], encoding="utf-8"))
    # Helm's validator reads draft 7: there definitions stand in `definitions`.
    definitions = settings.pop("$defs", {})
    for member in ("$schema", "title"):
        settings.pop(member, None)
    schema["definitions"] = definitions
    schema["properties"]["settings"] = settings
    print(json.dumps(schema, indent=2).replace("#/$defs/", "#/definitions/"))


main()
