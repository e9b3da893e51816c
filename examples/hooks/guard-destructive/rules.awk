# rules.awk says what is destructive. To adapt the guard, change this file.

BEGIN {
	ASK = 1
	DENY = 2
	TEXT = ASK # the strictest verdict on what is only an argument or a document
	LONGEST = 65536 # bytes; the slowest awks need seconds for as much

	# Directories directly under / without which the machine is lost.
	set(SYSTEM, "bin boot dev etc home lib lib32 lib64 media mnt nix opt private proc root run sbin srv sys usr var " \
		"applications cores library network system users volumes")
	# Below a home directory: what nobody can restore from a repository.
	set(PRECIOUS, ".aws .config .gnupg .kube .local .ssh desktop documents downloads library pictures")
	set(PROTECTED, "main master trunk production release")

	# Commands whose arguments are, or hold, commands. An argument of any other
	# command that reads like a destructive one is worth a question, no more.
	set(SHELL, "sh bash dash ash zsh ksh mksh fish su eval source . ssh")
	set(CARRIER, "sh bash dash ash zsh ksh mksh fish su eval source . ssh trap " \
		"sudo doas pkexec run0 env nice ionice chrt nohup setsid time timeout command builtin exec xargs parallel " \
		"stdbuf taskset unshare nsenter chroot busybox toybox systemd-run caffeinate watch flock strace find fd")
	set(DECLARES, "export readonly local declare typeset")
	set(RESERVED, "if then elif else while until do ! { } function coproc")
}

END {
	if (!readable()) {
		print "guard-destructive: the tool call is not JSON with a tool_input, so it is refused"
		exit 2
	}
	if (worst == ASK && quoted_denial && shell_reads_pipe)
		worst = DENY
	if (worst == DENY) {
		print "guard-destructive: refused: " printable(why) ". If it is meant, a person has to run it by hand."
		exit 2
	}
	if (worst == ASK)
		print "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"," \
			"\"permissionDecisionReason\":" json_quote("guard-destructive: " why) "}}"
}

function set(to, words,   n, i, w) {
	n = split(words, w, " ")
	for (i = 1; i <= n; i++)
		to[w[i]] = 1
}

function verdict(level, cap, reason) {
	if (level > cap) {
		level = cap
		quoted_denial = 1
		reason = reason " (unless that text is only an argument here)"
	}
	if (level > worst) {
		worst = level
		why = reason
	}
}

# value judges every string of the call, whatever its key: tools differ in
# what they call their command. A description is prose.
function value(key, s) {
	if (key == "description")
		return
	if (length(s) > LONGEST)
		verdict(ASK, DENY, "the command is too long to be read")
	else {
		fork_bomb(s)
		judge(s, DENY, 0)
	}
}

# fork_bomb looks for a function that pipes itself into itself.
function fork_bomb(s,   part, n, i, name, dense) {
	n = split(s, part, /\(/)
	dense = s
	gsub(/[ \t\n]+/, "", dense)
	for (i = 1; i < n; i++) {
		name = substr(part[i], length(part[i]) - 63 > 0 ? length(part[i]) - 63 : 1)
		if (part[i + 1] !~ /^[ \t]*\)/ || !match(name, /[^ \t\n;&|(){}]+[ \t]*$/))
			continue
		name = substr(name, RSTART)
		sub(/[ \t]+$/, "", name)
		if (index(dense, name "|" name "&"))
			verdict(DENY, DENY, "it is a fork bomb: `" name "` starts itself twice, for ever")
	}
}

