#!/usr/bin/env python3
"""Refuses the phrases of docs/glossary.md's last table in comments, texts and documents.

Names of the code are not looked at: a variable may be called what it likes. A phrase is whole words, in any case.
The table's third column says where a phrase is refused: everywhere, or in documents alone.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "glossary.md"
HEADING = "## Phrases that `make lint` refuses"
# Documents whose texts are written elsewhere: generated ones, the history, and the comments of constants.
COPIES = {"CHANGELOG.md", "docs/client-members.md", "docs/faults-report.md", "docs/limits.md", "docs/performance.md", "docs/settings.md"}


def phrases():
    """(pattern, what to say instead, whether in documents alone) of each row."""
    _, table = GLOSSARY.read_text(encoding="utf-8").split(HEADING)
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    found = []
    for cells in rows:
        words = "|".join(re.escape(one.strip()).replace(r"\ ", r"\s+") for one in cells[0].split(","))
        found.append((re.compile(rf"\b(?:{words})\b", re.IGNORECASE), cells[1].strip(), cells[2].strip() == "documents"))
    return found


def prose(lines):
    """A document's lines without code: blocks between fences, indented blocks, and what stands between backticks."""
    fenced = False
    for line in lines:
        fence = line.startswith("```")
        fenced ^= fence
        yield "" if fence or fenced or line.startswith("    ") else re.sub(r"`[^`]*`", "``", line)


def texts(path, line):
    """The parts of a line that people read."""
    if path.suffix != ".rs":
        return [line]
    before, comment = line, ""
    at = line.find("//")
    while at >= 0:
        if line[:at].count('"') % 2 == 0:
            before, comment = line[:at], line[at:]
            break
        at = line.find("//", at + 2)
    strings = re.findall(r'"(?:\\.|[^"\\])*"?', before)
    # A line within a string of several lines has words and no code.
    if not strings and re.fullmatch(r"\s*[A-Za-z][\w ,.:;'-]*[ \\]*", before) and " " in before.strip():
        strings = [] if before.rstrip().endswith((";", ",", "=")) else [before]
    return strings + [comment]


def main():
    known = phrases()
    assert known, "the table is empty"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    faults = 0
    for name in listed.stdout.splitlines():
        path = ROOT / name
        is_text = path.suffix in (".rs", ".md") or (path.suffix == ".ftl" and "/en/" in name) or name.endswith(".example.toml")
        if not is_text or path == GLOSSARY or not path.is_file():
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        is_document = path.suffix == ".md" and name not in COPIES
        plain = list(prose(lines)) if is_document else [""] * len(lines)
        for number, line in enumerate(lines, 1):
            everywhere = texts(path, line)
            for pattern, instead, documents_alone in known:
                parts = [plain[number - 1]] if documents_alone else everywhere
                for match in filter(None, map(pattern.search, parts)):
                    faults += 1
                    print(f"{name}:{number}: \"{match[0]}\": say {instead}")
    if faults:
        sys.exit(f"{faults} phrases that docs/glossary.md refuses")


if __name__ == "__main__":
    main()
