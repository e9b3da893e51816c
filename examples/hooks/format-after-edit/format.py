#!/usr/bin/env python3
"""Format the file that was just edited, and tell the model what changed.

Reads a PostToolUse event on stdin; answers with additionalContext, or nothing.
"""

import json
import os
import shutil
import subprocess
import sys

TIMEOUT = 20  # seconds for one formatter

PRETTIER = [".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".prettierrc.toml",
            "prettier.config.js", "prettier.config.mjs", "prettier.config.cjs", "package.json:\"prettier\""]

# Per suffix, the first formatter that is installed and that the project uses:
# the command, and the files (with a text in them) that show its use. None = always.
FORMATTERS = {
    ".go": [(["gofmt", "-w"], None)],
    ".rs": [(["rustfmt", "--quiet"], None)],
    ".py": [
        (["ruff", "format", "--quiet"], ["ruff.toml", ".ruff.toml", "pyproject.toml:[tool.ruff"]),
        (["black", "--quiet"], ["pyproject.toml:[tool.black"]),
    ],
}
for suffix in ".js .jsx .mjs .cjs .ts .tsx .json .css .scss .html .vue .md .yaml .yml".split():
    FORMATTERS[suffix] = [(["prettier", "--log-level=warn", "--write"], PRETTIER)]


def main():
    event = json.load(sys.stdin)
    tool_input = event.get("tool_input")
    name = tool_input.get("file_path") if isinstance(tool_input, dict) else None
    if not isinstance(name, str):
        return
    project = os.environ.get("TENTERHOOK_PROJECT_DIR") or os.environ.get("CLAUDE_PROJECT_DIR") or event.get("cwd") or "."
    project = os.path.realpath(project)
    path = os.path.realpath(os.path.join(event.get("cwd") or project, name))
    if not os.path.isfile(path) or os.path.commonpath([project, path]) != project:
        return  # gone, or none of the project's business
    command = formatter(project, path)
    if command:
        told = run(command, project, path)
        if told:
            json.dump({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": told}}, sys.stdout)


def formatter(project, path):
    for command, signs in FORMATTERS.get(os.path.splitext(path)[1].lower(), []):
        program = shutil.which(command[0])
        if program and os.path.isabs(program) and (signs is None or used(project, path, signs)):
            return [program] + command[1:]
    return None


def used(project, path, signs):
    """Whether a folder from the file's up to the project's holds one of the signs."""
    folder = os.path.dirname(path)
    while True:
        for sign in signs:
            name, _, text = sign.partition(":")
            try:
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    if not text or text in file.read():
                        return True
            except OSError:
                pass
        if folder == project:
            return False
        folder = os.path.dirname(folder)


def run(command, project, path):
    """Runs a formatter on a file and says what came of it; None = nothing changed."""
    name, short = os.path.basename(command[0]), json.dumps(os.path.relpath(path, project))
    before = read(path)
    try:
        done = subprocess.run(command + [path], cwd=project, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT, text=True, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return f"{name} did not finish {short} within {TIMEOUT} s; the file may not be formatted."
    if done.returncode != 0:
        problem = "\n".join((done.stderr or done.stdout).strip().splitlines()[:5])
        return f"{name} could not format {short}, which may not be valid:\n{problem}"
    if read(path) == before:
        return None
    return f"{name} has reformatted {short}; read it again before the next edit."


def read(path):
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
