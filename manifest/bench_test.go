package manifest_test

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/adrg/frontmatter"

	"github.com/tenterhook/tenterhook/manifest"
)

// usual is a manifest as people write them.
const usual = `+++
name = "guard-rm"
description = "Asks before anything is removed for good"
event = "PreToolUse"
matcher = "Bash"
if = "Bash(rm *)"
command = "./guard.sh"
timeout = 5
on_failure = "block"

[requires]
bins = ["jq"]
os = ["linux", "macos"]
+++

# guard-rm

What it does, for whoever reads the folder.
`

// BenchmarkParse reads a manifest; BenchmarkFloor does no more than the two
// libraries need to fill a struct with it.
func BenchmarkParse(b *testing.B) {
	data := []byte(usual)
	b.ReportAllocs()
	for b.Loop() {
		if hooks, notes := manifest.Parse(source, data); len(hooks) != 1 || len(notes) != 0 {
			b.Fatal(notes)
		}
	}
}

func BenchmarkFloor(b *testing.B) {
	format := frontmatter.NewFormat("+++", "+++", toml.Unmarshal)
	b.ReportAllocs()
	for b.Loop() {
		var into struct {
			Name        string `toml:"name"`
			Description string `toml:"description"`
			Event       string `toml:"event"`
			Matcher     string `toml:"matcher"`
			If          string `toml:"if"`
			Command     string `toml:"command"`
			Timeout     int    `toml:"timeout"`
			OnFailure   string `toml:"on_failure"`
			Requires    struct {
				Bins []string `toml:"bins"`
				OS   []string `toml:"os"`
			} `toml:"requires"`
		}
		if _, err := frontmatter.MustParse(strings.NewReader(usual), &into, format); err != nil {
			b.Fatal(err)
		}
	}
}
