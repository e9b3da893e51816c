package trust_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

func TestF4FilesThatACommandNames(t *testing.T) {
	w := newWorkspace(t)
	w.write("/scripts/check.sh", "", 0o755)
	w.write("/my scripts/check.sh", "", 0o755)
	w.write("/Makefile", "", 0o644)
	w.write("/out.txt", "", 0o644)
	tests := []struct {
		line  string
		args  []string
		dir   bool // the hook has a folder
		names string
	}{
		{line: "scripts/check.sh", names: "scripts/check.sh"},
		{line: "./scripts/check.sh arg", names: "scripts/check.sh"},
		{line: `"$CLAUDE_PROJECT_DIR"/scripts/check.sh`, names: "scripts/check.sh"},
		{line: `"${TENTERHOOK_PROJECT_DIR}/scripts/check.sh" --fix`, names: "scripts/check.sh"},
		{line: `'my scripts/check.sh'`, names: "my scripts/check.sh scripts/check.sh"},
		{line: `bash -c "cd scripts; scripts/check.sh && true"`, names: "scripts/check.sh"},
		{line: "cat<Makefile|sh scripts/check.sh>out.txt", names: "Makefile scripts/check.sh"},
		{line: "x=scripts/check.sh;$x 2>&1 >> out.txt", names: "scripts/check.sh"},
		{line: "scripts/late.sh", names: "scripts/late.sh"},
		{line: "late.sh scripts .", names: ""},
		{line: "/bin/sh /etc/passwd ../x", names: ""},
		{line: "Makefile", args: []string{}, names: "Makefile"},
		{line: "sh", args: []string{"-c", "scripts/check.sh x", "${CLAUDE_PROJECT_DIR}/scripts/check.sh"}, names: "scripts/check.sh"},
		{line: "my scripts/check.sh", args: []string{}, names: "my scripts/check.sh"},
		{line: "./run.sh $HOOK_DIR/HOOK.md", dir: true, names: ""},
		{line: "sh ../../../scripts/check.sh", dir: true, names: "scripts/check.sh"},
		{line: "scripts/check.sh", dir: true, names: ""},
		{line: "'unclosed scripts/check.sh", names: "scripts/check.sh"},
		{line: "a\x00/b", names: ""},
		{line: "", names: ""},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			h := &hook.Hook{Command: &hook.Command{Line: test.line, Args: test.args}}
			if test.dir {
				h.Source.Dir = w.dir
			}
			var names []string
			for _, path := range trust.NamedFiles(w.root, h, &hook.Hook{}) {
				names = append(names, strings.TrimPrefix(path, w.root+"/"))
			}
			if diff := cmp.Diff(test.names, strings.Join(names, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
