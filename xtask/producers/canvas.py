"""Draws documents with ReportLab, fpdf2 and Cairo, and with a composer that places each word, as layout programs do."""


import document as documents

FONTS = "/usr/share/fonts/truetype/dejavu/"
FILES = {"": "DejaVuSerif.ttf", "B": "DejaVuSerif-Bold.ttf", "M": "DejaVuSansMono.ttf"}


def reportlab(document, options, path):
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import (BaseDocTemplate, Frame, ListFlowable, ListItem, PageTemplate, Paragraph, Preformatted,
                                    Spacer, Table)

    family = options.get("font", "Times-Roman")
    bold = {"Times-Roman": "Times-Bold", "Helvetica": "Helvetica-Bold"}[family]
    size = options.get("size", 10)
    body = ParagraphStyle("body", fontName=family, fontSize=size, leading=size * 1.25, spaceAfter=6,
                          alignment=0 if options.get("ragged") else 4)
    cell = ParagraphStyle("cell", parent=body, spaceAfter=0, alignment=0)
    heads = [ParagraphStyle(f"h{n}", fontName=bold, fontSize=size * scale, leading=size * scale * 1.2, spaceBefore=8,
                            spaceAfter=5) for n, scale in ((1, 1.8), (2, 1.3), (3, 1.1))]
    forms = {"": "{}", "em": "<i>{}</i>", "strong": "<b>{}</b>", "sup": "<super>{}</super>",
             "code": "<font face='Courier'>{}</font>"}
    counter = []

    def text(parts):
        out = []
        for style, part in parts:
            if style == "note":
                counter.append(part)
                out.append(f"<super>{len(counter)}</super>")
            else:
                out.append(forms[style].format(part.replace("&", "&amp;").replace("<", "&lt;")))
        return "".join(out)

    def nested(rows, depth=0):
        entries, index = [], 0
        kind = rows[0][1]
        while index < len(rows):
            end = index + 1
            while end < len(rows) and rows[end][0] > depth:
                end += 1
            inner = [nested(rows[index + 1:end], depth + 1)] if end > index + 1 else []
            entries.append(ListItem([Paragraph(text(rows[index][2]), cell), *inner]))
            index = end
        options_of = {"bulletType": "1", "bulletFormat": "%s."} if kind else {"bulletType": "bullet", "start": "•"}
        return ListFlowable(entries, leftIndent=16, bulletFontSize=size, bulletFontName=family, **options_of)

    story = []
    for block in document.blocks:
        if block.kind in ("title", "heading"):
            story.append(Paragraph(text(block.spans), heads[0 if block.kind == "title" else block.level]))
        elif block.kind == "paragraph":
            story.append(Paragraph(text(block.spans), body))
        elif block.kind == "items":
            story += [nested(block.rows), Spacer(1, 6)]
        elif block.kind == "table":
            ruled = block.style != "borderless" and not options.get("borderless")
            wide = max(len(cell_text) for row in block.rows for cell_text in row) > 50
            rows = [[Paragraph(text([("", cell_text)]), cell) for cell_text in row] for row in block.rows] if wide else block.rows
            grid = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)] if ruled else []
            style = [("FONT", (0, 0), (-1, -1), family, size), ("TOPPADDING", (0, 0), (-1, -1), 2),
                     ("BOTTOMPADDING", (0, 0), (-1, -1), 2)]
            story += [Table(rows, style=style + grid, hAlign="LEFT"), Spacer(1, 8)]
        elif block.kind == "contents":
            story.append(Paragraph(text(block.spans), heads[1]))
            for title, page in block.rows:
                dots = "." * int(110 - len(title) * 1.9)
                story.append(Paragraph(f"{title} {dots} {page}", cell))
        elif block.kind == "field":
            story.append(Paragraph(" &nbsp; ".join(block.rows), cell))
        elif block.kind == "code":
            story.append(Preformatted("\n".join(block.rows), ParagraphStyle("code", fontName="Courier", fontSize=9, leading=11,
                                                                            spaceAfter=6)))
    story += [Paragraph(f"{number} {note}", cell) for number, note in enumerate(counter, 1)]
    columns, gutter = options.get("columns", 1), options.get("gutter", 10)
    width = (A4[0] - 110 - gutter * (columns - 1)) / columns
    frames = [Frame(55 + index * (width + gutter), 60, width, A4[1] - 120, 0, 0, 0, 0) for index in range(columns)]

    def footer(canvas, template):
        canvas.setFont(family, 8)
        canvas.drawCentredString(A4[0] / 2, 30, str(template.page))
        if options.get("header"):
            canvas.drawString(55, A4[1] - 40, document.title)

    template = BaseDocTemplate(str(path), pagesize=A4, title=document.title, invariant=1)
    template.addPageTemplates(PageTemplate(frames=frames, onPage=footer))
    template.build(story)


