# secrets.awk knows files that hold secrets by their names. To adapt the hook,
# change secret() and the two lists.

BEGIN {
	ASK = 1
	DENY = 2
	# Keys of tool_input that hold text, not the name of a file.
	set(TEXT, "content new_string old_string new_source description prompt pattern query")
	# Commands that name a file without showing or sending what is in it.
	set(HARMLESS, "ls test [ [[ stat touch mkdir chmod chown echo printf ssh ssh-add")
}

END {
	if (!readable()) {
		print "protect-secrets: the tool call is not JSON with a tool_input, so it is refused"
		exit 2
	}
	if (worst == DENY) {
		print "protect-secrets: refused: `" printable(found_name) "` is kept from the agent, because such files hold secrets. " \
			"Ask the person for what you need, or read an example file in its place."
		exit 2
	}
	if (worst == ASK)
		print "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"," \
			"\"permissionDecisionReason\":" json_quote("protect-secrets: `" found_name "` may hold secrets") "}}"
}

function set(to, words,   n, i, w) {
	n = split(words, w, " ")
	for (i = 1; i <= n; i++)
		to[w[i]] = 1
}

# value judges a path, or a command line, whose words may all be paths. The
# commands of a line are told apart, since `ls .env` shows nothing.
function value(key, s,   part, word, n, m, i, j, level) {
	if (key in TEXT)
		return
	gsub(/[\\"]|\047/, "", s)
	gsub(/[<>]+/, "\n< ", s) # what stands behind is read or written, whatever the command
	n = split(s, part, /[\n;|&()`]+/)
	for (i = 1; i <= n; i++) {
		m = split(part[i], word, /[ \t\r=:,@]+/)
		for (j = 1; j < m && word[j] == ""; j++)
			;
		if (m > 1 && word[j] in HARMLESS)
			continue
		for (j = 1; j <= m; j++) {
			level = secret(word[j])
			if (level > worst) {
				worst = level
				found_name = word[j]
			}
		}
	}
}

function secret(path,   p, name) {
	p = tolower(path)
	gsub(/\/+(\.?\/+)*/, "/", p)
	while (sub(/[^\/]+\/\.\.\//, "", p))
		;
	name = p
	sub(/^.*\//, "", name)

	# Files by name.
	if (name ~ /^\.env\.(.*\.)?(example|sample|template|dist|defaults)$/)
		return 0
	if (name ~ /^(process|import\.meta|deno|bun)\.env/) # code, not a file
		return 0
	if (name ~ /^\.(e[*]|en[*?]|env[*?.]|env$)/ || name ~ /\.env$/)
		return DENY
	if (name ~ /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/ || name ~ /\.(pem|p12|pfx|jks|keystore|kdbx|ppk)$/)
		return DENY
	if (name ~ /^([._]netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.pypirc|\.vault-token|credentials\.tfrc\.json)$/)
		return DENY
	if (name ~ /^(\.envrc|\.npmrc|.+\.key|credentials\.json|service[-_]account.*\.json|secrets?\.(json|toml|ya?ml))$/)
		return ASK

	# Files by place.
	if (p ~ /(^|\/)\.(ssh|gnupg)(\/|$)/)
		return name ~ /^(config|known_hosts|authorized_keys|.*\.pub)$/ ? 0 : DENY
	if (p ~ /(^|\/)\.aws(\/(credentials.*|cli\/.*|sso\/.*|[*].*)?)?$/)
		return DENY
	if (p ~ /(^|\/)(\.kube\/config|\.docker\/config\.json|\.config\/gh\/hosts\.yml|\.config\/gcloud(\/.*)?|\.azure(\/.*)?)$/)
		return DENY
	if (p ~ /^\/etc\/g?shadow-?$/ || p ~ /^\/proc\/[^\/]+\/environ$/)
		return DENY
	if (p ~ /(^|\/)\.git\/config$/) # a remote's URL may hold a token
		return ASK
	return 0
}
