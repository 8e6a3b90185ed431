"""Writes documents as HTML, for Chromium, WeasyPrint and the stories of MuPDF."""

import html
import subprocess



def spans(parts, options, counter):
    forms = {"": "{}", "em": "<em>{}</em>", "strong": "<strong>{}</strong>", "code": "<code>{}</code>", "sup": "<sup>{}</sup>"}
    out = []
    for style, text in parts:
        if style == "note":
            counter.append(text)
            out.append(f'<span class="note">{html.escape(text)}</span>' if options.get("footnotes")
                       else f"<sup>{len(counter)}</sup>")
        else:
            out.append(forms[style].format(html.escape(text)))
    return "".join(out)


def items(rows, options):
    out, stack = [], []
    for depth, ordered, parts in rows:
        while len(stack) > depth + 1:
            out.append(f"</li></{stack.pop()}>")
        if len(stack) == depth:
            stack.append("ol" if ordered else "ul")
            out.append(f"<{stack[-1]}>")
        else:
            out.append("</li>")
        out.append("<li>" + spans(parts, options, []))
    out += [f"</li></{name}>" for name in reversed(stack)]
    return "".join(out)


def table(block, options):
    kind = "plain" if block.style == "borderless" or options.get("borderless") else "ruled"
    row = lambda cells, name: "<tr>" + "".join(f"<{name}>{html.escape(cell)}</{name}>" for cell in cells) + "</tr>"
    head, body = block.rows[0], block.rows[1:]
    head = f"<thead>{row(head, 'th')}</thead>" if options.get("repeat") else row(head, "td")
    return f'<table class="{kind}">{head}{"".join(row(cells, "td") for cells in body)}</table>'


def block_source(block, options, counter):
    text = spans(block.spans, options, counter)
    if block.kind == "title":
        return f"<h1>{text}</h1>"
    if block.kind == "heading":
        return f"<h{block.level + 1}>{text}</h{block.level + 1}>"
    if block.kind == "paragraph":
        return f"<p{' class=drop' if block.drop and options.get('drop') else ''}>{text}</p>"
    if block.kind == "items":
        return items(block.rows, options)
    if block.kind == "table":
        return table(block, options)
    if block.kind == "contents":
        entry = '<div class="entry"><span>{}</span><span class="dots"></span><span>{}</span></div>'
        return f"<h2>{text}</h2>" + "".join(entry.format(html.escape(a), b) for a, b in block.rows)
    if block.kind == "field":
        label, value = map(html.escape, block.rows)
        return f"<p>{label} &nbsp; {value}</p>"
    if block.kind == "code":
        return "<pre>" + html.escape("\n".join(block.rows)) + "</pre>"
    raise ValueError(block.kind)


def style(document, options):
    page = options.get("page", "size: A4; margin: 2cm")
    rules = [f"@page {{ {page}; @bottom-center {{ content: counter(page); font-size: 8pt }} }}",
             f"body {{ font: {options.get('size', 10.5)}pt/1.35 '{options.get('font', 'Liberation Serif')}'; margin: 0;"
             f" text-align: {'left' if options.get('ragged') or document.rtl else 'justify'}; hyphens: auto }}",
             "body { text-align: right }" if document.rtl and options.get("ragged") else "",
             f"h1, h2, h3 {{ font-family: '{options.get('head', options.get('font', 'Liberation Sans'))}'; text-align: start }}",
             "table { border-collapse: collapse; margin: 8pt 0; text-align: start } td, th { padding: 2pt 7pt; text-align: start }",
             ".ruled td, .ruled th { border: 0.5pt solid black }",
             "pre, code { font: 0.85em 'DejaVu Sans Mono' } pre { text-align: left }",
             ".drop::first-letter { font-size: 3.1em; float: left; line-height: 0.9; padding-right: 3pt }",
             ".entry { display: flex } .dots { flex: 1; overflow: hidden; white-space: nowrap; height: 1.3em }"]
    if options.get("columns", 1) > 1:
        rules.append(f"main {{ columns: {options['columns']}; column-gap: {options.get('gutter', 10)}pt }}")
    if options.get("footnotes"):
        rules.append(".note { float: footnote }")
    if options.get("slides"):
        rules.append("h1, h2 { break-before: page }")
    return "\n".join(rules)


def source(document, options):
    counter = []
    blocks = [block_source(block, options, counter) for block in document.blocks]
    body = "\n".join(blocks)
    if not options.get("footnotes"):
        body += "".join(f"<p><sup>{number}</sup> {html.escape(text)}</p>" for number, text in enumerate(counter, 1))
    dots = '<span class="dots">' + "." * 300 + "</span>"
    body = body.replace('<span class="dots"></span>', dots)
    direction = "rtl" if document.rtl else "ltr"
    title, main = (blocks[0], body[len(blocks[0]):]) if options.get("wide_title") else ("", body)
    return (f'<!doctype html><html lang="{document.language}" dir="{direction}"><meta charset="utf-8">'
            f"<title>{html.escape(document.title)}</title><style>{style(document, options)}</style>"
            f"<body>{title}<main>{main}</main></body></html>")


def chromium(document, options, path):
    file = path.with_suffix(".html")
    file.write_text(source(document, options), encoding="utf-8")
    command = ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", f"--print-to-pdf={path}", str(file)]
    if not options.get("header"):
        command.insert(1, "--no-pdf-header-footer")
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def weasyprint(document, options, path):
    import weasyprint as producer

    options = {"footnotes": True, **options}
    producer.HTML(string=source(document, options)).write_pdf(str(path), pdf_tags=options.get("tagged", False))


def mupdf(document, options, path):
    import pymupdf

    story = pymupdf.Story(source(document, options))
    writer = pymupdf.DocumentWriter(str(path))
    area = pymupdf.paper_rect("a4")
    more = True
    while more:
        device = writer.begin_page(area)
        more, _ = story.place(area + (60, 60, -60, -60))
        story.draw(device)
        writer.end_page()
    writer.close()
    with pymupdf.open(str(path)) as pdf:
        pdf.subset_fonts()
        pdf.save(str(path.with_suffix(".small")), garbage=3, deflate=True)
    path.with_suffix(".small").rename(path)


