import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "multitool: needs what `python scripts/sarif_multitool.py fetch` downloads")
