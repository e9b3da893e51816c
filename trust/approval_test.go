package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

var digest = strings.Repeat("0a", 32)

var root, _ = filepath.Abs("/w")

func anApproval(change func(a *Approval)) Approval {
	a := Approval{Root: root, ID: "project/x", Path: "HOOK.md", Approved: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC), Definition: json.RawMessage(`[]`),
		Folder: []File{{Name: "a", Size: 1, SHA256: digest}, {Name: "b", Link: "a"}}, Files: []File{{Name: "c", Missing: true}, {Name: "d", SHA256: digest}}}
	change(&a)
	return a
}

func TestApprovalThatCannotHoldIsDamage(t *testing.T) {
	for want, change := range map[string]func(a *Approval){
		"":                     func(*Approval) {},
		"approval 2 has no id": func(a *Approval) { a.ID = "" },
		"approval 2 has a root that is no absolute path":         func(a *Approval) { a.Root = "w" },
		"approval 2 has no definition":                           func(a *Approval) { a.Definition = nil },
		"approval 2 has files that are not sorted":               func(a *Approval) { a.Folder[0].Name = "z" },
		"approval 2 has files that are not sorted ":              func(a *Approval) { a.Files[0].Name = "z" },
		"approval 2 has a file whose sha256 is none: a":          func(a *Approval) { a.Folder[0].SHA256 = digest[1:] },
		"approval 2 has a file whose sha256 is none: d":          func(a *Approval) { a.Files[1].SHA256 = digest + "0" },
		"approval 2 has a file whose sha256 is none: d ":         func(a *Approval) { a.Files[1].SHA256 = strings.ToUpper(digest) },
		"approval 2 has a file whose sha256 is none: \"d\\x1b\"": func(a *Approval) { a.Files[1] = File{Name: "d\x1b", SHA256: "../" + digest[3:]} },
		"approval 2 is there twice":                              func(a *Approval) { a.ID = "project/first" },
	} {
		first := anApproval(func(a *Approval) { a.ID = "project/first" })
		data, err := encode([]Approval{first, anApproval(change)})
		if err != nil {
			t.Fatal(err)
		}
		_, problem := decode("store", data)
		if want = strings.TrimSuffix(want, " "); want == "" {
			if problem != nil {
				t.Error(problem)
			}
			continue
		}
		if problem == nil || problem.Code != CodeDamaged || problem.Reason != "is damaged: "+want || problem.Remedy == "" {
			t.Errorf("%v, want %s", problem, want)
		}
	}
	anywhere := anApproval(func(a *Approval) { a.Root = "" })
	data, err := encode([]Approval{anywhere, anywhere})
	if err != nil {
		t.Fatal(err)
	}
	if list, problem := decode("store", data); problem != nil || len(list) != 2 {
		t.Errorf("two states that hold anywhere: %v", problem)
	}
}

