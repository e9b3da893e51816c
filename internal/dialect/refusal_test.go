package dialect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

// clearRefusals are answers that any reader takes for a no, and that the
// protocol does not have.
var clearRefusals = []string{
	// Another word, in the protocol's key or another one.
	`{"decision":"deny"}`, `{"decision":"denied"}`, `{"decision":"blocked"}`, `{"decision":"reject"}`, `{"decision":"rejected"}`,
	`{"decision":"refuse"}`, `{"decision":"forbid"}`, `{"decision":"disallow"}`, `{"decision":"abort"}`, `{"decision":"cancel"}`,
	`{"decision":"stop"}`, `{"decision":"veto"}`, `{"decision":"no"}`, `{"decision":"BLOCK"}`, `{"decision":" block "}`,
	`{"decision":"block."}`, `{"decision":"Block: no rm"}`, `{"decision":"ask"}`, `{"decision":"not allowed"}`,
	`{"status":"block"}`, `{"status":"blocked"}`, `{"status":"denied"}`, `{"status":"Rejected"}`, `{"status":"forbidden"}`, `{"status":"no"}`,
	`{"result":"block"}`, `{"result":"deny"}`, `{"result":"refused"}`, `{"outcome":"denied"}`, `{"verdict":"deny"}`, `{"verdict":"not_allowed"}`,
	`{"judgment":"reject"}`, `{"ruling":"veto"}`, `{"answer":"no"}`, `{"answer":"No!"}`, `{"effect":"Deny"}`, `{"access":"denied"}`,
	`{"state":"blocked"}`, `{"response":"block"}`, `{"action":"block"}`, `{"action":"reject-and-continue"}`, `{"action":"deny because of policy"}`,
	`{"permission":"deny"}`, `{"permission":"denied"}`, `{"behavior":"deny"}`, `{"behaviour":"deny"}`, `{"approval":"denied"}`,
	`{"authorization":"refused"}`, `{"conclusion":"blocked"}`, `{"type":"deny"}`, `{"kind":"blocked"}`, `{"code":"DENIED"}`, `{"error":"blocked"}`,
	`{"message":"BLOCKED: rm is not for agents"}`, `{"message":"Denied - see the policy"}`, `{"error":"Blocked: rm"}`, `{"msg":"Command blocked."}`,
	`{"text":"DENY"}`, `{"verdict":"[guard] Blocked: rm"}`, `{"final_decision":"guard: DENIED rm"}`, `{"status":"guard: DENIED rm"}`,
	`{"result":"[guard] Blocked: rm"}`, `{"message":"[guard] BLOCKED rm"}`, `{"error":"guard: DENIED rm"}`,
	// Keys that name the answer in another way.
	`{"Verdict":"deny"}`, `{"finalDecision":"block"}`, `{"final_decision":"block"}`, `{"hook-decision":"deny"}`, `{"toolDecision":"deny"}`,
	`{"Hook Decision":"deny"}`, `{"permissionStatus":"denied"}`, `{"approvalStatus":"rejected"}`, `{"action_taken":"blocked"}`,
	// Flags.
	`{"allow":false}`, `{"allowed":false}`, `{"isAllowed":false}`, `{"is_allowed":false}`, `{"approve":false}`, `{"approved":false}`,
	`{"permitted":false}`, `{"permit":false}`, `{"proceed":false}`, `{"canProceed":false}`, `{"should_continue":false}`, `{"ok":false}`,
	`{"OK":false}`, `{"success":false}`, `{"accepted":false}`, `{"authorized":false}`, `{"granted":false}`, `{"safe":false}`, `{"valid":false}`,
	`{"pass":false}`, `{"passed":false}`, `{"allow":0}`, `{"allow":"false"}`, `{"allow":"no"}`, `{"approved":"No"}`, `{"ok":"false"}`,
	`{"block":true}`, `{"blocked":true}`, `{"shouldBlock":true}`, `{"should_block":true}`, `{"isBlocked":true}`, `{"deny":true}`,
	`{"denied":true}`, `{"reject":true}`, `{"rejected":true}`, `{"refuse":true}`, `{"forbidden":true}`, `{"disallow":true}`, `{"veto":true}`,
	`{"abort":true}`, `{"cancel":true,"errorMessage":"no"}`, `{"stop":true}`, `{"halt":true}`, `{"prevent":true}`, `{"block":1}`,
	`{"block":"yes"}`, `{"block":"rm is not for agents"}`, `{"deny":"rm is not for agents"}`, `{"blocked":{"reason":"rm"}}`,
	`{"not_allowed":true}`, `{"commandAllowed":false}`, `{"commandBlocked":true}`, `{"blockReason":"rm"}`, `{"deny_reason":"rm"}`,
	`{"denial":"rm"}`, `{"exitCode":2}`, `{"exit_code":2}`, `{"exit":2}`, `{"unsafe":true}`,
	// Inside of something.
	`{"result":{"decision":"block"}}`, `{"response":{"status":"denied"}}`, `{"output":{"action":"block"}}`, `{"data":{"allow":false}}`,
	`{"hook":{"decision":"deny"}}`, `{"a":{"b":{"c":{"decision":"block"}}}}`, `{"decisions":[{"decision":"block"}]}`,
	`{"results":[{"ok":true},{"ok":false}]}`, `{"result":["block"]}`, `{"result":["deny","rm"]}`, `{"output":{"continue":false}}`,
	`{"result":{"hookSpecificOutput":{"permissionDecision":"deny"}}}`, `{"permission":{"behavior":"deny"}}`,
	`{"content":[{"type":"text","text":"{\"decision\":\"block\"}"}]}`, `{"decision":{"behavior":"deny"}}`,
	`{"result":"{\"decision\":\"block\"}"}`, `{"output":"[{\"allow\":false}]"}`, "{\"text\":\"```json\\n{\\\"decision\\\":\\\"block\\\"}\\n```\"}",
	pre(`"decision":"deny"`), pre(`"status":"blocked"`), pre(`"result":{"permissionDecision":"deny"}`), pre(`"allow":false`),
	`{"systemMessage":"M","status":"denied"}`,
	// JSON in a text, in a list, in a fence, behind something.
	`"{\"decision\":\"block\"}"`, `"{\"status\":\"denied\"}"`, `"\"{\\\"allow\\\":false}\""`, `"\"\\\"\\\\\\\"{\\\\\\\\\\\\\\\"allow\\\\\\\\\\\\\\\":false}\\\\\\\"\\\"\""`, `"block"`, `"Denied"`, `["deny"]`, `["block","rm"]`,
	`[{"decision":"block"}]`, `[{"ok":false}]`, "```json\n{\"decision\":\"block\"}\n```", "```\n{\"allow\": false}\n```", `'{"decision":"block"}'`,
	`result: {"allow":false}`, `INFO verdict={"status":"blocked"}`, `{decision: "block"}`, `{'decision': 'block'}`, `{"decision":"block",}`,
	"{\"decision\":\"block\"}\n{\"x\":1}",
	// Text.
	"decision: block", "decision: <deny>", "policy.decision: block", "hook.status=denied", "Decision: BLOCK", "decision=deny", "DECISION=block", "decision = \"deny\"", "permission: denied", "status: blocked",
	"result: deny", "  decision: block\n  reason: rm\n", "reason: rm\ndecision: block\n", "result:\n  decision: block", "- decision: block",
	"**Decision:** block", "`decision`: block", "\"decision\": \"block\"", "<decision>block</decision>", "decision=block&reason=rm",
	"hookSpecificOutput.verdict: deny", "decision => block", "decision -> deny", "| decision | block |", "allow: false", "allowed=no",
	"approved: no", "ok: false", "success: false", "continue: no", "Proceed? No", "blocked: true", "block: yes", "action: abort",
	"block", "BLOCK", "Blocked.", "deny", "DENIED!", "rejected", "refused", "forbidden", "disallowed", "veto", "no", "stop", "abort", "cancel",
	"not allowed", "Not permitted.", "Access denied", "do not proceed", "BLOCKED: rm -rf is dangerous", "Blocked: rm", "Denied - rm is not for agents",
	"verdict: [guard] Blocked: rm", "decision: <deny>", "decision: guard: DENIED rm", "status: [guard] Blocked: rm", "message: guard: DENIED rm", "error: [guard] BLOCKED rm",
	"DENY rm -rf /", "Rejected! rm", "Blocked by policy", "denied because it deletes", "❌ Blocked: rm", "[guard] BLOCKED rm", "guard: DENIED rm -rf",
	"[guard] Blocked: rm", "Denied: no rm here", "Command blocked: rm", "Tool call denied.", "This command is forbidden.", "**BLOCKED** rm", "REJECTED",
	"\x1b[1;31mBLOCK\x1b[0m", "\x1b[31mBlocked: rm\x1b[m", "checking rm\nDENY", "loaded 3 rules\nverdict below\nBlocked.\n",
	`{"resolution":"deny"}`, `{"recommendation":"block"}`, `{"is_dangerous":true}`, `{"violation":"deletes /"}`, `{"compliant":false}`, `{"malicious":true}`,
}

