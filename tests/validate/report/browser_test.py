#!/usr/bin/env python3
"""report.html in headless Chromium, in light and dark, as wide as a desk and as a phone.

    browser_test.py WRITE_REPORT FOLDER

Leaves the pictures light.png and dark.png in FOLDER. Exits with 77 where there is no Chromium.
"""
import html
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SCHEMES = {"light": 1, "dark": 0}  # as blink::mojom::PreferredColorScheme numbers them
WIDTHS = {"desk": 1200, "phone": 390}
HEIGHT, GAP = 2000, 20

# What a page tells the one around it. A browser without screen is no narrower than 500 pixels, so
# the phone is a frame.
PROBE = """<script>
addEventListener("load", () => {
  const box = e => e.getBoundingClientRect(), shown = e => box(e).width > 0 && box(e).height > 0;
  const charts = [...document.querySelectorAll("svg.chart")].map(svg => {
    const texts = [...svg.querySelectorAll("text")].filter(shown), over = [];
    texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
      const p = box(a), q = box(b);
      const x = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (x > 1 && y > 0.4 * Math.min(p.height, q.height)) over.push(a.textContent + " | " + b.textContent);
    }));
    const outside = texts.filter(t => box(t).left < box(svg).left - 1 || box(t).right > box(svg).right + 1);
    const marks = [...svg.querySelectorAll(".line, .dot, .bar")];
    return {label: svg.getAttribute("aria-label"), marks: marks.filter(shown).length,
      type: Math.min(...texts.map(t => box(t).height)), over, outside: outside.map(t => t.textContent),
      invisible: marks.filter(m => ["fill", "stroke"].every(p => ["none", getComputedStyle(document.body).backgroundColor]
        .includes(getComputedStyle(m)[p]))).length};
  });
  parent.postMessage({width: innerWidth, page: document.documentElement.scrollWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches, charts,
    sections: [...document.querySelectorAll("section")].filter(shown).length}, "*");
});
</script>"""
OUTER = """<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body style="margin:0;display:flex;gap:{gap}px">
<script>const got = []; addEventListener("message", e => {{ got.push(e.data);
  if (got.length === {count}) document.querySelector("pre").textContent = JSON.stringify(got); }});</script>
{frames}<pre style="display:none"></pre></body></html>"""


def find_browser():
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def rows_of(png, count):
    """The first rows of a PNG as browsers write it: 8 bits, RGB or RGBA, not interlaced."""
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        at += 12 + size
        if kind == b"IHDR":
            width, _, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8 and interlaced == 0
        elif kind == b"IDAT":
            data += body
    data = zlib.decompress(data)
    stride = width * channels
    before = bytearray(stride)
    for y in range(count):
        method = data[y * (stride + 1)]
        row = bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride) if method else ():
            left = row[i - channels] if i >= channels else 0
            corner = before[i - channels] if i >= channels else 0
            if method == 4:  # Paeth's predictor
                by = left + before[i] - corner
                nearest = min((abs(by - left), 0, left), (abs(by - before[i]), 1, before[i]), (abs(by - corner), 2, corner))
                row[i] = row[i] + nearest[2] & 255
            else:
                row[i] = row[i] + (left, before[i], (left + before[i]) // 2)[method - 1] & 255
        before = row
        yield [row[i:i + 3] for i in range(0, stride, channels)]


def luminance(pixels):
    return sum(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in pixels) / len(pixels)


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        writer, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
        subprocess.run([writer, str(folder)], check=True, stdout=subprocess.DEVNULL)
        page = (folder / "report.html").read_text()
        assert page.count("</body>") == 1
        (folder / "probed.html").write_text(page.replace("</body>", PROBE + "</body>"))
        frames = "".join(f'<iframe src="probed.html" style="border:0;flex:none;width:{w}px;height:{HEIGHT}px"></iframe>'
                         for w in WIDTHS.values())
        (folder / "frames.html").write_text(OUTER.format(gap=GAP, count=len(WIDTHS), frames=frames))
        cls.probes, cls.log, cls.pictures = {}, {}, {}
        with tempfile.TemporaryDirectory() as profiles:
            runs = {scheme: cls.start(folder, scheme, profiles) for scheme in SCHEMES}
            for scheme, run in runs.items():
                dom, cls.log[scheme] = run.communicate(timeout=100)
                found = re.search(r"<pre[^>]*>(.+?)</pre>", dom)
                assert found, f"the page said nothing:\n{dom[-500:]}\n{cls.log[scheme][-2000:]}"
                cls.probes[scheme] = json.loads(html.unescape(found.group(1)))
                cls.pictures[scheme] = (folder / f"{scheme}.png").read_bytes()

    @staticmethod
    def start(folder, scheme, profiles):
        width = sum(WIDTHS.values()) + GAP
        return subprocess.Popen(
            [find_browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--hide-scrollbars",
             f"--user-data-dir={profiles}/{scheme}", "--enable-logging=stderr", "--v=0",
             f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", f"--window-size={width},{HEIGHT}", "--virtual-time-budget=5000",
             f"--screenshot={folder}/{scheme}.png", "--dump-dom", f"file://{folder}/frames.html"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def each(self):
        for scheme, probes in self.probes.items():
            self.assertEqual(sorted(p["width"] for p in probes), sorted(WIDTHS.values()))
            yield from ((scheme, probe) for probe in probes)

    def test_says_nothing_on_the_console(self):
        for scheme, log in self.log.items():
            self.assertEqual([line for line in log.splitlines() if "CONSOLE" in line], [], scheme)

    def test_fits_its_width(self):
        for _, probe in self.each():
            self.assertLessEqual(probe["page"], probe["width"])
            self.assertEqual(probe["sections"], 8)

    def test_plots_are_drawn(self):
        for _, probe in self.each():
            self.assertEqual(len(probe["charts"]), 8)
            for chart in probe["charts"]:
                self.assertGreaterEqual(chart["marks"], 8, chart["label"])
                self.assertEqual(chart["invisible"], 0, chart["label"])

    def test_labels_can_be_read(self):
        for _, probe in self.each():
            for chart in probe["charts"]:
                self.assertEqual(chart["over"] + chart["outside"], [], f"{probe['width']}: {chart['label']}")
                self.assertGreater(chart["type"], 9, chart["label"])

    def test_follows_the_scheme(self):
        for scheme, probe in self.each():
            self.assertEqual(probe["dark"], scheme == "dark")
        light, dark = ({w: [] for w in WIDTHS} for _ in SCHEMES)
        for scheme, seen in (("light", light), ("dark", dark)):
            for row in rows_of(self.pictures[scheme], 240):
                seen["desk"] += row[:WIDTHS["desk"]:8]
                seen["phone"] += row[-WIDTHS["phone"]::8]
        for name in WIDTHS:
            self.assertGreater(luminance(light[name]), 200)
            self.assertLess(luminance(dark[name]), 60)


if __name__ == "__main__":
    if not find_browser():
        print("skipped: no Chromium here (Debian's name: chromium)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
