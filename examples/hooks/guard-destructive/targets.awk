# targets.awk says how bad it is to lose what a word names: DENY, ASK or 0. It
# leaves behind KIND (root, home, up, here, or "") and PLACE, in words.

function what(word) {
	word = unmask(word)
	gsub(UNSEEN, "$…", word)
	if (length(word) > 60)
		word = substr(word, 1, 60) "..."
	return "`" word "`" (PLACE == "" ? "" : " (" PLACE ")")
}

function danger(word,   d, rest) {
	if (!index(word, UNSEEN)) {
		expansions = 0
		return braces(word)
	}
	# A variable may be empty: `rm -rf "$DIR"/*`.
	rest = word
	gsub(UNSEEN, "", rest)
	d = rest == "" ? DENY : danger(rest)
	KIND = ""
	PLACE = "known to the shell only, " (rest == "" ? "so it cannot be judged" : "and `" unmask(rest) "` if that is empty")
	return d == DENY ? ASK : 0
}

# braces returns the worst of what {a,b} stands for.
function braces(word,   part, n, i, d, worst, head, tail, kind, place) {
	if (!match(word, /[{][^{}]*,[^{}]*[}]/))
		return path(word)
	if (++expansions > 100) {
		KIND = PLACE = ""
		return ASK
	}
	head = substr(word, 1, RSTART - 1)
	tail = substr(word, RSTART + RLENGTH)
	n = split(substr(word, RSTART + 1, RLENGTH - 2), part, /,/)
	for (i = 1; i <= n; i++) {
		d = braces(head part[i] tail)
		if (d > worst) {
			worst = d
			kind = KIND
			place = PLACE
		}
	}
	KIND = kind
	PLACE = place
	return worst + 0
}

# path judges one path, and if the command line changed directory before, where
# it leads from there as well.
function path(word,   d, there, kind, place) {
	d = place_of(word)
	if (d == DENY || here == "" || word ~ /^(\/|~)/)
		return d
	kind = KIND
	place = PLACE
	there = place_of(here "/" word)
	if (there > d && KIND != "here" && KIND != "up")
		return there
	KIND = kind
	PLACE = place
	return d
}

function place_of(word,   part, P, n, m, i, rooted, home, up) {
	rooted = (word ~ /^\//)
	home = (word ~ /^~[A-Za-z0-9_.+-]*(\/|$)/)
	m = up = 0
	n = split(tolower(word), part, /\//)
	for (i = 1; i <= n; i++) {
		if (part[i] == "" || part[i] == "." || home && i == 1)
			continue
		if (part[i] != "..")
			P[++m] = part[i]
		else if (m)
			m--
		else
			up = 1
	}
	P[m + 1] = ""
	if (rooted)
		return under_root(P, m)
	if (home)
		return under_home(P, m, up, 0)
	return under_here(P, m, up)
}

function grade(kind, place, level) {
	KIND = kind
	PLACE = place
	return level
}

function under_root(P, m) {
	if (!m || everything(P[1]))
		return grade("root", "the whole file system", DENY)
	if (P[1] == "home" || P[1] == "users") {
		if (m == 1 || everything(P[2]))
			return grade("root", "all home directories", DENY)
		return under_home(P, m, 0, 2)
	}
	if (P[1] == "root" && m > 1 && !everything(P[2]))
		return under_home(P, m, 0, 1)
	if (m > 2 || m == 2 && !everything(P[2]))
		return deep(P, m)
	if (P[1] in SYSTEM || P[1] ~ /[*?[]/)
		return grade("root", "a directory of the system", DENY)
	return grade("root", "a directory directly under /", ASK)
}

# deep knows the parts of the system two levels down.
function deep(P, m) {
	if (m == 2 && (P[1] == "usr" || P[1] == "boot" || P[1] == "etc" || P[1] == "system" || P[1] == "library"))
		return grade("root", "a part of the system", ASK)
	return grade("", "", 0)
}

# under_home judges P[from+1…m], which stand below a home directory.
function under_home(P, m, up, from) {
	if (up)
		return grade("home", "above the home directory", DENY)
	if (m == from || m == from + 1 && everything(P[m]))
		return grade("home", "a home directory", DENY)
	if (m == from + 1 && P[m] in PRECIOUS)
		return grade("home", "a person's own files", ASK)
	return grade("", "", 0)
}

function under_here(P, m, up,   i) {
	for (i = 1; i <= m && everything(P[i]); i++)
		;
	if (i > m)
		return up ? grade("up", "everything in a directory above", DENY) \
			: grade("here", "everything in the current directory", DENY)
	if (m == 1 && !up && P[1] == ".git")
		return grade("here", "the repository's history", ASK)
	return grade("", "", 0)
}

# everything: * .* ?* *.* [!.]* [a-z]* and the like.
function everything(part) {
	return part ~ /^[.]*(\[[^]]*\])?[.*?]*[*?][.*?]*$/
}
