package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
)

// maxRefusalDepth bounds how deep in an answer a refusal is looked for.
const maxRefusalDepth = 8

// refusingWords say no as the value of any key that decides, in lower case and
// with spaces between words.
var refusingWords = setOf(
	"deny", "denied", "denies", "block", "blocked", "blocks", "reject", "rejected", "rejects", "refuse", "refused", "refuses",
	"forbid", "forbidden", "forbids", "disallow", "disallowed", "disapprove", "disapproved", "veto", "vetoed",
	"prohibit", "prohibited", "prevent", "prevented", "unauthorized", "not allowed", "not permitted", "not approved",
	"not authorized", "do not allow", "do not proceed", "do not run", "dont allow", "dont proceed", "dont run",
	"ask", "defer", "decline", "declined", "cancel", "abort", "stop", "halt", "no", "no go", "never", "disallowing",
	"unsafe", "dangerous", "malicious",
)

// endedWords say no as the value of a key that decides. A state can have the
// same name and mean no harm.
var endedWords = setOf("cancelled", "canceled", "aborted", "stopped", "halted", "terminate", "kill", "interrupt", "fail", "failed", "false")

// openingWords say no as the first word of a text, before a colon, a dash or
// the end.
var openingWords = setOf(
	"deny", "denied", "block", "blocked", "blocking", "reject", "rejected", "refuse", "refused", "forbid", "forbidden",
	"disallow", "disallowed", "veto", "vetoed", "prohibited", "disapproved",
	"unsafe", "dangerous", "malicious", "abort", "unauthorized",
)

// decidingKeys decide by their value. stateKeys may do so, and may tell a state.
// These and the keys below are compared word by word, so that final_decision,
// toolDecision and permission-decision are keys that decide.
var (
	decidingKeys = setOf("decision", "permission", "behavior", "behaviour", "action", "verdict", "judgment", "judgement",
		"approval", "authorization", "ruling", "answer", "determination")
	stateKeys = setOf("status", "result", "outcome", "response", "state", "conclusion", "disposition", "effect", "reply", "access",
		"resolution", "recommendation")
	kindKeys = setOf("type", "kind", "code", "error", "event", "message", "msg", "text", "label", "category", "severity", "level")
)

// consentKeys refuse where they are false, refusalKeys where they are true, or
// hold a text that says why.
var (
	consentKeys = setOf("allow", "allowed", "approve", "approved", "permit", "permitted", "proceed", "continue", "ok", "okay",
		"success", "successful", "accept", "accepted", "authorized", "authorised", "granted", "grant", "pass", "passed",
		"valid", "safe", "compliant", "consent", "run", "execute", "permission", "approval", "decision", "verdict")
	refusalKeys = setOf("block", "blocked", "deny", "denied", "reject", "rejected", "refuse", "refused", "forbid", "forbidden",
		"disallow", "disallowed", "veto", "vetoed", "abort", "cancel", "stop", "halt", "prevent", "prohibit", "prohibited",
		"disapprove", "disapproved", "unapproved", "unauthorized", "unsafe", "dangerous", "malicious",
		"violation", "refusal", "denial", "rejection")
	reasonKeys = setOf("reason", "message", "because", "why", "msg", "explanation")
)

// factKeys hold what the hook was asked about, or settings, logs and counts: no
// object in them is an answer.
var factKeys = setOf(
	"tool_input", "tool_response", "tool_output", "tool_name", "input", "output_schema", "arguments", "args", "params", "parameters",
	"request", "example", "examples", "schema", "env", "usage", "stats", "statistics", "metrics", "counts", "summary", "config", "settings", "log", "logs",
	"history", "previous", "checks", "tests", "rules", "policy", "policies", "debug", "trace", "payload", "mcp_servers",
	"updated_input", "updated_permissions", "updated_tool_output", "additional_context",
)

// qualifiers are first words of a key that make it about something else.
var qualifiers = setOf("auto", "always", "dry", "last", "was", "previous", "previously", "suppress", "has", "had", "test", "tests",
	"early", "full", "code", "content", "text", "non", "never", "emergency", "if", "on", "no", "md", "config")

// falseWords are texts that take a key back.
var falseWords = setOf("no", "false", "none", "null", "0", "never", "nothing", "off", "na", "n a", "not", "nobody")

// setOf is a set of words that is made at its first use.
func setOf(words ...string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := make(map[string]bool, len(words))
		for _, w := range words {
			set[w] = true
		}
		return set
	})
}

// saysNo reports whether a key that does not count, near to a key that does,
// refuses the action in words that anybody would understand. A misspelt
// hookSpecificOutput holds the decision itself.
func saysNo(key, near string, value json.RawMessage) bool {
	if value[0] == '{' && (near == "hookSpecificOutput" || near == "hook_specific_output") {
		return true
	}
	return refuses(key, value, 1) || near != "" && refuses(near, value, 1)
}

