"""Puts this directory on the import path, so that tests in every room can use ``support``."""

from __future__ import annotations

import os

# What models the machine has in its cache decides nothing here.
os.environ["HF_HUB_CACHE"] = os.devnull