// ordinaryAnswers are answers and texts that refuse nothing.
var ordinaryAnswers = []string{
	`{}`, `{"ok":true}`, `{"status":"ok"}`, `{"success":true}`, `{"result":"pass"}`, `{"allow":true}`, `{"blocked":false}`, `{"deny":false}`,
	`{"decision":"approve"}`, `{"continue":true}`, `{"suppressOutput":true}`, `{"systemMessage":"nothing was blocked"}`, `{"status":"done","count":3}`,
	`{"result":{"ok":true}}`, `{"results":[{"ok":true}]}`, `{"x":1,"version":"2","log":{"a":[]},"_comment":"deny"}`, `{"blocked":0}`, `{"denied":3}`,
	`{"blocked":null}`, `{"blocked":[]}`, `{"blocked":""}`, `{"block":"none"}`, `{"counts":{"blocked":true}}`, `{"level":"info","msg":"no problems found"}`,
	`{"tool_name":"Bash","tool_input":{"command":"ls","action":"cancel"},"session_id":"s","stop_hook_active":true}`,
	`{"status":"success","message":"No denied paths"}`, `{"message":"blocked nothing"}`, `{"error":null}`, `{"errors":[]}`, `{"status":"stopped"}`,
	`{"finish_reason":"stop"}`, `{"auto_approve":false}`, `{"dry_run":false}`, `{"type":"block_quote"}`, `{"code":0}`, `{"exit_code":0}`, `{"exitCode":1}`,
	`{"permissions":{"deny":["Bash(rm *)"]}}`, `{"not_blocked":true}`, `{"not_allowed":false}`, `{"tests":{"passed":false}}`, `{"blocked":1}`,
	`{"action":"logged"}`, `{"action":"none"}`, `{"permission":"allow"}`, `{"verdict":"clean"}`, `{"answer":"42"}`, `{"state":"running"}`,
	`{"code_block":"x"}`, `{"content_block_stop":true}`, `{"metrics":{"block":true}}`, `{"reason":"no problems"}`, `{"stopReason":"x"}`,
	`{"note":"we deny nothing"}`, `{"list":["deny","block","allow"]}`, `{"blockers":"x"}`, `{"allow_list":false}`, `{"":false}`,
	"", "ok", "allow", "approved", "no problems found", "No issues.", "0 blocked", "Blocked 0 of 12 requests", "blocked: 0", "Denied: none",
	"done, denied nothing", "blocklist loaded", "Block size: 4096", "DENY LIST loaded", "block device sda", "stopped 3 containers",
	"status: ok", "decision: approve", "result: no errors", "ok: true", "blocked: false", "allow: true", "action: logged", "dry_run: false",
	"[guard] looks fine", "[1/3] compiling", "INFO nothing to do", "cat: x: Permission denied", "formatted 3 files", "https://example.com/deny",
	"The command was not blocked.", "No rule denied it", "refusing nothing", "I looked for blocked domains: 3 found", "warning: deny rules are empty",
	"all good", "stop hook ran", "continue", "yes", "true", "100%", "a: b: c", "2026-01-01 12:00:00 INFO allowed Bash(ls)",
	`checked {"ok":true}`, "[x] deny list reviewed", "is: deny", "to be: block", "should=deny", `{"is":"deny"}`, `{"should":true}`,
	"\x1b[32mok\x1b[0m", "rules to deny\nlist loaded\nok", `{"violation":false}`, `{"violations":0}`, `{"dangerous":"no"}`,
}

