"""Writes documents as flat OpenDocument files, which LibreOffice exports."""

import json
import subprocess
from xml.sax.saxutils import escape as escape_xml

SPACES = ("office", "style", "text", "table", "fo", "svg")
URNS = {"fo": "xsl-fo-compatible", "svg": "svg-compatible"}


def escape(text):
    return escape_xml(text)


def spans(parts, counter):
    out = []
    for style, text in parts:
        if style == "note":
            counter.append(text)
            number = len(counter)
            out.append(f'<text:note text:id="n{number}" text:note-class="footnote"><text:note-citation>{number}'
                       "</text:note-citation><text:note-body><text:p text:style-name=\"Footnote\">"
                       f"{escape(text)}</text:p></text:note-body></text:note>")
        elif style:
            out.append(f'<text:span text:style-name="T_{style}">{escape(text)}</text:span>')
        else:
            out.append(escape(text))
    return "".join(out)


def items(rows, counter):
    out, stack = [], []
    for depth, ordered, parts in rows:
        while len(stack) > depth + 1:
            stack.pop()
            out.append("</text:list-item></text:list>")
        if len(stack) == depth:
            stack.append(ordered)
            out.append(f'<text:list text:style-name="{"L_number" if ordered else "L_bullet"}">')
        else:
            out.append("</text:list-item>")
        out.append(f'<text:list-item><text:p text:style-name="Item">{spans(parts, counter)}</text:p>')
    out += ["</text:list-item></text:list>"] * len(stack)
    return "".join(out)


def table(block, options):
    ruled = block.style != "borderless" and not options.get("borderless")
    style = "C_ruled" if ruled else "C_plain"
    columns = len(block.rows[0])
    out = [f'<table:table><table:table-column table:number-columns-repeated="{columns}"/>']
    for row in block.rows:
        cells = (f'<table:table-cell table:style-name="{style}"><text:p text:style-name="Cell">{escape(cell)}</text:p>'
                 "</table:table-cell>" for cell in row)
        out.append("<table:table-row>" + "".join(cells) + "</table:table-row>")
    return "".join(out) + "</table:table><text:p text:style-name=\"Cell\"/>"


def block_source(block, options, counter):
    text = spans(block.spans, counter)
    if block.kind in ("title", "heading"):
        level = 1 if block.kind == "title" else block.level + 1
        return f'<text:h text:style-name="H{level}" text:outline-level="{level}">{text}</text:h>'
    if block.kind == "paragraph":
        style = "Drop" if block.drop and options.get("drop") else "Body"
        return f'<text:p text:style-name="{style}">{text}</text:p>'
    if block.kind == "items":
        return items(block.rows, counter)
    if block.kind == "table":
        return table(block, options)
    if block.kind == "contents":
        entries = (f'<text:p text:style-name="Entry">{escape(title)}<text:tab/>{page}</text:p>' for title, page in block.rows)
        return f'<text:h text:style-name="H2" text:outline-level="2">{text}</text:h>' + "".join(entries)
    if block.kind == "field":
        return f'<text:p text:style-name="Cell">{escape(block.rows[0])} <text:s text:c="3"/>{escape(block.rows[1])}</text:p>'
    if block.kind == "code":
        lines = (escape(line).replace("  ", ' <text:s text:c="1"/>') for line in block.rows)
        return "".join(f'<text:p text:style-name="Code">{line}</text:p>' for line in lines)
    raise ValueError(block.kind)


def paragraph(name, size, font, extra="", margin="0.2cm", bold=False, inner=""):
    weight = ' fo:font-weight="bold"' if bold else ""
    return (f'<style:style style:name="{name}" style:family="paragraph"><style:paragraph-properties '
            f'fo:margin-bottom="{margin}" {extra}>{inner}</style:paragraph-properties><style:text-properties '
            f'fo:font-family="{font}" style:font-family-asian="{font}" style:font-family-complex="{font}" '
            f'fo:font-size="{size}pt" style:font-size-complex="{size}pt"{weight}/></style:style>')


