#!/usr/bin/env python3
"""report.html read by an XML parser: well-formed, complete, and nothing that it loads.

    page_test.py WRITE_REPORT FOLDER
"""
import html.entities
import json
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

SECTIONS = ("methods", "single-point", "smoothness", "nve", "relax", "invariance", "layers", "colophon")
WITHOUT_PLOT = ("methods", "colophon")
MARKS = ("path", "rect", "circle")
METHODS = ("fp32", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "bf16x9", "fp16x3")


def parse(text):
    """The page as a tree. XML has to be told HTML's names of characters."""
    entities = "".join(f'<!ENTITY {name} "&#{code};">' for name, code in html.entities.name2codepoint.items()
                       if name not in ("lt", "gt", "amp", "quot"))
    assert text.startswith("<!DOCTYPE html>")
    return ElementTree.fromstring(text.replace("<!DOCTYPE html>", f"<!DOCTYPE html [{entities}]>", 1))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        writer, folder = sys.argv[1:3]
        subprocess.run([writer, folder], check=True, stdout=subprocess.DEVNULL)
        cls.text = (pathlib.Path(folder) / "report.html").read_text(encoding="ascii")
        cls.json = json.loads((pathlib.Path(folder) / "report.json").read_text())
        cls.tree = parse(cls.text)
        cls.sections = {s.get("id"): s for s in cls.tree.iter("section")}

    def test_has_every_section(self):
        self.assertEqual(tuple(self.sections), SECTIONS)
        for name, section in self.sections.items():
            self.assertTrue(section.find("h2").text)
            self.assertIsNotNone(section.find("p[@class='intro']"), name)

    def test_plots_have_marks(self):
        for name, section in self.sections.items():
            charts = section.findall(".//svg[@class='chart']")
            self.assertEqual(bool(charts), name not in WITHOUT_PLOT, name)
            for chart in charts:
                self.assertEqual(chart.get("role"), "img")
                self.assertTrue(chart.get("aria-label"))
                data = [e for e in chart.iter() if e.tag in MARKS
                        and re.search(r"\bm-", e.get("class", "")) and "level" not in e.get("class")]
                self.assertGreaterEqual(len(data), len(METHODS), chart.get("aria-label"))
                titles = " ".join(t.text for t in chart.iter("title"))
                for method in METHODS if name != "layers" else ("tf32", "bf16x3", "fp16x3"):
                    self.assertIn(method, titles)

    def test_coordinates_are_in_the_plot(self):
        for chart in self.tree.findall(".//svg[@class='chart']"):
            width, height = map(float, chart.get("viewBox").split()[2:])
            for path in chart.iter("path"):
                for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d")):
                    self.assertTrue(0 <= float(x) <= width and 0 <= float(y) <= height, path.get("d")[:80])
            for text in chart.iter("text"):
                self.assertTrue(0 <= float(text.get("x")) <= width and 0 <= float(text.get("y")) <= height)
        self.assertIsNone(re.search(r"[^a-z]nan[^a-z]", self.text))

    def test_ticks_do_not_overlap(self):
        for chart in self.tree.findall(".//svg[@class='chart']"):
            ticks = [t for t in chart.iter("text") if t.get("dy") == "1.25em" and "".join(t.itertext())]
            # Of the type on a phone, digits are about 11 wide.
            ends = [(float(t.get("x")), 5.5 * len("".join(t.itertext()))) for t in ticks]
            for (x, half), (next_x, next_half) in zip(ends, ends[1:]):
                self.assertLess(x + half, next_x - next_half, chart.get("aria-label"))

    def test_rows_of_tables_are_complete(self):
        for table in self.tree.iter("table"):
            columns = len(table.findall("thead/tr/th"))
            for row in table.findall("tbody/tr"):
                self.assertEqual(sum(int(cell.get("colspan", 1)) for cell in row), columns)

    def test_says_what_failed(self):
        summary = "".join(self.sections["methods"].itertext())
        for verdict in self.json["verdicts"]:
            for word in (verdict["arithmetic"], verdict["standing"].upper(), *verdict["reasons"]):
                self.assertIn(word, summary)
        failure = self.json["single_point"]["errors"][-1]["failure"]
        for name in ("single-point", "smoothness", "nve", "invariance"):
            self.assertIn(failure, "".join(self.sections[name].itertext()))
        self.assertIn("stalled", "".join(self.sections["relax"].itertext()))

    def test_names_are_text(self):
        self.assertEqual(list(self.tree.iter("b")), [])
        title = self.tree.find("head/title").text
        self.assertIn('a<b>&"c".xyz', title)
        self.assertIn("'a<b>&\"c\".xyz'", self.sections["colophon"].find("pre/code").text)

    def test_loads_nothing(self):
        self.assertNotRegex(self.text, r"https?://|//[a-z]|@import|url\(|<script|javascript:")
        for element in self.tree.iter():
            for name in ("src", "srcset", "data", "xlink:href"):
                self.assertIsNone(element.get(name))
            self.assertRegex(element.get("href", "#"), r"^(#|data:,$)")
            self.assertFalse([a for a in element.keys() if a.startswith("on")])
        anchors = {a.get("href")[1:] for a in self.tree.iter("a")}
        self.assertEqual(anchors, set(SECTIONS))

    def test_is_small(self):
        self.assertLess(len(self.text), 300_000)

    def test_colours_are_all_defined(self):
        style = self.tree.find("head/style").text
        light, dark = style.split(":root {")[1:3]
        used = set(re.findall(r"var\((--[a-z0-9-]+)[,)]", style))
        for scheme in (light, dark):
            defined = set(re.findall(r"(--[a-z0-9-]+):", scheme.split("}")[0]))
            self.assertEqual(used - defined - {"--c"}, set())
            self.assertGreaterEqual(len(defined), 30)
        methods = {c for e in self.tree.iter() for c in e.get("class", "").split() if c.startswith("m-")}
        self.assertEqual(methods - set(re.findall(r"\.(m-[a-z0-9]+) \{ --c: var", style)), set())
        for chart in self.tree.findall(".//section[@id='single-point']//svg[@class='chart']"):
            self.assertEqual(methods & {f"m-{m}" for m in METHODS} - {c for e in chart.iter() for c in e.get("class", "").split()}, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