func TestAClearNoIsNeverASuccess(t *testing.T) {
	for _, text := range clearRefusals {
		out, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(text)})
		if failure := failureOf(t, err); failure.Failure != hook.FailureOutput && (out == nil || out.Verdict < hook.Ask) {
			t.Errorf("%s\npassed for a success: %+v", text, out)
		}
		if out != nil && out.Verdict == hook.Allow {
			t.Errorf("%s\nallows", text)
		}
	}
	if len(clearRefusals) < 200 {
		t.Errorf("only %d refusals are tried", len(clearRefusals))
	}
}

func TestAnOrdinaryAnswerIsNoFailure(t *testing.T) {
	for _, text := range ordinaryAnswers {
		for _, event := range []hook.Event{hook.EventPreToolUse, hook.EventPostToolUse, hook.EventUserPromptSubmit, hook.EventStop} {
			if _, err := Read(newCall(t, event), Reply{Stdout: []byte(text)}); err != nil {
				t.Errorf("%s: %q fails: %v", event, text, err)
			}
		}
	}
}

// A refusal in the tables is one wherever it stands: in an answer, in an object
// of that, in a text of that, and as a line of plain text.
func TestEachWordAndKeyOfTheTablesRefuses(t *testing.T) {
	failing := func(text string) {
		t.Helper()
		if _, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(text)}); failureOf(t, err).Failure != hook.FailureOutput {
			t.Errorf("%s: %v", text, err)
		}
	}
	member := func(key, value string) {
		t.Helper()
		m := fmt.Sprintf("%q:%s", key, value)
		failing("{" + m + "}")
		failing(`{"outer":{` + m + `}}`)
		failing(`{"outer":[{` + m + `}]}`)
		quoted, _ := json.Marshal("{" + m + "}")
		failing(`{"outer":` + string(quoted) + `}`)
		failing(string(quoted))
	}
	for word := range refusingWords() {
		failing(fmt.Sprintf(`{"verdict":%q}`, word))
		failing(fmt.Sprintf(`{"status":%q}`, word))
		failing("verdict: " + word)
		failing("status: " + word)
		failing(word)
	}
	for word := range endedWords() {
		failing(fmt.Sprintf(`{"verdict":%q}`, word))
		failing("verdict: " + word)
	}
	for word := range openingWords() {
		failing(fmt.Sprintf(`{"note":{"message":"%s: rm"}}`, word))
		failing(fmt.Sprintf(`{"verdict":"%s because"}`, word))
		failing(word + ": rm")
		failing("guard: " + strings.ToUpper(word) + " rm")
	}
	for key := range decidingKeys() {
		member("my_"+key, `"deny"`)
		failing("my_" + key + ": deny")
	}
	for key := range stateKeys() {
		member(key, `"deny"`)
		failing(key + ": deny")
	}
	for key := range kindKeys() {
		member(key, `"denied"`)
		failing(key + ": denied")
	}
	for key := range consentKeys() {
		if key == "continue" || key == "decision" {
			member("my_"+key, "false")
			continue
		}
		member(key, "false")
		member("not_"+key, "true")
		if !decidingKeys()[key] {
			failing(key + ": no")
		}
	}
	for key := range refusalKeys() {
		member(key, "true")
		member(key, `"because"`)
		member(key, `{"why":"because"}`)
		member("not_"+key, "false")
		failing(key + ": yes")
		for why := range reasonKeys() {
			if key != "stop" {
				member(key+"_"+why, `"because"`)
			}
		}
	}
}

