#!/usr/bin/env python3
"""Append one line of JSON for each tool call: what was called, never what was in it.

Reads a PostToolUse or PostToolUseFailure event on stdin, and answers nothing.
"""

import json
import os
import re
import sys
from datetime import datetime, timezone
from urllib.parse import urlsplit

# What of a tool's input is written. Of everything else only the size is.
SHOWN = {"file_path", "path", "notebook_path", "glob", "command", "url", "subagent_type", "skill"}
LONGEST = 200  # characters of one value
ROTATE = 10 << 20  # bytes, after which the log moves to <name>.1

MASKED = [
    re.compile(r"(?i)((?:authorization|token|secret|passw(?:or)?d|api[_-]?key|access[_-]?key)[\w-]*[\"']?(?:\s*[:=]\s*|\s+))"
               r"[\"']?(?:(?:bearer|basic)\s+)?[^\s\"']+"),
    re.compile(r"()\b(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|npm_|hf_|eyJ)[\w.-]{12,}"),
    re.compile(r"(://)[^\s/@]+@"),
]


def main():
    event = json.load(sys.stdin)
    line = json.dumps(record(event), ensure_ascii=True) + "\n"
    append(log_path(), line.encode())


def record(event):
    return {
        "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        "session": event.get("session_id"),
        "agent": event.get("agent_id"),
        "event": event.get("hook_event_name"),
        "tool": event.get("tool_name"),
        "id": event.get("tool_use_id"),
        "cwd": event.get("cwd"),
        "ms": event.get("duration_ms"),
        "input": summary(event.get("tool_input")),
        "output_size": size(event.get("tool_response", event.get("error"))),
    }


def summary(tool_input):
    if not isinstance(tool_input, dict):
        return {"size": size(tool_input)}
    return {
        key: shorten(key, value) if key in SHOWN and isinstance(value, str) else {"size": size(value)}
        for key, value in tool_input.items()
    }


def shorten(key, value):
    if key == "url":
        try:
            parts = urlsplit(value)
            value = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        except ValueError:
            return {"size": size(value)}
    # A command's first line; what follows may be the text of a file.
    lines = value.strip().splitlines() or [""]
    value = lines[0]
    for pattern in MASKED:
        value = pattern.sub(r"\1***", value)
    if len(value) > LONGEST:
        value = value[:LONGEST] + "…"
    return value if len(lines) == 1 else f"{value} (and {len(lines) - 1} more lines)"


def size(value):
    """Characters of a text, else of the value as JSON."""
    if value is None:
        return 0
    return len(value if isinstance(value, str) else json.dumps(value))


def log_path():
    path = os.environ.get("TENTERHOOK_LOG")
    if not path:
        state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
        path = os.path.join(state, "tenterhook", "tool-calls.jsonl")
    return path


def append(path, line):
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    try:
        if os.path.getsize(path) > ROTATE:
            os.replace(path, path + ".1")
    except FileNotFoundError:
        pass
    # One write to a file opened for appending: lines of parallel calls do not mix.
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(log, line)
    finally:
        os.close(log)


if __name__ == "__main__":
    main()
