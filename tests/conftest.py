"""Puts this directory on the import path, so that tests in every room can use ``support``."""