// What no table has refuses nothing: neither an unknown word nor an unknown key,
// and nothing below a key of facts.
func TestNothingBesideTheTablesRefuses(t *testing.T) {
	fine := func(text string) {
		t.Helper()
		if _, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(text)}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, set := range []map[string]bool{decidingKeys(), stateKeys(), kindKeys()} {
		for _, key := range slices.Sorted(maps.Keys(set)) {
			fine(fmt.Sprintf(`{"my_%s":"harmless"}`, key))
			fine("my_" + key + ": harmless")
		}
	}
	for _, word := range slices.Sorted(maps.Keys(refusingWords())) {
		fine(fmt.Sprintf(`{"colour":%q}`, word))
		fine("colour: " + word)
	}
	for key := range factKeys() {
		if key != "updated_input" && key != "additional_context" && key != "updated_tool_output" && key != "updated_permissions" {
			fine(fmt.Sprintf(`{%q:{"verdict":"deny","allow":false}}`, key))
		}
	}
	for _, word := range slices.Sorted(maps.Keys(qualifiers())) {
		fine(fmt.Sprintf(`{"%s_blocked":true,"%s_allowed":false}`, word, word))
	}
	for word := range falseWords() {
		fine(fmt.Sprintf(`{"blocked":%q}`, word))
	}
	for word := range countWords() {
		fine("blocked: " + word)
		fine("BLOCKED " + word)
	}
	for key := range consentKeys() {
		if key != "continue" && key != "decision" {
			fine(fmt.Sprintf(`{%q:true}`, key))
		}
	}
	for key := range refusalKeys() {
		fine(fmt.Sprintf(`{%q:false}`, key))
	}
}

