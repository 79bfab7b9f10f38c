#!/usr/bin/env python3
"""scripts/gallery.py COMMIT FOLDER...: keeps of studies' full results (`trunkline study NAME --out`) what the gallery
shows, as studies/NAME/results.json. COMMIT is that of the program which has made them.

For `scripts/site`, `page` is the gallery: a picture for each figure that has claims, ours beside what is published, and
each claim's verdict."""

import json
import re
import sys
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from pictures import dots, lines

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = "trunkline-study-results/1"
VERDICTS = ("reproduced", "not reproduced", "cannot tell")
#: Where studies/gallery.md has what `page` makes.
PLACE = "<!-- scripts/site puts the results here -->\n"
#: The documents first: studies whose folders are named after them.
DOCUMENTS = ("alsultani2018", "lee2014", "rista2017", "wang2014", "yang2012")


def short(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")


def thin(study: dict[str, Any], commit: str) -> dict[str, Any]:
    """What the gallery shows of a `study.json`: figures with claims; curves where they are means over seeds."""
    figures = []
    for figure in study["figures"]:
        if not figure["findings"]:
            continue
        kept = {key: figure[key] for key in ("id", "title", "place", "label", "unit", "x", "seeds")}
        curves = figure["curves"] if figure["kind"] == "sweep" else []
        kept["curves"] = [
            {
                **{key: curve[key] for key in ("series", "assumption", "constant") if curve[key]},
                "x": [short(x, 9) for x in curve["x"]],
                "mean": [short(mean) for mean in curve["mean"]],
                "half": [short((high - low) / 2, 2) for low, high in zip(curve["low"], curve["high"], strict=True)],
            }
            for curve in curves
        ]
        values = ("series", "x", "value", "tolerance", "judged")
        kept["published"] = [{key: one[key] for key in values} for one in figure["published"]]
        kept["findings"] = [{key: one[key] for key in ("text", "verdict", "detail")} for one in figure["findings"]]
        figures.append(kept)
    head = {key: study[key] for key in ("name", "title", "source", "runs")}
    return {"schema": SCHEMA, "commit": commit, **head, "figures": figures}


def text(results: dict[str, Any]) -> str:
    """As a file: a line for each figure, so that a change of one is a change of a line."""
    head = json.dumps({**results, "figures": []}, ensure_ascii=False)[: -len("[]}")]
    rows = ",\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in results["figures"])
    return f"{head}[\n{rows}\n]}}\n"


def kept() -> list[dict[str, Any]]:
    """All committed results, the documents' first."""
    read = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("studies/*/results.json"))]
    return sorted(read, key=lambda results: results["name"] not in DOCUMENTS)


def counts(results: dict[str, Any]) -> Counter[str]:
    return Counter(finding["verdict"] for figure in results["figures"] for finding in figure["findings"])


def shown(figure: dict[str, Any]) -> str:
    """A figure as HTML, without an empty line: one would end it for Markdown."""
    unit = f", {figure['unit']}" if figure["unit"] else ""
    out = [f"<figure><figcaption><b>{escape(figure['title'])}</b> {escape(figure['place'])}</figcaption>"]
    if figure["curves"]:
        out.append(f"<p>{escape(figure['label'] + unit)}</p>")
        out.append((lines if figure["x"] else dots)(figure))
    else:
        out.append("<p>Over time, or point by point: <code>trunkline study</code> draws it.</p>")
    out.append("<ul>")
    for finding in figure["findings"]:
        verdict = finding["verdict"]
        out.append(
            f'<li class="{verdict.replace(" ", "-")}"><b>{verdict}</b> {escape(finding["text"])}'
            f"<small>{escape(finding['detail'])}</small></li>"
        )
    return "\n".join([*out, "</ul></figure>"])


def page(markdown: str) -> str:
    """studies/gallery.md with the results at their place."""
    assert markdown.count(PLACE) == 1, "studies/gallery.md does not say where the results go"
    studies = kept()
    out = ["| study | reproduced | not reproduced | cannot tell |", "|---|---|---|---|"]
    for results in studies:
        found = counts(results)
        told = " | ".join(str(found[verdict]) for verdict in VERDICTS)
        out.append(f"| [{results['title']}](#{results['name']}) | {told} |")
    for results in studies:
        name = results["name"]
        own = ""
        if (ROOT / f"studies/{name}/README.md").is_file():
            own = f"[why what is not reproduced is not]({name}/README.md), "
        out += [
            "",
            f"## {results['title']} {{#{name}}}",
            "",
            f"{results['source']}.",
            f"{results['runs']:,} runs at commit {results['commit']}; {own}`trunkline study {name}`.",
            "",
            '<div class="gallery">',
            *(shown(figure) for figure in results["figures"]),
            "</div>",
        ]
    return markdown.replace(PLACE, "\n".join(out) + "\n")


def style() -> str:
    """The gallery's style sheet, in the colours that runs' pages have."""
    palette = (ROOT / "report/src/palette.ts").read_text(encoding="utf-8")
    light, dark = (palette[palette.index(f"const {name}") :] for name in ("LIGHT", "DARK"))

    def colours(part: str) -> str:
        named = dict(re.findall(r"\b(good|bad|warn|recorded|line|muted): '(#\w{6})'", part.partition("\n};")[0]))
        series = re.findall(r"#\w{6}", part.partition("series: [")[2].partition("]")[0])
        named |= {f"series-{number}": colour for number, colour in enumerate(series)}
        return " ".join(f"--{name}: {colour};" for name, colour in named.items())

    sheet = (ROOT / "scripts/gallery.css").read_text(encoding="utf-8")
    return f":root {{ {colours(light)} }}\n.ayu, .coal, .navy {{ {colours(dark)} }}\n{sheet}"


def main() -> int:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for folder in sys.argv[2:]:
        study = json.loads((Path(folder) / "study.json").read_text(encoding="utf-8"))
        if study["quick"]:
            sys.exit(f"{folder} holds the short form of {study['name']}")
        path = ROOT / "studies" / study["name"] / "results.json"
        path.write_text(text(thin(study, sys.argv[1])), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.1f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
