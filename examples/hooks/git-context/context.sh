#!/bin/sh
# On SessionStart, plain text on stdout becomes context for the model.
project=${TENTERHOOK_PROJECT_DIR:-${CLAUDE_PROJECT_DIR:-.}}

# A status must neither take locks, nor run a program that the repository's own
# configuration names.
GIT_OPTIONAL_LOCKS=0
GIT_TERMINAL_PROMPT=0
export GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT
in_project() { git -C "$project" -c core.fsmonitor=false -c log.showSignature=false --no-pager "$@" 2>/dev/null; }

status=$(in_project status --short --branch) || exit 0 # no repository: nothing to say

{
	printf '%s\n' "$status" | awk -v most=20 '
		NR == 1 { sub(/^## /, ""); print "Git branch: " $0; next }
		NR == 2 { print "Not committed:" }
		NR <= most + 1 { print "  " $0 }
		END {
			if (NR == 1) print "Nothing is uncommitted."
			if (NR > most + 1) print "  and " NR - most - 1 " more"
		}'
	log=$(in_project log -n 5 --no-color --format='  %h %s (%an, %cr)') && [ -n "$log" ] &&
		printf 'Last commits:\n%s\n' "$log"
} | LC_ALL=C tr -d '\000-\010\013-\037\177'
exit 0
