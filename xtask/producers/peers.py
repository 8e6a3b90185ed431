"""Reads the PDF files of a folder with another program, for `cargo xtask bench documents`.

    python peers.py PROGRAM FOLDER OUT

Writes `OUT/NAME.md` or `OUT/NAME.txt`, and the CPU seconds of each file into `OUT/NAME.seconds`.
"""

import resource
import subprocess
import sys
from pathlib import Path


def pdftotext():
    return "txt", lambda path: subprocess.run(["pdftotext", path, "-"], check=True, capture_output=True).stdout.decode()


def pymupdf4llm():
    import pymupdf4llm as program

    return "md", lambda path: program.to_markdown(path)


def pdfplumber():
    import pdfplumber as program

    def read(path):
        with program.open(path) as pdf:
            return "\n\n".join(page.extract_text() or "" for page in pdf.pages)

    return "txt", read


def markitdown():
    from markitdown import MarkItDown

    program = MarkItDown()
    return "md", lambda path: program.convert(path).text_content


def docling():
    from docling.document_converter import DocumentConverter

    program = DocumentConverter()
    return "md", lambda path: program.convert(path).document.export_to_markdown()


PROGRAMS = {program.__name__: program for program in (pdftotext, pymupdf4llm, pdfplumber, markitdown, docling)}


def cpu_seconds():
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main():
    program, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    extension, read = PROGRAMS[program]()
    out.mkdir(parents=True, exist_ok=True)
    files = sorted(folder.glob("*.pdf"))
    read(str(files[0]))  # loads what the program loads once
    for file in files:
        start = cpu_seconds()
        try:
            text = read(str(file))
        except Exception as error:
            print(f"{program}: {file.name}: {error!r}", file=sys.stderr)
            text = ""
        (out / f"{file.stem}.seconds").write_text(f"{cpu_seconds() - start:.6f}")
        (out / f"{file.stem}.{extension}").write_text(text, encoding="utf-8", errors="replace")
    print(extension)


if __name__ == "__main__":
    main()