def fpdf2(document, options, path):
    import datetime

    from fpdf import FPDF, TextStyle
    from fpdf.enums import TableBordersLayout

    assert TextStyle
    pdf = FPDF(format="A4")
    pdf.set_creation_date(datetime.datetime(2030, 3, 17, tzinfo=datetime.timezone.utc))
    pdf.set_margin(20)
    for style, file in FILES.items():
        pdf.add_font("M" if style == "M" else "S", "" if style == "M" else style, FONTS + file)
    pdf.add_page()
    size, counter = options.get("size", 10), [0]
    line = lambda text, indent=0, height=size * 0.48, align="J": (
        pdf.set_x(20 + indent), pdf.multi_cell(170 - indent, height, text, align=align, new_x="LMARGIN", new_y="NEXT"))
    for block in document.blocks:
        text = documents.plain(block.spans, counter)
        pdf.set_font("S", "", size)
        if block.kind in ("title", "heading"):
            pdf.ln(3)
            pdf.set_font("S", "B", size * (1.7 if block.kind == "title" else 1.45 - 0.15 * block.level))
            line(text, height=size * 0.7, align="L")
            pdf.ln(1.5)
        elif block.kind == "paragraph":
            line(text)
            pdf.ln(2.5)
        elif block.kind == "items":
            numbers = {}
            for depth, ordered, parts in block.rows:
                numbers[depth] = numbers.get(depth, 0) + 1
                label = f"{numbers[depth]}." if ordered else "•"
                pdf.set_x(20 + 6 * depth)
                pdf.cell(6, size * 0.48, label)
                pdf.multi_cell(164 - 6 * depth, size * 0.48, documents.plain(parts, counter), align="L", new_x="LMARGIN", new_y="NEXT")
            pdf.ln(2.5)
        elif block.kind == "table":
            ruled = block.style != "borderless" and not options.get("borderless")
            layout = TableBordersLayout.ALL if ruled else TableBordersLayout.NONE
            longest = [max(len(row[index]) for row in block.rows) + 3 for index in range(len(block.rows[0]))]
            with pdf.table(borders_layout=layout, first_row_as_headings=False, col_widths=longest, align="L", text_align="L",
                           width=min(170, sum(longest) * 2.4)) as drawn:
                for row in block.rows:
                    drawn.row(row)
            pdf.ln(2.5)
        elif block.kind == "code":
            pdf.set_font("M", "", size - 1)
            for row in block.rows:
                pdf.cell(0, size * 0.45, row, new_x="LMARGIN", new_y="NEXT")
            pdf.ln(2.5)
        elif block.kind == "contents":
            line(text)
            for title, page in block.rows:
                line(title + " " + "." * (80 - len(title)) + " " + page)
        elif block.kind == "field":
            line("   ".join(block.rows))
    for number, note in enumerate(documents.notes(document), 1):
        pdf.set_font("S", "", size - 2)
        line(f"{number} {note}")
    pdf.output(str(path))


def cairo(document, options, path):
    import cairocffi
    import pangocairocffi as pangocairo
    import pangocffi as pango

    width, height, margin, size = 595, 842, 60, options.get("size", 11)
    surface = cairocffi.PDFSurface(str(path), width, height)
    context = cairocffi.Context(surface)
    y, counter = margin, [0]

    def show(text, scale=1.0, bold=False, indent=0):
        nonlocal y
        layout = pangocairo.create_layout(context)
        layout.width = pango.units_from_double(width - 2 * margin - indent)
        layout.font_description = description(pango, size * scale, bold)
        layout.text = text
        drawn = pango.units_to_double(layout.get_extents()[1].height)
        if y + drawn > height - margin:
            context.show_page()
            y = margin
        context.move_to(margin if document.rtl else margin + indent, y)
        pangocairo.show_layout(context, layout)
        y += drawn + size * 0.5

    for block in document.blocks:
        text = documents.plain(block.spans, counter)
        if block.kind in ("title", "heading"):
            show(text, 1.7 if block.kind == "title" else 1.3, True)
        elif block.kind == "items":
            for number, (depth, ordered, parts) in enumerate(block.rows, 1):
                show((f"{number}. " if ordered else "• ") + documents.plain(parts, counter), indent=14 * (depth + 1))
        elif block.kind == "paragraph":
            show(text)
        else:
            raise ValueError(block.kind)
    surface.finish()


