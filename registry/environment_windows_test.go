package registry_test

import (
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// Shells take ~ for HOME, other programs for USERPROFILE. Where these differ a guard of either keeps it, and an approval
// must hold for both.
func TestTildeMeansHomeAndProfileOnWindows(t *testing.T) {
	opts := only(tree(t, "-- rule/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Edit(~/secret)\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n"+
		"-- script/HOOK.md --\n+++\nevent = \"PreToolUse\"\nif = \"Edit(~/secret)\"\ncommand = \"cmd.exe\"\nargs = [\"/c\", \"exit 2\"]\n+++\n"+
		"-- allows/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Edit(~/open)\"\ndecision = \"allow\"\n+++\n"))
	both := []string{`HOME=C:\own`, `UserProfile=C:\Users\me`}
	opts.Env = both
	own := open(t, opts)
	opts.Env = []string{`USERPROFILE=C:\Users\me`}
	bare := open(t, opts)
	opts.Env = []string{`USERPROFILE=C:\other`}
	others := open(t, opts)
	for _, test := range []struct {
		name string
		reg  *registry.Registry
		env  []string // of the caller; nil = the registry's
		path string
		want hook.Verdict
	}{
		{"HOME", own, nil, `C:\own\secret`, hook.Deny},
		{"USERPROFILE beside HOME", own, nil, `c:/users/ME/secret`, hook.Deny},
		{"another directory", own, nil, `C:\other\secret`, hook.NoOpinion},
		{"an approval of one of them", own, nil, `C:\own\open`, hook.NoOpinion},
		{"USERPROFILE alone", bare, nil, `C:\Users\me\secret`, hook.Deny},
		{"an approval of the one there is", bare, nil, `C:\Users\me\open`, hook.Allow},
		{"HOME of a caller", others, both, `C:\own\secret`, hook.Deny},
		{"USERPROFILE of a caller", others, both, `C:\Users\me\secret`, hook.Deny},
	} {
		ctx := registry.WithCaller(t.Context(), registry.Caller{Env: test.env})
		out, err := test.reg.Dispatch(ctx, hook.PreToolUse{ToolName: "Edit", ToolInput: []byte(`{"file_path":"` + strings.ReplaceAll(test.path, `\`, `\\`) + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if out.Verdict != test.want {
			t.Errorf("%s: %v, want %v (%+v)", test.name, out.Verdict, test.want, out.Results)
		}
	}
}

// The case of a variable's name does not matter there.
func TestRequirementsTakeAVariableInAnyCaseOnWindows(t *testing.T) {
	opts := only(tree(t, "-- rule/HOOK.md --\n+++\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"no\"\n[requires]\nenvs = [\"BUILD_ID\"]\n+++\n"))
	for name, test := range map[string]struct{ host, caller []string }{
		"host":   {[]string{"Build_Id=7"}, nil},
		"caller": {[]string{}, []string{"build_id=7"}},
	} {
		opts.Env = test.host
		out, err := open(t, opts).Dispatch(registry.WithCaller(t.Context(), registry.Caller{Env: test.caller}), bash("ls"))
		if err != nil {
			t.Fatal(err)
		}
		if out.Verdict != hook.Deny {
			t.Errorf("%s: %v %+v", name, out.Verdict, out.Results)
		}
	}
}