# run judges one simple command of n words. W["carrier"] stays behind for the
# here-documents that belong to it.
function run(W, A, n, cap, nest,   i, k, name, word, inner, all, checked) {
	for (i = 1; i <= n; i++)
		if (A[i] ~ /^[A-Za-z_][A-Za-z0-9_]*[+]?=/)
			assign(A[i])
		else if (!(A[i] in RESERVED))
			break
	W["carrier"] = 0
	if (i > n)
		return
	name = base(A[i])
	W["carrier"] = (name in CARRIER || name == UNSEEN)
	inner = W["carrier"] ? cap : TEXT
	check(name, A, i, n, cap, name)
	checked[name]
	for (k = i; k <= n; k++) {
		if (A[k] ~ /[ \t\n;|&<>(`$]/)
			judge(unmask(A[k]), inner, nest + 1)
		word = base(A[k])
		if (W["piped"] && word in SHELL && (k == i || W["carrier"]))
			shell_reads_pipe = 1
		if (name != "git" && !(word in checked) && (word != UNSEEN || W["carrier"])) {
			check(word, A, k, n, inner, name)
			checked[word]
		}
		if (k == i)
			continue
		if (name in DECLARES && A[k] ~ /^[A-Za-z_][A-Za-z0-9_]*=/)
			assign(A[k])
		if (name == "eval")
			all = all " " unmask(A[k])
	}
	if (all)
		judge(all, cap, nest + 1)
	if (name == "cd")
		here = i == n ? "~" : here == "" || A[i + 1] ~ /^(\/|~)/ ? A[i + 1] : here "/" A[i + 1]
}

function base(word) {
	sub(/^.*\//, "", word)
	return tolower(word)
}

# check judges the command name with its arguments A[k+1…n].
function check(name, A, k, n, cap, by) {
	if (name == "rm" || name == "grm" || name == "srm")
		check_rm(A, k, n, cap, by)
	else if (name == UNSEEN) # $RM -rf /
		check_rm(A, k, n, ASK, by)
	else if (name == "find")
		check_find(A, k, n, cap)
	else if (name == "chmod" || name == "chown" || name == "chgrp" || name == "chattr")
		check_mode(name, A, k, n, cap)
	else if (name == "mv" || name == "cp" || name == "tee" || name == "shred" || name == "dd" || name == "truncate")
		check_write(name, A, k, n, cap)
	else if (name ~ /^(mkfs|newfs)/ || name == "mke2fs" || name == "mkswap" || name == "wipefs" || name == "blkdiscard")
		verdict(has_disk(A, k, n) ? DENY : unseen(A, k, n) ? ASK : 0, cap, "`" name "` erases what is on the disk that it is pointed at")
	else if (name == "diskutil" && tolower(A[k + 1]) ~ /^(erase|partition|zero|secureerase|reformat)/)
		verdict(DENY, cap, "`diskutil " A[k + 1] "` erases a disk")
	else if (name == "git")
		check_git(A, k, n, cap)
}

function check_rm(A, k, n, cap, by,   j, w, recursive, options, targets, d) {
	options = 1
	for (j = k + 1; j <= n && A[j] != "--"; j++) {
		w = A[j]
		if (length(w) > 4 && index("--no-preserve-root", w) == 1)
			verdict(DENY, cap, "`rm --no-preserve-root` is for nothing but deleting /")
		if (w ~ /^--/ ? length(w) > 2 && index("--recursive", w) == 1 : w ~ /^-.*[rR]/)
			recursive = 1
	}
	for (j = k + 1; j <= n; j++) {
		w = A[j]
		if (options && w ~ /^-./) {
			options = (w != "--")
			continue
		}
		targets++
		d = danger(w)
		if (recursive)
			verdict(d, cap, "`rm -r` would delete " what(w))
		else if (d == DENY && unseen(A, k, n))
			verdict(ASK, cap, "`rm` with options that only the shell knows would touch " what(w))
		if (w == "{}" && (by == "xargs" || by == "parallel"))
			targets = 0
	}
	if (recursive && !targets)
		verdict(ASK, cap, "`rm -r` takes its targets from elsewhere, so they cannot be judged")
}

# unseen says whether one of the arguments is known to the shell only.
function unseen(A, k, n) {
	for (k++; k <= n; k++)
		if (A[k] == UNSEEN)
			return 1
	return 0
}

# check_find judges find with an action that deletes. With a filter, a start
# within the workspace is ordinary cleaning.
function check_find(A, k, n, cap,   j, starts, deletes, filtered, d) {
	for (j = k + 1; j <= n; j++) {
		if (A[j] == "-delete" || A[j] ~ /^-(exec|ok)(dir)?$/ && base(A[j + 1]) ~ /^(rm|shred|unlink|srm)$/)
			deletes = 1
		if (A[j] ~ /^-(i?name|i?path|i?regex|i?wholename|[acm]time|[acm]min|newer.*|size|empty|user|group|perm)$/)
			filtered = 1
	}
	if (!deletes)
		return
	for (j = k + 1; j <= n; j++) {
		if (A[j] ~ /^-([HLPD]|O.*)$/)
			continue
		if (A[j] ~ /^[-(!]/)
			break
		starts++
		d = danger(A[j])
		verdict(!filtered ? d : d == DENY && KIND != "here" ? ASK : 0, cap, "`find` would delete in " what(A[j]))
	}
	if (!starts && !filtered)
		verdict(DENY, cap, "`find` without a filter would delete everything in the current directory")
}

function check_mode(name, A, k, n, cap,   j, recursive) {
	for (j = k + 1; j <= n; j++)
		if (A[j] ~ /^-[A-Za-z]*R/ || length(A[j]) > 2 && index("--recursive", A[j]) == 1)
			recursive = 1
	for (j = k + 1; j <= n && recursive; j++)
		if (A[j] !~ /^-/ && danger(A[j]) == DENY && KIND != "here")
			verdict(KIND == "root" ? DENY : ASK, cap, "`" name " -R` would change every file of " what(A[j]))
}

function check_write(name, A, k, n, cap,   j, w) {
	for (j = k + 1; j <= n; j++) {
		w = A[j]
		if (name == "dd") {
			if (w !~ /^of=/)
				continue
			w = substr(w, 4)
			if (index(w, UNSEEN))
				verdict(ASK, cap, "`dd` writes to a place that only the shell knows")
		}
		if ((name != "cp" && name != "mv" || j == n) && is_disk(w))
			verdict(DENY, cap, "`" name "` would overwrite the disk " w)
		if (name == "mv" && j < n && w !~ /^-/ && danger(w) == DENY && (KIND == "root" || KIND == "home"))
			verdict(DENY, cap, "`mv` would move away " what(w))
	}
}

# written judges the file behind > >> >| &> <>.
function written(w, cap) {
	if (is_disk(w))
		verdict(DENY, cap, "a redirection would overwrite the disk " w)
}

function has_disk(A, k, n) {
	for (k++; k <= n; k++)
		if (A[k] ~ /^\/+dev\//)
			return 1
	return 0
}

function is_disk(w) {
	if (w !~ /^\//)
		return 0
	gsub(/\/+(\.?\/+)*/, "/", w)
	return w ~ /^\/dev\/(r?disk|[shv]d[a-z*?]|xvd|nvme|mmcblk|mapper\/|md|dm-|nbd|loop|zd|mem|kmem|port|ada|da[0-9])/
}

function check_git(A, k, n, cap,   j, w, first, remote, refs, dst, force, lease, drop) {
	for (j = k + 1; j <= n && A[j] ~ /^-/; j++)
		if (A[j] ~ /^(-C|-c|--git-dir|--work-tree|--namespace)$/)
			j++
	if (A[j] != "push")
		return
	first = j
	for (j = first + 1; j <= n; j++) {
		w = A[j]
		if (w ~ /^--force-with-lease/) lease = 1
		else if (w == "--mirror" || length(w) > 3 && index("--force", w) == 1) force = 1
		else if (w == "--delete") drop = 1
		else if (w ~ /^-[A-Za-z]*f/) force = 1
		else if (w ~ /^-[A-Za-z]*d/) drop = 1
	}
	for (j = first + 1; j <= n; j++) {
		w = A[j]
		if (w ~ /^-/ || !remote++)
			continue
		refs++
		dst = w
		sub(/^.*:/, "", dst)
		sub(/^[+]/, "", dst)
		sub(/^refs\/heads\//, "", dst)
		if (dst in PROTECTED && (force || w ~ /^[+]/))
			verdict(DENY, cap, "`git push --force` would rewrite the branch " dst " for everybody")
		else if (dst in PROTECTED && (drop || w ~ /^:/))
			verdict(DENY, cap, "`git push` would delete the branch " dst " for everybody")
		else if (dst in PROTECTED && lease)
			verdict(ASK, cap, "`git push --force-with-lease` would rewrite the branch " dst)
		else if ((force || lease) && (dst == "HEAD" || index(dst, UNSEEN)))
			verdict(ASK, cap, "`git push --force` goes to a branch that only git knows")
	}
	if ((force || lease) && !refs)
		verdict(ASK, cap, "`git push --force` without a branch rewrites the current one, which may be main")
}
