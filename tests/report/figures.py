"""Figures as the page shows them, read back: nothing here is taken from the code that writes them."""

import math
import re

NUMBER = re.compile(r"^[-−]?[\d,]*\.?\d+(e[-+]?\d+)?")


def shows(text, value, scale=1.0):
    """Whether a text begins with `value` times `scale`, to the digits that it has."""
    found = NUMBER.match(text)
    assert found, f"no number in {text!r}"
    digits = found.group().replace(",", "")
    decimals = len(digits.split(".")[1]) if "." in digits else 0
    return abs(float(digits) - value * scale) <= 0.5000001 * 10.0**-decimals


def close(one, other):
    """The same number, up to what reading and writing text may change in the last bit."""
    return math.isclose(float(one), float(other), rel_tol=1e-15, abs_tol=0.0)


def plain(text):
    """A text without the marks of Markdown."""
    return re.sub(r"(?<!\w)\*([^\s*][^*]*)\*(?!\w)", r"\1", text.replace("**", "").replace("`", ""))
