package hook_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestSizesHaveAUnitAndAreAtLeastAByte(t *testing.T) {
	for text, want := range map[string]int64{"1B": 1, "3 kB": 3000, "2KiB": 2048, "1.5MB": 1_500_000, "512MiB": 512 << 20, "1GB": 1e9, "2GiB": 2 << 30,
		"": 0, "7": 0, "0MiB": 0, "-1MB": 0, "0.2B": 0, "NaNMB": 0, "1e30GiB": 0, "9223372036854775808B": 0, "9223372036854774784B": 9223372036854774784, "x MiB": 0, "1TB": 0} {
		if got, ok := hook.ParseSize(text); got != want || ok != (want > 0) {
			t.Errorf("%q = %d %v, want %d", text, got, ok, want)
		}
	}
}

func TestSandboxIsAModeOrATable(t *testing.T) {
	for text, want := range map[string]*hook.Sandbox{
		`"none"`:                             {Mode: hook.SandboxNone},
		`"read-only"`:                        {Mode: hook.SandboxReadOnly},
		`{}`:                                 {Mode: hook.SandboxStrict},
		`{"mode": "reap", "memory": "1KiB"}`: {Mode: hook.SandboxReap, Memory: 1024},
		`{"allowWrite": ["~/x"], "allow_read": ["/y"], "deny_read": ["${HOOK_DIR}/z"], "allow_net": []}`: {Mode: hook.SandboxStrict,
			AllowWrite: []string{"~/x"}, AllowRead: []string{"/y"}, DenyRead: []string{"${HOOK_DIR}/z"}, AllowNet: []string{}},
	} {
		got, problems := hook.SandboxOf(json.RawMessage(text))
		if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
			t.Errorf("%s: %v %s", text, problems, diff)
		}
	}
	for text, want := range map[string]string{
		"": "sandbox", `{"memory": null}`: "sandbox.memory",
		`"strickt"`: "sandbox", `7`: "sandbox", `["strict"]`: "sandbox", `null`: "sandbox", `""`: "sandbox",
		`{"modus": "strict"}`: "sandbox.modus", `{"mode": 1}`: "sandbox.mode", `{"memory": 512}`: "sandbox.memory",
		`{"allow_net": ["443"]}`: "sandbox.allow_net", `{"allow_net": ["tcp:0"]}`: "sandbox.allow_net", `{"allow_net": ["tcp:65536"]}`: "sandbox.allow_net",
		`{"allow_net": ["udp:53"]}`: "sandbox.allow_net", `{"allow_write": ["build"]}`: "sandbox.allow_write", `{"allow_write": "/x"}`: "sandbox.allow_write",
		`{"optional": true}`: "sandbox.optional", `{"mode": "none", "mode": "strict"}`: "sandbox",
	} {
		if got, problems := hook.SandboxOf(json.RawMessage(text)); got != nil || len(problems) == 0 || problems[0].Key != want {
			t.Errorf("%s: %+v %+v", text, got, problems)
		}
	}
}

func TestMistakeOfASandboxSaysWhatToDo(t *testing.T) {
	for text, want := range map[string][]hook.Diagnostic{
		`7`:         {{Severity: "error", Code: "wrong_type", Key: "sandbox", Message: "want a mode or a table", Hint: `write sandbox = "strict"`}},
		`"strickt"`: {{Severity: "error", Code: "unknown_value", Key: "sandbox", Message: `there is no mode "strickt"`, Hint: `did you mean "strict"?`}},
		`"x"`:       {{Severity: "error", Code: "unknown_value", Key: "sandbox", Message: `there is no mode "x"`, Hint: "it is none, reap, read-only or strict"}},
		`{"mods": 1, "x": 2, "memory": "1"}`: {{Severity: "error", Code: "unknown_key", Key: "sandbox.mods", Message: "no such key", Hint: `did you mean "mode"?`},
			{Severity: "error", Code: "unknown_key", Key: "sandbox.x", Message: "no such key", Hint: "it takes mode, allow_write, allow_read, deny_read, allow_net, memory"},
			{Severity: "error", Code: "unknown_value", Key: "sandbox.memory", Message: `want a size such as "512MiB", got "1"`}},
		`{"mode": 1}`:     {{Severity: "error", Code: "wrong_type", Key: "sandbox.mode", Message: "want a string"}},
		`{"denyRead": 1}`: {{Severity: "error", Code: "wrong_type", Key: "sandbox.denyRead", Message: "want a list of strings"}},
		`{"mode": "x", "allow_net": ["x"], "allow_write": ["a", "/b"], "allow_read": ["c~"], "deny_read": ["~d"]}`: {
			{Severity: "error", Code: "unknown_value", Key: "sandbox.mode", Message: `there is no mode "x"`, Hint: "it is none, reap, read-only or strict"},
			{Severity: "error", Code: "unknown_value", Key: "sandbox.allow_net", Message: `"x" is no port`, Hint: `write ports as "tcp:443"; a host cannot be named`},
			{Severity: "error", Code: "unknown_value", Key: "sandbox.allow_write", Message: `"a" is not an absolute path`, Hint: "begin it with /, ~ or ${TENTERHOOK_PROJECT_DIR}"},
			{Severity: "error", Code: "unknown_value", Key: "sandbox.allow_read", Message: `"c~" is not an absolute path`, Hint: "begin it with /, ~ or ${TENTERHOOK_PROJECT_DIR}"},
			{Severity: "error", Code: "unknown_value", Key: "sandbox.deny_read", Message: `"~d" is not an absolute path`, Hint: "begin it with /, ~ or ${TENTERHOOK_PROJECT_DIR}"}},
	} {
		box, problems := hook.SandboxOf(json.RawMessage(text))
		if diff := cmp.Diff(want, problems); diff != "" || box != nil {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if got, problems := hook.SandboxOf(json.RawMessage(` {"allow_read": ["~", "~/x", "/y", "${A}"]}`)); got == nil || problems != nil {
		t.Errorf("each of them can be absolute: %v", problems)
	}
	for mode, want := range map[hook.SandboxMode]bool{"": false, hook.SandboxNone: false, hook.SandboxReap: true, hook.SandboxStrict: true} {
		if got := (&hook.Sandbox{Mode: mode}).Contains(); got != want {
			t.Errorf("%q contains: %v", mode, got)
		}
	}
	if (*hook.Sandbox)(nil).Contains() {
		t.Error("no sandbox contains")
	}
}

func TestStricterModeOfTwoCounts(t *testing.T) {
	modes := append([]hook.SandboxMode{""}, hook.SandboxModes()...)
	for i, a := range modes {
		for j, b := range modes {
			if got := a.Stricter(b); got != modes[max(i, j)] {
				t.Errorf("%q and %q: %q", a, b, got)
			}
		}
	}
}

func TestOnlyPortsThatAreNamedAreAllowed(t *testing.T) {
	for _, c := range []struct{ asked, want []string }{{nil, nil}, {[]string{}, []string{}}} {
		got, err := (&hook.Sandbox{AllowNet: c.asked}).Ports()
		if (got == nil) != (c.want == nil) || err != nil {
			t.Errorf("%v: %v %v", c.asked, got, err)
		}
	}
	got, err := (&hook.Sandbox{AllowNet: []string{"tcp:1", "tcp:65535"}}).Ports()
	if diff := cmp.Diff([]uint16{1, 65535}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
