#!/bin/sh
# On SessionStart, plain text on stdout becomes context for the model.
dir=${0%/*}
[ "$dir" != "$0" ] || dir=.

cat "$dir/rules.md" || exit 1
printf '\nToday is %s.\n' "$(date '+%Y-%m-%d, a %A')"
