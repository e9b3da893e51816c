//go:build unix

package plugins

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
	"github.com/tenterhook/tenterhook/trust"
)

// Each problem keeps what the system said, under its own code.
func TestProblemsKeepTheirCause(t *testing.T) {
	cause := errors.New("the system said so")
	for name, tc := range map[string]struct {
		problem *Problem
		code    string
		failure hook.Failure
	}{
		"approvals":    {distrusted(cause), CodeApprovals, hook.FailureStart},
		"bytes":        {unsealed("/p", cause), CodeUnsafe, hook.FailureStart},
		"a start":      {notStarted(cause), CodeStart, hook.FailureStart},
		"a handshake":  {refused(cause), CodeGarbage, hook.FailureStart},
		"itself":       {undescribed("/p", cause), CodeDescribe, hook.FailureStart},
		"a path":       {about(CodeMissing, "/p", cause, "hint"), CodeMissing, hook.FailureStart},
		"its sandbox":  {&Problem{Code: CodeSandbox, Reason: cause.Error(), Err: cause}, CodeSandbox, hook.FailureSandbox},
		"our own word": {refused(errors.Join(cause, &Problem{Code: CodeSilent, Reason: cause.Error(), Err: cause})), CodeSilent, hook.FailureStart},
	} {
		if p := tc.problem; p.Code != tc.code || !errors.Is(p, cause) || !strings.Contains(p.Reason, cause.Error()) {
			t.Errorf("%s: %+v", name, p)
		}
		if f := tc.problem.failure(); f.Failure != tc.failure || !errors.Is(f, cause) || f.Hint != tc.problem.Hint {
			t.Errorf("%s: as a failure: %+v", name, f)
		}
	}
	if f := closedProblem().failure(); f.Reason != errClosed.Error() {
		t.Errorf("without a path: %q", f.Reason)
	}
	if f := about(CodeMissing, "/p", cause, "").failure(); f.Reason != "/p: "+cause.Error() {
		t.Errorf("with a path: %q", f.Reason)
	}
	own := &trust.Problem{Path: "/file", Reason: "is odd", Remedy: "remove it"}
	if p := distrusted(own); p.Code != CodeApprovals || p.Path != "/file" || p.Reason != "is odd" || p.Hint != "remove it" || !errors.Is(p, own) {
		t.Errorf("%+v", p)
	}
	if p := unsealed("/p", own); p.Code != CodeUnsafe || p.Path != "/p" || p.Reason != "it is odd" || p.Hint != "remove it" || !errors.Is(p, own) {
		t.Errorf("%+v", p)
	}
}

func TestDamagedApprovalsAreReportedOfEachPackage(t *testing.T) {
	b := newBench(t)
	b.good()
	must(t, os.WriteFile(b.approvals(), []byte("{"), 0o600))
	empty := filepath.Join(filepath.Dir(b.dir), "empty")
	must(t, os.Mkdir(empty, 0o755))
	plugins, notes := b.open().Describe("empty", empty)
	if len(plugins) != 0 || len(notes) != 1 || notes[0].Code != CodeApprovals || notes[0].Path != b.approvals() || notes[0].Hint == "" {
		t.Errorf("%v, %+v", plugins, notes)
	}
}

// A plugin that was asked but never approved has no say once it is gone, although what
// it said is lost too.
func TestPluginThatWasNeverApprovedVanishes(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	must(t, b.host.Learn(t.Context(), path), os.Remove(b.host.descriptionPath(b.sum(path))), os.Remove(path))
	if hooks, notes := described(b.open(), b.dir); len(hooks) != 0 || !slices.Equal(codesOf(notes), []string{CodeMissing}) {
		t.Errorf("%v, %v", hooks, codesOf(notes))
	}
	must(t, os.WriteFile(b.approvals(), []byte("{"), 0o600)) // now it may have been approved
	if hooks, _ := described(b.open(), b.dir); len(hooks) != 1 || hooks[0].State != hook.StateInvalid || hooks[0].OnFailure != hook.FailureBlock {
		t.Errorf("with damaged approvals: %v", hooks)
	}
}

