"""Behaviour of the page: it takes little work and loads nothing else; it works by mouse and keyboard, at every width, light and dark,
in print, without scripts, and with a screen reader."""

import csv
import importlib.resources
import io

import pytest

from conftest import settle

AXE = importlib.resources.files("axe_playwright_python") / "axe.min.js"
CURVES = 'figure.chart:has(figcaption:text-is("Curves on two logarithmic axes"))'


def test_size_and_time(open_page, folder):
    assert (folder / "report.html").stat().st_size < 3_000_000
    page = open_page()
    session = page.context.new_cdp_session(page)
    # Processor time of the page's thread: a clock would also count other programs. The machine may be twenty times slower than usual.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    assert 0 < metrics["TaskDuration"] < 20, metrics


def test_texts_are_inert(page, folder):
    """Content of files is only text, in the page and in its data."""
    assert page.evaluate("window.broken") is None
    text = (folder / "report.html").read_text()
    assert "<script>window" not in text and "<img src=x" not in text and "<b>processor" not in text
    assert "<script>window.broken = true</script>" in page.text_content("#content")
    assert "Imagined <b>processor</b> & co." in page.text_content(".lead")


def test_policy_lets_nothing_in(page):
    for attempt in [
        "() => fetch('https://example.org/').then(() => true, () => false)",
        "() => new Promise(done => { const image = new Image(); image.onload = () => done(true);"
        " image.onerror = () => done(false); image.src = 'https://example.org/x.png'; })",
        "() => { const script = document.createElement('script'); script.textContent = 'window.broken = true';"
        " document.body.append(script); return window.broken === true; }",
    ]:
        assert page.evaluate(attempt) is False
    # The browser reports the violations on the console, as expected here.
    assert page.complaints
    page.complaints.clear()


