#!/usr/bin/env python3
"""Let the agent stop only when the project's tests pass.

On SessionStart it notes how the project looks, so that a session that changes
nothing costs no test run. On Stop it runs the tests if something did change.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = float(os.environ.get("TENTERHOOK_TEST_TIMEOUT") or 240)  # seconds; keep it below HOOK.md's
ROUNDS = 3  # failures in a row after which the agent may stop all the same
SHOWN = 40  # lines of a failing run that the model is told
SKIPPED = {".git", "node_modules", "__pycache__", ".venv", "venv", "target", "dist", "build", ".pytest_cache"}


def main():
    event = json.load(sys.stdin)
    project = os.environ.get("TENTERHOOK_PROJECT_DIR") or os.environ.get("CLAUDE_PROJECT_DIR") or event.get("cwd") or "."
    project = os.path.realpath(project)
    session_id = event.get("session_id") or ""
    state = State(project, session_id)
    if event.get("hook_event_name") == "SessionStart":
        if session_id and "start" not in state.session:  # a resumed or compacted session keeps its own
            state.session["start"] = fingerprint(project)
            state.save()
        return
    answer = judge(project, state, bool(event.get("stop_hook_active")))
    state.save()
    if answer:
        json.dump(answer, sys.stdout)


def judge(project, state, continued):
    """The answer to a Stop; None lets the agent stop."""
    session, now = state.session, fingerprint(project)
    if not continued:
        session["rounds"] = 0
    if now in (session.get("start"), state.passed):
        return None
    if continued and (now == session.get("failed") or session.get("rounds", 0) >= ROUNDS):
        return {"systemMessage": "tests-before-stop: the tests still fail; the agent was let go."}
    command = test_command(project)
    if command is None:
        return None
    shown = " ".join(command)
    code, output = run_tests(command, project)
    now = fingerprint(project)  # a test run may leave files behind
    if code == 0:
        state.passed = now
        return None
    if code is None:
        return {"systemMessage": f"tests-before-stop: `{shown}` {output}; nothing was checked."}
    session["failed"] = now
    session["rounds"] = session.get("rounds", 0) + 1
    tail = "\n".join(output.strip().splitlines()[-SHOWN:])
    return {"decision": "block", "reason": f"`{shown}` fails (exit code {code}). Make it pass, or say why you cannot.\n{tail}"}


def test_command(project):
    """The project's own way to test itself; None if it shows none."""
    def has(name):
        return os.path.isfile(os.path.join(project, name))

    own = os.environ.get("TENTERHOOK_TEST_COMMAND")
    if own:
        return ["sh", "-c", own]
    if has("go.mod"):
        return ["go", "test", "./..."]
    if has("package.json"):
        script = npm_test(os.path.join(project, "package.json"))
        if script:
            manager = "pnpm" if has("pnpm-lock.yaml") else "yarn" if has("yarn.lock") else "npm"
            return [manager, "test"]
    if has("pytest.ini") or has("conftest.py") or has("tests/conftest.py") or "pytest" in text_of(project, "pyproject.toml"):
        local = os.path.join(project, ".venv", "bin", "pytest")
        return [local if os.access(local, os.X_OK) else "pytest", "-q"]
    if re.search(r"(?m)^test:", text_of(project, "Makefile")):
        return ["make", "test"]
    return None


def npm_test(path):
    try:
        with open(path, encoding="utf-8") as file:
            script = json.load(file)["scripts"]["test"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None if "no test specified" in script else script


def text_of(project, name):
    try:
        with open(os.path.join(project, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def run_tests(command, project):
    """The exit code and the output, or None and why there is none."""
    if not shutil.which(command[0]):
        return None, f"cannot run, because {command[0]} is not installed"
    # To a file: a daemon that a test leaves behind could hold a pipe open.
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(command, cwd=project, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                  env=dict(os.environ, CI="true"), timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return None, f"did not finish within {TIMEOUT:g} s"
        out.seek(max(0, out.tell() - 64_000))
        code = done.returncode
        if code == 5 and os.path.basename(command[0]) == "pytest":
            code = 0  # pytest found no tests
        return code, out.read().decode(errors="replace")


def fingerprint(project):
    """A digest of what the project's files look like, cheap: names, sizes and times."""
    digest = hashlib.sha256()
    listing = git(project, "status", "--porcelain=v1", "-z", "--untracked-files=all")
    if listing is not None:
        digest.update(git(project, "rev-parse", "HEAD") or b"")
        # "XY name" NUL, and for a rename the old name NUL, of which the status is no loss.
        paths = [entry[3:] for entry in listing.split(b"\0") if len(entry) > 3]
        digest.update(listing)
        root = (git(project, "rev-parse", "--show-toplevel") or b"").rstrip(b"\n")
        paths = [os.path.join(root, path) for path in paths]
    else:
        paths = sorted(walk(os.fsencode(project)))
    for path in paths:
        try:
            info = os.lstat(path)
            digest.update(b"%s\0%d\0%d\0" % (path, info.st_size, info.st_mtime_ns))
        except OSError:
            digest.update(b"%s\0gone\0" % path)
    return digest.hexdigest()


def walk(project):
    for folder, folders, files in os.walk(project):
        folders[:] = [name for name in folders if os.fsdecode(name) not in SKIPPED]
        for name in files:
            yield os.path.join(folder, name)


def git(project, *arguments):
    """git's output; None without git or a repository."""
    environment = dict(os.environ, GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    try:
        done = subprocess.run(["git", "-C", project, "-c", "core.fsmonitor=false", *arguments], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


class State:
    """What is remembered of a project: the last look that passed, and its sessions."""

    def __init__(self, project, session_id):
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        name = hashlib.sha256(os.fsencode(project)).hexdigest()[:24] + ".json"
        self.path = os.path.join(cache, "tenterhook", "tests-before-stop", name)
        try:
            with open(self.path, encoding="utf-8") as file:
                known = json.load(file)
        except (OSError, ValueError):
            known = {}
        self.passed = known.get("passed")
        self.sessions = known.get("sessions", {})
        self.session = self.sessions.pop(session_id, {})
        if session_id:  # one without a name cannot be told from the next
            self.sessions[session_id] = self.session  # the latest stands last

    def save(self):
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        recent = dict(list(self.sessions.items())[-20:])
        scratch = f"{self.path}.{os.getpid()}"
        with open(scratch, "w", encoding="utf-8") as file:
            json.dump({"passed": self.passed, "sessions": recent}, file)
        os.replace(scratch, self.path)


if __name__ == "__main__":
    main()
