"""Every figure of the page comes from the files that it was made from."""

import json

import pytest

from conftest import settle
from figures import close, plain, shows

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
    """Paper, model, simulated and measured figures have separate columns, with empty cells for missing figures."""
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
    words = {"holds": "holds", "fails": "we were wrong", "ours": "as expected", "unclear": "unclear", "left-out": "left out",
             "misprint": "misprint", "not-reproduced": "not reproduced", "busy": "unclear: busy"}
    counts = dict.fromkeys(words.values(), 0)
    for (study, name), section in kept[0].items():
        shown = part(seen, study, name).query_selector_all(":scope > .verdicts .verdict")
        assert len(shown) == len(section["verdicts"])
        for item, verdict in zip(shown, section["verdicts"]):
            ((kind, claim),) = [item for item in verdict.items() if item[0] != "kind"]
            # A kind that this version does not know is ignored.
            kind = verdict.get("kind") if verdict.get("kind") in words else kind
            assert item.query_selector(".word").text_content() == words[kind]
            assert item.query_selector(".claim").text_content() == plain(claim)
            counts[words[kind]] += 1
    tiles = seen.query_selector_all(".counts li")
    one = {"hold": "holds", "misprints": "misprint"}
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
    # The largest sample is at the top.
    places = [float(dot.get_attribute("cy")) for dot in strips[0].query_selector_all("circle")]
    assert places.index(min(places)) == row["samples"].index(max(row["samples"]))
    button.click()
    assert not table.query_selector("tr.strip")


def test_what_changed(seen):
    """By hand: one of the three rows is 10 % slower, and its samples differ by at most 0.2 %."""
    text = seen.text_content("#changes")
    assert "3 rows can be compared; 0 are faster, 1 slower, 2 show no change" in text
    row = seen.query_selector("#changes table").evaluate(TABLE)["rows"]
    assert len(row) == 1 and row[0][0]["text"].startswith("aes-128-ctr encrypt") and row[0][1]["text"] == "slower"
    assert abs(float(row[0][2]["value"]) - 0.9) < 1e-6


def pictures(kept):
    return [picture for section in kept[0].values() for picture in section["pictures"]]


# The marks with a text in a picture, row by row, and their places in the picture's units.
MARKS = """figure => [...figure.querySelectorAll('.plot .row')].map(row => [...row.querySelectorAll('title')].map(title => {
  const mark = title.parentNode;
  const { x, y, width, height } = mark.getBBox();
  const dot = mark.querySelector('circle');
  return { text: title.textContent, x, width, end: x + width, middle: dot ? Number(dot.getAttribute('cx')) : x + width / 2,
           height: -(y + height / 2) };
})).filter(row => row.length > 0)"""


def in_order(values, places):
    """Whether places, in hundredths of a pixel, are in the order of their values."""
    pairs = sorted(zip(values, places))
    return all(one[1] <= other[1] + 0.11 for one, other in zip(pairs, pairs[1:]))


def is_inside(chart, point):
    return all(axis["from"] <= value <= axis["to"] for axis, value in zip((chart["x"], chart["y"]), point))


def check_chart(chart, rows):
    """A row for each line with points inside the chart, and one for marks."""
    wanted = []
    for place, line in enumerate(chart["lines"], 1):
        name = line["name"] or (f"line {place}" if len(chart["lines"]) > 1 else chart["y"]["name"])
        wanted.append([(name, point) for point in line["points"] if is_inside(chart, point)])
    wanted = [line for line in wanted if line]
    for row, line in zip(rows, wanted):
        assert len(row) == len(line)
        for mark, (name, (x, y)) in zip(row, line):
            assert mark["text"].startswith(name + ": ")
            shown_y, shown_x = mark["text"].removeprefix(name + ": ").split(" at ")
            assert shows(shown_y, y) and shows(shown_x, x), mark
    points = [point for line in wanted for _, point in line]
    marks = [mark for row in rows[:len(wanted)] for mark in row]
    assert in_order([x for x, _ in points], [mark["middle"] for mark in marks])
    assert in_order([y for _, y in points], [mark["height"] for mark in marks])
    assert [mark["text"] for row in rows[len(wanted):] for mark in row] == [mark["name"] for mark in chart["marks"]]


