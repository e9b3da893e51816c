package dialect

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// fillers are words of a key that say nothing.
var fillers = setOf("is", "should", "can", "may", "must", "shall", "will", "be", "to", "the")

// wordsOf splits a key into its words, in lower case: permissionDecision,
// permission_decision and "Permission Decision" are the same two.
func wordsOf(key string) []string {
	if len(key) > 64 {
		return nil
	}
	var words []string
	start, lower := 0, false
	cut := func(end int) {
		if word := strings.ToLower(key[start:end]); word != "" && !fillers()[word] {
			words = append(words, word)
		}
	}
	for i, r := range key {
		switch {
		case !isWordRune(r):
			cut(i)
			start, lower = i+utf8.RuneLen(r), false
		case unicode.IsUpper(r) && lower:
			cut(i)
			start, lower = i, false
		default:
			lower = unicode.IsLower(r)
		}
	}
	cut(len(key))
	return words
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// apostrophes stand in a word without ending it.
var apostrophes = strings.NewReplacer("'", "", "’", "")

// folded folds the beginning of a text to compare it with words: lower case, one
// space between words, no punctuation.
func folded(text string) string {
	text = apostrophes.Replace(strings.ToLower(phrase.Clip(text, 200)))
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) }), " ")
}

// nextWord cuts the first word off a text, with what separates it from the rest.
func nextWord(text string) (word, rest string) {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !isWordRune(r) })
	end := strings.IndexFunc(text, func(r rune) bool { return !isWordRune(r) })
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// callWords name what a hook was asked about, at the beginning of a sentence.
var callWords = setOf("tool", "command", "cmd", "call", "action", "request", "operation", "access", "permission", "execution",
	"prompt", "this", "the", "your", "is", "was", "has", "been")

// countWords follow a word that refuses where it is no verdict.
var countWords = setOf("list", "lists", "size", "device", "devices", "count", "level", "storage", "chain", "rule", "rules")

// becauseWords follow a word that is one.
var becauseWords = setOf("by", "because", "due", "since")

// opensRefusing reports whether a text begins with a verdict that refuses, set
// off from what follows: "BLOCKED: …", "Denied - …", "Command blocked.", "[guard]
// DENY …", "guard: BLOCKED …".
func opensRefusing(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") {
		if _, behind, ok := strings.Cut(text, "]"); ok && verdictWord(behind, false) {
			return true
		}
	}
	if verdictWord(text, false) {
		return true
	}
	for range 2 {
		_, behind, ok := strings.Cut(text, ": ")
		if !ok {
			return false
		}
		if text = behind; verdictWord(text, true) {
			return true
		}
	}
	return false
}

// verdictWord reports whether a text begins with a word that refuses and is set
// off. Behind a prefix only a verdict in capitals is told from a report, such as
// "cat: x: Permission denied".
func verdictWord(text string, prefixed bool) bool {
	word, rest := nextWord(text)
	for range 4 {
		if !callWords()[strings.ToLower(word)] {
			break
		}
		if t := strings.TrimLeft(rest, "*_`\"')]} "); t == "" || t[0] == ':' || t[0] == '=' {
			return false // a key and its value: see pairSaysNo
		}
		word, rest = nextWord(rest)
	}
	if !openingWords()[strings.ToLower(word)] {
		return false
	}
	next, after := nextWord(rest)
	next = strings.ToLower(next)
	more, _ := nextWord(after)
	if countWords()[next] || falseWords()[next] && more == "" || next != "" && next[0] >= '0' && next[0] <= '9' {
		return false
	}
	capitals := word == strings.ToUpper(word)
	if capitals || prefixed {
		return capitals
	}
	rest = strings.TrimSpace(strings.TrimLeft(rest, "*_`\"')]}"))
	return next == "" || becauseWords()[next] || strings.ContainsRune(":!-—–", firstRune(rest))
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// textSaysNo judges a text that is no JSON: a word that refuses and nothing
// else, a verdict at its beginning, or a line "decision: block".
func textSaysNo(text []byte) bool {
	if len(text) <= 64 && (refusingWords()[folded(string(text))] || refusingFlags()[folded(string(text))]) {
		return true
	}
	return opensRefusing(firstLine(text)) || openingWords()[folded(lastLine(text))] || pairSaysNo(text)
}

// refusingFlags are texts that refuse where they are all that is said.
var refusingFlags = setOf("access denied", "permission denied")

// maxPairs bounds the lines of a text that are read as keys and values.
const maxPairs = 200

// pairSaysNo reports whether a line of a text is a key and a value that say no:
// "decision: block", DECISION=deny, <decision>block</decision>.
func pairSaysNo(text []byte) bool {
	n := 0
	for line := range bytes.Lines(text) {
		if n++; n > maxPairs {
			return false
		}
		if len(line) > 1000 {
			continue
		}
		for part := range strings.FieldsFuncSeq(string(line), func(r rune) bool { return strings.ContainsRune("&;,{}", r) }) {
			if key, value, ok := pairOf(part); ok && pairRefuses(wordsOf(key), value) {
				return true
			}
		}
	}
	return false
}

// pairOf splits a text into a key and its value.
func pairOf(text string) (key, value string, ok bool) {
	edge := func(r rune) bool { return !isWordRune(r) }
	text = strings.TrimFunc(text, edge)
	at := strings.IndexAny(text, ":=>?|")
	if at <= 0 {
		return "", "", false
	}
	key, value = text[:at], text[at+1:]
	value = strings.TrimLeftFunc(value, func(r rune) bool { return edge(r) && r != '[' }) // which begins "[guard] Blocked: …"
	value, _, _ = strings.Cut(value, "<")
	return key[strings.LastIndexByte(key, '.')+1:], value, value != ""
}

// pairRefuses is textRefuses for a line of a text, where only a few words are a
// key.
func pairRefuses(words []string, value string) bool {
	if len(words) == 0 || len(words) > 3 {
		return false
	}
	switch said := folded(value); {
	case containsAny(words, decidingKeys()):
		return refusingWords()[said] || endedWords()[said] || opensRefusing(value)
	case stateKeys()[last(words)]:
		return refusingWords()[said] || opensRefusing(value)
	case kindKeys()[last(words)]:
		return openingWords()[said] || opensRefusing(value)
	case consentKeys()[last(words)]:
		return (said == "false" || said == "no") && !isQualified(words)
	case isRefusal(words):
		return said == "true" || said == "yes"
	}
	return false
}
