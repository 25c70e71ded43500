"""Every figure of the page is one of the files that it was made from."""

import json

import pytest

from conftest import settle
from figures import close, plain, same, shows

TABLE = """table => ({
  columns: [...table.tHead.rows[0].cells].map(head => (head.querySelector('button') ?? head).textContent.trim()),
  rows: [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => ({
    text: cell.textContent, value: cell.dataset.value, low: cell.dataset.low, high: cell.dataset.high}))),
})"""


def part(page, study, name):
    found = page.query_selector_all(f'main section[id*="-{study}-"][id$="-{name}"]')
    assert len(found) == 1, (study, name)
    return found[0]


def tables(section):
    return [table.evaluate(TABLE) for table in section.query_selector_all(":scope > .table table")]


def test_rows_of_sections(seen, kept):
    """Paper, model, simulated and measured each in a column of its own, empty where there is none."""
    checked = 0
    for (study, name), section in kept[0].items():
        if not section["rows"]:
            continue
        table = tables(part(seen, study, name))[0]
        assert len(table["rows"]) == len(section["rows"])
        for cells, row in zip(table["rows"], section["rows"]):
            shown = dict(zip(table["columns"], cells))
            assert shown["row"]["text"] == plain(row["what"])
            for kind in ["unit", "paper", "model", "simulated", "measured"]:
                value, cell = row[kind], shown.get(kind)
                if value in (None, ""):
                    assert cell is None or (cell["text"] == "" and cell["value"] is None)
                elif isinstance(value, str):
                    assert cell["text"] == value
                elif kind == "measured":
                    assert close(cell["value"], value["median"]) and close(cell["low"], value["low"])
                    assert close(cell["high"], value["high"]) and shows(cell["text"], value["median"])
                    low, high = cell["text"].split("(")[1].rstrip(")").split(" to ")
                    assert shows(low, value["low"]) and shows(high, value["high"])
                else:
                    assert close(cell["value"], value) and shows(cell["text"], value), (cell, value)
                checked += 1
    assert checked >= 100


def test_tables_of_sections(seen, kept):
    checked = 0
    for (study, name), section in kept[0].items():
        shown = tables(part(seen, study, name))[bool(section["rows"]):]
        assert len(shown) == len(section["tables"])
        for table, own in zip(shown, section["tables"]):
            used = [i for i in range(len(own["header"])) if i == 0 or any(row[i] for row in own["rows"])]
            assert table["columns"] == [plain(own["header"][i]) or "row" for i in used]
            assert [[cell["text"] for cell in row] for row in table["rows"]] == [
                [plain(row[i]) for i in used] for row in own["rows"]
            ]
            checked += len(own["rows"])
    assert checked > 10


def test_texts_and_verdicts(seen, kept):
    words = {"holds": "holds", "fails": "does not hold", "unclear": "unclear", "left-out": "left out",
             "misprint": "misprint", "not-reproduced": "not reproduced", "busy": "unclear: busy"}
    counts = dict.fromkeys(words.values(), 0)
    for (study, name), section in kept[0].items():
        shown = part(seen, study, name).query_selector_all(":scope > .verdicts .verdict")
        assert len(shown) == len(section["verdicts"])
        for item, verdict in zip(shown, section["verdicts"]):
            ((kind, claim),) = [item for item in verdict.items() if item[0] != "kind"]
            # A kind of a later version is none.
            kind = verdict.get("kind") if verdict.get("kind") in words else kind
            assert item.query_selector(".word").text_content() == words[kind]
            assert item.query_selector(".claim").text_content() == plain(claim)
            counts[words[kind]] += 1
    tiles = seen.query_selector_all(".counts li")
    one = {"hold": "holds", "do not hold": "does not hold", "misprints": "misprint"}
    shown = {tile.query_selector(".word").text_content(): int(tile.query_selector("b").text_content()) for tile in tiles}
    shown = {one.get(word, word): count for word, count in shown.items()}
    assert shown == counts and sum(counts.values()) > 10


def test_counts_have_no_decimals(seen):
    shown = seen.evaluate("""[...document.querySelectorAll('section[id$="-figures"] > .table tbody tr')]
      .filter(row => row.cells[0].textContent === 'e count').map(row => [...row.cells].map(cell => cell.textContent))""")
    assert shown == [["e count", "cycles", "", "64", "734,972", ""]]


def test_records(seen, kept):
    for path, document in kept[1].items():
        table = seen.query_selector(f'table[data-samples]:has(caption:text("{path}"))').evaluate(TABLE)
        assert len(table["rows"]) == len(document["rows"])
        for cells, row in zip(table["rows"], document["rows"]):
            shown = dict(zip(table["columns"], cells))
            assert [shown[name]["text"] for name in ("name", "direction", "work")] == [
                row["name"], row["direction"], row["workload"]]
            assert close(shown["message"]["value"], row["message_bytes"])
            for name, key, scale in [("rate", "bytes_per_s", 1e-9), ("runs/s", "per_s", 1.0),
                                     ("cycles/byte", "cycles_per_byte", 1.0), ("of the roof", "share", 100.0)]:
                if key in row:
                    assert close(shown[name]["value"], row[key]) and shows(shown[name]["text"], row[key], scale)
                else:
                    assert shown[name]["text"] == ""
            if "rate_low" in row:
                assert close(shown["rate"]["low"], row["rate_low"]) and close(shown["rate"]["high"], row["rate_high"])
            assert shown["roof"]["text"] == row.get("bound", "")
            for peer in ["openssl", "ring"]:
                cell, against = shown[f"ratio to {peer}"], row["against"].get(peer)
                if against is None:
                    assert cell["text"] == ""
                    continue
                assert close(cell["value"], against["ratio"]) and shows(cell["text"], against["ratio"])
                assert close(cell["low"], against["ratio_low"]) and close(cell["high"], against["ratio_high"])