def styles(document, options):
    font, size = options.get("font", "Liberation Serif"), options.get("size", 11)
    align = 'fo:text-align="start"' if options.get("ragged") else 'fo:text-align="justify"'
    align += ' style:writing-mode="rl-tb"' if document.rtl else ""
    start = 'fo:text-align="end" style:writing-mode="rl-tb"' if document.rtl else 'fo:text-align="start"'
    keep = start + ' fo:keep-with-next="always" fo:margin-top="0.4cm"'
    leader = ('<style:tab-stops><style:tab-stop style:position="16cm" style:type="right" style:leader-style="dotted" '
              'style:leader-text="."/></style:tab-stops>')
    drop = '<style:drop-cap style:lines="3" style:length="1" style:distance="0.05cm"/>'
    out = [paragraph("H1", size * 1.8, font, keep, bold=True), paragraph("H2", size * 1.35, font, keep, bold=True),
           paragraph("H3", size * 1.1, font, keep, bold=True), paragraph("Body", size, font, align),
           paragraph("Drop", size, font, align, inner=drop), paragraph("Item", size, font, start, "0.05cm"),
           paragraph("Cell", size, font, start, "0cm"), paragraph("Entry", size, font, start, "0cm", inner=leader),
           paragraph("Footnote", size - 2, font, start, "0cm"),
           paragraph("Code", size - 2, "DejaVu Sans Mono", start, "0cm")]
    for name, value in (("em", 'fo:font-style="italic"'), ("strong", 'fo:font-weight="bold"'),
                        ("sup", 'style:text-position="super 58%"'), ("code", 'fo:font-family="DejaVu Sans Mono"')):
        out.append(f'<style:style style:name="T_{name}" style:family="text"><style:text-properties {value}/></style:style>')
    for name, border in (("C_ruled", "0.5pt solid #000000"), ("C_plain", "none")):
        out.append(f'<style:style style:name="{name}" style:family="table-cell"><style:table-cell-properties '
                   f'fo:border="{border}" fo:padding="0.1cm"/></style:style>')
    columns, gutter = options.get("columns", 1), options.get("gutter", 10)
    out.append('<style:style style:name="Columns" style:family="section"><style:section-properties text:dont-balance-text-columns="true">'
               f'<style:columns fo:column-count="{columns}" fo:column-gap="{gutter}pt"/></style:section-properties></style:style>')
    level = ('<style:list-level-properties text:list-level-position-and-space-mode="label-alignment">'
             '<style:list-level-label-alignment text:label-followed-by="listtab" fo:text-indent="-0.6cm" '
             'fo:margin-left="{}cm"/></style:list-level-properties>')
    bullets = "".join(f'<text:list-level-style-bullet text:level="{depth}" text:bullet-char="{"•◦"[depth - 1]}">'
                      f"{level.format(depth * 0.9)}</text:list-level-style-bullet>" for depth in (1, 2))
    out.append(f'<text:list-style style:name="L_bullet">{bullets}</text:list-style>')
    numbers = (f'<text:list-level-style-number text:level="1" style:num-suffix="." style:num-format="1">{level.format(0.9)}'
               "</text:list-level-style-number>")
    out.append(f'<text:list-style style:name="L_number">{numbers}{bullets[bullets.index("<text", 5):]}</text:list-style>')
    return "".join(out)


def source(document, options):
    counter = []
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{URNS.get(name, name)}:1.0"' for name in SPACES)
    wide, tall = ("29.7cm", "21cm") if options.get("slides") else ("21cm", "29.7cm")
    footer = ('<style:footer><text:p text:style-name="Cell"><text:page-number text:select-page="current"/></text:p></style:footer>'
              if options.get("footer") else "")
    body = "".join(block_source(block, options, counter) for block in document.blocks)
    if options.get("columns", 1) > 1:
        body = f'<text:section text:style-name="Columns" text:name="Columns">{body}</text:section>'
    return (f'<?xml version="1.0" encoding="UTF-8"?><office:document {spaces} office:version="1.3" '
            'office:mimetype="application/vnd.oasis.opendocument.text">'
            f'<office:automatic-styles>{styles(document, options)}<style:page-layout style:name="P"><style:page-layout-properties '
            f'fo:page-width="{wide}" fo:page-height="{tall}" fo:margin="2.2cm"/></style:page-layout></office:automatic-styles>'
            f'<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="P">{footer}'
            f"</style:master-page></office:master-styles><office:body><office:text>{body}</office:text></office:body></office:document>")


def export(file, path, kind, tagged):
    values = {"UseTaggedPDF": {"type": "boolean", "value": "true" if tagged else "false"}}
    command = ["soffice", f"-env:UserInstallation=file://{path.parent}/profile", "--headless", "--convert-to",
               f"pdf:{kind}_pdf_Export:{json.dumps(values)}", "--outdir", str(path.parent), str(file)]
    subprocess.run(command, check=True, capture_output=True, timeout=180)


def writer(document, options, path):
    file = path.with_suffix(".fodt")
    file.write_text(source(document, options), encoding="utf-8")
    export(file, path, "writer", options.get("tagged", False))


def sheet(document):
    """Returns the tables of a document as a flat OpenDocument spreadsheet."""
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{URNS.get(name, name)}:1.0"' for name in SPACES)
    rows = [row for block in document.blocks if block.kind == "table" for row in [*block.rows, []]]
    widths = [max(len(row[index]) if index < len(row) else 1 for row in rows) for index in range(max(map(len, rows)))]
    styles = "".join(f'<style:style style:name="w{index}" style:family="table-column"><style:table-column-properties '
                     f'style:column-width="{0.21 * width + 0.5:.2f}cm"/></style:style>' for index, width in enumerate(widths))
    columns = "".join(f'<table:table-column table:style-name="w{index}"/>' for index in range(len(widths)))
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    body = "".join("<table:table-row>" + ("".join(cell.format(escape(text)) for text in row) or "<table:table-cell/>")
                   + "</table:table-row>" for row in rows)
    return (f'<?xml version="1.0" encoding="UTF-8"?><office:document {spaces} office:version="1.3" '
            'office:mimetype="application/vnd.oasis.opendocument.spreadsheet">'
            f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>"
            f'<table:table table:name="Sheet">{columns}{body}</table:table></office:spreadsheet></office:body></office:document>')


def calc(document, options, path):
    file = path.with_suffix(".fods")
    file.write_text(sheet(document), encoding="utf-8")
    export(file, path, "calc", options.get("tagged", False))
