package match

import (
	"fmt"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func BenchmarkMatcher(b *testing.B) {
	for _, bb := range []struct{ name, pattern, on string }{
		{"exact", "Bash", "Bash"},
		{"list", "Edit|Write|MultiEdit|NotebookEdit", "Bash"},
		{"regexp", "mcp__.*__write.*", "mcp__memory__write_note"},
		{"lookaround", "^(?!Bash).*$", "mcp__memory__write_note"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			m := Compile(bb.pattern, MatcherOptions{})
			if err := m.Valid(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Match(bb.on); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Loading is what a start pays: no expression is compiled.
func BenchmarkCompile1000(b *testing.B) {
	patterns := make([]string, 1000)
	for i := range patterns {
		patterns[i] = fmt.Sprintf("^(Bash|mcp__s%d__[a-z]+.*)$", i)
	}
	for b.Loop() {
		for _, p := range patterns {
			Compile(p, MatcherOptions{})
		}
	}
}

func BenchmarkRule(b *testing.B) {
	const command = "npm test && git push origin main"
	rule, _ := ParseRule("Bash(git push *)", RuleOptions{})
	many := make([]*Rule, 100)
	for i := range many {
		many[i], _ = ParseRule(fmt.Sprintf("Bash(rm%d *)", i), RuleOptions{})
	}
	path, _ := ParseRule("Read(src/**/*.go)", RuleOptions{})
	input := bash(b, command).ToolInput

	b.Run("floor: parse alone", func(b *testing.B) {
		p := syntax.NewParser()
		for b.Loop() {
			if _, err := p.Parse(strings.NewReader(command), ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first rule of a call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rule.Match(&Call{ToolName: "Bash", ToolInput: input})
		}
	})
	b.Run("100 further rules", func(b *testing.B) {
		c := &Call{ToolName: "Bash", ToolInput: input}
		b.ReportAllocs()
		for b.Loop() {
			for _, r := range many {
				r.Match(c)
			}
		}
	})
	b.Run("path", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			path.Match(tool("Read", `{"file_path":"/tmp/d/w/src/a/b/c.go"}`))
		}
	})
	b.Run("another tool", func(b *testing.B) {
		c := &Call{ToolName: "Read", ToolInput: input}
		for b.Loop() {
			rule.Match(c)
		}
	})
}
