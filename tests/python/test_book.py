"""docs/ is a book: every page is listed and linked, reads well in a terminal, and its commands run as they are pasted."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from listening import when_it_listens

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.name != "SUMMARY.md")
NAMES = [str(path.relative_to(DOCS)) for path in PAGES]
# What runs in order: fenced blocks, and set-up that readers need not see.
COMMANDS = re.compile(r"^(?:```sh|<!-- sh)\n(.*?)^(?:```|-->)$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"^<!-- needs: (.*) -->$", re.MULTILINE)
# Options of programs, as they print them, and tables are as wide as they are.
GENERATED = {"reference/options.md"}
# A measured figure of prose, and the comment above it in its section that names where it comes from (docs/contributing/testing.md).
FIGURE = re.compile(r"\d\.\d+(?: (?:to|and|or) \d+\.\d+)* times|\d %\s+of (?:its|the) roof|\d ns\b|\d GB/s")
SOURCE = re.compile(r"^(?=<!-- (?:record|run|measured): )", re.MULTILINE)


def prose(text: str) -> str:
    """The page without fenced blocks and comments."""
    return re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """What GitHub and mdBook make of headings."""
    heads = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_summary_lists_every_page() -> None:
    listed = re.findall(r"\]\(([^)]+)\)", (DOCS / "SUMMARY.md").read_text())
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_page(name: str) -> None:
    text = (DOCS / name).read_text()
    assert text.startswith("# ") and not re.search(r"^<!-- sh.", text, re.MULTILINE)
    assert len(re.findall(r"^# ", prose(text), re.MULTILINE)) == 1
    assert not re.search(r"\n\n    \S", prose(text)), "blocks are fenced"
    if name not in GENERATED:
        shown = re.sub(r"\]\([^)]*\)", "]", prose(text))
        assert [line for line in shown.splitlines() if len(line) > 100 and not line.lstrip().startswith(("|", "!["))] == []


@pytest.mark.parametrize("name", [*NAMES, "SUMMARY.md", "../README.md", "../SECURITY.md", "../CONTRIBUTING.md"])
def test_links(name: str) -> None:
    page = DOCS / name
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text())):
        path, _, anchor = target.partition("#")
        if path.startswith("https://"):
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        # A book has no files but its own.
        assert name.startswith("../") or not path or DOCS in file.parents, target
        assert not anchor or file.suffix != ".md" or anchor in anchors(file.read_text()), target


# A shallow clone lacks the commits that pages name.
SHALLOW = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, check=False, capture_output=True).stdout != b"false\n"


def recorded(file: str, rows: str) -> list[float]:
    """Rates in GB/s, shares of the roof in percent, and ratios, of the rows whose names match."""
    values = []
    for row in json.loads((ROOT / "bench/record" / file).read_text())["rows"]:
        if re.search(rows, row["name"]):
            values += [row.get("bytes_per_s", 0) / 1e9, 100 * (row.get("share") or 0)]
            values += [against["ratio"] for against in row["against"].values()]
    return values


@pytest.mark.parametrize("name", NAMES)
def test_figures_name_their_source(name: str) -> None:
    fenced = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    text = fenced.sub(lambda block: block[0].replace("\n#", "\n #"), (DOCS / name).read_text())
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        untagged, *parts = SOURCE.split(section)
        if not name.startswith(("papers/", "reference/formats/", "contributing/")):
            assert FIGURE.findall(prose(untagged)) == []
        for part in parts:
            kind, source, more = re.findall(r"^<!-- (\w+): (\S+?)(?:,? (.*))? -->", part)[0]
            if kind == "run":
                assert (ROOT / source).exists()
            elif kind == "measured":
                assert SHALLOW or subprocess.run(["git", "cat-file", "-e", source], cwd=ROOT, check=False).returncode == 0
                assert more, "the processor"
                assert re.search(r"\b(tress|tress-dataset|cargo|llvm-mca|python3?|make|tools/\w+|bench/\w+)[` ]", section), "the command"
            else:
                values = recorded(source, more)
                for figure in re.findall(r"(?<![\d.])(\d+\.\d+(?!\.?\d)|\d+(?= %))", prose(part)):
                    distance = min(abs(value - float(figure)) for value in values)
                    assert distance <= 0.501 * 10 ** -len(figure.partition(".")[2]), figure


def test_no_link_leads_to_a_place_of_ours() -> None:
    """Nobody has registered one, so its owner would be a stranger. A name of signatures is no link."""
    grep = ["git", "grep", "-InE", "https?://[a-z0-9./-]*tress", "--", ":!Cargo.toml", ":!bench/record"]
    found = subprocess.run(grep, cwd=ROOT, check=False, capture_output=True, text=True).stdout.splitlines()
    assert [line for line in found if "/schnorr-sha256" not in line] == []


def pages_with_commands() -> list[object]:
    """Names of pages, with a mark on those that make firmware runs."""
    texts = {name: (DOCS / name).read_text() for name in NAMES}
    marks = {name: [pytest.mark.cross] if NEEDS.search(text) else [] for name, text in texts.items()}
    return [pytest.param(name, marks=marks[name]) for name, text in texts.items() if COMMANDS.search(text)]


@pytest.mark.parametrize("name", pages_with_commands())
def test_commands_run_as_pasted(name: str, tmp_path: pathlib.Path) -> None:
    text = (DOCS / name).read_text()
    assert [program for program in " ".join(NEEDS.findall(text)).split() if not shutil.which(program)] == []
    programs = pathlib.Path(os.environ["TRESS"]).parent
    python = ROOT / "target/venv/bin"
    environment = {name: value for name, value in os.environ.items() if name in {"LANG", "TMPDIR", "TRESS_CPU"}} | {
        "PATH": f"{programs}:{python}:{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "TRESS_ROOT": str(ROOT),
    }
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    script = when_it_listens("\n".join(COMMANDS.findall(text)))
    done = subprocess.run(
        ["bash", "-eu", "-c", script],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def test_options_are_what_the_programs_print() -> None:
    printed = subprocess.run([ROOT / "tools/options"], check=True, capture_output=True, text=True).stdout
    assert (DOCS / "reference/options.md").read_text() == printed
