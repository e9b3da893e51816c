# network.awk knows programs that reach the network. To adapt the hook, change
# the lists, and the hosts in hosts.txt.

BEGIN {
	TEXT = 1 # the cap of what is an argument or a document: nothing runs it
	ASK = 2
	set(PROGRAM, "curl wget http https xh aria2c ssh scp sftp rsync mosh ftp lftp telnet nc ncat netcat socat nmap")
	# Commands whose arguments are, or hold, commands.
	set(CARRIER, "sh bash dash ash zsh ksh mksh fish su eval source . trap sudo doas pkexec run0 env nice ionice nohup " \
		"setsid time timeout command builtin exec xargs parallel stdbuf chroot busybox toybox watch flock find fd")
	set(RESERVED, "if then elif else while until do ! { } function coproc")
	# Options of curl and wget that cannot lead to another host, without and with a value.
	set(FLAG, "-f -s -S -i -I -k -v -q -L -sS -fsS -fsSL -sSL -sL -sf --fail --silent --show-error --include --head --location --verbose --quiet")
	set(OPTION, "-X --request -d --data --json -H --header -o --output -m --max-time -w --write-out")
	LONGEST = 65536

	if ((getline hosts_text < ENVIRON["HOSTS_FILE"]) > 0)
		read_hosts(hosts_text)
}

END {
	if (!readable()) {
		print "ask-before-network: the tool call is not JSON with a tool_input, so it is refused"
		exit 2
	}
	if (uses)
		print "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"," \
			"\"permissionDecisionReason\":" json_quote("ask-before-network: " uses " would reach the network") "}}"
}

function set(to, words,   n, i, w) {
	n = split(words, w, " ")
	for (i = 1; i <= n; i++)
		to[w[i]] = 1
}

function read_hosts(all,   line, n, i) {
	n = split(all, line, /\n/)
	for (i = 1; i <= n; i++) {
		sub(/#.*/, "", line[i])
		gsub(/[ \t\r]/, "", line[i])
		if (line[i] != "")
			HOST[tolower(line[i])] = 1
	}
}

function value(key, s) {
	if (key == "description" || key == "prompt")
		return
	if (key == "url") {
		if (!(host_of(s) in HOST))
			verdict(ASK, ASK, "a fetch from " (host_of(s) == "" ? "an unknown host" : host_of(s)))
	} else if (length(s) > LONGEST)
		verdict(ASK, ASK, "a command that is too long to be read, and so")
	else {
		if (s ~ /\/dev\/(tcp|udp)\//)
			verdict(ASK, ASK, "/dev/tcp")
		judge(s, ASK, 0)
	}
}

# verdict collects what is worth a question; text that nothing runs is not.
function verdict(level, cap, what) {
	if (cap == TEXT || seen[what]++)
		return
	uses = uses (uses == "" ? "" : ", ") what
}

# run judges one simple command of n words.
function run(W, A, n, cap, nest,   i, k, name, all) {
	for (i = 1; i <= n && (A[i] in RESERVED || A[i] ~ /^[A-Za-z_][A-Za-z0-9_]*[+]?=/); i++)
		if (A[i] ~ /=/)
			assign(A[i])
	name = base(A[i])
	W["carrier"] = (name in CARRIER)
	for (k = i; k <= n; k++) {
		if (base(A[k]) in PROGRAM) {
			if (!stays_here(base(A[k]), A, k, n))
				verdict(ASK, cap, "`" base(A[k]) "`")
			return
		}
		if (!W["carrier"])
			return
		if (A[k] ~ /[ \t\n;|&<>(`$]/)
			judge(unmask(A[k]), cap, nest + 1)
		if (name == "eval" && k > i)
			all = all " " unmask(A[k])
	}
	if (all != "")
		judge(all, cap, nest + 1)
}

# written is told where redirections go; all of those are files.
function written(w, cap) { return 0 }

function base(word) {
	sub(/^.*\//, "", word)
	return tolower(word)
}

# stays_here says whether the arguments show that a program reaches allowed
# hosts alone. An option that is not known may lead anywhere.
function stays_here(name, A, k, n,   j, urls) {
	if (name == "rsync" || name == "scp") { # both copy locally as well
		for (j = k + 1; j <= n; j++)
			if (index(A[j], ":") || index(A[j], UNSEEN))
				return 0
		return 1
	}
	if (name != "curl")
		return 0
	for (j = k + 1; j <= n; j++)
		if (A[j] in OPTION)
			j++
		else if (host_of(A[j]) in HOST)
			urls++
		else if (!(A[j] in FLAG))
			return 0
	return urls > 0
}

# host_of returns the host of a plain URL, "" for anything unusual in it.
function host_of(url) {
	url = tolower(url)
	if (!sub(/^https?:\/\//, "", url))
		return ""
	sub(/(\/|[?#]).*/, "", url)
	if (url ~ /^\[[0-9a-f:.]+\](:[0-9]*)?$/) {
		sub(/\](:[0-9]*)?$/, "", url)
		return substr(url, 2)
	}
	if (url !~ /^[a-z0-9._-]+(:[0-9]*)?$/)
		return ""
	sub(/:[0-9]*$/, "", url)
	return url
}