def test_samples_on_demand(seen, kept):
    document = kept[1]["records/before.json"]
    table = seen.query_selector('table[data-samples]:has(caption:text("before"))')
    button = table.query_selector("tbody tr:first-child .act button")
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    strips = table.query_selector_all("tr.strip figure")
    row = document["rows"][0]
    assert len(strips) == 1 + len(row["against"])
    for strip, samples in zip(strips, [row["samples"], *(against["pairs"] for against in row["against"].values())]):
        assert len(strip.query_selector_all("circle")) == len(samples)
    caption = strips[0].query_selector("figcaption").text_content()
    assert shows(caption.split("median ")[1], row["bytes_per_s"], 1e-9)
    # From top to bottom as from the most to the least.
    places = [float(dot.get_attribute("cy")) for dot in strips[0].query_selector_all("circle")]
    assert places.index(min(places)) == row["samples"].index(max(row["samples"]))
    button.click()
    assert not table.query_selector("tr.strip")


def test_what_changed(seen):
    """By hand: of the three rows one is 10 % slower; its samples differ by 0.2 % at most."""
    text = seen.text_content("#changes")
    assert "3 rows can be compared; 0 are faster, 1 slower, 2 show no change" in text
    row = seen.query_selector("#changes table").evaluate(TABLE)["rows"]
    assert len(row) == 1 and row[0][0]["text"].startswith("aes-128-ctr encrypt") and row[0][1]["text"] == "slower"
    assert abs(float(row[0][2]["value"]) - 0.9) < 1e-6


def pictures(kept):
    return [picture for section in kept[0].values() for picture in section["pictures"]]


def test_pictures_are_drawn_from_the_figures(seen, kept):
    figures = seen.query_selector_all("figure.chart")
    by_title = {figure.query_selector("figcaption").text_content(): figure for figure in figures}
    for picture in pictures(kept):
        ((kind, drawing),) = picture["drawing"].items()
        figure = by_title[plain(drawing["title"])]
        figure.scroll_into_view_if_needed()
        settle(seen)
        assert same(figure.evaluate("figure => figure.chart.drawing"), drawing)
        # Every canvas has something on it, axes and at least one of the colours of figures.
        assert figure.evaluate(
            """figure => {
              const canvas = figure.querySelector('canvas');
              const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
              const seen = new Set();
              for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 200) seen.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
              const wanted = css('--series-1');
              const hex = [1, 3, 5].map(place => parseInt(wanted.slice(place, place + 2), 16)).join(',');
              return seen.has(hex);
            }""".replace("css('--series-1')", "getComputedStyle(document.documentElement).getPropertyValue('--series-1').trim()")
        ), drawing["title"]
        if kind == "chart":
            drawn = figure.evaluate("figure => figure.chart.u.data")
            for line, ys in zip(drawing["lines"], drawn[1:]):
                points = [[x, y] for x, y in zip(drawn[0], ys) if y is not None]
                assert same(points, sorted(line["points"]))
    # Those of records are made from their ratios.
    for document in kept[1].values():
        for row in document["rows"]:
            for peer, against in row["against"].items():
                shown = [
                    group["values"][drawing["series"].index(peer)]
                    for drawing in (figure.evaluate("figure => figure.chart.drawing") for figure in figures)
                    if peer in drawing.get("series", [])
                    for group in drawing["groups"]
                    if group["name"].startswith(f"{row['name']} {row['direction']}")
                ]
                wanted = {"middle": against["ratio"], "low": against["ratio_low"], "high": against["ratio_high"]}
                assert any(same(value, wanted) for value in shown)


@pytest.mark.parametrize("title, expected", [
    ("Curves on two logarithmic axes", lambda drawing: [
        [line["name"], *point] for line in drawing["lines"] for point in line["points"]]),
    ("Bars, cycles a byte", lambda drawing: [[group["name"], *group["values"]] for group in drawing["groups"]]),
    ("Who does what when", lambda drawing: [
        [track["name"], span["name"], span["from_s"], span["to_s"]]
        for track in drawing["tracks"] for span in track["spans"]]),
    ("Ratios with intervals", lambda drawing: [
        [group["name"], *sum(([v["middle"], v["low"], v["high"]] if v else [None] * 3 for v in group["values"]), [])]
        for group in drawing["groups"]]),
])
def test_pictures_as_tables(seen, kept, title, expected):
    (drawing,) = [d for p in pictures(kept) for d in p["drawing"].values() if d["title"] == title]
    figure = seen.query_selector(f'figure.chart:has(figcaption:text-is("{title}"))')
    figure.query_selector("details.figures summary").click()
    settle(seen)
    rows = [[cell["text"] for cell in row] for row in figure.query_selector("table").evaluate(TABLE)["rows"]]
    wanted = expected(drawing)
    assert len(rows) == len(wanted)
    for row, values in zip(rows, wanted):
        for text, value in zip(row, values, strict=True):
            if isinstance(value, str):
                assert text == value
            else:
                assert text == "" if value is None else close(text, value)


def test_data_of_the_page(seen, kept):
    """The page carries all of it; raw samples to six digits."""
    data = json.loads(seen.text_content("#data"))
    sections = {(study["name"], part["name"]): part["section"] for study in data["studies"] for part in study["parts"]}
    for key, section in kept[0].items():
        assert same(sections[key]["rows"], section["rows"]) and same(sections[key]["pictures"], section["pictures"])
    for record in data["records"]:
        document = kept[1][record["path"]]
        for row, original in zip(record["document"]["rows"], document["rows"], strict=True):
            assert all(abs(a / b - 1) < 1e-5 for a, b in zip(row["samples"], original["samples"], strict=True))
