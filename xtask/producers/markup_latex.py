"""Writes documents as LaTeX, for pdfTeX, XeTeX and LuaTeX."""

import os
import subprocess

ESCAPES = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
           "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def escape(text):
    return "".join(ESCAPES.get(character, character) for character in text)


def code(text):
    return escape(text).replace("--", "-{}-")


def spans(parts):
    forms = {"": "{}", "em": r"\emph{{{}}}", "strong": r"\textbf{{{}}}", "sup": r"\textsuperscript{{{}}}",
             "note": r"\footnote{{{}}}", "code": r"\texttt{{{}}}"}
    return "".join(forms[style].format(code(text) if style == "code" else escape(text)) for style, text in parts)


def items(rows):
    lines, stack = [], []
    for depth, ordered, parts in rows:
        while len(stack) > depth + 1:
            lines.append(rf"\end{{{stack.pop()}}}")
        if len(stack) == depth:
            stack.append("enumerate" if ordered else "itemize")
            lines.append(rf"\begin{{{stack[-1]}}}")
        lines.append(r"\item " + spans(parts))
    lines += [rf"\end{{{name}}}" for name in reversed(stack)]
    return "\n".join(lines)


def table(block, options):
    widest = max(len(cell) for row in block.rows for cell in row)
    plain = len(block.rows[0])
    columns = ["l"] * plain
    if widest > 45:
        columns[-1] = "p{7cm}"
    rows = [" & ".join(escape(cell) for cell in row) + r" \\" for row in block.rows]
    if block.style == "long":
        return (rf"\begin{{longtable}}{{{''.join(columns)}}}" + "\n" + "\n".join(rows) + "\n" + r"\end{longtable}")
    if block.style == "ruled" and options.get("grid"):
        body = r"\hline " + "\n".join(row + r" \hline" for row in rows)
        return rf"\par\medskip\begin{{tabular}}{{|{'|'.join(columns)}|}}" + body + r"\end{tabular}\par\medskip"
    if block.style == "ruled":
        body = "\n".join([r"\hline", rows[0], r"\hline", *rows[1:], r"\hline"])
        return rf"\begin{{center}}\begin{{tabular}}{{{''.join(columns)}}}{body}\end{{tabular}}\end{{center}}"
    return (rf"\par\medskip\noindent\begin{{tabular}}{{{''.join(columns)}}}" + "\n".join(rows)
            + r"\end{tabular}\par\medskip")


def drop(parts):
    text = spans(parts)
    return (r"\noindent\hangindent=2.6em\hangafter=-2\relax\llap{\smash{\raise-1.15\baselineskip\hbox to 2.6em{"
            rf"\fontsize{{30}}{{30}}\selectfont {text[0]}\hss}}}}}}{text[1:]}" + "\n\n")


def block_source(block, options):
    if block.kind == "title":
        title = rf"{{\LARGE\bfseries {spans(block.spans)}\par}}\bigskip"
        if options.get("columns", 1) == 2:
            return rf"\twocolumn[{title}]"
        return title
    if block.kind == "heading":
        return "\\" + "sub" * (block.level - 1) + rf"section*{{{spans(block.spans)}}}"
    if block.kind == "paragraph":
        return drop(block.spans) if block.drop and options.get("drop") else spans(block.spans) + "\n"
    if block.kind == "items":
        return items(block.rows)
    if block.kind == "table":
        return table(block, options)
    if block.kind == "contents":
        lines = [rf"\section*{{{spans(block.spans)}}}"]
        lines += [rf"\noindent {escape(title)} \dotfill\ {page}\par" for title, page in block.rows]
        return "\n".join(lines)
    if block.kind == "field":
        return rf"\noindent {escape(block.rows[0])} \quad {escape(block.rows[1])}\par"
    if block.kind == "code":
        return "\\begin{verbatim}\n" + "\n".join(block.rows) + "\n\\end{verbatim}"
    raise ValueError(block.kind)


def slides(document):
    lines = [r"\documentclass{beamer}\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\usepackage{lmodern}",
             r"\setbeamertemplate{navigation symbols}{}\begin{document}"]
    is_open = False
    for block in document.blocks:
        if block.kind in ("title", "heading"):
            lines += [r"\end{frame}"] * is_open + [rf"\begin{{frame}}\frametitle{{{spans(block.spans)}}}"]
            is_open = True
        else:
            lines.append(block_source(block, {}))
    return "\n".join([*lines, r"\end{frame}\end{document}"])


def source(document, options):
    if options.get("slides"):
        return slides(document)
    lines = [rf"\documentclass[{options.get('size', 10)}pt,a4paper]{{article}}",
             rf"\usepackage[margin={options.get('margin', '2.4cm')}]{{geometry}}\usepackage{{longtable}}"]
    if options.get("engine", "pdflatex") == "pdflatex":
        lines.append(r"\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}")
        lines.append(rf"\usepackage{{{options.get('font', 'lmodern')}}}\usepackage{{textcomp}}")
        lines.append(r"\DeclareUnicodeCharacter{20AC}{\texteuro}")
    else:
        lines.append(rf"\usepackage{{fontspec}}\setmainfont{{{options.get('font', 'DejaVu Serif')}}}")
        lines.append(rf"\setmonofont[Scale=0.85]{{DejaVu Sans Mono}}")
    if options.get("microtype"):
        lines.append(r"\usepackage{microtype}")
    lines.append(rf"\setlength{{\columnsep}}{{{options.get('gutter', 10)}pt}}")
    if options.get("header"):
        lines.append(r"\pagestyle{headings}\markright{" + escape(document.title) + "}")
    body = "\n".join(block_source(block, options) for block in document.blocks)
    return "\n".join([*lines, r"\begin{document}", body, r"\end{document}"])


def make(document, options, path):
    file = path.with_suffix(".tex")
    file.write_text(source(document, options), encoding="utf-8")
    command = [options.get("engine", "pdflatex"), "-interaction=nonstopmode", file.name]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1900000000", "FORCE_SOURCE_DATE": "1"}
    for _ in range(2):
        done = subprocess.run(command, cwd=path.parent, env=environment, capture_output=True)
    if not path.exists():
        raise RuntimeError(done.stdout.decode(errors="replace")[-2000:])
