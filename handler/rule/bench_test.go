package rule_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/handler/rule/expr"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/registry"
)

// opened is a registry with rules, and hooks of other kinds, by the text of
// their HOOK.md.
func opened(tb testing.TB, hooks ...string) *registry.Registry {
	tb.Helper()
	dir := tb.TempDir()
	for i, text := range hooks {
		path := filepath.Join(dir, fmt.Sprintf("h%03d", i), "HOOK.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("+++\nevent = \"PreToolUse\"\n"+text+"\n+++\n"), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	reg, err := registry.Open(tb.Context(), registry.Options{Workspace: tb.TempDir(), Dirs: []string{dir}, StateDir: tb.TempDir(),
		Without:  []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopePlugin, hook.ScopeProject},
		Handlers: map[hook.Kind]hook.Handler{hook.KindRule: rule.New(rule.Options{Compile: expr.Compile})}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = reg.Close() })
	return reg
}

func call(command string) hook.PreToolUse {
	input, _ := json.Marshal(map[string]string{"command": command})
	return hook.PreToolUse{ToolName: "Bash", ToolInput: input, ToolUseID: "t1"}
}

const denyPush = "type = \"rule\"\nif = \"Bash(git push *)\"\ndecision = \"deny\"\nreason = \"No.\""

// Each dispatch is beside its floors: a command hook, and the start of a
// program that does nothing.
func BenchmarkDispatch(b *testing.B) {
	long := "echo " + strings.Repeat("word 'quoted text' $((1+2)) | cat; ", 64<<10/36)
	hundred := make([]string, 100)
	for i := range hundred {
		hundred[i] = denyPush
	}
	destructive := "type = \"rule\"\ndestructive = true\ndecision = \"deny\"\nreason = \"No.\""
	network := "type = \"rule\"\nnetwork = true\ndecision = \"ask\"\nreason = \"No.\""
	touches := "type = \"rule\"\ntouches = [\"~/.ssh/**\", \".env\"]\ndecision = \"deny\"\nreason = \"No.\""
	for _, test := range []struct {
		name    string
		hooks   []string
		command string
		want    hook.Verdict
	}{
		{"rule", []string{denyPush}, "git push", hook.Deny},
		{"rule with when", []string{"type = \"rule\"\nwhen = 'tool_input.command.size() > 4'\ndecision = \"deny\"\nreason = \"No.\""}, "git push", hook.Deny},
		{"rule, push with a branch", []string{denyPush}, "git push origin main", hook.Deny},
		{"rule, another command", []string{denyPush}, "git status", hook.NoOpinion},
		{"rule, a list with a pipe", []string{denyPush}, "npm test 2>&1 | tail -5 && git push origin main", hook.Deny},
		{"destructive", []string{destructive}, "rm -rf /", hook.Deny},
		{"destructive, another command", []string{destructive}, "git status", hook.NoOpinion},
		{"network", []string{network}, "git push origin main", hook.Ask},
		{"network, another command", []string{network}, "git status", hook.NoOpinion},
		{"touches, another command", []string{touches}, "git status", hook.NoOpinion},
		{"three guards, another command", []string{destructive, network, touches}, "go test ./...", hook.NoOpinion},
		{"rule with touches", []string{"type = \"rule\"\ntouches = \"~/.ssh/**\"\ndecision = \"deny\"\nreason = \"No.\""}, "cat ~/.ssh/id_rsa", hook.Deny},
		{"100 rules", hundred, "git push", hook.Deny},
		{"64 KiB", []string{denyPush}, long, hook.Ask}, // more words than are read, so no one can say that it does not push
		{"command", []string{"command = \"true\""}, "git push", hook.NoOpinion},
	} {
		b.Run(test.name, func(b *testing.B) {
			reg, in := opened(b, test.hooks...), call(test.command)
			b.ReportAllocs()
			for b.Loop() {
				out, err := reg.Dispatch(b.Context(), in)
				if err != nil || out.Verdict != test.want {
					b.Fatalf("%v %v", err, out)
				}
			}
		})
	}
	b.Run("true", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What a guard costs is mostly what it allocates, which a busy machine does not
// change.
func TestADispatchToARuleAllocatesLittle(t *testing.T) {
	built.NotOnWindows(t, "its paths are rewritten, which allocates")
	const most = 34 // 30, and a few that only the race detector causes
	for _, test := range []struct{ condition, command string }{
		{`if = "Bash(git push *)"`, "git push origin main"},
		{`if = "Bash(git push *)"`, "git status"},
		{`if = "Bash(git push *)"`, "npm test 2>&1 | tail -5 && git push origin 'a b'"},
		{`destructive = true`, "rm -rf /"},
		{`destructive = true`, "go test ./..."},
		{`network = true`, "git push origin main"},
		{`network = true`, "ls -la"},
	} {
		reg, in := opened(t, "type = \"rule\"\n"+test.condition+"\ndecision = \"deny\"\nreason = \"No.\""), call(test.command)
		got := testing.AllocsPerRun(200, func() {
			if _, err := reg.Dispatch(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		})
		if got > most {
			t.Errorf("%s on %q: %.0f allocations, want at most %d", test.condition, test.command, got, most)
		}
	}
}
