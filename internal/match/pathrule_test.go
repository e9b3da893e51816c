package match

import (
	"runtime"
	"strings"
	"testing"
)

func TestPathRules(t *testing.T) {
	tests := []struct {
		rule, path string
		want       bool
	}{
		// A name without a slash stands anywhere below the working directory.
		{"Read(.env)", "/tmp/d/w/.env", true},
		{"Read(.env)", "/tmp/d/w/a/b/.env", true},
		{"Read(.env)", ".env", true},
		{"Read(.env)", "a/../.env", true},
		{"Read(.env)", "/tmp/d/w/.environment", false},
		{"Read(.env)", "/tmp/other/.env", false},
		{"Read(node_modules)", "/tmp/d/w/a/node_modules/b/c.js", true},
		{"Read(node_modules/)", "/tmp/d/w/a/node_modules/b/c.js", true},
		{"Read(./a.txt)", "/tmp/d/w/x/a.txt", true},
		{"Read(*.txt)", "/tmp/other.txt", true},

		// One with a slash is anchored.
		{"Read(src/*.go)", "/tmp/d/w/src/a.go", true},
		{"Read(src/*.go)", "/tmp/d/w/src/sub/a.go", false},
		{"Read(src/*.go)", "/tmp/d/w/x/src/a.go", false},
		{"Read(src/**)", "/tmp/d/w/src/sub/a.go", true},
		{"Read(src/**)", "/tmp/d/w/srcs", false},
		{"Read(src/**)", "", false},
		{"Read(src/**/a.go)", "/tmp/d/w/src/a.go", true},
		{"Read(src/**/a.go)", "/tmp/d/w/src/x/y/a.go", true},
		{"Read(src/[a-c]?.go)", "/tmp/d/w/src/bx.go", true},
		{"Read(src/[!a-c]?.go)", "/tmp/d/w/src/bx.go", false},
		{"Read(a[b)", "/tmp/d/w/a[b", true},
		{"Read({a,b})", "/tmp/d/w/a", false},
		{"Read({a,b})", "/tmp/d/w/{a,b}", true},

		// Bases.
		{"Read(/src/**)", "/tmp/d/w/src/a.go", true},
		{"Read(/src/**)", "/src/a.go", false},
		{"Read(/**)", "/tmp/d/w", true},
		{"Read(/etc/passwd)", "/etc/passwd", true},
		{"Read(//etc/**)", "/etc/passwd", true},
		{"Read(//etc/*)", "/etc/ssh/key", true}, // below a directory that matches
		{"Read(~/.ssh/**)", "/tmp/d/h/.ssh/id_rsa", true},
		{"Read(~/.ssh/**)", "~/.ssh/id_rsa", true},
		{"Read(~/.ssh/**)", "/tmp/d/w/../h/.ssh/id_rsa", true},
		{"Read(~)", "/tmp/d/h/x", true},
		{"Read(**)", "/anything", true},
		{"Read(!.env)", "/tmp/d/w/.env", false},

		// Case.
		{"Read(SRC/A.go)", "/tmp/d/w/src/a.GO", true},
	}
	for _, tt := range tests {
		rule, problems := ParseRule(tt.rule, RuleOptions{})
		if len(problems) > 0 {
			t.Errorf("%q: %v", tt.rule, problems)
		}
		d := rule.Match(tool("Read", `{"file_path":"`+tt.path+`"}`))
		if d.Run != tt.want {
			t.Errorf("%q on %q = %+v, want %v", tt.rule, tt.path, d, tt.want)
		}
	}
}

func TestPathRulesFindThePathOfEachTool(t *testing.T) {
	tests := []struct {
		rule, tool, input string
		want, strict      bool
	}{
		{"Edit(src/**)", "Edit", `{"file_path":"src/a"}`, true, true},
		{"Edit(src/**)", "Write", `{"file_path":"src/a"}`, true, false},
		{"Edit(src/**)", "MultiEdit", `{"file_path":"src/a"}`, true, false},
		{"Edit(src/**)", "NotebookEdit", `{"notebook_path":"src/a"}`, true, false},
		{"Edit(src/**)", "Read", `{"file_path":"src/a"}`, false, false},
		{"Edit", "Write", `{}`, true, false},
		{"Write(src/**)", "Edit", `{"file_path":"src/a"}`, false, false},
		{"Glob(src/**)", "Glob", `{"pattern":"src/**/*.go"}`, true, true},
		{"Glob(src/**)", "Glob", `{"pattern":"*.go","path":"/tmp/d/w/src"}`, true, true},
		{"Glob(src/**)", "Glob", `{"pattern":"*.go"}`, false, false},
		{"Grep(src/**)", "Grep", `{"pattern":"x","path":"src/a"}`, true, true},
		{"Grep(src/**)", "Grep", `{"pattern":"x"}`, false, false},
		{"Grep(/**)", "Grep", `{"pattern":"x"}`, true, true},
		{"Grep(//etc/**)", "Grep", `{"pattern":"/etc/passwd"}`, true, true},

		// An input that cannot be judged.
		{"Read(src/**)", "Read", `{}`, true, true},
		{"Read(src/**)", "Read", `{"file_path":1}`, true, true},
		{"Read(src/**)", "Read", `[]`, true, true},
		{"Read(src/**)", "Read", ``, true, true},
		{"Read(src/**)", "Read", `{"file_path":"a","FILE_PATH":"src/a"}`, true, true},
		{"Read(src/**)", "Read", `{"file_path":"src/a","file_path":"b"}`, true, true},
	}
	for _, tt := range tests {
		for _, strict := range []bool{false, true} {
			want := tt.want && (tt.strict || !strict)
			rule, _ := ParseRule(tt.rule, RuleOptions{StrictCompat: strict})
			if d := rule.Match(tool(tt.tool, tt.input)); d.Run != want {
				t.Errorf("strict %v: %q on %s %s = %+v, want %v", strict, tt.rule, tt.tool, tt.input, d, want)
			}
		}
	}
}

