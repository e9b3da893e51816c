#!/bin/sh
# Reads a PreToolUse event on stdin. Silence = no opinion, JSON = ask a person,
# exit 2 with a reason on stderr = refuse. Whatever goes wrong is a refusal: a
# guard that could not look must not seem to have looked.
LC_ALL=C
export LC_ALL

dir=${0%/*}
[ "$dir" != "$0" ] || dir=.

answer=$(awk -f "$dir/json.awk" -f "$dir/shell.awk" -f "$dir/targets.awk" -f "$dir/rules.awk")
code=$?
if [ "$code" -eq 0 ]; then
	[ -z "$answer" ] || printf '%s\n' "$answer"
	exit 0
fi
printf '%s\n' "${answer:-guard-destructive: the tool call could not be read (awk exited with $code), so it is refused}" >&2
exit 2