// Each bound is as large as it says: what just fits refuses, one more does not.
func TestBoundsOfWhatIsReadForARefusal(t *testing.T) {
	x := strings.Repeat
	nested := func(depth int) string { return x(`{"a":`, depth) + `{"verdict":"deny"}` + x("}", depth) }
	quoted := func(times int) string {
		text := []byte(`["x","no"]`)
		for range times {
			text, _ = json.Marshal(string(text))
		}
		return string(text)
	}
	for name, tt := range map[string]struct{ fits, over string }{
		"letters of a key":             {`{"` + x("x", 57) + `_denied":true}`, `{"` + x("x", 58) + `_denied":true}`},
		"letters of a text":            {"no" + x(".", 62), "no" + x(".", 63)},
		"lines of pairs":               {x("x\n", 199) + "decision: block", x("x\n", 200) + "decision: block"},
		"letters of a line":            {"decision: block" + x(" ", 984) + ".\n", "decision: block" + x(" ", 985) + ".\n"},
		"lines with an object":         {x("x\n", 199) + `r {"allow":false}`, x("x\n", 200) + `r {"allow":false}`},
		"letters of such a line":       {x("x", 9983) + `{"allow":false} .`, x("x", 9984) + `{"allow":false} .`},
		"objects within objects":       {nested(7), nested(8)},
		"items of a list":              {`{"a":["a","deny"]}`, `{"a":["a","b","deny"]}`},
		"words of a key":               {"a b decision: block", "a b c decision: block"},
		"words about the call":         {"the tool call was denied.", "the tool action call was denied."},
		"prefixes of a verdict":        {"a: b: DENIED x", "a: b: c: DENIED x"},
		"objects behind a text":        {"see " + x(`{"a":`, 7) + `["x","no"]` + x("}", 7), "see " + x(`{"a":`, 8) + `["x","no"]` + x("}", 8)},
		"lists within lists":           {`{"a":` + x("[", 7) + `"no"` + x("]", 7) + "}", `{"a":` + x("[", 8) + `"no"` + x("]", 8) + "}"},
		"objects around a text":        {x(`{"a":`, 7) + `"[\"no\"]"` + x("}", 7), x(`{"a":`, 8) + `"[\"no\"]"` + x("}", 8)},
		"quotes around a text":         {quoted(8), quoted(9)},
		"letters of a phrase in a key": {`{"verdict":"deny` + x(".", 196) + `"}`, `{"verdict":"harmless` + x(".", 196) + ` deny"}`},
	} {
		if _, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(tt.fits)}); err == nil {
			t.Errorf("%s: what fits is no refusal: %.80q", name, tt.fits)
		}
		if _, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(tt.over)}); err != nil {
			t.Errorf("%s: one more is a refusal: %v", name, err)
		}
	}
	pairs := func(n int) Reply { return Reply{Stdout: []byte(x("key: value\n", n-1) + "decision: block")} }
	if _, err := Read(newCall(t, hook.EventUserPromptSubmit), pairs(10)); err == nil {
		t.Error("ten pairs are context")
	}
	if out, err := Read(newCall(t, hook.EventUserPromptSubmit), pairs(11)); err != nil || out.Context == "" {
		t.Errorf("eleven pairs are no context: %v", err)
	}
	if _, err := Read(newCall(t, hook.EventUserPromptSubmit), Reply{Stdout: []byte("```\n" + nested(7) + "\n```")}); err == nil {
		t.Error("eight objects in a fence are context")
	}
	if _, err := Read(newCall(t, hook.EventUserPromptSubmit), Reply{Stdout: []byte("```\n" + nested(8) + "\n```")}); err != nil {
		t.Errorf("nine objects in a fence are no context: %v", err)
	}
	if _, err := Read(newCall(t, hook.EventUserPromptSubmit), Reply{Stdout: []byte("a b c: x\ndecision: block")}); err == nil {
		t.Error("three words are no key")
	}
	if _, err := Read(newCall(t, hook.EventUserPromptSubmit), Reply{Stdout: []byte("a b c d: x\ndecision: block")}); err != nil {
		t.Errorf("four words are a key: %v", err)
	}
}

