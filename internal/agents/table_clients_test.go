package agents

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenterhook/tenterhook/bridge"
)

var update = flag.Bool("update", false, "write what the real clients did into bridge/matrix.json")

const tableFile = "../../bridge/matrix.json"

// packages are the npm packages of the clients.
var packages = map[string]string{
	"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex", "gemini": "@google/gemini-cli", "copilot": "@github/copilot",
	"qwen": "@qwen-code/qwen-code", "opencode": "opencode-ai", "pi": "@mariozechner/pi-coding-agent", "cline": "cline",
}

// What the tests try with real clients, beside the abilities, in the order of
// the table.
const (
	triedRule      = "a rule denies"
	triedCrash     = "a hook that crashes: on_failure block and continue"
	triedTimeout   = "a hook that times out: on_failure block and continue"
	triedProject   = "a project's unapproved guard denies"
	triedFiles     = "tools that write files, by their canonical names"
	triedMCP       = "an MCP tool, by its canonical name"
	triedBounded   = "a hook that always keeps it working is bounded"
	triedBreaker   = "a breaker of 2 opens for the third call; once is once"
	triedDisarm    = "an agent that tries to disarm its guards"
	triedKilled    = "the daemon is killed in mid-session"
	triedNewer     = "tenterhook is replaced in mid-session"
	triedGone      = "the programs are deleted in mid-session"
	triedTogether  = "all agents at once in one workspace"
	triedUninstall = "uninstall restores every byte"
	triedPerson    = "a user who is not root"
)

var allTried = []string{triedRule, triedCrash, triedTimeout, triedProject, triedFiles, triedMCP, triedBounded, triedBreaker, triedDisarm,
	triedKilled, triedNewer, triedGone, triedTogether, triedUninstall, triedPerson}

// observed is what the clients did, by agent.
var (
	observedMu sync.Mutex
	observed   = make(map[string]*bridge.Row)
)

func observe(name string, note func(row *bridge.Row)) {
	observedMu.Lock()
	defer observedMu.Unlock()
	if observed[name] == nil {
		observed[name] = &bridge.Row{Cells: make(map[bridge.Ability]bridge.Cell)}
	}
	note(observed[name])
}

// isClient notes the version of the client.
func (w *world) isClient() {
	w.t.Helper()
	var p struct{ Version string }
	path := filepath.Join(clientsDir(), w.agent, "node_modules", packages[w.agent], "package.json")
	if err := json.Unmarshal(read(w.t, path), &p); err != nil || p.Version == "" {
		w.t.Fatalf("%s names no version: %v", path, err)
	}
	observe(w.agent, func(row *bridge.Row) { row.Version = p.Version })
	if known := agent(w.t, w.agent).Version(); known != p.Version && !*update {
		w.t.Errorf("%s is %s, and %s was written with %q: run all tests of this package with -update", w.agent, p.Version, tableFile, known)
	}
}

// saw notes what became of an attempt, and compares it with the table.
func (w *world) saw(what bridge.Ability, seen bridge.Seen) {
	w.t.Helper()
	observe(w.agent, func(row *bridge.Row) { row.Cells[what] = bridge.Cell{Seen: seen} })
	if c := agent(w.t, w.agent).Can(what); c.Seen != seen && !*update {
		w.t.Errorf("%s, %s: this time %q, in %s %q (%s): run all tests of this package with -update if the client is another one", w.agent, what, seen, tableFile, c.Seen, c.Level)
	}
}

// sawIf is saw for what either happened or did not.
func (w *world) sawIf(what bridge.Ability, done bool) {
	w.t.Helper()
	w.saw(what, map[bool]bridge.Seen{true: bridge.Done, false: bridge.Missed}[done])
}

// showed notes that something holds, unless the test has failed.
func (w *world) showed(what string) {
	w.t.Helper()
	if w.t.Failed() {
		return
	}
	observe(w.agent, func(row *bridge.Row) { row.Tried = append(row.Tried, what) })
	if !slices.Contains(agent(w.t, w.agent).Row().Tried, what) && !*update {
		w.t.Errorf("%s does not say of %s that %q was tried: run all tests of this package with -update", tableFile, w.agent, what)
	}
}