func TestExportKeepsWhatDiffersAndJoinsWhatDoesNot(t *testing.T) {
	for name, test := range map[string]struct {
		change func(a *Approval)
		want   int
	}{
		"the time":       {func(a *Approval) { a.Approved = a.Approved.Add(time.Hour) }, 1},
		"the workspace":  {func(a *Approval) { a.Root = filepath.Join(root, "other") }, 1},
		"the ID":         {func(a *Approval) { a.ID = "project/y" }, 2},
		"the path":       {func(a *Approval) { a.Path = "other" }, 2},
		"unbound":        {func(a *Approval) { a.Unbound = true }, 2},
		"the definition": {func(a *Approval) { a.Definition = json.RawMessage(`[{}]`) }, 2},
		"the folder":     {func(a *Approval) { a.Folder[0].Exec = true }, 2},
		"the files":      {func(a *Approval) { a.Files = a.Files[:1] }, 2},
	} {
		var out bytes.Buffer
		list := []Approval{anApproval(func(*Approval) {}), anApproval(test.change)}
		if err := Export(&out, list); err != nil {
			t.Fatal(err)
		}
		got, problem := decode("export", out.Bytes())
		if problem != nil || len(got) != test.want {
			t.Errorf("%s: %d approvals, want %d (%v)", name, len(got), test.want, problem)
		}
		for _, a := range got {
			if a.Root != "" {
				t.Errorf("%s: it names %s", name, a.Root)
			}
		}
		if list[0].Root != root {
			t.Errorf("%s: the list was changed", name)
		}
	}
	broken := errors.New("full")
	if err := Export(failingWriter{broken}, nil); !errors.Is(err, broken) {
		t.Errorf("a disk that is full: %v", err)
	}
	bad := anApproval(func(a *Approval) { a.Definition = json.RawMessage("{") })
	if err := Export(new(bytes.Buffer), []Approval{bad}); err == nil || !strings.HasPrefix(err.Error(), "export approvals: ") {
		t.Errorf("a definition that is no JSON: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestChangesAreSentences(t *testing.T) {
	long := strings.Repeat("é", 81)
	for want, c := range map[string]Change{
		"its timeout was added (5s)":                {Kind: ChangeField, Name: "timeout", New: "5s"},
		"its timeout was removed (5s)":              {Kind: ChangeField, Name: "timeout", Old: "5s"},
		"its timeout changed from 5s to 6s":         {Kind: ChangeField, Name: "timeout", Old: "5s", New: "6s"},
		"its command became unbound (it is a pipe)": {Kind: ChangeUnbound, Name: "command", New: "it is a pipe"},
		"run.sh became executable":                  {Kind: ChangeMode, Name: "run.sh", New: "executable"},
		"run.sh changed":                            {Kind: ChangeContent, Name: "run.sh", Old: "a", New: "b"},
		"run.sh was added":                          {Kind: ChangeAdded, Name: "run.sh", New: "b"},
		`"a\x1b" was removed`:                       {Kind: ChangeRemoved, Name: "a\x1b", Old: "b"},
		"its x was added (" + long[2:] + ")":        {Kind: ChangeField, Name: "x", New: long[2:]},
		"its x was removed (" + long[2:] + "…)":     {Kind: ChangeField, Name: "x", Old: long},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, f := range map[string]File{
		"not there":                   {Missing: true, SHA256: digest},
		"link to a":                   {Link: "a"},
		`link to "\x1b"`:              {Link: "\x1b"},
		"link to a, sha256:" + digest: {Link: "a", SHA256: digest},
		"sha256:" + digest:            {SHA256: digest, Exec: true},
	} {
		if got := f.describe(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Lists of files are compared by name: each difference is one change, or two if
// the mode differs too.
func TestFileChangesNameEachDifference(t *testing.T) {
	plain := func(name, sum string) File { return File{Name: name, Size: 1, SHA256: sum} }
	exec := func(f File) File { f.Exec = true; return f }
	gone := func(name string) File { return File{Name: name, Missing: true} }
	for _, tt := range []struct {
		old, now []File
		want     string
	}{
		{nil, nil, ""},
		{[]File{plain("a", "1")}, nil, "removed a sha256:1 → "},
		{nil, []File{plain("a", "1")}, "added a  → sha256:1"},
		{[]File{plain("a", "1"), plain("c", "3")}, []File{plain("b", "2"), plain("c", "3")}, "removed a sha256:1 → , added b  → sha256:2"},
		{[]File{plain("b", "1")}, []File{plain("a", "1")}, "added a  → sha256:1, removed b sha256:1 → "},
		{[]File{plain("a", "1")}, []File{plain("a", "2")}, "content a sha256:1 → sha256:2"},
		{[]File{plain("a", "1")}, []File{{Name: "a", Size: 2, SHA256: "1"}}, "content a sha256:1 → sha256:1"},
		{[]File{plain("a", "1")}, []File{exec(plain("a", "1"))}, "mode a not executable → executable"},
		{[]File{exec(plain("a", "1"))}, []File{plain("a", "2")}, "content a sha256:1 → sha256:2, mode a executable → not executable"},
		{[]File{gone("a")}, []File{exec(plain("a", "1"))}, "added a  → sha256:1"},
		{[]File{exec(plain("a", "1"))}, []File{gone("a")}, "removed a sha256:1 → "},
		{[]File{gone("a")}, []File{gone("a")}, ""},
	} {
		var got []string
		for _, c := range fileChanges(nil, tt.old, tt.now) {
			got = append(got, fmt.Sprintf("%s %s %s → %s", c.Kind, c.Name, c.Old, c.New))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%v, %v: %s", tt.old, tt.now, diff)
		}
	}
}

func TestFieldChangesOfWhatIsNoListAreOneChange(t *testing.T) {
	for _, tt := range []struct{ old, now, want string }{
		{`[{"a":1}]`, `[{"a":1}]`, ""},
		{`[{"a":1}]`, `[{"a":2,"b":3}]`, `its a changed from 1 to 2; its b was added (3)`},
		{`[{"a":1},{"b":2}]`, `[{"a":1}]`, `its b of hook 2 was removed (2)`},
		{``, `[{"a":1}]`, `its a was added (1)`},
		{`[{"a":1}]`, `{"a":2}`, `its definition changed from [{"a":1}] to {"a":2}`},
		{`[{"type":"plugin","a":1},{"events":[],"b":1}]`, `[{"type":"plugin","a":2},{"events":[],"b":2}]`, `its a changed from 1 to 2; its b of hook 1 changed from 1 to 2`},
		{`[{"type":"x","a":1},{"events":[],"b":1}]`, `[{"type":"x","a":2},{"events":[],"b":2}]`, `its a of hook 1 changed from 1 to 2; its b of hook 2 changed from 1 to 2`},
		{`[{"events":[],"type":"plugin","a":1},{}]`, `[{"events":[],"type":"plugin","a":2},{}]`, `its a of hook 1 changed from 1 to 2`},
		{`7`, `[]`, `its definition changed from 7 to []`},
	} {
		var got []string
		for _, c := range fieldChanges(json.RawMessage(tt.old), json.RawMessage(tt.now)) {
			got = append(got, c.String())
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEveryErrorIsAProblemWithARemedy(t *testing.T) {
	own := &Problem{CodeBusy, "p", "is held", "wait"}
	for _, tt := range []struct {
		err  error
		want Problem
	}{
		{fmt.Errorf("around: %w", own), *own},
		{&fs.PathError{Op: "open", Path: "/x", Err: fs.ErrNotExist}, Problem{CodeUnreadable, "f", "is not there", "restore it"}},
		{&fs.PathError{Op: "open", Path: "/x", Err: fs.ErrPermission}, Problem{CodeUnreadable, "f", "cannot be read: permission denied", "let the user who runs the agent read it"}},
		{errors.New("odd"), Problem{CodeUnreadable, "f", "cannot be read: odd", "let the user who runs the agent read it"}},
	} {
		if diff := cmp.Diff(&tt.want, asProblem("f", tt.err)); diff != "" {
			t.Errorf("%v: %s", tt.err, diff)
		}
	}
	if got := unwritten("f", own); got != own {
		t.Errorf("%v", got)
	}
	if got := unwritten("f", errors.New("full")); got.Error() != "f cannot be written: full" || got.Code != CodeUnreadable || got.Remedy == "" {
		t.Errorf("%+v", got)
	}
	want := hook.Diagnostic{Severity: hook.SeverityError, Code: CodeBusy, Path: "p", Message: "p is held", Hint: "wait"}
	if diff := cmp.Diff(want, own.Diagnostic()); diff != "" {
		t.Error(diff)
	}
}

// Of two processes that make a copy, the second takes that of the first.
func TestACopyThatIsThereIsLeftAlone(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	seal, err := Subject{ID: "x", Root: root, Path: root, Dir: root, Definition: []byte("[]")}.Seal()
	if err != nil {
		t.Fatal(err)
	}
	s := NewSnapshots(t.TempDir())
	path := filepath.Join(s.dir, "copy")
	var made []fs.FileInfo
	for range 2 {
		if err := s.copy(seal, path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, info)
	}
	if !os.SameFile(made[0], made[1]) {
		t.Error("it was made again")
	}
}

// A copy is named by what is in it, and by nothing else.
func TestCopiesOfTheSameFilesShareAName(t *testing.T) {
	base := []File{{Name: "a", Size: 1, SHA256: digest}, {Name: "b", Link: "a"}, {Name: "c", Link: "../out", SHA256: digest}}
	id := func(change func(s *Seal)) string {
		s := &Seal{folder: append([]File(nil), base...)}
		change(s)
		return s.copyID()
	}
	same := id(func(*Seal) {})
	if len(same) != 32 || same != id(func(s *Seal) { s.key.Root, s.files, s.folder[2].Link = "/other", base, "../elsewhere" }) {
		t.Errorf("%s depends on more than what is in the folder", same)
	}
	for name, change := range map[string]func(s *Seal){
		"a name": func(s *Seal) { s.folder[0].Name = "z" }, "a digest": func(s *Seal) { s.folder[0].SHA256 = digest[2:] + "ff" },
		"a run bit": func(s *Seal) { s.folder[0].Exec = true }, "a link": func(s *Seal) { s.folder[1].Link = "c" }, "a file less": func(s *Seal) { s.folder = s.folder[:2] },
	} {
		if id(change) == same {
			t.Errorf("%s makes no other copy", name)
		}
	}
	s := NewSnapshots("/s")
	if a, again := s.slot("a"), s.slot("a"); a != again || a == s.slot("b") {
		t.Error("calls for one copy do not share its place")
	}
	whole := &Seal{folder: base}
	if part := (&Seal{base: whole}); part.copyID() != whole.copyID() {
		t.Error("a seal with further files has another copy")
	}
}
