#!/bin/sh
bytes=$(wc -c | tr -d ' ')
printf '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"a worker read %s bytes and has no objection"}}\n' "$bytes"
