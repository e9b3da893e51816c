package registry_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// opinion finds of each hook what is kept under its name, and counts how often it is
// closed.
type opinion struct {
	closing
	of map[string][]hook.Diagnostic
}

func (o opinion) Check(c *hook.Call) []hook.Diagnostic {
	notes := slices.Clone(o.of[c.Hook.Name])
	for i := range notes {
		notes[i].Hook = c.Hook.ID
	}
	return notes
}

// What a machine lacks is an error where hooks are to run, and a warning of a file
// that is named, whose hook counts as one that cannot run here.
func TestCheckTellsWhatAMachineLacksFromWhatIsWrong(t *testing.T) {
	const manifest = "\n+++\nevent = \"PreToolUse\"\ntype = \"agent\"\nprompt = \"x\"\n+++\n"
	dir := tree(t, "-- lacks/HOOK.md --"+manifest+"-- wrong/HOOK.md --"+manifest+"-- invalid/HOOK.md --"+manifest+"-- doubtful/HOOK.md --"+manifest+
		"-- good/HOOK.md --"+manifest+"-- nobody/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"mcp\"\nserver = \"s\"\ntool = \"x\"\n+++\n")
	closed := 0
	finds := opinion{closing{&closed}, map[string][]hook.Diagnostic{
		"lacks":    {{Severity: hook.SeverityError, Code: "no_model", Message: "no model", Hint: "set one"}},
		"wrong":    {{Severity: hook.SeverityError, Code: "bad_prompt", Message: "bad", Hint: "change it"}},
		"invalid":  {{Severity: hook.SeverityError, Code: "bad_condition", Message: "bad", Hint: "change it"}},
		"doubtful": {{Severity: hook.SeverityWarning, Code: "odd_prompt", Message: "odd", Hint: "look at it"}, {Severity: hook.SeverityWarning, Code: "odder_prompt", Message: "odder", Hint: "look at it"}},
	}}
	for name, tc := range map[string]struct {
		opts  registry.Options
		paths []string
		lacks string
	}{
		"a folder that is named": {only(), []string{dir}, "warning no_model dir/lacks"},
		"all that is loaded":     {only(dir), nil, "error no_model dir/lacks"},
	} {
		closed = 0
		tc.opts.Handlers = map[hook.Kind]hook.Handler{hook.KindAgent: finds}
		tc.opts.Workspace = t.TempDir()
		report, err := registry.Check(t.Context(), tc.opts, tc.paths...)
		if err != nil || report.Files != 6 || report.Hooks != 6 || report.Unable != 4 || report.Workspace != tc.opts.Workspace || closed != 1 {
			t.Errorf("%s: %+v, %v; its handler was closed %d times", name, report, err, closed)
			continue
		}
		var got []string
		for _, d := range report.Diagnostics {
			got = append(got, string(d.Severity)+" "+d.Code+" "+"dir/"+filepath.Base(d.Hook))
			if d.Code == "unsupported" && (d.Line != 2 || d.Path != filepath.Join(dir, "nobody", "HOOK.md") || !strings.HasPrefix(d.Message, "it cannot run: ")) {
				t.Errorf("%s: %+v", name, d)
			}
		}
		slices.Sort(got)
		want := []string{"error bad_condition dir/invalid", "error bad_prompt dir/wrong", tc.lacks, "warning odd_prompt dir/doubtful", "warning odder_prompt dir/doubtful", "warning unsupported dir/nobody"}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	dir := tree(t, "-- a/HOOK.md --\n+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, paths := range [][]string{{dir}, nil} {
		if report, err := registry.Check(ctx, only(dir), paths...); !errors.Is(err, context.Canceled) || report != nil {
			t.Errorf("%v: %+v, %v", paths, report, err)
		}
	}
}

func TestCheckSaysWhatAwaitsApprovalAndWhatThatBlocks(t *testing.T) {
	opts := machine(t, "-- w/.tenterhook/hooks/a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n"+
		"-- w/.tenterhook/hooks/b/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\non_failure = \"block\"\n+++\n")
	report, err := registry.Check(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range report.Diagnostics {
		message, _, _ := strings.Cut(d.Message, ": ")
		got = append(got, string(d.Severity)+" "+d.Code+" "+d.Hook+": "+message)
	}
	want := []string{"warning untrusted project/a: it cannot run", "error untrusted project/b: it cannot run and blocks every PreToolUse that it concerns"}
	if diff := cmp.Diff(want, got); diff != "" || report.Unable != 0 {
		t.Errorf("%d cannot run here, -want +got:\n%s", report.Unable, diff)
	}
}

// Settings of this machine are nothing that a file which is named would be judged by.
func TestCheckOfAFileKnowsNoSettings(t *testing.T) {
	dir := tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"mcp\"\nserver = \"s\"\ntool = \"x\"\n+++\n")
	opts := only(tree(t, "-- settings.toml --\ndefault_on_failure = \"block\"\n"))
	report, err := registry.Check(t.Context(), opts, dir)
	if err != nil || len(report.Diagnostics) != 1 || report.Diagnostics[0].Severity != hook.SeverityWarning || report.Diagnostics[0].Hook != "dir/a" {
		t.Errorf("%+v, %v", report, err)
	}
}

// What is wrong with a rule is reported once, whoever finds it.
func TestCheckReportsARuleThatIsNoneOnce(t *testing.T) {
	for name, lines := range map[string]string{"an if": "if = \"Bash(\"", "a matcher": "matcher = \"Ba(sh\""} {
		dir := tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n"+lines+"\n+++\n")
		for _, paths := range [][]string{nil, {dir}} {
			report, err := registry.Check(t.Context(), only(dir), paths...)
			if err != nil || len(report.Diagnostics) != 1 || report.Diagnostics[0].Hook != "dir/a" {
				t.Errorf("%s, paths %v: %+v, %v", name, paths, report, err)
			}
		}
	}
}
