"""The description of a document, and the known content that follows from it.

A text in `texts/` has a line for each paragraph, item and row:

    title: ...            %p a paragraph      # a heading, ## a lower one
    language: en          %drop one that begins with a large initial
    - an item,   - a nested one (two spaces), 1. a numbered one
    || STYLE              begins a table (ruled, borderless, long) of the lines "| a | b |"; its first row is the header
    %c TITLE              begins a list of contents of the lines "| title | page |"
    %f LABEL | VALUE      a filled field, which is a row of label and value
    ```                   begins and ends a listing

Within a line: *emphasis*, **strong**, `code`, ^superscript^, [[footnote]].
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

TEXTS = Path(__file__).parent / "texts"
INLINE = re.compile(r"\[\[(?P<note>.+?)\]\]|\*\*(?P<strong>.+?)\*\*|\*(?P<em>.+?)\*|`(?P<code>.+?)`|\^(?P<sup>.+?)\^")


@dataclass
class Block:
    kind: str  # title, heading, paragraph, items, table, contents, field, code
    spans: list = field(default_factory=list)
    level: int = 0
    drop: bool = False
    style: str = ""
    rows: list = field(default_factory=list)  # of cells; of (depth, ordered, spans) for items; of lines for code


@dataclass
class Document:
    name: str
    title: str
    language: str
    blocks: list

    @property
    def rtl(self):
        return self.language in ("he", "ar")


def inline(text):
    """Returns the spans (style, text) of a line."""
    spans, end = [], 0
    for match in INLINE.finditer(text):
        if match.start() > end:
            spans.append(("", text[end:match.start()]))
        spans.append((match.lastgroup, match.group(match.lastgroup)))
        end = match.end()
    if end < len(text):
        spans.append(("", text[end:]))
    return spans


def read(name):
    lines = (TEXTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    head = dict(line.split(": ", 1) for line in lines[:2])
    blocks = [Block("title", [("", head["title"])])]
    code = None
    for line in lines[2:]:
        if line.startswith("```"):
            code = None if code else Block("code")
            if code:
                blocks.append(code)
        elif code:
            code.rows.append(line)
        elif line.strip():
            add(blocks, line)
    return Document(name, head["title"], head["language"], blocks)


def add(blocks, line):
    if heading := re.match(r"(#+) (.*)", line):
        blocks.append(Block("heading", inline(heading[2]), level=len(heading[1])))
    elif item := re.match(r"( *)(-|1\.) (.*)", line):
        if blocks[-1].kind != "items":
            blocks.append(Block("items"))
        blocks[-1].rows.append((len(item[1]) // 2, item[2] != "-", inline(item[3])))
    elif line.startswith("|| "):
        blocks.append(Block("table", style=line[3:].strip()))
    elif line.startswith("| "):
        blocks[-1].rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    elif line.startswith("%c "):
        blocks.append(Block("contents", [("", line[3:])]))
    elif line.startswith("%f "):
        label, value = line[3:].split(" | ")
        blocks.append(Block("field", rows=[label, value]))
    elif match := re.match(r"%(p|drop) (.*)", line):
        blocks.append(Block("paragraph", inline(match[2]), drop=match[1] == "drop"))
    else:
        raise ValueError(f"the line is of no kind: {line!r}")


def notes(document):
    """Returns the texts of the footnotes in order."""
    return [text for block in document.blocks for style, text in block.spans if style == "note"]


def plain(spans, counter):
    """Returns the text of spans, with the numbers of footnotes."""
    parts = []
    for style, text in spans:
        if style == "note":
            counter[0] += 1
            text = f" {counter[0]} "
        parts.append(text)
    return "".join(parts)


def truth(document, options):
    """Returns the known content: a list of [kind, text or cells]."""
    counter, content = [0], []
    for block in document.blocks:
        if block.kind in ("title", "heading"):
            content.append(["heading", plain(block.spans, counter)])
        elif block.kind == "paragraph":
            content.append(["paragraph", plain(block.spans, counter)])
        elif block.kind == "items":
            content.extend(["item", plain(spans, counter)] for _, _, spans in block.rows)
        elif block.kind == "table":
            content.extend(["row", row] for row in block.rows)
        elif block.kind == "contents":
            content.append(["heading", plain(block.spans, counter)])
            content.extend(["contents", " ".join(row)] for row in block.rows)
        elif block.kind == "field":
            content.append(["row", block.rows])
        elif block.kind == "code":
            content.extend(["code", line] for line in block.rows if line.strip())
    content.extend(["note", f"{number} {text}"] for number, text in enumerate(notes(document), 1))
    if options.get("only") == "tables":
        content = [entry for entry in content if entry[0] == "row"]
    return content