// What is near to no key of an answer is compared for the first 32 unknown keys.
func TestMisspeltKeysAreNamedUpToABound(t *testing.T) {
	for before, want := range map[int]int{0: 1, 31: 1, 32: 0} {
		var text strings.Builder
		for i := range before {
			fmt.Fprintf(&text, `"%d":1,`, i)
		}
		c := newCall(t, hook.EventPreToolUse)
		if _, err := Read(c, Reply{Stdout: []byte("{" + text.String() + `"sytemMessage":"M"}`)}); err != nil || len(codesOf(c)) != want {
			t.Errorf("behind %d others: %v, %v", before, codesOf(c), err)
		}
	}
}

func TestTheHintOfAMisspeltRefusalNamesTheKey(t *testing.T) {
	for text, want := range map[string]string{
		`{"desicion":"block"}`: "did you mean decision?", `{"contine":false}`: "did you mean continue?",
		pre(`"permissionDecison":"deny"`): "did you mean permissionDecision?",
	} {
		_, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(text)})
		if got := failureOf(t, err).Hint; got != want {
			t.Errorf("%s: hint %q, want %q", text, got, want)
		}
	}
}

// The report of a hostile answer has fifty warnings of what does not count,
// beside the failure.
func TestWarningsOfAnAnswerAreBounded(t *testing.T) {
	for refusals, want := range map[int]int{1: 0, 2: 1, 50: 49, 51: 50, 52: 50} {
		var text strings.Builder
		for i := range refusals {
			fmt.Fprintf(&text, `"blocked%d_denied":true,`, i)
		}
		c := newCall(t, hook.EventPreToolUse)
		if _, err := Read(c, Reply{Stdout: []byte("{" + text.String() + `"x":1}`)}); err == nil || len(c.Report.Warnings) != want {
			t.Errorf("%d refusals: %d warnings, want %d; %v", refusals, len(c.Report.Warnings), want, err)
		}
	}
}

func TestARefusalBehindManyUnknownKeysIsSeen(t *testing.T) {
	var text strings.Builder
	text.WriteString("{")
	for i := range 3 * maxUnknowns {
		fmt.Fprintf(&text, `"k%d":1,`, i)
	}
	text.WriteString(`"status":"blocked"}`)
	if _, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(text.String())}); err == nil {
		t.Error("it passed for a success")
	}
}

// Where plain text is context it may speak of refusals; it is one only if it is
// nothing else.
func TestContextMaySpeakOfRefusals(t *testing.T) {
	for text, fails := range map[string]bool{
		"Deploys are blocked: a freeze until Monday": false,
		"BLOCKED: nobody deploys today":              false,
		"no":                                         false,
		"The policy says\ndecision: block\nfor deploys": false,
		"decision: block":                   true,
		"x\ndecision: block":                false,
		"\ndecision: block\n\n":             true,
		"decision:\ndecision: block":        true,
		"decision: block\nreason: a freeze": true,
		`"{\"decision\":\"block\"}"`:        true,
		`[{"ok":false}]`:                    true,
		`["a","b"]`:                         false,
	} {
		out, err := Read(newCall(t, hook.EventUserPromptSubmit), Reply{Stdout: []byte(text)})
		if (err != nil) != fails || !fails && out.Context != text {
			t.Errorf("%q: %+v, %v", text, out, err)
		}
	}
}