@pytest.mark.parametrize("width", [400, 1000, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_widths(open_page, width, scheme):
    page = open_page(width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for figure in page.query_selector_all("figure.chart"):
        figure.scroll_into_view_if_needed()
        assert figure.evaluate("figure => figure.scrollWidth <= figure.clientWidth + 1")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1000, 1400])
def test_links_of_the_contents(open_page, width):
    """Each link scrolls its heading to 12 pixels below the top bar, within 8, or to the end of the page, on a newly opened page."""
    page = open_page(width=width, reduced_motion="no-preference")
    url = page.url
    for number in range(len(page.query_selector_all("nav a"))):
        page.goto(url)
        page.evaluate("document.querySelector('details.contents').open = true")
        page.query_selector_all("nav a")[number].click()
        place = "[document.querySelector(location.hash).getBoundingClientRect().top, scrollY]"
        before, now = None, page.evaluate(place)
        while before != now:
            settle(page)
            before, now = now, page.evaluate(place)
        is_end = page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 2")
        assert 56 <= now[0] <= 72 or is_end and 0 <= now[0] <= 900, (page.evaluate("location.hash"), now)


def test_no_marks_of_markdown(page):
    """Headings, captions, names and texts show no Markdown marks outside code."""
    texts = """() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found = [];
      while (walker.nextNode()) {
        const { parentElement, textContent } = walker.currentNode;
        if (!parentElement.closest('code, script, style, pre')) found.push(textContent);
      }
      const named = [...document.querySelectorAll('[aria-label], [alt], [title]')];
      return found.concat(...named.map(one => ['aria-label', 'alt', 'title'].map(name => one.getAttribute(name) ?? '')));
    }"""
    assert [text for text in page.evaluate(texts) if "`" in text or "**" in text or " *" in text] == []
    heading = page.query_selector('caption:has-text("Marks of code and strong")')
    assert heading.query_selector("code").text_content() == "code" and heading.query_selector("em")


def test_lines_have_names_of_their_own(seen):
    figure = seen.query_selector('figure.chart:has(figcaption:text-is("Lines of one name"))')
    assert figure.evaluate("figure => [...figure.querySelectorAll('.plot text.fill')].map(text => text.textContent)") == [
        "named", "line 2"]


@pytest.mark.parametrize("width", [390, 1000, 1400])
def test_no_figure_or_tick_is_cut(open_page, width):
    """Every text of a picture is inside the picture, and inside the area that scrolling reaches."""
    page = open_page(width=width)
    texts, cut = page.evaluate("""() => {
      const texts = [...document.querySelectorAll('.plot text')];
      const cut = texts.filter(text => {
        const [own, all] = [text, text.closest('.plot > svg')].map(each => each.getBoundingClientRect());
        return own.left < all.left - 0.5 || own.right > all.right + 0.5 || own.top < all.top - 0.5 || own.bottom > all.bottom + 0.5;
      });
      return [texts.length, cut.map(text => text.textContent)];
    }""")
    assert texts > 50 and cut == []


@pytest.mark.parametrize("width", [400, 1000, 1600])
def test_letters_of_pictures_can_be_read(open_page, width):
    """A picture is scaled down until its letters have ten pixels. Below that it scrolls."""
    page = open_page(width=width)
    sizes = page.evaluate("""() => [...document.querySelectorAll('.plot')].map(plot => {
      const scale = plot.querySelector('svg').getBoundingClientRect().width / 1000;
      return [scale * 14, plot.scrollWidth > plot.clientWidth + 1];
    })""")
    assert all(size >= 10 and is_wide == (width == 400) for size, is_wide in sizes), sizes


@pytest.mark.parametrize("width", [400, 1000])
def test_tables_that_are_cut_say_so(open_page, width):
    page = open_page(width=width)
    seen = set()
    page.evaluate("document.querySelectorAll('details.figures').forEach(details => { details.open = true; })")
    settle(page)
    for table in page.query_selector_all("div.table"):
        table.scroll_into_view_if_needed()
        settle(page)
        wide, high, words = table.evaluate("""table => {
          const [scroll, more] = [table.querySelector('.scroll'), table.querySelector('.more')];
          return [scroll.scrollWidth > scroll.clientWidth + 1, scroll.scrollHeight > scroll.clientHeight + 1,
                  more.hidden ? '' : more.textContent];
        }""")
        assert ("columns" in words, "rows" in words) == (wide, high), words
        assert table.evaluate("""table => [...table.querySelectorAll('th, td')]
          .every(cell => cell.scrollWidth <= cell.clientWidth + 1)""")
        assert table.evaluate("""table => {
          const words = document.createRange();
          words.selectNodeContents(table.querySelector('caption'));
          return words.getBoundingClientRect().right <= table.querySelector('.scroll').getBoundingClientRect().right;
        }""")
        seen.add(wide)
    assert seen == {True, False}
    # A long header does not make a table wide: eight columns of figures fit.
    if width == 1000:
        table = page.query_selector('div.table:has(caption:text-is("Cycles per call and per byte")) .scroll')
        assert table.evaluate("table => table.scrollWidth <= table.clientWidth")


def test_themes(open_page):
    ground = "getComputedStyle(document.body).backgroundColor"
    page = open_page(color_scheme="light")
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(ground)
    assert light != dark
    for name, colour in [("light", light), ("dark", dark), ("system", dark)]:
        page.click("#theme")
        assert name in page.text_content("#theme") and page.evaluate(ground) == colour
    page.click("#theme")
    # The choice is kept if the browser stores data for pages from files.
    page.reload()
    assert "light" in page.text_content("#theme") and page.evaluate(ground) == light


def own_table(page):
    return page.query_selector('table:has(caption:text-is("A table of its own"))')


def column(table, place):
    return table.evaluate(f"table => [...table.tBodies[0].rows].map(row => row.cells[{place}].textContent)")


def test_sort(page):
    table = own_table(page)
    heads = table.query_selector_all("thead th")
    buttons = table.query_selector_all("thead th button")
    buttons[2].click()
    assert column(table, 2) == ["3", "20", "1,024"] and heads[2].get_attribute("aria-sort") == "ascending"
    buttons[2].click()
    assert column(table, 2) == ["1,024", "20", "3"] and heads[2].get_attribute("aria-sort") == "descending"
    # Times are sorted by duration, in any unit; sorting by keyboard.
    buttons[1].focus()
    page.keyboard.press("Enter")
    assert column(table, 1) == ["736 ns", "5.4 µs", "2 ms"]
    assert heads[1].get_attribute("aria-sort") == "ascending" and heads[2].get_attribute("aria-sort") is None
    page.keyboard.press("Space")
    assert column(table, 1) == ["2 ms", "5.4 µs", "736 ns"]
    assert "Sorted by time, descending" in page.text_content("#live")
    # Rows without a figure are last in both directions.
    table = page.query_selector('section[id$="-figures"] table')
    button = table.query_selector('thead button:text-is("model")')
    for expected in [["0", "1.044", "64", "1300.2", ""], ["1300.2", "64", "1.044", "0", ""]]:
        button.click()
        place = table.evaluate("table => [...table.tHead.rows[0].cells].findIndex(cell => cell.ariaSort)")
        assert column(table, place) == expected


def test_copy(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.click('section[id$="-figures"] button.copy')
    # The button's own text returns soon.
    page.wait_for_function("document.getElementById('live').textContent === 'Copied'")
    rows = list(csv.reader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))
    assert rows[0] == ["row", "unit", "paper", "model", "simulated", "measured", "measured, low", "measured, high"]
    assert rows[1] == ["a rate", "MB/s", "1234.5", "1300.25", "", "1234567.125", "1200000.5", "1300000.75"]
    assert rows[3] == ["c <i>words</i>", "s", "about 3", "", "12.345678", "", "", ""]
    assert len(rows) == 6


def test_copy_without_clipboard(open_page):
    """As in browsers that deny the clipboard to pages from files."""
    page = open_page()
    page.evaluate("""() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
      document.addEventListener('copy', () => { window.copied = document.activeElement.value; });
    }""")
    page.query_selector('div.table:has(caption:text-is("A table of its own")) button.copy').click()
    page.wait_for_function("window.copied")
    rows = list(csv.reader(io.StringIO(page.evaluate("window.copied"))))
    assert rows == [["system", "time", "count"], ["one", "5.4 µs", "1024"], ["two", "736 ns", "20"], ["three", "2 ms", "3"]]


def test_figures_under_the_mouse_and_by_keyboard(page):
    figure = page.query_selector(CURVES)
    figure.scroll_into_view_if_needed()
    settle(page)
    tip = figure.query_selector(".tip")
    box = figure.query_selector('circle:has(title:text-is("falls: 127.5 at 10"))').bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] / 2)
    assert tip.is_visible() and tip.text_content() == "falls: 127.5 at 10"
    room = figure.bounding_box()
    at = tip.bounding_box()
    assert room["x"] <= at["x"] and at["x"] + at["width"] <= room["x"] + room["width"]
    page.mouse.move(room["x"] + 2, room["y"] + 2)
    assert not tip.is_visible()
    figure.query_selector(".plot").focus()
    page.keyboard.press("ArrowRight")
    assert tip.text_content() == "falls: 401 at 1"
    page.keyboard.press("ArrowRight")
    assert tip.text_content().startswith("falls: 283.8 at 2")
    page.keyboard.press("ArrowDown")
    assert tip.text_content().startswith("rises, & more: 1.05 at 5")
    assert page.text_content("#live") == tip.text_content()
    for title, words in [("Bars, cycles a byte", "one block, paper: 152.2"),
                         ("Who does what when", "worker 0: read, 0 to 0.5 ms (0.5 ms)"),
                         ("Ratios with intervals", "aes, openssl: 5.12 (4.9 to 5.3)")]:
        other = page.query_selector(f'figure.chart:has(figcaption:text-is("{title}"))')
        other.query_selector(".plot").focus()
        page.keyboard.press("ArrowRight")
        assert other.query_selector(".tip").text_content() == words
    page.keyboard.press("Escape")
    assert not other.query_selector(".tip").is_visible()


