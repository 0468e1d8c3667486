#!/usr/bin/env python3
"""Comments of Rust files at 100 columns.

    scripts/comment-width.py [FILE...]          lists comment lines that are longer; exit 1 if there are any
    scripts/comment-width.py --fix [FILE...]    wraps the paragraphs that have such lines

Only whole-line comments (//, ///, //!) are looked at. Code blocks, tables, headings, link definitions and lines of which one word is too long stay as
they are. After wrapping, the words of all comments and every other line must be what they were, or the file is left alone."""

import re
import subprocess
import sys
import textwrap

WIDTH = 100
COMMENT = re.compile(r"^(\s*)(///|//!|//)( ?)(.*)$")
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)]) +")


def is_fixed(text):
    """Whether a comment's text is no running text."""
    return not text.strip() or text.lstrip().startswith(("|", "#", "```", "[", "    ")) and not text.lstrip().startswith("[`")


def paragraphs(lines):
    """Runs of lines: (head, [text, ...]) for a paragraph of a comment, (None, [line]) for anything else."""
    runs, fenced, last = [], False, None
    for line in lines:
        match = COMMENT.match(line)
        head = match and match.group(1) + match.group(2)
        text = match.group(4) if match else ""
        if head != last:
            fenced = False
        if match and text.lstrip().startswith("```"):
            fenced = not fenced
            runs.append((None, [line]))
        elif not match or fenced or is_fixed(text) or not match.group(3) or text.startswith("    "):
            runs.append((None, [line]))
        elif ITEM.match(text) or not runs or runs[-1][0] != head:
            runs.append((head, [text]))
        else:
            runs[-1][1].append(text)
        last = head
    return runs


def wrapped(head, texts):
    width = WIDTH - len(head) - 1
    if all(len(text) <= width for text in texts):
        return [f"{head} {text}" for text in texts]
    item = ITEM.match(texts[0])
    indent = " " * len(item.group(0)) if item else " " * (len(texts[0]) - len(texts[0].lstrip()))
    first = "" if item else indent
    text = " ".join(text.strip() if at or not item else text.rstrip() for at, text in enumerate(texts))
    lines = textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    # A line that began a list, a heading or a quotation by accident would say something else.
    if any(re.match(r"\s*([-*+>#|]|\d+[.)]) ", line) for line in lines[1:]):
        return [f"{head} {text}" for text in texts]
    return [f"{head} {line}" for line in lines]


def words(lines):
    """What must stay: the lines that are no comments, and the words of those that are."""
    code, said = [], []
    for line in lines:
        match = COMMENT.match(line)
        if match:
            said += match.group(4).split()
        else:
            code.append(line)
    return code, said


def main():
    arguments = sys.argv[1:]
    fix = "--fix" in arguments
    files = [argument for argument in arguments if argument != "--fix"]
    if not files:
        listed = subprocess.run(["git", "ls-files", "*.rs"], capture_output=True, text=True, check=True)
        files = listed.stdout.split()
    long = 0
    for file in files:
        with open(file, encoding="utf-8") as handle:
            lines = handle.read().split("\n")
        if fix:
            made = []
            for head, texts in paragraphs(lines):
                made += texts if head is None else wrapped(head, texts)
            if made != lines and words(made) == words(lines):
                lines = made
                with open(file, "w", encoding="utf-8") as handle:
                    handle.write("\n".join(lines))
        number = 0
        for head, texts in paragraphs(lines):
            for text in texts:
                number += 1
                # What cannot be wrapped (a code block, a table, one word) is no fault.
                width = head is not None and len(head) + 1 + len(text)
                if width > WIDTH and len(text.split()) > 1:
                    long += 1
                    if not fix:
                        print(f"{file}:{number}: {width} columns")
    if long:
        print(f"{long} comment lines are longer than {WIDTH} columns", file=sys.stderr)
    return 1 if long else 0


if __name__ == "__main__":
    sys.exit(main())