func TestPathRulesWithoutABaseRun(t *testing.T) {
	for _, text := range []string{"Read(src/**)", "Read(/src/**)", "Read(~/x)"} {
		rule, _ := ParseRule(text, RuleOptions{})
		d := rule.Match(&Call{ToolName: "Read", ToolInput: []byte(`{"file_path":"/a"}`)})
		if !d.Run || !strings.Contains(d.By, "cannot be placed") {
			t.Errorf("%q without directories = %+v", text, d)
		}
	}
	rule, _ := ParseRule("Read(//b)", RuleOptions{})
	if d := rule.Match(&Call{ToolName: "Read", ToolInput: []byte(`{"file_path":"/a"}`)}); d.Run {
		t.Errorf("an absolute rule needs no directory, got %+v", d)
	}
}

func TestPathsOfWindowsAreRead(t *testing.T) {
	if runtime.GOOS != "windows" {
		t.Skip("drives and backslashes are paths on windows only")
	}
	rule, _ := ParseRule("Read(src/**)", RuleOptions{})
	c := &Call{ToolName: "Read", ToolInput: []byte(`{"file_path":"C:\\W\\src\\a.go"}`), Cwd: `c:\w`}
	if d := rule.Match(c); !d.Run {
		t.Errorf("got %+v", d)
	}
}

func TestAPathCountsAsToolsExpandIt(t *testing.T) {
	rule, _ := ParseRule("Read(~/.ssh/**)", RuleOptions{})
	paths, _ := ParseTouches([]string{"~/.ssh/**"}, TouchOptions{})
	for _, name := range []string{
		"~/.ssh/id_rsa", "~alice/.ssh/id_rsa", "$HOME/.ssh/id_rsa", "${HOME}/.ssh/id_rsa", "file:///home/alice/.ssh/id_rsa",
		"file://localhost/home/alice/.ssh/id%5frsa", " /home/alice/.ssh/id_rsa", "~+/../../home/alice/.ssh/x", "~bob/../alice/.ssh/x",
	} {
		c := tool("Read", `{"file_path":"`+name+`"}`)
		c.Cwd, c.Workspace, c.Home = "/src/project", "/src/project", "/home/alice"
		if d := rule.Match(c); d.Certainty != Sure {
			t.Errorf("rule on %q: %+v", name, d)
		}
		if d := paths.Match(c, Read); d.Certainty != Sure {
			t.Errorf("reads of %q: %+v", name, d)
		}
	}
	other, _ := ParseRule("Read(~)", RuleOptions{})
	for _, name := range []string{"~bob/x", "~root/x", "/home/alice2/x", "a/$HOME/x", "a~/x"} {
		c := tool("Read", `{"file_path":"`+name+`"}`)
		c.Cwd, c.Workspace, c.Home = "/src/project", "/src/project", "/home/alice"
		if d := other.Match(c); d.Run {
			t.Errorf("rule on %q: %+v", name, d)
		}
	}
}

func TestAPatternOfASearchCountsFromItsPath(t *testing.T) {
	paths, _ := ParseTouches([]string{"~/.ssh/**"}, TouchOptions{})
	for _, search := range []struct{ tool, input string }{
		{"Glob", `{"path":"/home","pattern":"alice/.ssh/*"}`},
		{"Glob", `{"path":"~","pattern":".ssh/id_rsa"}`},
		{"Grep", `{"path":"..","pattern":"x","glob":"../home/alice/.ssh/*"}`},
	} {
		c := tool(search.tool, search.input)
		c.Cwd, c.Workspace, c.Home = "/src/project", "/src/project", "/home/alice"
		if d := paths.Match(c, Read); d.Certainty < Suspected {
			t.Errorf("%+v: %+v", search, d)
		}
	}
}
