"""The tested page, opened in Chromium. It is made from the fixtures, a study that is simulated in seconds, and a
computed table.

The environment variable TRESS names the command, with tress-lab in the same folder; CHROMIUM names the browser.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# For a machine with other work.
LIMIT_MS = 600_000
TRESS = os.environ.get("TRESS", str(ROOT / "target/debug/tress"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder from which the report is made."""
    folder = tmp_path_factory.mktemp("report")
    shutil.copytree(HERE / "fixtures", folder, dirs_exist_ok=True)
    for study in [["pipo-riscv"], ["ccm-overlap", "--part", "table-1"]]:
        subprocess.run([TRESS, "study", *study, "--quick", "--out", folder], check=True, capture_output=True)
    made = subprocess.run([TRESS, "report", folder], check=True, capture_output=True, text=True)
    # One line for each unusable file, and nothing else.
    notes = sorted(line.split(": ")[2] for line in made.stderr.splitlines())
    assert notes == ["records/damaged.json", "records/foreign.json"], made.stderr
    return folder


@pytest.fixture(scope="session")
def kept(folder):
    """The sections by study and part, and the records by path, read from disk."""
    sections, records = {}, {}
    for path in sorted(folder.rglob("*.json")):
        try:
            document = json.loads(path.read_text())
        except json.JSONDecodeError:
            continue
        if "section" in document:
            sections[path.parent.name, path.stem] = document["section"]
        elif document["schema"] == 1:
            records[str(path.relative_to(folder))] = document
    return sections, records


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "no Chromium: tools/setup page installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, timeout=LIMIT_MS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def opener(browser, folder):
    """Opens the page in a new browser, and records its console messages, exceptions and requests."""

    def opened(width=1000, height=900, **options):
        options.setdefault("reduced_motion", "reduce")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(LIMIT_MS)
        page = context.new_page()
        url = (folder / "report.html").as_uri()
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on(
            "request",
            lambda request: request.url.startswith("data:")
            or request.url.split("#")[0] == url
            or page.complaints.append(request.url),
        )
        page.goto(url)
        return page

    return opened


def settle(page):
    """Waits until a scroll, a click or a new size has had its effect: the browser calls observers within two frames."""
    page.evaluate("""async () => {
      for (let frame = 0; frame < 4; frame++) await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    }""")


def close(page):
    complaints = page.complaints
    page.context.close()
    assert complaints == []


@pytest.fixture
def open_page(opener):
    """Opens the page. Recorded complaints fail the test."""
    pages = []

    def opened(**options):
        pages.append(opener(**options))
        return pages[-1]

    yield opened
    for page in pages:
        close(page)


@pytest.fixture
def page(open_page):
    return open_page()


@pytest.fixture(scope="module")
def seen(opener):
    """One page for all tests that do not change it."""
    page = opener()
    yield page
    close(page)
