//go:build !windows

package plugins

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
	"github.com/tenterhook/tenterhook/trust"
)

func (b *bench) manifest(text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, manifestName), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// plugin.toml says more about a package; what is wrong with it is reported, and
// keeps none of its plugins from running.
func TestManifestOfAPackageIsReadWithCare(t *testing.T) {
	for text, tc := range map[string]struct {
		want packageFile
		code string
		says string
	}{
		"": {},
		"version = \"1.2\"\ndescription = \"guards\"\nenv = [\"B\", \"A\", \"B\"]\n": {want: packageFile{Version: "1.2", Description: "guards", Env: []string{"A", "B"}}},
		"version = \"1\"\nverison = \"2\"\n":                                         {packageFile{Version: "1"}, "unknown_key", `verison: no such key; it has no effect (did you mean "version"?)`},
		"version = \"1\"\n[colour]\nof = 1\n":                                        {packageFile{Version: "1"}, "unknown_key", `colour`},
		"descripton = \"x\"\n":                                                       {packageFile{}, "unknown_key", `(did you mean "description"?)`},
		"evn = []\n":                                                                 {packageFile{}, "unknown_key", `(did you mean "env"?)`},
		"zzzzzzzz = 1\n":                                                             {packageFile{}, "unknown_key", `zzzzzzzz: no such key; it has no effect ()`},
		"sandbox = \"reap\"\n":                                                       {want: packageFile{Sandbox: "reap", box: &hook.Sandbox{Mode: hook.SandboxReap}}},
		"sandbox = \"strickt\"\n":                                                    {code: CodeManifest, says: `did you mean "strict"?`},
		"[sandbox]\nallow_net = [\"tcp:1\"]\n":                                       {code: CodeManifest, says: "remove allow_net"},
		"[sandbox]\nallow_wrte = [\"/x\"]\n":                                         {code: CodeManifest, says: `did you mean "allow_write"?`},
		"version = ":                                                                 {code: CodeManifest, says: "toml"},
		"version = 5":                                                                {code: CodeManifest, says: "version"},
		"#" + strings.Repeat("x", maxManifest-1):                                     {},
		"#" + strings.Repeat("x", maxManifest):                                       {code: CodeManifest, says: "it is larger than 4 KiB"},
	} {
		b := newBench(t)
		b.script("fault", "exit 1\n")
		b.manifest(text)
		file, notes := readPackageFile(filepath.Join(b.dir, manifestName))
		if diff := cmp.Diff(tc.want, file, cmpopts.EquateEmpty(), cmp.AllowUnexported(packageFile{})); diff != "" {
			t.Errorf("%.40q: -want +got:\n%s", text, diff)
		}
		if (len(notes) > 0) != (tc.code != "") {
			t.Errorf("%.40q: %v", text, notes)
		}
		for _, d := range notes {
			severity := map[bool]hook.Severity{true: hook.SeverityWarning, false: hook.SeverityError}[tc.code == "unknown_key"]
			if all := d.Message + " (" + d.Hint + ")"; d.Code != tc.code || !strings.Contains(all, tc.says) || d.Severity != severity || filepath.Base(d.Path) != manifestName {
				t.Errorf("%.40q: %+v", text, d)
			}
		}
		pkg, _ := b.host.Package(b.dir)
		if pkg.Version != tc.want.Version || pkg.Description != tc.want.Description || len(pkg.Env) != len(tc.want.Env) || len(pkg.Plugins) != 1 {
			t.Errorf("%.40q: %+v", text, pkg)
		}
	}
}

