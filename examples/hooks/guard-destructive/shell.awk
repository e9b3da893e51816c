# shell.awk reads a command line as a POSIX shell does, as far as words go:
# quotes, substitutions, here-documents, redirections, variables assigned on the
# way. It runs nothing. Each simple command goes to run(), a file behind a
# redirection to written(), what cannot be read to verdict(): another file
# defines them. Substitutions and arguments that are scripts are read in turn.
#
# A word keeps what matters of its quoting: a quoted * ? [ ~ { is masked by a
# control character, and UNSEEN stands for what only the running shell knows.

BEGIN {
	UNSEEN = "\001"
	DEEPEST = 8
	VAR["HOME"] = "~"
	VAR["PWD"] = "."
}

# judge reads one script. cap is the strictest verdict that what it finds can
# have: TEXT for what stands in an argument or a document that nothing may run.
function judge(s, cap, nest,   W, A, n, i, c, j) {
	if (nest > DEEPEST) {
		verdict(ASK, cap, "text that is nested too deep to be read")
		return
	}
	n = length(s)
	for (i = 1; i <= n; i++) {
		if (match(substr(s, i, 80), /^([A-Za-z0-9_.,:=+@%-]|\/)+/)) {
			add(W, substr(s, i, RLENGTH))
			i += RLENGTH - 1
			continue
		}
		c = substr(s, i, 1)
		if (c == "\\") {
			c = substr(s, ++i, 1)
			if (c != "\n")
				add(W, mask(c))
		} else if (c == "\047") {
			j = until(s, i + 1, "\047")
			add(W, mask(substr(s, i + 1, j - i - 1)))
			i = j
		} else if (c == "\"")
			i = double_quoted(s, i + 1, W, A, cap, nest)
		else if (c == "$" || c == "`")
			i = expand(s, i, W, A, 0, cap, nest)
		else if (c == " " || c == "\t")
			end_word(W, A, cap)
		else if (c == "#" && !W["begun"])
			i = until(s, i, "\n") - 1
		else if (c == "<" || c == ">")
			i = redirect(s, i, W, A, cap)
		else if (c == "&" && substr(s, i + 1, 1) == ">")
			end_word(W, A, cap)
		else if (c ~ /[\n;&|()]/) {
			end_command(W, A, cap, nest)
			if (c == "|" || c == "&")
				if (substr(s, i + 1, 1) == c) {
					i++
					c = ""
				}
			W["piped"] = (c == "|")
			if (c == "\n" && W["heres"])
				i = here_documents(s, i, W, cap, nest)
		} else
			add(W, c)
	}
	end_command(W, A, cap, nest)
}

function add(W, text) {
	W["word"] = W["word"] text
	W["begun"] = 1
}

function end_word(W, A, cap,   w) {
	if (!W["begun"])
		return
	w = W["word"]
	if (W["to"] == "<<")
		W["here", ++W["heres"]] = unmask(w)
	else if (W["to"] == ">")
		written(w, cap)
	else if (W["to"] == "")
		A[++W["words"]] = w
	W["word"] = W["to"] = ""
	W["begun"] = 0
}

function end_command(W, A, cap, nest,   k) {
	end_word(W, A, cap)
	if (W["words"])
		run(W, A, W["words"], cap, nest)
	for (k in A)
		delete A[k]
	W["words"] = 0
	W["to"] = ""
}

