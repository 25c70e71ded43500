"""Reads figures from the page, independently of the code that writes them."""

import math
import re

NUMBER = re.compile(r"^[-−]?[\d,]*\.?\d+(e[-+]?\d+)?")


def shows(text, value, scale=1.0):
    """Whether a text begins with `value` times `scale`, to the digits shown."""
    found = NUMBER.match(text)
    assert found, f"no number in {text!r}"
    digits = found.group().replace(",", "")
    decimals = len(digits.split(".")[1]) if "." in digits else 0
    return abs(float(digits) - value * scale) <= 0.5000001 * 10.0**-decimals


def close(one, other):
    """Whether two numbers are equal, except for the last bit, which text conversion may change."""
    return math.isclose(float(one), float(other), rel_tol=1e-15, abs_tol=0.0)


def plain(text):
    """A text without Markdown marks."""
    return re.sub(r"(?<!\w)\*([^\s*][^*]*)\*(?!\w)", r"\1", text.replace("**", "").replace("`", ""))
