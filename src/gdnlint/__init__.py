"""gdnlint finds vLLM launch configurations that are known to give wrong tokens."""

__version__ = "0.1.0"