// refuses reports whether a member of an answer says no, by itself or by what
// stands in it.
func refuses(key string, value json.RawMessage, depth int) bool {
	words := wordsOf(key)
	if len(words) == 0 {
		words = []string{""}
	}
	switch value[0] {
	case '{', '[':
		if factKeys()[strings.Join(words, "_")] {
			return false
		}
		return isRefusal(words) && value[0] == '{' && len(value) > 2 || valueRefuses(value, depth+1)
	case '"':
		return textRefuses(words, stringOf(value), depth)
	}
	return flagRefuses(words, string(value))
}

// valueRefuses reports whether an object or a list says no.
func valueRefuses(value []byte, depth int) bool {
	if depth > maxRefusalDepth {
		return false
	}
	if value[0] == '{' {
		members, _ := hook.Members(value)
		return slices.ContainsFunc(members, func(m hook.Member) bool { return refuses(m.Key, m.Value, depth) })
	}
	var items []json.RawMessage
	_ = json.Unmarshal(value, &items) // the answer is valid JSON, so it is a list
	return slices.ContainsFunc(items, func(item json.RawMessage) bool {
		switch item[0] {
		case '{', '[':
			return valueRefuses(item, depth+1)
		case '"':
			return len(items) <= 2 && refusingWords()[folded(stringOf(item))]
		}
		return false
	})
}

// flagRefuses judges a value that is neither a text nor an object.
func flagRefuses(words []string, value string) bool {
	end := last(words)
	negated := len(words) > 1 && words[len(words)-2] == "not"
	switch value {
	case "false", "0":
		return consentKeys()[end] && !negated && !isQualified(words) || refusalKeys()[end] && negated
	case "true", "1":
		if value == "1" && strings.HasSuffix(end, "ed") {
			return false // it counts what was refused
		}
		return isRefusal(words) || consentKeys()[end] && negated
	}
	return value == "2" && (strings.HasSuffix(strings.Join(words, ""), "exitcode") || end == "exit" || end == "returncode")
}

// isRefusal reports whether a key refuses where it holds anything.
func isRefusal(words []string) bool { return refusalKeys()[last(words)] && !isQualified(words) }

// isQualified reports whether a key is about something else than the action
// that the hook was asked about: auto_approve, dry_run, code_block.
func isQualified(words []string) bool {
	return qualifiers()[words[0]] || slices.Contains(words[:len(words)-1], "not")
}

// textRefuses judges a text that stands under a key.
func textRefuses(words []string, text string, depth int) bool {
	if inner := unwrap([]byte(text)); isJSON(inner) && valueRefuses(inner, depth+1) {
		return true
	}
	end, said := last(words), folded(text)
	switch opening := opensRefusing(text); {
	case said == "":
		return false
	case len(words) > 1 && reasonKeys()[end] && isRefusal(words[:len(words)-1]): // blockReason
		return words[len(words)-2] != "stop"
	case containsAny(words, decidingKeys()):
		return refusingWords()[said] || endedWords()[said] || opening || beginsWith(said, openingWords())
	case stateKeys()[end]:
		return refusingWords()[said] || opening
	case kindKeys()[end]:
		return openingWords()[said] || opening
	case consentKeys()[end]:
		return (falseWords()[said] || refusingWords()[said]) && !isQualified(words)
	case isRefusal(words):
		return !falseWords()[said]
	}
	return false
}

// beginsWith reports whether a phrase has more words than one, and the first is
// in a set: "reject and continue".
func beginsWith(said string, set map[string]bool) bool {
	first, _, more := strings.Cut(said, " ")
	return more && set[first]
}

// unwrap takes a text out of code fences, and out of the quotes of a JSON
// string that holds it.
func unwrap(text []byte) []byte {
	text = unfence(trim(text))
	for range maxRefusalDepth {
		var inner string
		if !bytes.HasPrefix(text, []byte{'"'}) || json.Unmarshal(text, &inner) != nil {
			break
		}
		text = unfence(trim([]byte(inner)))
	}
	return text
}

// isJSON reports whether a text is a JSON object or a list.
func isJSON(text []byte) bool {
	return len(text) > 1 && (text[0] == '{' || text[0] == '[') && json.Valid(text)
}

func last(words []string) string { return words[len(words)-1] }

func containsAny(words []string, set map[string]bool) bool {
	for _, w := range words {
		if set[w] {
			return true
		}
	}
	return false
}

// noHint says what to write instead of a key that does not count.
func (x *reading) noHint(near string) string {
	if near != "" {
		return "did you mean " + near + "?"
	}
	return x.howToBlock()
}
