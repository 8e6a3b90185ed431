"""Makes the set of PDF files of many producers, with the known content of each.

    python3 -m venv target/producers && target/producers/bin/pip install -r xtask/producers/requirements.txt
    target/producers/bin/python xtask/producers/make.py crates/websvc-evaluation/fixtures/pdf [NAME...]

The programs of Debian that it needs: texlive-latex-recommended, texlive-fonts-recommended, texlive-xetex, texlive-luatex,
lmodern, groff, ghostscript, libreoffice-writer-nogui, libreoffice-calc-nogui, chromium-headless-shell, poppler-utils,
tesseract-ocr, fonts-dejavu, fonts-liberation. Files whose program is missing are left as they are.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import canvas
import document as documents
import markup_html
import markup_latex
import markup_odf
import markup_typst
import other

MAKERS = {
    "typst": markup_typst.make, "latex": markup_latex.make, "chromium": markup_html.chromium,
    "weasyprint": markup_html.weasyprint, "mupdf": markup_html.mupdf, "writer": markup_odf.writer, "calc": markup_odf.calc,
    "reportlab": canvas.reportlab, "fpdf2": canvas.fpdf2, "cairo": canvas.cairo, "composed": canvas.composed,
    "groff": other.groff, "form": other.form,
}

# Each row: the producer, the maker, and the documents: text and options.
PRODUCERS = {
    "typst": ("typst", [
        ("harbor", {"header": True}), ("paper", {"columns": 2, "gutter": 8, "wide_title": True, "size": 9.5}),
        ("engine", {}), ("report", {"repeat": True}), ("invoice", {"ragged": True, "font": "DejaVu Sans", "size": 9}),
        ("muehle", {"columns": 2, "gutter": 10, "size": 9}), ("slides", {"slides": True, "size": 20, "margin": "1.5cm"}),
        ("hebrew", {"font": "DejaVu Sans"}), ("russian", {"indent": True, "spacing": "0.65em"}),
        ("bees", {"columns": 3, "gutter": 7, "size": 8.5}),
    ]),
    "pdftex": ("latex", [
        ("harbor", {"font": "charter"}), ("paper", {"columns": 2, "gutter": 8, "microtype": True, "font": "mathptmx"}),
        ("engine", {"size": 11, "font": "mathptmx"}), ("report", {}), ("bees", {"columns": 2, "gutter": 10, "drop": True}),
        ("muehle", {"grid": True, "font": "charter"}), ("slides", {"slides": True}), ("invoice", {"font": "helvet"}),
    ]),
    "xetex": ("latex", [
        ("greek", {"engine": "xelatex"}), ("polish", {"engine": "xelatex", "columns": 2, "gutter": 9, "font": "DejaVu Sans"}),
        ("marche", {"engine": "xelatex", "font": "Liberation Serif", "grid": True}),
    ]),
    "luatex": ("latex", [
        ("russian", {"engine": "lualatex", "font": "DejaVu Serif"}), ("harbor", {"engine": "lualatex", "font": "Latin Modern Roman"}),
        ("paper", {"engine": "lualatex", "font": "Latin Modern Roman", "columns": 2, "gutter": 6}),
    ]),
    "chromium": ("chromium", [
        ("harbor", {}), ("paper", {"columns": 2, "gutter": 8, "wide_title": True, "size": 9}), ("engine", {"header": True}),
        ("report", {"repeat": True}), ("bees", {"drop": True, "columns": 2, "gutter": 10}), ("arabic", {"font": "DejaVu Sans"}),
        ("invoice", {"ragged": True, "font": "Liberation Sans"}), ("slides", {"slides": True, "size": 18, "page": "size: 25cm 14cm; margin: 1cm"}),
        ("harbor", {"untagged": True}), ("engine", {"untagged": True}), ("report", {"untagged": True}),
        ("marche", {"untagged": True, "ragged": True}),
    ]),
    "weasyprint": ("weasyprint", [
        ("harbor", {}), ("paper", {"columns": 2, "gutter": 7, "size": 9}), ("engine", {"tagged": True}),
        ("report", {"tagged": True, "repeat": True}), ("spanish", {}),
        ("muehle", {"columns": 2, "gutter": 9, "size": 9}), ("hebrew", {"font": "DejaVu Sans"}), ("invoice", {"borderless": True}),
        ("bees", {"columns": 3, "gutter": 8, "size": 8.5}),
    ]),
    "mupdf": ("mupdf", [("harbor", {"ragged": True}), ("marche", {"ragged": True})]),
    "libreoffice": ("writer", [
        ("harbor", {"tagged": True, "footer": True}), ("report", {"tagged": True}), ("engine", {"tagged": True}),
        ("harbor", {"footer": True}), ("report", {"borderless": True, "footer": True}), ("engine", {}),
        ("paper", {"columns": 2, "gutter": 8, "size": 9.5}), ("bees", {"columns": 2, "gutter": 9, "drop": True}),
        ("invoice", {"ragged": True}), ("marche", {"font": "Liberation Sans"}), ("hebrew", {"font": "DejaVu Sans"}),
        ("slides", {"slides": True, "size": 22, "ragged": True}),
    ]),
    "libreoffice calc": ("calc", [("report", {"only": "tables"}), ("invoice", {"only": "tables", "tagged": True})]),
    "reportlab": ("reportlab", [
        ("harbor", {"header": True}), ("paper", {"columns": 2, "gutter": 8, "size": 9}), ("engine", {"ragged": True}),
        ("report", {"font": "Helvetica", "size": 9}), ("invoice", {"font": "Helvetica", "ragged": True}),
        ("bees", {"columns": 3, "gutter": 9, "size": 8.5}),
    ]),
    "fpdf2": ("fpdf2", [("harbor", {}), ("invoice", {"size": 9}), ("marche", {}), ("engine", {}), ("russian", {})]),
    "cairo": ("cairo", [("greek", {}), ("arabic", {})]),
    "composed": ("composed", [
        ("bees", {"columns": 3, "gutter": 8}), ("muehle", {"columns": 2, "gutter": 9}), ("harbor", {"columns": 2, "gutter": 10}),
        ("spanish", {"columns": 2, "gutter": 7}), ("paper", {"columns": 2, "gutter": 6}),
    ]),
    "groff": ("groff", [("harbor", {}), ("paper", {"columns": 2, "gutter": 9}), ("engine", {"indent": True}), ("report", {})]),
    "ghostscript": ("groff", [("harbor", {"distiller": True, "indent": True}), ("bees", {"distiller": True, "columns": 2, "gutter": 8}),
                              ("invoice", {"distiller": True})]),
    "form": ("form", [("form", {}), ("form", {"without_appearance": True})]),
}
# Scans: the name of the file that is scanned, and options.
SCANS = [("typst-harbor", {"searchable": True}), ("composed-paper", {"searchable": True}),
         ("typst-engine", {}), ("chromium-invoice", {}), ("libreoffice-harbor", {})]
SEED = b"halves-1"


def name_of(producer, text, options):
    marks = ["tagged"] * bool(options.get("tagged")) + ["untagged"] * bool(options.get("untagged"))
    marks += ["borderless"] * bool(options.get("borderless")) + ["bare"] * bool(options.get("without_appearance"))
    return "-".join([producer.replace(" ", ""), text, *marks])


def half(name):
    """Returns the half of a document: those of "held" are not looked at while the reader changes."""
    return "held" if hashlib.sha256(SEED + name.encode()).digest()[0] % 2 else "open"


def plan():
    """Yields the name, the producer, the text, the maker and the options of each file."""
    for producer, (maker, rows) in PRODUCERS.items():
        for text, options in rows:
            yield name_of(producer, text, options), producer, text, MAKERS[maker], options
    for source, options in SCANS:
        text = source.split("-")[1]
        producer = "scan with text" if options.get("searchable") else "scan"
        yield f"scan-{source}", producer, text, other.scan, {**options, "source": source}


def build(name, text, maker, options, folder):
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / f"{name}.pdf"
        source = folder / f"{options['source']}.pdf" if "source" in options else documents.read(text)
        maker(source, options, path)
        if options.get("untagged"):
            other.untag(path)
        elif path.stat().st_size > 40_000:
            other.compact(path)
        if "source" in options and not options.get("searchable"):
            (folder / "recognized").mkdir(exist_ok=True)
            other.recognize(path, folder / "recognized")
        shutil.copy(path, folder / path.name)


def main():
    folder, only = Path(sys.argv[1]), sys.argv[2:]
    (folder / "truth").mkdir(parents=True, exist_ok=True)
    entries = []
    for name, producer, text, maker, options in plan():
        document = documents.read(text)
        truth = "-".join([text, *([options["only"]] if "only" in options else [])])
        lines = (json.dumps(line, ensure_ascii=False) for line in documents.truth(document, options))
        (folder / "truth" / f"{truth}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
        if not only or name in only:
            try:
                build(name, text, maker, options, folder)
            except Exception as error:  # a missing program must not end the others
                print(f"{name}: {error!r}"[:1500], file=sys.stderr)
        pages = other.page_count(folder / f"{name}.pdf")
        entries.append({"name": name, "producer": producer, "truth": truth, "pages": pages, "half": half(name),
                        "columns": options.get("columns", 1)})
    listing = ",\n".join(json.dumps(entry) for entry in entries)
    (folder / "documents.json").write_text(f"[\n{listing}\n]\n")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{len(entries)} documents, {size} bytes, {sum(entry['half'] == 'held' for entry in entries)} held out")


if __name__ == "__main__":
    main()
