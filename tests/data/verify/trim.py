"""Cuts the records of a run down to what the tests of the verdict need.

    python trim.py RECORD.jsonl OUT.jsonl.gz

Prompts become as many zeros (only their length is read), answers keep their first POSITIONS tokens, each with its
LISTED likeliest ones, rounded to three places.
"""

import gzip
import json
import sys

POSITIONS, LISTED = 12, 3


def trimmed(line):
    for request in line.get("batch", []):
        request["prompt"] = [0] * len(request["prompt"])
        request["max_tokens"] = min(request["max_tokens"], POSITIONS)
    for result in line.get("results", []):
        result["ids"] = result["ids"][:POSITIONS]
        result["top"] = [
            [[token, round(value, 3)] for token, value in position[:LISTED]] for position in result["top"][:POSITIONS]
        ]
    for name in ("engine", "python", "environment"):
        if name in line:
            line[name] = {} if isinstance(line[name], dict) else ""
    return line


with open(sys.argv[1], encoding="utf-8") as record, gzip.GzipFile(sys.argv[2], "wb", mtime=0) as out:
    for text in record:
        line = trimmed(json.loads(text))
        out.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