func TestAPathIsNoRefusal(t *testing.T) {
	for _, text := range []string{"BLOCKED: no worktree here", "decision: block", `"deny"`} {
		out, err := Read(newCall(t, hook.EventWorktreeCreate), Reply{Stdout: []byte(text)})
		if err != nil || out.Verdict != hook.Deny || out.WorktreePath != "" {
			t.Errorf("%q: %+v, %v", text, out, err)
		}
	}
	out, err := Read(newCall(t, hook.EventWorktreeCreate), Reply{Stdout: []byte("/tmp/denied/tree")})
	if err != nil || out.WorktreePath != "/tmp/denied/tree" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestTextThatRefusesFailsOnlyWhereSomethingCanBeBlocked(t *testing.T) {
	for _, event := range everyEvent() {
		info := hook.Info(event)
		if info.Plain != hook.PlainIgnored {
			continue
		}
		in := callOf(t, event)
		_, err := Read(in, Reply{Stdout: []byte("BLOCKED: rm")})
		if blocks := info.CanBlock(in.Input); (err != nil) != blocks {
			t.Errorf("%s: %v, and a hook can block it: %v", event, err, blocks)
		}
	}
}

// Of an answer that says no in a word that does not count the hint names one
// that does, for every event that can be blocked.
func TestTheHintOfALostRefusalRefuses(t *testing.T) {
	for _, event := range everyEvent() {
		c := callOf(t, event)
		if !hook.Info(event).CanBlock(c.Input) || hook.Info(event).Plain == hook.PlainPath {
			continue
		}
		_, err := Read(c, Reply{Stdout: []byte(`{"status":"blocked"}`)})
		hint := failureOf(t, err).Hint
		_, answer, ok := strings.Cut(hint, "print ")
		if !ok {
			if !strings.Contains(hint, "exit with code 2") {
				t.Errorf("%s: hint %q", event, hint)
			}
			continue
		}
		out, err := Read(callOf(t, event), Reply{Stdout: []byte(answer)})
		if err != nil || out.Verdict != hook.Deny && !out.Stop {
			t.Errorf("%s: the hint %q does not refuse: %+v, %v", event, hint, out, err)
		}
	}
}

func TestAnswersOfEachProtocolThatSayNoAreNoSuccess(t *testing.T) {
	for _, p := range hook.Protocols() {
		for _, text := range []string{`{"status":"block"}`, `{"result":{"decision":"block"}}`, `"{\"decision\":\"block\"}"`, "decision: block"} {
			out, err := Read(newCall(t, hook.EventPreToolUse, withProtocol(p)), Reply{Stdout: []byte(text)})
			if err == nil {
				t.Errorf("%s: %s: %+v", p, text, out)
			}
		}
	}
}

func TestARefusalThatCountsIsNotDisturbedByOneThatDoesNot(t *testing.T) {
	out, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(`{"decision":"block","reason":"R","status":"blocked","ok":false}`)})
	if err != nil || out.Verdict != hook.Deny || out.Reason != "R" {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(pre(`"permissionDecision":"allow"`)[:len(pre(`"permissionDecision":"allow"`))-1] + `,"blocked":true}`)})
	if err == nil || out.Verdict != hook.NoOpinion {
		t.Errorf("an allow beside blocked: %+v, %v", out, err)
	}
}

// What is shown as it stands refuses nothing, on whatever event.
func TestATextThatIsTheResultIsNoRefusal(t *testing.T) {
	for _, text := range []string{"BLOCKED: rm", "decision: block", `"deny"`, "```\n{\"allow\":false}\n```"} {
		if isRefusingText([]byte(text), hook.PlainResult) || !isRefusingText([]byte(text), hook.PlainIgnored) {
			t.Errorf("%q is judged alike as a result and elsewhere", text)
		}
	}
}
