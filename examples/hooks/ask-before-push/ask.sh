#!/bin/sh
# The `if` in HOOK.md has already read the command, so there is nothing to read here.
cat <<'JSON'
{
  "hookSpecificOutput": {
    "hookEventName": "PreToolUse",
    "permissionDecision": "ask",
    "permissionDecisionReason": "ask-before-push: what is pushed is seen by everybody; look at it first"
  }
}
JSON
