#!/usr/bin/env python3
"""Block a prompt that contains a key.

Reads a UserPromptSubmit event on stdin. What was found is never repeated: not
on stdout, not on stderr, not in part.
"""

import json
import math
import re
import sys
from collections import Counter

# What a key looks like. Each begins in a way that nothing else does.
KINDS = [
    ("an Anthropic API key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI API key", r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("a Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("a Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{20,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a password in a URL", r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/:@$<{]{6,}@[^\s/]+"),
]
KINDS = [(name, re.compile(pattern)) for name, pattern in KINDS]

# Any other value that is called a secret and looks random.
NAMED = re.compile(
    r"(?i)(?:api[_-]?key|secret|token|passwo?r?d|passwd)[A-Za-z0-9_-]*[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9_+/=.-]{20,})"
)
EXAMPLE = re.compile(r"(?i)example|placeholder|your[_-]|changeme|redacted|x{6,}|\.{3}|0{8,}")


def main():
    try:
        prompt = json.load(sys.stdin)["prompt"]
        found = secrets(prompt)
    except Exception as error:  # without its text, which may quote the prompt
        print(f"prompt-secrets: cannot read the prompt: {type(error).__name__}", file=sys.stderr)
        return 1
    if found:
        reason = (
            f"prompt-secrets: the prompt contains {'; '.join(found)}, so it was not sent. Take it out, and if it was "
            "ever sent elsewhere, revoke it. An agent can be told the name of an environment variable instead."
        )
        json.dump(
            {
                "decision": "block",
                "reason": reason,
                "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True},
            },
            sys.stdout,
        )
    return 0


def secrets(prompt):
    """Names each kind of secret in a prompt and its line, without its value."""
    found, spans = [], []
    for name, pattern in KINDS:
        for match in pattern.finditer(prompt):
            note(name, match, prompt, found, spans)
    for match in NAMED.finditer(prompt):
        if entropy(match.group(1)) >= 3.5 and re.search(r"\d", match.group(1)):
            note("what is called a secret", match, prompt, found, spans)
    return found


def note(name, match, prompt, found, spans):
    if EXAMPLE.search(match.group()) or any(a < match.end() and match.start() < b for a, b in spans):
        return
    spans.append(match.span())
    where = f"{name} (line {prompt.count(chr(10), 0, match.start()) + 1})"
    if where not in found:
        found.append(where)


def entropy(text):
    """Bits a character; English is near 4 only over long texts, a random key above it."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


if __name__ == "__main__":
    sys.exit(main())