# redirect reads an operator; the word behind it is a file, not an argument,
# but for <<<, whose word is text as an argument is.
function redirect(s, i, W, A, cap,   op) {
	if (W["word"] ~ /^[0-9]+$/) { # a file descriptor
		W["word"] = ""
		W["begun"] = 0
	}
	end_word(W, A, cap)
	op = substr(s, i, 3)
	if (op == "<<<")
		return i + 2
	if (op ~ /^[<>]\(/)
		return i
	if (op ~ /^<</) {
		W["to"] = "<<"
		W["tabs"] = (op == "<<-")
		return i + 1 + W["tabs"]
	}
	W["to"] = op ~ /^(>|<>)/ ? ">" : "<"
	return op ~ /^[<>][<>&|]/ ? i + 1 : i
}

# here_documents reads the bodies behind the newline at i. One that a shell
# reads is a script; any other is text.
function here_documents(s, i, W, cap, nest,   h, j, line, body) {
	for (h = 1; h <= W["heres"]; h++) {
		body = ""
		while (i < length(s)) {
			j = until(s, i + 1, "\n")
			line = substr(s, i + 1, j - i - 1)
			i = j
			if (W["tabs"])
				sub(/^\t+/, "", line)
			if (line == W["here", h])
				break
			body = body line "\n"
		}
		judge(body, W["carrier"] ? cap : TEXT, nest + 1)
	}
	W["heres"] = 0
	return i
}

# double_quoted reads from behind a " and returns where the closing one is.
function double_quoted(s, i, W, A, cap, nest,   n, c) {
	n = length(s)
	add(W, "")
	for (; i <= n; i++) {
		if (match(substr(s, i, 256), /^[^"\\$`]+/)) {
			add(W, mask(substr(s, i, RLENGTH)))
			i += RLENGTH - 1
			continue
		}
		c = substr(s, i, 1)
		if (c == "\"")
			return i
		if (c != "\\") {
			i = expand(s, i, W, A, 1, cap, nest)
			continue
		}
		c = substr(s, ++i, 1)
		if (c != "\n")
			add(W, index("\"\\$`", c) ? c : "\\" mask(c))
	}
	return i
}

# expand reads what begins with $ or ` at i and returns its last position.
function expand(s, i, W, A, quoted, cap, nest,   c, j, body, name) {
	c = substr(s, i + 1, 1)
	if (substr(s, i, 1) == "`") {
		j = closing(s, i + 1, "`")
		body = substr(s, i + 1, j - i - 1)
		gsub(/\\`/, "`", body)
		substitute(body, W, cap, nest)
		return j
	}
	if (c == "(") {
		j = closing(s, i + 2, ")")
		substitute(substr(s, i + 2, j - i - 2), W, cap, nest)
		return j
	}
	if (c == "{") {
		j = closing(s, i + 2, "}")
		body = substr(s, i + 2, j - i - 2)
		if (body ~ /^[A-Za-z_][A-Za-z0-9_]*$/)
			variable(body, W, A, quoted, cap)
		else
			substitute(body, W, cap, nest) # ${X:-$(…)}
		return j
	}
	if (c == "\047" && !quoted) {
		j = i + 2
		while (j <= length(s) && substr(s, j, 1) != "\047")
			j += substr(s, j, 1) == "\\" ? 2 : 1
		body = substr(s, i + 2, j - i - 2)
		add(W, index(body, "\\") ? UNSEEN : mask(body))
		return j
	}
	if (c == "\"" && !quoted)
		return i
	if (match(substr(s, i + 1, 64), /^[A-Za-z_][A-Za-z0-9_]*/)) {
		name = substr(s, i + 1, RLENGTH)
		variable(name, W, A, quoted, cap)
		return i + length(name)
	}
	if (c != "" && index("@*#?$!-0123456789", c)) {
		add(W, UNSEEN)
		return i + 1
	}
	add(W, "$")
	return i
}

# substitute judges a command whose output becomes part of a word.
function substitute(body, W, cap, nest) {
	judge(body, cap, nest + 1)
	add(W, body ~ /^[ \t]*mktemp( |$)/ ? "/tmp/mktemp" : UNSEEN)
}

# variable adds a text that the text itself assigned; unquoted, it is split.
function variable(name, W, A, quoted, cap,   text, part, n, i) {
	if (name == "IFS" && !quoted)
		end_word(W, A, cap)
	else if (!(name in VAR))
		add(W, UNSEEN)
	else if (quoted)
		add(W, VAR[name])
	else {
		text = unmask(VAR[name])
		n = split(text, part, /[ \t\n]+/)
		for (i = 1; i <= n; i++) {
			if (i > 1)
				end_word(W, A, cap)
			if (part[i] != "")
				add(W, part[i])
		}
	}
}

function assign(word,   i, name) {
	i = index(word, "=")
	name = substr(word, 1, i - 1)
	sub(/\+$/, "", name)
	if (index(word, UNSEEN) || substr(word, i - 1, 1) == "+")
		delete VAR[name]
	else
		VAR[name] = substr(word, i + 1)
}

# closing returns where the text that began before i ends, over quotes and
# substitutions within it. It keeps its own stack: text may be nested deeper
# than an awk can call functions.
function closing(s, i, end,   n, c, before, top, S) {
	n = length(s)
	S[top = 1] = end
	for (; i <= n; i++) {
		c = substr(s, i, 1)
		if (c == S[top]) {
			if (!--top)
				return i
		} else if (c == "\\")
			i++
		else if (c == "\047" && S[top] != "\"")
			i = until(s, i + 1, c)
		else if (c == "\"" || c == "`")
			S[++top] = c
		else if (c == "(" && (S[top] == ")" || before == "$"))
			S[++top] = ")"
		else if (c == "{" && before == "$")
			S[++top] = "}"
		before = c
	}
	return i
}

# until returns where c next stands, from i on; one behind the end if nowhere.
function until(s, i, c,   j) {
	j = index(substr(s, i), c)
	return j ? i + j - 1 : length(s) + 1
}

function mask(s) {
	if (s ~ /[*?[~{]/) {
		gsub(/[*]/, "\003", s)
		gsub(/[?]/, "\004", s)
		gsub(/\[/, "\005", s)
		gsub(/~/, "\006", s)
		gsub(/[{]/, "\007", s)
	}
	return s
}

function unmask(s) {
	gsub(/\003/, "*", s)
	gsub(/\004/, "?", s)
	gsub(/\005/, "[", s)
	gsub(/\006/, "~", s)
	gsub(/\007/, "{", s)
	return s
}
