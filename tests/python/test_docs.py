"""The blocks of Python in the documents run, one after the other, as somebody would type them.

What stands behind "python" in the first line of a block is a module that it needs, on a GPU.
"""

import importlib.util
import re

import pytest
from conftest import ROOT

BLOCK = re.compile(r"^```python[ ]*(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks_of(document):
    text = (ROOT / document).read_text()
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(2))
        yield match.group(1), "\n" * line + match.group(2)  # so that errors tell the line


def can_run(needed, device):
    return not needed or (device != "cpu" and importlib.util.find_spec(needed) is not None)


@pytest.mark.parametrize("document", ["README.md", "python/README.md", "docs/python.md"])
def test_blocks(document, tmp_path, monkeypatch, model_path, device):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/trine-mini.ckpt").symlink_to(model_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRINE_CACHE_DIR", str(tmp_path))
    blocks = list(blocks_of(document))
    assert blocks
    names = {}
    for needed, block in blocks:
        if can_run(needed, device):
            exec(compile(block, str(ROOT / document), "exec"), names)
