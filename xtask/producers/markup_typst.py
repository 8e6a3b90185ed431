"""Writes documents as typst."""

import typst


def string(text):
    return '#"' + text.replace("\\", "\\\\").replace('"', '\\"') + '";'


def spans(parts):
    forms = {"": "{}", "em": "#emph[{}]", "strong": "#strong[{}]", "sup": "#super[{}]", "note": "#footnote[{}]",
             "code": "#text(font: \"DejaVu Sans Mono\", size: 0.85em)[{}]"}
    return "".join(forms[style].format(string(text)) for style, text in parts)


def items(rows):
    lines = []
    for depth, ordered, parts in rows:
        lines.append("  " * depth + ("+ " if ordered else "- ") + spans(parts))
    return "\n".join(lines) + "\n"


def table(block, options):
    columns = len(block.rows[0])
    stroke = "0.5pt" if block.style in ("ruled", "long") and not options.get("borderless") else "none"
    cells = lambda row: ", ".join(f"[{string(cell)}]" for cell in row)
    head = cells(block.rows[0])
    if options.get("repeat"):
        head = f"table.header({head})"
    body = ",\n".join(cells(row) for row in block.rows[1:])
    return f"#table(columns: {columns}, stroke: {stroke},\n{head},\n{body})\n"


def block_source(block, options):
    if block.kind == "title":
        heading = f"#heading(level: 1, outlined: false)[{spans(block.spans)}]\n"
        if options.get("columns", 1) > 1 and options.get("wide_title"):
            return f"#place(top + center, scope: \"parent\", float: true)[{heading}]\n"
        return heading
    if block.kind == "heading":
        return f"#heading(level: {block.level + 1})[{spans(block.spans)}]\n"
    if block.kind == "paragraph":
        return spans(block.spans) + "\n"
    if block.kind == "items":
        return items(block.rows)
    if block.kind == "table":
        return table(block, options)
    if block.kind == "contents":
        lines = [f"#heading(level: 2)[{spans(block.spans)}]"]
        lines += [f"{string(title)} #box(width: 1fr, repeat[.]) {string(page)} \\" for title, page in block.rows]
        return "\n".join(lines) + "\n"
    if block.kind == "field":
        label, value = block.rows
        return f"{string(label + ' ')} #h(1em) {string(value)}\n"
    if block.kind == "code":
        return "#raw(block: true, " + repr_typst("\n".join(block.rows)) + ")\n"
    raise ValueError(block.kind)


def repr_typst(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def source(document, options):
    columns = options.get("columns", 1)
    header = f"header: align(right)[{string(document.title)}], " if options.get("header") else ""
    paper = '"presentation-16-9"' if options.get("slides") else '"a4"'
    lines = [
        f"#set page(paper: {paper}, columns: {columns}, numbering: \"1\", {header}margin: {options.get('margin', '2.2cm')})",
        f"#set columns(gutter: {options.get('gutter', 12)}pt)",
        f"#set text(font: \"{options.get('font', 'Libertinus Serif')}\", size: {options.get('size', 10.5)}pt, "
        f"lang: \"{document.language}\", hyphenate: {'true' if options.get('hyphens', True) else 'false'})",
        f"#set par(justify: {'false' if options.get('ragged') else 'true'}, spacing: {options.get('spacing', '1.1em')}"
        + (", first-line-indent: 1.2em" if options.get("indent") else "") + ")",
    ]
    if options.get("numbered"):
        lines.append("#set heading(numbering: none)")
    return "\n".join(lines) + "\n" + "\n".join(block_source(block, options) for block in document.blocks)


def make(document, options, path):
    file = path.with_suffix(".typ")
    file.write_text(source(document, options), encoding="utf-8")
    typst.compile(str(file), output=str(path))
