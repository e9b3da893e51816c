#!/bin/sh
# Reads a PreToolUse event on stdin. Silence = no opinion, JSON = ask a person,
# exit 2 with a reason on stderr = refuse. Whatever goes wrong is a refusal.
LC_ALL=C
export LC_ALL

dir=${0%/*}
[ "$dir" != "$0" ] || dir=.
HOSTS_FILE=$dir/hosts.txt
export HOSTS_FILE

answer=$(awk -f "$dir/json.awk" -f "$dir/shell.awk" -f "$dir/network.awk")
code=$?
if [ "$code" -eq 0 ]; then
	[ -z "$answer" ] || printf '%s\n' "$answer"
	exit 0
fi
printf '%s\n' "${answer:-ask-before-network: the tool call could not be read (awk exited with $code), so it is refused}" >&2
exit 2
