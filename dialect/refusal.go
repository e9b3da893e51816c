package dialect

import (
	"encoding/json"
	"strings"
)

// refusingWords are values that say no, whatever the key.
var refusingWords = map[string]bool{
	"deny": true, "denied": true, "block": true, "blocked": true, "reject": true, "rejected": true,
	"refuse": true, "refused": true, "forbid": true, "ask": true, "defer": true, "decline": true,
	"cancel": true, "abort": true, "stop": true, "no": true,
}

// decisionKeys are keys that decide in the answers of other products, with the
// boolean that refuses.
var decisionKeys = map[string]string{
	"ok": "false", "allow": "false", "allowed": "false", "approve": "false", "approved": "false",
	"proceed": "false", "block": "true", "blocked": "true", "deny": "true", "denied": "true",
	"decision": "", "permission": "", "behavior": "", "action": "", "verdict": "",
}

// decisionFields are the keys of ours whose misspelling, with a word that
// refuses, is a refusal that would be lost.
var decisionFields = map[string]string{
	"continue": "false", "decision": "", "permissionDecision": "", "permission_decision": "",
	"behavior": "", "action": "", "ok": "false",
}

// saysNo reports whether a key that does not count, near to one that does,
// refuses the action in words that anybody would understand. A misspelt
// hookSpecificOutput holds the decision itself.
func saysNo(key, near string, value json.RawMessage) bool {
	refusing, ok := decisionKeys[strings.ToLower(key)]
	if !ok {
		refusing, ok = decisionFields[near]
	}
	if !ok {
		return value[0] == '{' && (near == "hookSpecificOutput" || near == "hook_specific_output")
	}
	if value[0] == '"' {
		return refusingWords[strings.ToLower(strings.TrimSpace(stringOf(value)))]
	}
	return refusing != "" && string(value) == refusing
}

// noHint says what to write instead of a key that does not count.
func (x *reading) noHint(near string) string {
	if near != "" {
		return "did you mean " + near + "?"
	}
	return x.howToBlock()
}
