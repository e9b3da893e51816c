package tenterhook_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/manifest"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the documents")

// generated are the parts of documents that are made from the code, by the
// name in their <!-- begin NAME --> and <!-- end NAME --> lines.
var generated = []struct {
	file, name string
	make       func() string
}{
	{"docs/events.md", "events", eventTable},
	{"docs/agents.md", "matrix", agentMatrix},
	{"docs/handlers.md", "kinds", kindTable},
	{"docs/hook-md.md", "keys", keyReference},
	{"docs/settings.md", "products", productTable},
	{"docs/settings.md", "settings", settingReference},
}

func TestGeneratedPartsOfDocumentsAreUpToDate(t *testing.T) {
	for _, g := range generated {
		data, err := os.ReadFile(g.file)
		if err != nil {
			t.Fatal(err)
		}
		begin, end := "<!-- begin "+g.name+" -->\n", "<!-- end "+g.name+" -->\n"
		before, rest, ok1 := strings.Cut(string(data), begin)
		old, after, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Errorf("%s has no lines %q and %q", g.file, begin, end)
			continue
		}
		want := g.make()
		if old == want {
			continue
		}
		if !*update {
			t.Errorf("%s: the part %q is out of date: run go test -run TestGenerated -update .", g.file, g.name)
			continue
		}
		if err := os.WriteFile(g.file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func eventTable() string {
	var b strings.Builder
	b.WriteString("| Event | Fired when | Matcher tests | A block |\n|---|---|---|---|\n")
	for _, e := range hook.Events() {
		field, block := "–", "–"
		if e.MatcherField != "" {
			field = "`" + e.MatcherField + "`"
		}
		switch e.Block {
		case hook.BlockAction:
			block = "prevents it"
		case hook.BlockFeedback:
			block = "tells the model why"
		case hook.BlockStop:
			block = "keeps the agent working"
		case hook.BlockLoop:
			block = "ends the agent's loop"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", e.Event, e.Doc, field, block)
	}
	return b.String()
}

func TestEveryDirectDependencyIsAccountedFor(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := os.ReadFile("fleet/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod) + string(fleet)) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "require "), " ")
		if !ok || name == module || !strings.HasPrefix(rest, "v") || strings.Contains(line, "// indirect") {
			continue
		}
		if !strings.Contains(string(doc), strings.TrimPrefix(name, "github.com/")) {
			t.Errorf("docs/dependencies.md does not name %s", name)
		}
	}
}

// A promise without a test is none.
func TestEveryPromiseOfSecurityHasItsTest(t *testing.T) {
	doc, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	root, _ := filepath.Glob("*_test.go")
	files, _ := filepath.Glob("*/*_test.go")
	deeper, _ := filepath.Glob("*/*/*_test.go")
	fleet, _ := filepath.Glob("fleet/*/*/*_test.go")
	for _, file := range slices.Concat(root, files, deeper, fleet) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(doc), -1)
	for _, m := range named {
		if !strings.Contains(tests.String(), "func "+m[1]+"(t *testing.T)") {
			t.Errorf("there is no %s", m[1])
		}
	}
	if len(named) < 10 {
		t.Errorf("only %d tests are named", len(named))
	}
}

// kindTable has each kind that a file can declare, with its page.
func kindTable() string {
	var b strings.Builder
	b.WriteString("| `type` | The hook is | Cost of a call | Page |\n|---|---|---|---|\n")
	for _, kind := range hook.Kinds() {
		info, page := kind.Info(), "kinds/"+string(kind)+".md"
		if _, err := os.Stat("docs/" + page); err != nil {
			page = string(kind) + "s.md"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | [%s](%s) |\n", strings.Join(info.Words, "`, `"), info.Doc, info.Cost, kind, page)
	}
	return b.String()
}

// productTable has each product whose config files are read.
func productTable() string {
	var b strings.Builder
	b.WriteString("| `--compat` | Files |\n|---|---|\n")
	for _, product := range dialect.Products() {
		if places := dialect.ConfigPlaces(product); places != nil { // our own have a table of theirs
			fmt.Fprintf(&b, "| `%s` | `%s` |\n", product, strings.Join(dialect.ConfigFiles(product), "`, `"))
		}
	}
	return b.String()
}

// keyReference is the reference of a HOOK.md's keys: those of all kinds, then
// those of each.
func keyReference() string {
	var b strings.Builder
	group := func(title string, kind hook.Kind) {
		keys := slices.DeleteFunc(decl.Keys(), func(k decl.Key) bool {
			return !slices.Contains(k.Kinds, kind) && (kind != "" || k.Kinds != nil)
		})
		if len(keys) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s\n\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n", title)
		for _, k := range keys {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, cell(k.Wants()), cell(k.Default), cell(k.Doc))
		}
		b.WriteString("\n")
	}
	group("Keys of every hook; `requires.bins` is `bins` in the table `[requires]`:", "")
	for _, kind := range hook.Kinds() {
		group(fmt.Sprintf("Keys of `type = %q`:", kind), kind)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cell is a text in a table of Markdown.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// settingReference is the reference of the settings.
func settingReference() string {
	var b strings.Builder
	b.WriteString("| Key | Whose word counts | Meaning |\n|---|---|---|\n")
	for _, s := range dialect.SettingTable() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, cell(s.By), cell(s.Doc))
	}
	return b.String()
}

// manifestKey is a key in the first cell of a row of the reference.
var manifestKey = regexp.MustCompile("`\\[?([a-z_]+)\\]?`")

func TestEveryKeyOfTheReferenceIsKnown(t *testing.T) {
	doc, err := os.ReadFile("docs/hook-md.md")
	if err != nil {
		t.Fatal(err)
	}
	_, keys, _ := strings.Cut(string(doc), "## Keys\n")
	keys, _, _ = strings.Cut(keys, "\n## ")
	found := 0
	for line := range strings.Lines(keys) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range manifestKey.FindAllStringSubmatch(cells[1], -1) {
			found++
			text := "---\n" + m[1] + ": x\n---\n"
			_, notes := manifest.Parse(manifest.Source{Scope: hook.ScopeDir, Folder: "x"}, []byte(text))
			for _, d := range notes {
				if d.Code == "unknown_key" {
					t.Errorf("the reference has a key that is none: %v", d)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d keys were found in the reference", found)
	}
}