def description(pango, size, bold):
    font = pango.FontDescription()
    font.family = "DejaVu Sans"
    font.size = pango.units_from_double(size)
    if bold:
        font.weight = pango.Weight.BOLD
    return font


def composed(document, options, path):
    """Places each word on its own, in justified columns with hyphens, without a character for spaces."""
    import pyphen
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    for name, file in {"S": "LiberationSerif-Regular", "B": "LiberationSerif-Bold"}.items():
        pdfmetrics.registerFont(TTFont(name, f"/usr/share/fonts/truetype/liberation/{file}.ttf"))
    columns, gutter, size = options.get("columns", 2), options.get("gutter", 9), options.get("size", 9.5)
    width = (A4[0] - 100 - gutter * (columns - 1)) / columns
    top, bottom, leading = A4[1] - 120, 60, size * 1.22
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    hyphens = pyphen.Pyphen(lang={"en": "en_GB"}.get(document.language, document.language))
    place = {"column": 0, "y": top}
    measure = lambda text, font="S", scale=1.0: pdfmetrics.stringWidth(text, font, size * scale)

    def next_line(height=leading):
        place["y"] -= height
        if place["y"] < bottom:
            place["column"] += 1
            if place["column"] == columns:
                canvas.showPage()
                place["column"] = 0
            place["y"] = (top if canvas.getPageNumber() == 1 else A4[1] - 70) - height
        return 50 + place["column"] * (width + gutter), place["y"]

    def lines(words, indents):
        """Yields the words of each line; words are divided at the ends of lines."""
        line, used, number = [], 0.0, 0
        words = list(words)
        while words:
            word, room = words.pop(0), width - indents(number)
            space = measure(" ") if line else 0
            if used + space + measure(word) <= room:
                line.append(word)
                used += space + measure(word)
                continue
            for head, tail in hyphens.iterate(word):
                if used + space + measure(head + "-") <= room and len(tail) > 2 and len(head) > 1:
                    line.append(head + "-")
                    word = tail
                    break
            yield line, False
            line, used, number = [], 0.0, number + 1
            words.insert(0, word)
        yield line, True

    def paragraph(text, initial=False, indent=0):
        letter, words = (text[0], [text[1:].split()[0], *text.split()[1:]]) if initial else ("", text.split())
        wide = measure(letter, scale=3.4) + 3 if initial else 0
        indents = lambda number: wide if initial and number < 3 else (indent if number == 0 else 0)
        if initial:
            x, y = 50 + place["column"] * (width + gutter), place["y"]
            draw(letter, x, y - 3 * leading + 1.5, "S", 3.4)
        for number, (line, is_last) in enumerate(lines(words, indents)):
            x, y = next_line()
            rest = width - indents(number) - sum(map(measure, line))
            space = measure(" ") if is_last or len(line) < 2 else rest / (len(line) - 1)
            x += indents(number)
            for word in line:
                draw(word, x, y)
                x += measure(word) + space

    def draw(text, x, y, font="S", scale=1.0):
        canvas.setFont(font, size * scale)
        canvas.drawString(x, y, text)

    counter = [0]
    canvas.setTitle(document.title)
    draw(document.title, 50, A4[1] - 90, "B", 2.2)
    for block in document.blocks[1:]:
        text = documents.plain(block.spans, counter)
        if block.kind == "heading":
            next_line(leading * 0.6)
            x, y = next_line(leading * 1.2)
            draw(text, x, y, "B", 1.2)
            next_line(leading * 0.25)
        elif block.kind == "paragraph":
            paragraph(text, block.drop, 0 if block.drop else size)
        elif block.kind == "items":
            for _, _, parts in block.rows:
                x, y = next_line()
                draw("•", x, y)
                for number, (line, _) in enumerate(lines(documents.plain(parts, counter).split(), lambda _: 12)):
                    x, y = next_line() if number else (x, y)
                    draw(" ".join(line), 50 + place["column"] * (width + gutter) + 12, y)
        elif block.kind == "table":
            step = width / len(block.rows[0])
            for row in block.rows:
                x, y = next_line(leading * 1.1)
                for index, cell in enumerate(row):
                    draw(cell, x + index * step, y)
            next_line(leading * 0.5)
    for number, note in enumerate(documents.notes(document), 1):
        paragraph(f"{number} {note}")
    canvas.save()