// Of several approvals that of the bytes counts, and before they are read that of their size.
func TestApprovalIsThatOfTheBytesThatAreThere(t *testing.T) {
	b := newBench(t)
	texts := map[string]string{"long": "# one that is longer\nexit 0\n", "a": "exit 1\n", "b": "exit 2\n"}
	path := filepath.Join(b.dir, proto.BinaryPrefix+"x")
	var files []string
	for _, name := range []string{"long", "a", "b"} {
		b.pin(b.script("x", texts[name]))
		list, err := b.store().List()
		must(t, err)
		var text strings.Builder
		must(t, trust.Export(&text, list))
		file := filepath.Join(t.TempDir(), name+".json")
		must(t, os.WriteFile(file, []byte(text.String()), 0o600))
		files = append(files, file)
		b.revoke()
	}
	h := b.open(func(o *Options) { o.Approvals = files })
	for _, name := range []string{"long", "a", "b"} {
		b.script("x", texts[name])
		a, p := h.approval(path)
		if p != nil || a.digest != b.sum(path) {
			t.Errorf("%s: %+v %v", name, a, p)
		}
		if _, notes := described(h, b.dir); slices.Contains(codesOf(notes), CodeChanged) {
			t.Errorf("%s: %v", name, notes)
		}
		if pkg, _ := h.Package(b.dir); pkg.Plugins[0].Approved != b.sum(path) || pkg.Plugins[0].Digest != b.sum(path) {
			t.Errorf("%s: %+v", name, pkg.Plugins[0])
		}
	}
	b.script("x", "# none of them\n")
	pkg, _ := h.Package(b.dir)
	if one := pkg.Plugins[0]; one.State != StateChanged || one.Digest != b.sum(path) || one.Approved == "" || one.Approved == one.Digest {
		t.Errorf("changed: %+v", one)
	}
}

// An approval of something else does not count, though it has the plugin's name.
func TestApprovalOfAnotherFileIsNoPlugins(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	bare := subjectOf(path)
	bare.Dir, bare.Only = "", ""
	b.approve(bare)
	if hooks, notes := described(b.host, b.dir); len(hooks) != 0 || !slices.Equal(codesOf(notes), []string{CodeNew}) {
		t.Errorf("an approval of no bytes: %v, %v", hooks, codesOf(notes))
	}
	_, _, err := b.call(do{Do: "version"})
	if p := expectCode(t, err, CodeUntrusted); p != nil && !strings.Contains(p.Hint, "tenterhook trust plugin/guard/fault") {
		t.Errorf("%+v", p)
	}
	elsewhere := filepath.Join(t.TempDir(), filepath.Base(b.dir))
	must(t, os.Mkdir(elsewhere, 0o755))
	b.pin(path)
	if plugins, _ := b.open().Describe("guard", elsewhere); len(plugins) != 0 {
		t.Errorf("one of another folder of that name: %+v", plugins)
	}
	b.revoke()
	below := filepath.Join(b.dir, "below")
	must(t, os.Mkdir(below, 0o755))
	nested := filepath.Join(below, filepath.Base(path))
	must(t, os.Rename(path, nested))
	subject := subjectOf(nested)
	subject.Root = b.dir
	b.approve(subject)
	if plugins, _ := b.open().Describe("guard", b.dir); len(plugins) != 0 {
		t.Errorf("one of a folder below: %+v", plugins)
	}
}

func TestPluginThatAHookNamesMayBeMissing(t *testing.T) {
	b := newBench(t).good()
	hk := b.hook()
	hk.Params = hook.Params{"plugin": json.RawMessage(`"none"`)}
	_, err := b.host.Handle(t.Context(), callOf(hk, do{Do: "version"}))
	expectCode(t, err, CodeMissing)
	box := &hook.Sandbox{Mode: hook.SandboxReap}
	for root, want := range map[string]*hook.Sandbox{b.dir: nil, filepath.Join(b.dir, "no", "folder"): box, "": box} {
		hk := b.hook()
		hk.Sandbox, hk.Source.Root, hk.Params = box, root, hook.Params{"plugin": json.RawMessage(`"none"`)}
		if got := b.host.Sandbox(hk); got != want {
			t.Errorf("the sandbox of a plugin in %q that is not there: %+v, want %+v", root, got, want)
		}
	}
}

func TestClosedHostAsksNoPlugin(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	must(t, b.host.Close())
	expectCode(t, b.host.Learn(t.Context(), path), CodeClosed)
	if b.host.Described(path, sealOf(t, b, path)) {
		t.Error("it was asked")
	}
}

func sealOf(t *testing.T, b *bench, path string) *trust.Seal {
	t.Helper()
	seal, p := b.host.seal(path)
	if p != nil {
		t.Fatal(p)
	}
	return seal
}