def check_bars(bars, rows):
    wanted = [[(f"{group['name']}, {series}: ", value) for series, value in zip(bars["series"], group["values"]) if value]
              for group in bars["groups"]]
    wanted = [group for group in wanted if group]
    for row, group in zip(rows, wanted, strict=True):
        for mark, (name, value) in zip(row, group, strict=True):
            assert mark["text"].startswith(name) and shows(mark["text"].removeprefix(name), value)
    values, marks = [value for group in wanted for _, value in group], [mark for row in rows for mark in row]
    assert in_order(values, [mark["width"] for mark in marks])
    assert all(abs(mark["width"] / value * max(values) - max(mark["width"] for mark in marks)) < 0.06 * max(values) / value
               for mark, value in zip(marks, values))


def check_intervals(intervals, rows):
    wanted = [[(f"{group['name']}, {series}: ", value) for series, value in zip(intervals["series"], group["values"]) if value]
              for group in intervals["groups"]]
    for row, group in zip(rows, wanted, strict=True):
        for mark, (name, value) in zip(row, group, strict=True):
            assert mark["text"].startswith(name)
            middle, ends = mark["text"].removeprefix(name).rstrip(")").split(" (")
            low, high = ends.split(" to ")
            assert shows(middle, value["middle"]) and shows(low, value["low"]) and shows(high, value["high"])
    values, marks = [value for group in wanted for _, value in group], [mark for row in rows for mark in row]
    assert in_order([value["middle"] for value in values], [mark["middle"] for mark in marks])


def check_timeline(timeline, rows):
    spans = [span for track in timeline["tracks"] for span in track["spans"]]
    first, last = min(span["from_s"] for span in spans), max(span["to_s"] for span in spans)
    marks = [mark for row in rows for mark in row]
    names = [(track["name"], span) for track in timeline["tracks"] for span in track["spans"]]
    for mark, (name, span) in zip(marks, names, strict=True):
        start = f"{name}: {span['name']}, "
        assert mark["text"].startswith(start)
        begin, rest = mark["text"].removeprefix(start).split(" to ")
        end, unit, length, _ = rest.replace("(", "").split(" ")
        scale = {"s": 1, "ms": 1e3, "µs": 1e6, "ns": 1e9}[unit]
        for text, value in [(begin, span["from_s"] - first), (end, span["to_s"] - first), (length, span["to_s"] - span["from_s"])]:
            assert shows(text, value, scale)
        pixels = (max(mark["end"] for mark in marks) - min(mark["x"] for mark in marks)) / (last - first)
        assert abs(mark["x"] - min(mark["x"] for mark in marks) - (span["from_s"] - first) * pixels) < 0.5


CHECKS = {"chart": check_chart, "bars": check_bars, "intervals": check_intervals, "timeline": check_timeline}


def test_pictures_are_drawn_from_the_figures(seen, kept):
    """Every figure is in the text of a mark, and the places of marks match their figures."""
    figures = seen.query_selector_all("figure.chart")
    by_title = {figure.query_selector("figcaption").text_content(): figure for figure in figures}
    kinds = set()
    for picture in pictures(kept):
        ((kind, drawing),) = picture["drawing"].items()
        CHECKS[kind](drawing, by_title[plain(drawing["title"])].evaluate(MARKS))
        kinds.add(kind)
    assert kinds == CHECKS.keys()
    # Pictures of records are drawn from ratios.
    texts = [mark["text"] for figure in figures for row in figure.evaluate(MARKS) for mark in row]
    for document in kept[1].values():
        for row in document["rows"]:
            for peer, against in row["against"].items():
                found = [text.split(f", {peer}: ")[1] for text in texts
                         if text.startswith(f"{row['name']} {row['direction']}") and f", {peer}: " in text]
                assert any(shows(text, against["ratio"]) and shows(text.split("(")[1], against["ratio_low"])
                           and shows(text.split(" to ")[1], against["ratio_high"]) for text in found), (row["name"], peer)


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
    """The page contains the records, with samples rounded to six digits."""
    for record in json.loads(seen.text_content("#data")):
        document = kept[1][record["path"]]
        for row, original in zip(record["document"]["rows"], document["rows"], strict=True):
            assert all(abs(a / b - 1) < 1e-5 for a, b in zip(row["samples"], original["samples"], strict=True))
