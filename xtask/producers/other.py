"""Writes documents with groff, as forms, and as scans."""

import subprocess

import document as documents


def escape(text):
    text = text.replace("\\", "\\e").replace("--", "\\-\\-")
    return "\\&" + text if text[:1] in ".'" else text


def spans(parts, counter):
    forms = {"": "{}", "em": "\\fI{}\\fP", "strong": "\\fB{}\\fP", "code": "\\f(CW{}\\fP", "sup": "\\*{{{}\\*}}"}
    out = []
    for style, text in parts:
        if style == "note":
            counter.append(text)
            text = "\\**\n.FS\n" + escape(text) + "\n.FE\n"
            out.append(text)
        else:
            out.append(forms[style].format(escape(text)))
    return "".join(out).replace("\n.FE\n ", "\n.FE\n").rstrip("\n")


def roff(document, options):
    """Returns the source for the macros ms."""
    lines = [".nr PS 10", ".nr VS 12", ".nr LL 6.3i", ".nr PO 1i"]
    columns, counter, started = options.get("columns", 1), [], False
    for block in document.blocks:
        if block.kind == "title":
            lines += [".TL", spans(block.spans, counter), ".LP"]
            if columns > 1:
                gutter = options.get("gutter", 10)
                lines += [f".MC {(6.3 * 72 - gutter * (columns - 1)) / columns:.1f}p {gutter}p"]
        elif block.kind == "heading":
            lines += [".SH", spans(block.spans, counter)]
        elif block.kind == "paragraph":
            lines += [".PP" if options.get("indent") and started else ".LP", spans(block.spans, counter)]
        elif block.kind == "items":
            last, numbers = 0, {}
            for depth, ordered, parts in block.rows:
                lines += [".RS"] * (depth - last) + [".RE"] * (last - depth)
                last = depth
                numbers[depth] = numbers.get(depth, 0) + 1
                label = f"{numbers[depth]}." if ordered else "\\(bu"
                lines += [f".IP {label} 3", spans(parts, counter)]
            lines += [".RE"] * last
        elif block.kind == "table":
            box = "" if block.style == "borderless" else "allbox "
            wide = max(len(cell) for row in block.rows for cell in row) > 45
            form = "l" + " l" * (len(block.rows[0]) - 2) + (" lw(3i)." if wide else " l.")
            cell = lambda text: f"T{{\n{escape(text)}\nT}}" if len(text) > 45 else escape(text)
            rows = ["\t".join(cell(text) for text in row) for row in block.rows]
            lines += [".TS", f"{box}tab(\t);", form, *rows, ".TE"]
        elif block.kind == "code":
            lines += [".DS I", "\\f(CW", *(escape(line) or "\\&" for line in block.rows), "\\fP", ".DE"]
        elif block.kind == "contents":
            lines += [".SH", spans(block.spans, counter), ".LP", ".ta 6.3iR"]
            for title, page in block.rows:
                lines += [f"{escape(title)}\\a\t{page}".replace("\\a\t", " \\a "), ".br"]
        started = block.kind == "paragraph"
    return "\n".join(lines) + "\n"


def groff(document, options, path):
    file = path.with_suffix(".ms")
    file.write_text(roff(document, options), encoding="utf-8")
    device = "ps" if options.get("distiller") else "pdf"
    command = ["groff", "-k", "-t", "-ms", f"-T{device}", "-P-p210mm,297mm", str(file)]
    done = subprocess.run(command, check=True, capture_output=True)
    if device == "pdf":
        path.write_bytes(done.stdout)
        return
    printed = path.with_suffix(".ps")
    printed.write_bytes(done.stdout)
    subprocess.run(["ps2pdf", str(printed), str(path)], check=True, capture_output=True)


def form(document, options, path):
    """Draws a form with filled fields, whose appearances are a part of the file or left to the reader."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    canvas, y = Canvas(str(path), pagesize=A4, invariant=1), A4[1] - 80
    for block in document.blocks:
        text = documents.plain(block.spans, [0])
        if block.kind in ("title", "heading"):
            canvas.setFont("Helvetica-Bold", 18 if block.kind == "title" else 13)
            y -= 14
            canvas.drawString(60, y, text)
            y -= 24
        elif block.kind == "paragraph":
            canvas.setFont("Helvetica", 10)
            line = []
            for word in [*text.split(), None]:
                if word is None or canvas.stringWidth(" ".join([*line, word]), "Helvetica", 10) > 470:
                    canvas.drawString(60, y, " ".join(line))
                    line, y = [], y - 13
                line.append(word)
            y -= 8
        elif block.kind == "field":
            label, value = block.rows
            canvas.setFont("Helvetica", 10)
            canvas.drawString(60, y, label)
            canvas.acroForm.textfield(name=label, value=value, x=210, y=y - 6, width=320, height=18, fontSize=10,
                                      borderWidth=0.5, forceBorder=True)
            y -= 26
    canvas.save()
    if options.get("without_appearance"):
        without_appearance(path)


def without_appearance(path):
    import pikepdf

    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        for annotation in pdf.pages[0].Annots:
            del annotation.AP
        pdf.Root.AcroForm.NeedAppearances = True
        pdf.save(path, deterministic_id=True)


def page_count(path):
    import pikepdf

    with pikepdf.open(path) as pdf:
        return len(pdf.pages)


def untag(path):
    """Removes the structure of a file."""
    import pikepdf

    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        for key in ("/StructTreeRoot", "/MarkInfo"):
            if key in pdf.Root:
                del pdf.Root[key]
        pdf.remove_unreferenced_resources()
        pdf.save(path, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def compact(path):
    """Compresses the objects of a file, so that the set stays small. The content stays as it is."""
    import pikepdf

    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.save(path, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def scan(source, options, path):
    """Makes a file of the pictures of the pages of another, with recognized text below them if `searchable`."""
    import img2pdf

    resolution = options.get("resolution", 150)
    pictures = path.with_suffix("")
    subprocess.run(["pdftoppm", "-r", str(resolution), "-mono", "-png", str(source), str(pictures)], check=True)
    files = sorted(path.parent.glob(f"{pictures.name}-*.png"))
    if options.get("searchable"):
        listing = path.with_suffix(".list")
        listing.write_text("\n".join(map(str, files)))
        subprocess.run(["tesseract", str(listing), str(pictures), "--dpi", str(resolution), "pdf"], check=True, capture_output=True)
        return
    path.write_bytes(img2pdf.convert([str(file) for file in files], nodate=True))


def recognize(path, folder):
    """Writes the words of the pages without text as Tesseract finds them, rendered as the service does it."""
    prefix = path.with_suffix("")
    subprocess.run(["pdftoppm", "-scale-to", "2339", "-gray", "-png", str(path), f"{prefix}-page"], check=True)
    for number, picture in enumerate(sorted(path.parent.glob(f"{prefix.name}-page-*.png")), 1):
        command = ["tesseract", str(picture), "stdout", "--psm", "3", "-c", "tessedit_create_tsv=1"]
        words = subprocess.run(command, check=True, capture_output=True).stdout
        (folder / f"{path.stem}-{number}.tsv").write_bytes(words)