func TestPlacesThatCannotBeUsedAreNamed(t *testing.T) {
	b := newBench(t, func(o *Options) { o.SocketDir = "/nowhere" }).good()
	_, _, err := b.call(do{Do: "version"})
	if p := expectCode(t, err, CodeState); p != nil && !strings.HasPrefix(p.Path, "/nowhere") {
		t.Errorf("%+v", p)
	}
	b = newBench(t).good()
	must(t, os.RemoveAll(filepath.Join(b.state, "snapshots")), os.WriteFile(filepath.Join(b.state, "snapshots"), nil, 0o600))
	_, _, err = b.call(do{Do: "version"})
	if p := expectCode(t, err, CodeState); p != nil && (!strings.HasPrefix(p.Path, b.state) || p.Err == nil) {
		t.Errorf("%+v", p)
	}
}

// A plugin that is asked is confined as its package asks for, else strictly, and where
// that cannot be it runs all the same.
func TestPluginIsAskedInTheSandboxOfItsPackage(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(b.dir, proto.BinaryPrefix+"x")
	for text, want := range map[string]hook.SandboxMode{"": hook.SandboxStrict, "sandbox = \"reap\"\n": hook.SandboxReap, "sandbox = \"odd\"\n": hook.SandboxStrict} {
		b.manifest(text)
		if box := b.host.Asking(path); box == nil || box.Mode != want || !box.Optional {
			t.Errorf("%q: %+v", text, box)
		}
	}
}

