# json.awk hands each string in the payload's tool_input to value(key, text),
# which another file defines; a list of strings is one text, quoted as a shell
# would have it. POSIX awk alone: no intervals, nothing of gawk's own.
#
# JSON is read in records split at its double quotes, so that records are by
# turns outside of strings and within them. A backslash before the quote joins
# two of them again.

BEGIN { RS = "\"" }

!within {
	outside($0)
	within = 1
	text = ""
	next
}
{
	text = text $0
	if (match($0, /\\+$/) && RLENGTH % 2) {
		text = text "\""
		next
	}
	string(unescape(text))
	within = 0
}

# outside follows the braces, to know at which key a string stands.
function outside(s,   i, c) {
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c ~ /[ \t\r\n]/)
			continue
		if (complete)
			malformed = 1
		if (c == "{" || c == "[") {
			depth++
			opened[depth] = c
			key[depth] = list[depth] = ""
			key_next[depth] = (c == "{")
		} else if (c == "}" || c == "]") {
			if (opened[depth] == "[" && list[depth] != "")
				value(key[depth - 1], list[depth])
			if (--depth <= 0)
				complete = 1
		} else if (c == ":")
			key_next[depth] = 0
		else if (c == ",")
			key_next[depth] = (opened[depth] == "{")
	}
}

function string(s) {
	if (key_next[depth]) {
		key[depth] = s
		if (depth == 1 && s == "tool_input")
			found = 1
	} else if (key[1] != "tool_input")
		return
	else if (opened[depth] == "[")
		list[depth] = list[depth] " " shell_quote(s)
	else
		value(key[depth], s)
}

# readable says whether the payload was one JSON object with a tool_input.
function readable() { return found && depth == 0 && !malformed }

function shell_quote(s) {
	gsub(/\047/, "\047\"\047\"\047", s)
	return "\047" s "\047"
}

# unescape undoes JSON's escapes. What is not ASCII becomes "_": no command
# that is looked for has such a character, nor does a NUL end one.
function unescape(s,   part, n, i, c, out) {
	if (!index(s, "\\"))
		return s
	n = split(s, part, /\\/)
	out = part[1]
	for (i = 2; i <= n; i++) {
		if (part[i] == "") {
			out = out "\\" part[++i]
			continue
		}
		c = substr(part[i], 1, 1)
		if (c == "u") {
			out = out unicode(substr(part[i], 2, 4)) substr(part[i], 6)
			continue
		}
		if (!index("\"/bfnrt", c))
			malformed = 1
		if (c == "n") c = "\n"
		else if (c == "t") c = "\t"
		else if (c == "b" || c == "f" || c == "r") c = " "
		out = out c substr(part[i], 2)
	}
	return out
}

function unicode(hex,   i, d, n) {
	for (i = 1; i <= 4; i++) {
		d = index("0123456789abcdef", tolower(substr(hex, i, 1))) - 1
		if (d < 0 || length(hex) < 4)
			malformed = 1
		n = n * 16 + d
	}
	if (n == 0)
		return ""
	return n < 128 ? sprintf("%c", n) : "_"
}

# json_quote writes s as a JSON string.
function json_quote(s) {
	s = printable(s)
	gsub(/["\\]/, "\\\\&", s)
	return "\"" s "\""
}

function printable(s) {
	gsub(/[^ -~]/, "?", s)
	return s
}
