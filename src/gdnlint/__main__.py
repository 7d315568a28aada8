"""``python -m gdnlint``."""

from gdnlint.cli import main

if __name__ == "__main__":
    main()