// What no plugin can have been approved with grants nothing.
func TestTermsThatCannotBeAreStrict(t *testing.T) {
	for name, definition := range map[string][]byte{"no JSON": []byte("{"), "no entry": []byte("[]"), "nothing": nil} {
		if got := grantedBy(definition); got.granted == nil || got.granted.Mode != hook.SandboxStrict || got.env != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, box := range map[string]*hook.Sandbox{"no such mode": {Mode: "odd"}, "a network": {Mode: hook.SandboxReadOnly, AllowNet: []string{"tcp:443"}}, "less than no memory": {Mode: hook.SandboxReap, Memory: -1}} {
		if definition, err := define(terms{}, nil); err != nil || !strings.Contains(string(definition), `"plugin"`) {
			t.Errorf("it is not of a plugin: %s, %v", definition, err)
		}
		definition, err := define(terms{granted: box, env: []string{"A"}}, nil)
		must(t, err)
		if got := grantedBy(definition); got.granted == nil || got.granted.Mode != hook.SandboxStrict || got.env != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	definition, err := define(terms{granted: &hook.Sandbox{Mode: hook.SandboxReap}, env: []string{"A"}}, nil)
	must(t, err)
	if got := grantedBy(definition); got.granted == nil || got.granted.Mode != hook.SandboxReap || !slices.Equal(got.env, []string{"A"}) {
		t.Errorf("%+v", got)
	}
}

// A sandbox that is granted is as optional as that of the hook.
func TestGrantedSandboxIsAsOptionalAsTheHooks(t *testing.T) {
	b := newBench(t)
	b.manifest("sandbox = \"reap\"\n")
	b.pin(b.install("fault", "good"))
	for name, box := range map[string]*hook.Sandbox{"none": nil, "one": {Mode: hook.SandboxStrict}, "an optional one": {Mode: hook.SandboxStrict, Optional: true}} {
		hk := b.hook()
		hk.Sandbox = box
		_, a, p := b.host.approved(hk, "/project")
		if p != nil || a.box == nil || a.box.Mode != hook.SandboxReap || a.box.Optional != (box != nil && box.Optional) || a.project != "/project" {
			t.Errorf("%s: %+v, %v", name, a.box, p)
		}
	}
}

func TestAllPluginsOfAPackageAreListedWithTheirProcesses(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"one", "two", "three"} {
		b.pin(b.install(name, "good"))
		hk := b.hook()
		hk.Params = hook.Params{"plugin": json.RawMessage(`"` + name + `"`)}
		if err := b.host.Prewarm(t.Context(), &hook.Call{Hook: hk}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(processesOf(b)); n != 3 {
		t.Errorf("%d run", n)
	}
	pkg, _ := b.host.Package(b.dir)
	for _, p := range pkg.Plugins {
		if p.State != StateRunning || len(p.Processes) != 1 || p.Processes[0].PID == 0 || p.Processes[0].Host != os.Getpid() {
			t.Errorf("%+v", p)
		}
	}
}

func TestPluginThatFailsIsListedWithItsReason(t *testing.T) {
	b := newBench(t)
	b.manifest("sandbox = \"none\"\n")
	path := b.script("fault", "exit 3\n")
	b.pin(path)
	old := b.sum(path)
	_, _, err := b.call(do{Do: "version"})
	if p := expectCode(t, err, CodeExited); p != nil && p.Path != path {
		t.Errorf("%+v", p)
	}
	now := processesOf(b)[path]
	if now.State != StateFailing || now.PID != 0 || now.Digest != old || now.Host != os.Getpid() || !strings.Contains(now.Why, "it ended before the handshake: exit code 3") {
		t.Errorf("%+v", now)
	}
	pkg, _ := b.host.Package(b.dir)
	if one := pkg.Plugins[0]; one.State != StateFailing || one.Why != pkg.Plugins[0].Processes[0].Why || one.Approved != old {
		t.Errorf("%+v", one)
	}
	b.script("fault", "exit 4 # longer\n")
	pkg, _ = b.host.Package(b.dir)
	if one := pkg.Plugins[0]; one.State != StateChanged || one.Approved != old || one.Digest == old || one.Hooks != -1 {
		t.Errorf("changed: %+v", one)
	}
}

func TestFolderOfSocketsIsGivenUpOnce(t *testing.T) {
	t.Setenv("TMPDIR", ".")
	s := &sockets{state: t.TempDir()}
	if got := s.where(); !filepath.IsAbs(got) {
		t.Errorf("they lie in %q", got)
	}
	s.base = shortDir(t)
	dir, p := s.open()
	if p != nil {
		t.Fatal(p)
	}
	s.close()
	s.close()
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) || s.dir != "" {
		t.Errorf("%v: %q is left", err, s.dir)
	}
	if err := s.lock.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("its lock was left open: %v", err)
	}
}

// The definition that an approval binds has the hooks that a plugin described, and there
// is none as long as it cannot be told what its package asks for.
func TestApprovalBindsWhatIsKnownOfAPlugin(t *testing.T) {
	b := newBench(t)
	b.install("fault", "good")
	definition := func() string {
		t.Helper()
		plugins, _ := b.host.Describe("guard", b.dir)
		if len(plugins) != 1 {
			t.Fatalf("%+v", plugins)
		}
		return string(plugins[0].Subject.Definition)
	}
	if got := definition(); got == "" || strings.Contains(got, "PreToolUse") {
		t.Errorf("before it was asked: %s", got)
	}
	path := filepath.Join(b.dir, proto.BinaryPrefix+"fault")
	if b.host.Described(path, sealOf(t, b, path)) {
		t.Error("it was not asked yet")
	}
	must(t, b.host.Learn(t.Context(), b.dir))
	if !b.host.Described(path, sealOf(t, b, path)) {
		t.Error("it was asked")
	}
	if got := definition(); !strings.Contains(got, "PreToolUse") {
		t.Errorf("once it was asked: %s", got)
	}
	if b.log.has("is asked for its hooks") {
		t.Errorf("a sandbox that nobody asked for is missed: %s", b.log)
	}
	b.manifest("sandbox = 5\n")
	if got := definition(); got != "" {
		t.Errorf("its package is damaged: %s", got)
	}
}

// Bytes that were approved without being asked have the hooks of those that were.
func TestPluginThatIsApprovedUnaskedKeepsItsHooks(t *testing.T) {
	b := newBench(t)
	b.install("fault", "good")
	b.trust()
	b.pin(b.install("fault", "second"))
	hooks, notes := described(b.open(), b.dir)
	if len(hooks) != 1 || hooks[0].Matcher != "Bash" || hooks[0].State == hook.StateInvalid || !slices.Equal(codesOf(notes), []string{CodeNew}) {
		t.Errorf("%+v, %v", hooks, codesOf(notes))
	}
}

// With damaged approvals a plugin's own trouble is said, unless it is that it is not approved.
func TestGraverTroubleIsReported(t *testing.T) {
	for want, spoil := range map[string]func(path string) error{
		CodeApprovals: func(string) error { return nil },
		CodeMissing:   os.Remove,
		CodeUnsafe:    func(path string) error { return os.Chmod(path, 0o644) },
	} {
		b := newBench(t)
		path := b.install("fault", "good")
		b.trust()
		must(t, os.WriteFile(b.approvals(), []byte("{"), 0o600), spoil(path))
		hooks, notes := described(b.open(), b.dir)
		if got := codesOf(notes); len(hooks) != 1 || len(got) == 0 || got[len(got)-1] != want {
			t.Errorf("%s: %v, %v", want, hooks, got)
		}
	}
}

func TestFolderOfAPackageThatIsAFileIsReported(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(b.dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if plugins, notes := b.host.Describe("guard", file); len(plugins) != 0 || len(notes) != 1 || notes[0].Code != CodeMissing || notes[0].Path != file || notes[0].Hint == "" {
		t.Errorf("%v, %+v", plugins, notes)
	}
	for path, hint := range map[string]string{file: "name the folder of a package", b.dir: "install the package again, or take its hooks out"} {
		if p := expectCode(t, b.host.Learn(t.Context(), path), CodeMissing); p != nil && (p.Path != path || p.Hint != hint) {
			t.Errorf("%+v", p)
		}
	}
	b = newBench(t, func(o *Options) { o.SocketDir = "/nowhere" })
	path := b.install("fault", "good")
	if p := expectCode(t, b.host.Learn(t.Context(), path), CodeState); p != nil && !strings.HasPrefix(p.Path, "/nowhere") {
		t.Errorf("%+v", p)
	}
}

func TestMisspeltKeyOfAPackageIsReportedWithTheRightOne(t *testing.T) {
	b := newBench(t)
	b.script("x", "")
	for _, key := range []string{"version", "description", "env", "sandbox"} {
		b.manifest(key + "s = 1\n")
		_, notes := b.host.Describe("guard", b.dir)
		if len(notes) == 0 || notes[0].Code != "unknown_key" || notes[0].Severity != hook.SeverityWarning || notes[0].Hint != `did you mean "`+key+`"?` {
			t.Errorf("%s: %+v", key, notes)
		}
	}
}

func TestHostsOfOneUserSeeEachOthersPlugins(t *testing.T) {
	b := newBench(t)
	hosts := []*Host{b.host, b.open(), b.open()}
	for _, name := range []string{"one", "two"} {
		b.pin(b.install(name, "good"))
		for _, h := range hosts {
			hk := b.hook()
			hk.Params = hook.Params{"plugin": json.RawMessage(`"` + name + `"`)}
			if err := h.Prewarm(t.Context(), &hook.Call{Hook: hk}); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, 30*time.Second, "each sees three processes of each plugin, in order", func() bool {
		for _, h := range hosts {
			pkg, _ := h.Package(b.dir)
			for _, p := range pkg.Plugins {
				if len(p.Processes) != 3 || !slices.IsSortedFunc(p.Processes, func(a, b Process) int { return a.PID - b.PID }) {
					return false
				}
			}
		}
		return true
	})
}

// A process serves the calls of its own sandbox alone; without one it does not matter
// whose workspace a call is of.
func TestProcessServesCallsOfItsSandboxAlone(t *testing.T) {
	box := func(mode hook.SandboxMode) *hook.Sandbox { return &hook.Sandbox{Mode: mode} }
	for name, tc := range map[string]struct {
		a, b confines
		want bool
	}{
		"none and none":              {confines{nil, "/a"}, confines{nil, "/b"}, true},
		"none, and that by name":     {confines{nil, "/a"}, confines{box(hook.SandboxNone), "/b"}, true},
		"none and one":               {confines{nil, "/a"}, confines{box(hook.SandboxStrict), "/a"}, false},
		"one and none":               {confines{box(hook.SandboxStrict), "/a"}, confines{nil, "/a"}, false},
		"the same":                   {confines{box(hook.SandboxStrict), "/a"}, confines{box(hook.SandboxStrict), "/a"}, true},
		"the same for other folders": {confines{box(hook.SandboxStrict), "/a"}, confines{box(hook.SandboxStrict), "/b"}, false},
		"two":                        {confines{box(hook.SandboxStrict), "/a"}, confines{box(hook.SandboxReadOnly), "/a"}, false},
	} {
		if got := (approval{confines: tc.a}).equal(approval{confines: tc.b}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (approval{digest: "a"}).equal(approval{digest: "b"}) || (approval{terms: terms{env: []string{"A"}}}).equal(approval{}) {
		t.Error("other bytes, or other variables, are the same")
	}
}
