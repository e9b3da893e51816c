package hooktest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"
)

// Case is one conformance case.
type Case struct {
	Name    string // the file's, without its ending
	Prose   string // what holds
	Rule    string // which rule it comes from
	Differs string // why this module means to differ from Claude Code; "" = it does not
	Unix    string // why it holds on Unix alone; "" = it also holds on Windows

	Files   map[string][]byte // hooks/…, hooks2/…, project/…
	After   map[string][]byte // what is there in the end, by the same paths
	Schema  json.RawMessage   // nil = none
	Options Options
	Steps   []Step

	Background any // nil = not asked

	// Hooks are folders that are laid out below hooks/, by name: the hooks that
	// the case is beside. Files go over theirs.
	Hooks map[string]fs.FS

	options []byte
	archive *txtar.Archive
	nothing bool // it expects nothing yet
}

// Step is one event of a case. What is nil is not asked.
type Step struct {
	Event     []byte
	Outcome   any
	Selection any
	Fire      bool // it is fired, and not only asked about
}

// slot is the place of a numbered file: outcome3.json.
type slot struct {
	kind string
	n    int
}

// maxSteps bounds the events of a case.
const maxSteps = 100

// ParseCase reads a case. It fails on a case without an event, on files and keys
// that it does not know, and on broken JSON.
func ParseCase(name string, data []byte) (*Case, error) {
	archive := txtar.Parse(data)
	c := &Case{Name: name, Files: make(map[string][]byte), After: make(map[string][]byte), archive: archive}
	c.readComment(string(archive.Comment))
	numbered := make(map[slot][]byte)
	for _, f := range archive.Files {
		if err := c.readFile(f, numbered); err != nil {
			return nil, fmt.Errorf("case %s: %s: %w", name, f.Name, err)
		}
	}
	if err := c.readSteps(numbered); err != nil {
		return nil, fmt.Errorf("case %s: %w", name, err)
	}
	return c, nil
}

// ReadCases reads all cases of a folder, by name.
func ReadCases(fsys fs.FS) ([]*Case, error) {
	names, err := fs.Glob(fsys, "*.txtar")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no *.txtar in the folder of cases")
	}
	cases := make([]*Case, len(names))
	for i, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		if cases[i], err = ParseCase(strings.TrimSuffix(path.Base(name), ".txtar"), data); err != nil {
			return nil, err
		}
	}
	return cases, nil
}

func (c *Case) readComment(comment string) {
	var prose []string
	for paragraph := range strings.SplitSeq(comment, "\n\n") {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		if text, ok := strings.CutPrefix(paragraph, "Rule: "); ok {
			c.Rule = text
		} else if text, ok := strings.CutPrefix(paragraph, "Differs: "); ok {
			c.Differs = text
		} else if text, ok := strings.CutPrefix(paragraph, "Unix: "); ok {
			c.Unix = text
		} else if paragraph != "" {
			prose = append(prose, paragraph)
		}
	}
	c.Prose = strings.Join(prose, "\n")
}

var (
	treeFile     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(hooks[2-9]?|project)/.`) })
	numberedFile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(event|outcome|selection)([1-9][0-9]*)?\.json$`) })
)

func (c *Case) readFile(f txtar.File, numbered map[slot][]byte) error {
	under, isAfter := strings.CutPrefix(f.Name, "after/")
	files := c.Files
	if isAfter {
		files = c.After
	}
	switch {
	case treeFile().MatchString(under) && path.Clean(under) == under:
		return add(files, under, f.Data)
	case isAfter:
	case numberedFile().MatchString(f.Name):
		parts := numberedFile().FindStringSubmatch(f.Name)
		n, err := strconv.Atoi(cmp.Or(parts[2], "1"))
		if err != nil || n > maxSteps {
			return fmt.Errorf("a case has at most %d events", maxSteps)
		}
		return add(numbered, slot{parts[1], n}, f.Data)
	case f.Name == "schema.json":
		c.Schema = f.Data
		return valid(f.Data)
	case f.Name == "options.json":
		c.options = f.Data
		return decodeStrictly(f.Data, &c.Options)
	case f.Name == "background.json":
		var err error
		c.Background, err = expectation(f.Data, "background")
		return err
	}
	return fmt.Errorf("a case has no such file; see the package's documentation")
}

func add[K comparable](files map[K][]byte, name K, data []byte) error {
	if _, twice := files[name]; twice {
		return fmt.Errorf("it is there twice")
	}
	files[name] = data
	return nil
}

// readSteps puts the events in order, each with what is expected of it.
func (c *Case) readSteps(numbered map[slot][]byte) error {
	last := 0
	for at := range numbered {
		last = max(last, at.n)
	}
	if numbered[slot{"event", 1}] == nil {
		return fmt.Errorf("it has no event.json or event1.json")
	}
	c.Steps = make([]Step, last)
	c.nothing = c.expectsNothing(numbered)
	fire := c.nothing // what comes of it can be written down
	for n := last; n >= 1; n-- {
		s := &c.Steps[n-1]
		for _, want := range []struct {
			kind string
			into *any
		}{{"outcome", &s.Outcome}, {"selection", &s.Selection}} {
			data, ok := numbered[slot{want.kind, n}]
			if !ok {
				continue
			}
			var err error
			if *want.into, err = expectation(data, want.kind); err != nil {
				return fmt.Errorf("%s%d.json: %w", want.kind, n, err)
			}
		}
		fire = fire || s.Outcome != nil || c.Background != nil || len(c.After) > 0
		s.Fire = fire
	}
	for i := range c.Steps {
		if data, ok := numbered[slot{"event", i + 1}]; ok {
			if err := valid(data); err != nil {
				return fmt.Errorf("event%d.json: %w", i+1, err)
			}
			c.Steps[i].Event = bytes.TrimSpace(data)
		} else {
			c.Steps[i].Event = c.Steps[i-1].Event
		}
	}
	return nil
}

func (c *Case) expectsNothing(numbered map[slot][]byte) bool {
	for at := range numbered {
		if at.kind != "event" {
			return false
		}
	}
	return c.Background == nil && len(c.After) == 0
}

func valid(data []byte) error {
	if !json.Valid(data) {
		return fmt.Errorf("it is not JSON")
	}
	return nil
}

func decodeStrictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// decode reads JSON with numbers as they are written.
func decode(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	return v, nil
}
