"""The former name of `tress_dataset`, for version 0.1."""

import warnings

from ._errors import install

try:
    from tress_dataset import *  # noqa: F403
except ModuleNotFoundError as error:
    if error.name != "tress_dataset":
        raise
    text = "tress.dataset is the package tress_dataset now; " + install("tress-dataset", "./python/dataset")
    raise ModuleNotFoundError(text, name="tress_dataset") from None

warnings.warn("tress.dataset is tress_dataset now, and goes with version 0.2", DeprecationWarning, stacklevel=2)