// unseen lists what the table says was seen, and what the tests did not try with
// the clients that are here.
func unseen() (missing []string) {
	if runtime.GOOS != "linux" { // on which the table is written
		return nil
	}
	for name, row := range observed {
		a, _ := bridge.Lookup(name)
		for _, what := range bridge.Abilities() {
			if a.Can(what).Seen != row.Cells[what].Seen {
				missing = append(missing, fmt.Sprintf("%s: %s", name, what))
			}
		}
		for _, what := range a.Row().Tried {
			if !slices.Contains(row.Tried, what) {
				missing = append(missing, fmt.Sprintf("%s: %s", name, what))
			}
		}
	}
	return missing
}

// writeTable puts what was observed into the table, and takes what no test sees
// out of it if all tests ran. Notes stay; a level that does not fit what was seen
// gives way.
func writeTable() error {
	table := make(map[string]bridge.Row)
	for _, a := range bridge.Agents() {
		row := a.Row()
		if now := observed[a.Name]; now != nil {
			row.Version, row.Cells = now.Version, maps.Clone(row.Cells)
			row.Tried = slices.DeleteFunc(slices.Clone(allTried), func(what string) bool {
				return !slices.Contains(now.Tried, what) && (wholeRun() || !slices.Contains(a.Row().Tried, what))
			})
			for _, what := range bridge.Abilities() {
				c := row.Cells[what]
				if seen := now.Cells[what].Seen; seen != "" || wholeRun() {
					c.Seen = seen
				}
				if !c.Seen.Fits(c.Level) {
					c.Level = c.Seen.Level()
				}
				row.Cells[what] = c
			}
		}
		table[a.Name] = row
	}
	return os.WriteFile(tableFile, encodeTable(table), 0o644)
}

// encodeTable writes the table with a line for each cell, in the order of the
// abilities.
func encodeTable(table map[string]bridge.Row) []byte {
	var b bytes.Buffer
	line := func(v any) string {
		var one bytes.Buffer
		e := json.NewEncoder(&one)
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // our own texts always encode
		return strings.ReplaceAll(strings.TrimSpace(one.String()), `","`, `", "`)
	}
	b.WriteString("{\n")
	for i, name := range slices.Sorted(maps.Keys(table)) {
		if i > 0 {
			b.WriteString(",\n")
		}
		row := table[name]
		fmt.Fprintf(&b, "  %q: {\n", name)
		if row.Version != "" {
			fmt.Fprintf(&b, "    \"version\": %q,\n", row.Version)
		}
		b.WriteString("    \"cells\": {")
		for j, what := range bridge.Abilities() {
			if j > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "\n      %s: %s", line(what), line(row.Cells[what]))
		}
		b.WriteString("\n    }")
		if len(row.Tried) > 0 {
			b.WriteString(",\n    \"tried\": [")
			for j, what := range row.Tried {
				b.WriteString(strings.Repeat(",", min(j, 1)) + "\n      " + line(what))
			}
			b.WriteString("\n    ]")
		}
		b.WriteString("\n  }")
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

func TestTheMatrixIsAsTheTestsWriteIt(t *testing.T) {
	table := make(map[string]bridge.Row)
	for _, a := range bridge.Agents() {
		row := a.Row()
		table[a.Name] = row
		if (row.Version == "") != (len(row.Tried) == 0) {
			t.Errorf("%s: version %q, and %d cases tried", a.Name, row.Version, len(row.Tried))
		}
		for _, what := range row.Tried {
			if !slices.Contains(allTried, what) {
				t.Errorf("%s: nothing tries %q", a.Name, what)
			}
		}
	}
	if have := read(t, tableFile); !bytes.Equal(have, encodeTable(table)) && !*update {
		t.Errorf("%s is not as the tests write it", tableFile)
	}
}