// A package says how each of its plugins stands.
func TestPackageSaysHowItsPluginsStand(t *testing.T) {
	b := newBench(t)
	names := []string{"changed", "good", "invalid", "new"}
	for _, name := range names {
		b.pin(b.script(name, "exit 1 # "+name+"\n"))
	}
	at := func(name string) string { return filepath.Join(b.dir, proto.BinaryPrefix+name) }
	approved := b.sum(at("changed"))
	if _, err := b.store().RevokeWhere(func(a *trust.Approval) bool { return a.ID == idOf(at("new")) }); err != nil {
		t.Fatal(err)
	}
	b.script("changed", "exit 2\n")
	good := b.sum(at("good"))
	if err := b.host.keepDescription(good, &proto.DescribeResponse{Version: "3", Hooks: []*proto.Hook{{Name: "a", Event: "Stop"}, {Name: "b", Event: "Stop"}}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at("invalid"), 0o777); err != nil {
		t.Fatal(err)
	}
	pkg, notes := b.host.Package(b.dir)
	var rows []string
	for _, p := range pkg.Plugins {
		rows = append(rows, fmt.Sprintf("%s %s %d hooks, approved %v, digest %v: %s", p.Name, p.State, p.Hooks, p.Approved != "" && p.Approved == p.Digest, p.Digest != "", p.Why))
		if p.Path != at(p.Name) {
			t.Errorf("%s is %s", p.Name, p.Path)
		}
	}
	changed := b.sum(at("changed"))
	want := []string{
		"changed changed -1 hooks, approved false, digest true: its sha256 is " + changed + ", approved is " + approved,
		"good stopped 2 hooks, approved true, digest true: ",
		"invalid invalid -1 hooks, approved false, digest false: others can write it",
		"new untrusted -1 hooks, approved false, digest true: it is not approved",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{CodeChanged, CodeUnsafe, CodeUntrusted}, codesOf(notes)); diff != "" || pkg.Version != "" || pkg.Name != "guard" || pkg.Dir != b.dir {
		t.Errorf("%s %+v", diff, pkg)
	}
	for _, name := range []string{"changed", "invalid", "new"} {
		if err := os.Remove(at(name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Dir(b.dir))
	if pkg, notes := b.host.Package("guard"); pkg.Version != "3" || len(notes) != 0 || pkg.Dir != b.dir {
		t.Errorf("of one plugin, by a relative path: %+v %v", pkg, notes)
	}
}

// Packages lists the folders with plugins, in order, and what is wrong with them.
func TestPackagesAreTheFoldersWithPlugins(t *testing.T) {
	b := newBench(t)
	all := filepath.Dir(b.dir)
	if list, notes := b.host.Packages(all); len(list) != 0 || len(notes) != 0 {
		t.Errorf("an empty folder is a package: %v %v", list, notes)
	}
	b.pin(b.script("fault", "exit 1\n"))
	for _, name := range []string{"b", "a", "empty"} {
		if err := os.Mkdir(filepath.Join(all, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "a/" + proto.BinaryPrefix + "x", "b/" + manifestName} {
		if err := os.WriteFile(filepath.Join(all, name), []byte("= no TOML"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	quiet := filepath.Join(all, "quiet", proto.BinaryPrefix+"q")
	must(t, os.Mkdir(filepath.Dir(quiet), 0o700), os.WriteFile(quiet, []byte("#!/bin/sh\n"), 0o700))
	b.pin(quiet)
	sum := b.sum(quiet)
	must(t, b.host.keepDescription(sum, &proto.DescribeResponse{}))
	list, notes := b.host.Packages(all)
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "guard", "quiet"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{CodeUntrusted, CodeManifest, CodeNew}, codesOf(notes)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if list, notes := b.host.Packages(filepath.Join(all, "none")); len(list)+len(notes) != 0 {
		t.Errorf("a folder that is not there: %v %v", list, notes)
	}
	if list, notes := b.host.Packages(filepath.Join(all, "file")); len(list) != 0 || len(notes) != 1 || notes[0].Code != CodeMissing {
		t.Errorf("a file: %v %v", list, notes)
	}
	if pkg, notes := b.host.Package(filepath.Join(all, "file")); len(pkg.Plugins) != 0 || !strings.Contains(fmt.Sprint(codesOf(notes)), CodeMissing) {
		t.Errorf("a file: %v %v", pkg, notes)
	}
}

// The plugins that could be asked are approved with what plugin.toml asks for, and
// what is wrong with the others is said.
func TestWhatCouldBeAskedCanBeApproved(t *testing.T) {
	b := newBench(t)
	b.install("fault", "good")
	b.script("exits", "exit 3\n")
	b.script("shared", "exit 3\n")
	if err := os.Chmod(filepath.Join(b.dir, proto.BinaryPrefix+"shared"), 0o777); err != nil {
		t.Fatal(err)
	}
	b.manifest("sandbox = \"none\"\nenv = [\"TOKEN\", \"AGENT\"]\n")
	err := b.host.Learn(t.Context(), b.dir)
	if err == nil || !strings.Contains(err.Error(), "exits: it ended before the handshake") || !strings.Contains(err.Error(), "shared: others can write it") {
		t.Errorf("%v", err)
	}
	path := filepath.Join(b.dir, proto.BinaryPrefix+"fault")
	must(t, b.host.Learn(t.Context(), path))
	plugins, _ := b.host.Describe("guard", b.dir)
	for _, p := range plugins {
		if p.Subject.Path == path {
			b.approve(p.Subject)
		}
	}
	a, p := b.host.approval(path)
	if want := (terms{[]string{"AGENT", "TOKEN"}, &hook.Sandbox{Mode: hook.SandboxNone}}); p != nil || a.digest != b.sum(path) || cmp.Diff(want, a.terms, cmp.AllowUnexported(terms{})) != "" {
		t.Errorf("%+v %v", a, p)
	}
	pkg, _ := b.host.Package(b.dir)
	for _, p := range pkg.Plugins {
		if want := map[string]State{"fault": StateStopped, "exits": StateUntrusted, "shared": StateInvalid}[p.Name]; p.State != want {
			t.Errorf("%s is %s", p.Name, p.State)
		}
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(b.dir, "none"), filepath.Join(b.dir, proto.BinaryPrefix+"none")} {
		expectCode(t, b.host.Learn(t.Context(), dir), CodeMissing)
	}
}

// A plugin.toml that asks for something else than was approved ends the approval of
// the plugin's hooks. What runs meanwhile is what was approved.
func TestPluginWhosePackageAsksForMoreIsNotTheApprovedOne(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	b.trust()
	judged := func() (trust.Verdict, Plugin, []string) {
		t.Helper()
		h := b.open()
		plugins, notes := h.Describe("guard", b.dir)
		pkg, _ := h.Package(b.dir)
		for _, n := range notes {
			if n.Hint == "" || n.Severity != hook.SeverityError {
				t.Errorf("%+v", n)
			}
		}
		return trust.NewGuard(plugins[0].Subject, b.store()).Check(nil), pkg.Plugins[0], codesOf(notes)
	}
	if v, p, notes := judged(); !v.Approved || p.State != StateStopped || len(notes) != 0 {
		t.Fatalf("%+v %+v %v", v, p, notes)
	}
	for text, what := range map[string]string{"sandbox = \"none\"\nenv = [\"TOKEN\"]\n": "env", "sandbox = \"reap\"\n": "sandbox", "": "sandbox"} {
		b.manifest(text)
		v, p, notes := judged()
		if v.Approved || p.State != StateChanged || !strings.Contains(p.Why, "the "+what+" that plugin.toml asks for") || len(notes) != 1 || notes[0] != CodeChanged {
			t.Errorf("%q: %+v %+v %v", text, v, p, notes)
		}
		if a, p := b.open().approval(path); p != nil || len(a.env) != 0 || a.granted == nil || a.granted.Mode != hook.SandboxNone {
			t.Errorf("%q: it is granted %+v, %v", text, a.terms, p)
		}
	}
	b.manifest("sandbox = 5\n")
	if v, _, notes := judged(); v.Approved || len(notes) == 0 || notes[0] != CodeManifest {
		t.Errorf("broken: %+v %v", v, notes)
	}
}

// Approvals that the operator hands in count too, wherever the package is.
func TestApprovalsThatAreHandedInCountForPlugins(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	b.trust()
	list, err := b.store().List()
	must(t, err)
	var text strings.Builder
	must(t, trust.Export(&text, list))
	file := filepath.Join(t.TempDir(), "approvals.json")
	must(t, os.WriteFile(file, []byte(text.String()), 0o600))
	b.revoke()
	if _, p := b.open().approval(path); p == nil || p.Code != CodeUntrusted {
		t.Errorf("revoked: %v", p)
	}
	if a, p := b.open(func(o *Options) { o.Approvals = []string{file} }).approval(path); p != nil || a.digest != b.sum(path) {
		t.Errorf("handed in: %+v %v", a, p)
	}
}

// What a plugin says of itself is refused if it cannot be used, and nothing of
// it is kept.
func TestDescriptionThatCannotBeUsedIsRefused(t *testing.T) {
	b := newBench(t)
	b.pin(b.install("fault", "nameless"))
	expectCode(t, b.host.Learn(t.Context(), b.dir), CodeDescribe)
	b.pin(b.install("fault", "speechless"))
	err := b.host.Learn(t.Context(), b.dir)
	if p := expectCode(t, err, CodeDescribe); p != nil && !strings.Contains(p.Reason, "no words today") {
		t.Errorf("%v", p)
	}
	if kept, _ := filepath.Glob(filepath.Join(b.state, "plugins", "describe", "*.json")); len(kept) != 0 {
		t.Errorf("kept: %v", kept)
	}
	must(t, os.Mkdir(filepath.Join(b.state, "plugins"), 0o700), os.WriteFile(filepath.Join(b.state, "plugins", "describe"), nil, 0o600))
	b.install("fault", "good")
	expectCode(t, b.host.Learn(t.Context(), b.dir), CodeState)
}

// The hooks of a plugin carry where they are from. What was said of itself by
// others' word is not taken.
func TestHooksOfAPluginSayWhereTheyAreFrom(t *testing.T) {
	b := newBench(t)
	path := b.script("fault", "exit 1\n")
	b.pin(path)
	sum := b.sum(path)
	if err := b.host.keepDescription(sum, &proto.DescribeResponse{Hooks: []*proto.Hook{{Name: "a", Event: "Stop"}}}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(b.dir)
	hooks, notes := described(b.host, ".")
	if len(hooks) != 1 || len(notes) != 0 {
		t.Fatal(hooks, notes)
	}
	want := hook.Source{Path: path, Dir: b.dir, Root: b.dir}
	if hk := hooks[0]; hk.ID != "plugin/a" || hk.Scope != hook.ScopePlugin || cmp.Diff(want, hk.Source) != "" {
		t.Errorf("%+v", hk)
	}
	if err := b.host.keepDescription(sum, &proto.DescribeResponse{Hooks: []*proto.Hook{{Event: "Stop"}}}); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func() error{
		"no name": func() error { return nil },
		"no JSON": func() error { return os.WriteFile(b.host.descriptionPath(sum), []byte("{"), 0o600) },
		"others'": func() error { return os.Chmod(b.host.descriptionPath(sum), 0o666) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		hooks, notes := described(b.host, b.dir)
		if len(hooks) != 1 || hooks[0].State != hook.StateInvalid || hooks[0].OnFailure != hook.FailureBlock || !strings.HasPrefix(hooks[0].Why, "which hooks it has is unknown, so it blocks: ") ||
			hooks[0].Name != "fault" || cmp.Diff(want, hooks[0].Source) != "" || len(notes) == 0 {
			t.Errorf("%s: %+v %v", what, hooks, notes)
		}
	}
	if hooks, notes := described(b.host, filepath.Join(b.dir, "none")); len(hooks)+len(notes) != 0 {
		t.Errorf("a folder that is not there: %v %v", hooks, notes)
	}
	if hooks, notes := described(b.host, path); len(hooks) != 0 || len(notes) != 1 || notes[0].Code != CodeMissing {
		t.Errorf("a file: %v %v", hooks, notes)
	}
}

// The sandbox of a plugin is the one that its approval grants. Where no approval
// can be read, that of the hook is what is known.
func TestSandboxOfAPluginIsTheOneThatIsGranted(t *testing.T) {
	b := newBench(t)
	path, h := b.script("fault", "exit 1\n"), b.hook()
	h.Sandbox = &hook.Sandbox{Mode: hook.SandboxReadOnly}
	if box := b.host.Sandbox(h); box != nil {
		t.Errorf("not approved: %+v", box)
	}
	b.grant(path, terms{granted: &hook.Sandbox{Mode: hook.SandboxReap}})
	if box := b.host.Sandbox(h); box == nil || box.Mode != hook.SandboxReap {
		t.Errorf("granted: %+v", box)
	}
	if err := os.WriteFile(b.approvals(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if box := b.host.Sandbox(h); box != h.Sandbox {
		t.Errorf("broken approvals: %+v", box)
	}
	other := *h
	other.Source.Root = filepath.Join(b.dir, "none")
	if box := b.host.Sandbox(&other); box != h.Sandbox {
		t.Errorf("no plugin: %+v", box)
	}
}