def test_a_picture_that_scrolls_shows_what_the_keyboard_reads(open_page):
    page = open_page(width=400)
    figure = page.query_selector(CURVES)
    figure.query_selector(".plot").focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    assert page.text_content("#live") == "falls: 5 at 10,000"
    mark, room, tip = (figure.query_selector(name).bounding_box() for name in (".at", ".plot", ".tip"))
    for box, outer in [(mark, room), (tip, figure.bounding_box())]:
        assert outer["x"] <= box["x"] + 1 and box["x"] + box["width"] <= outer["x"] + outer["width"] + 1


def test_order_of_the_keyboard(page):
    """First the link that skips the contents, then everything in the order of the page."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("""() => {
          const all = [...document.querySelectorAll('*')];
          const style = getComputedStyle(document.activeElement);
          return [all.indexOf(document.activeElement), style.outlineStyle !== 'none'];
        }"""))
    places = [place for place, _ in seen]
    assert places == sorted(places) and len(set(places)) == len(places)
    assert all(visible for _, visible in seen)


def test_print(open_page):
    page = open_page(color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for figure in page.query_selector_all("figure.chart"):
        assert figure.query_selector(".plot svg").is_visible() and not figure.query_selector(".figures").is_visible()
        assert figure.evaluate("figure => figure.querySelector('.plot').scrollWidth <= figure.clientWidth")
    assert not page.query_selector("nav").is_visible() and not page.query_selector("button.copy").is_visible()
    assert page.query_selector("section table thead").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert all(page.evaluate("[...document.querySelectorAll('details.verdicts')].map(details => details.open)"))
    assert page.pdf().startswith(b"%PDF")
    # Ten columns fit on A4 without its margins.
    page.set_viewport_size({"width": 688, "height": 900})
    wide = page.evaluate("""[...document.querySelectorAll('.scroll')]
      .filter(scroll => scroll.querySelector('thead tr').cells.length <= 12 && scroll.scrollWidth > scroll.clientWidth + 1)
      .map(scroll => scroll.getAttribute('aria-label'))""")
    assert wide == []


def test_without_scripts(open_page):
    page = open_page(java_script_enabled=False)
    figures = page.query_selector_all("figure.chart")
    assert figures and all(figure.query_selector(".plot svg").is_visible() for figure in figures)
    assert page.query_selector(CURVES).query_selector("title").text_content() == "falls: 401 at 1"
    assert page.query_selector("section table tbody tr").is_visible()
    assert not page.query_selector("#theme").is_visible()


@pytest.mark.parametrize("width, scheme", [(1000, "light"), (400, "dark")])
def test_accessibility(open_page, width, scheme):
    page = open_page(width=width, color_scheme=scheme)
    # With all tables of figures open.
    for details in page.query_selector_all("main details"):
        details.evaluate("details => { details.open = true; }")
    for figure in page.query_selector_all("figure.chart"):
        figure.scroll_into_view_if_needed()
    settle(page)
    # The page's policy applies to its scripts, not to code that a debugger evaluates.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    bad = [(rule["id"], rule["impact"], rule["nodes"][0]["html"][:200]) for rule in found
           if rule["impact"] in ("serious", "critical")]
    assert bad == []
