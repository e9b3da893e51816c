package protect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// Name is the guard's name; its ID is "managed/" + Name.
const Name = "self-protection"

// Dirs are a user's directories of tenterhook. An empty one is none.
type Dirs struct {
	Home                string
	Config, Data, State string
}

// Protection is what agents must not change. It is safe for concurrent use.
type Protection struct {
	dirs  []Dirs
	more  []string
	homes []string // what ~ may mean

	mu     sync.Mutex  // guards all below
	stamps []time.Time // of the directories of receipts, as they were read
	rules  *rules      // nil = nothing is installed
}

// New returns the protection of a user with the directories dirs, of the more
// directories that are tenterhook's own. ~ may mean each of homes, too.
func New(more, homes []string, dirs ...Dirs) *Protection {
	p := &Protection{dirs: dirs, more: more}
	for _, d := range dirs {
		p.homes = append(p.homes, d.Home)
	}
	p.homes = append(p.homes, homes...)
	return p
}

// Active reports whether tenterhook is installed into any agent.
func (p *Protection) Active() bool { return p.current() != nil }

// Guard is the hook that denies. Without an installation it has no opinion.
func (p *Protection) Guard() *hook.Hook {
	return &hook.Hook{
		Name: Name, Event: hook.EventPreToolUse, OnFailure: hook.FailureBlock,
		Description: "keeps agents from changing tenterhook and their own hooks",
		Handler: hook.HandlerFunc(func(_ context.Context, c *hook.Call) (*hook.Output, error) {
			in, ok := hook.As[hook.PreToolUse](c.Input)
			r := p.current()
			if !ok || r == nil {
				return nil, nil
			}
			for _, home := range p.homes {
				why := r.judge(&match.Call{ToolName: in.ToolName, ToolInput: in.ToolInput, Cwd: c.Dir, Workspace: c.ProjectDir, Home: home})
				if why != "" {
					return &hook.Output{Verdict: hook.Deny, Reason: "An agent must not change its own guards: " + why +
						". If this has to be done, ask a person to do it in a terminal of their own."}, nil
				}
			}
			return nil, nil
		}),
	}
}

// current reads the receipts again if there are others by now.
func (p *Protection) current() *rules {
	stamps := make([]time.Time, len(p.dirs))
	for i, d := range p.dirs {
		if info, err := os.Stat(d.receipts()); err == nil {
			stamps[i] = info.ModTime()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stamps != nil && slices.EqualFunc(stamps, p.stamps, time.Time.Equal) {
		return p.rules
	}
	p.stamps, p.rules = stamps, nil
	var files, programs []string
	for _, d := range p.dirs {
		f, of := receipts(d.receipts())
		files, programs = append(files, f...), append(programs, of...)
	}
	if len(programs) > 0 {
		p.rules = newRules(p.dirs, append(files, p.more...), programs)
	}
	return p.rules
}

// receipts is the directory that 'tenterhook install' leaves its receipts in.
func (d Dirs) receipts() string { return filepath.Join(d.State, "agents") }

// receipts returns the agents' files that hold our entries, and our programs.
func receipts(dir string) (files, programs []string) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		var r struct {
			Program string
			Files   []struct{ Path string }
			Trust   *struct{ Path string }
		}
		if json.Unmarshal(data, &r) != nil {
			continue
		}
		for _, f := range r.Files {
			files = append(files, f.Path)
		}
		if r.Trust != nil {
			files = append(files, r.Trust.Path)
		}
		if r.Program != "" {
			programs = append(programs, r.Program, filepath.Join(filepath.Dir(r.Program), "tenterhook"))
		}
	}
	return files, programs
}

// Changing are the subcommands of tenterhook that change what guards there are,
// some with a certain flag only.
var Changing = []string{
	"trust", "install", "uninstall", "enable", "disable", "add", "remove", "update", "import",
	"daemon stop", "breaker reset", "plugin", "pack", "fleet", "test --update", "test --record",
}

// rules are what is held against a call.
type rules struct {
	files    *match.Touches
	above    *match.Touches // the directories above them
	removers *match.Rules
	words    []string // what names a protected file in any text
	commands *match.Rules
}

func newRules(dirs []Dirs, files, programs []string) *rules {
	protected := append(slices.Clone(files), programs...)
	protected = append(protected, discovery.DefaultManagedDir())
	for _, d := range dirs {
		protected = append(protected, d.Config, d.Data, d.State)
	}
	protected = slices.DeleteFunc(compact(protected), func(path string) bool { return path == "" })
	var above []string
	for _, path := range protected {
		for dir := filepath.Dir(path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			above = append(above, dir, "!"+dir+"/*")
		}
	}
	r := &rules{words: protected}
	patterns := slices.Clone(protected)
	patterns = append(patterns, ".tenterhook")
	r.files, _ = match.ParseTouches(patterns, match.TouchOptions{})
	r.above, _ = match.ParseTouches(compact(above), match.TouchOptions{})
	r.removers, _ = match.ParseRules([]string{"Bash(rm *)", "Bash(rmdir *)", "Bash(unlink *)", "Bash(shred *)", "Bash(trash *)"}, match.RuleOptions{})
	r.commands = commandRules(programs)
	return r
}

// commandRules match commands that would change what tenterhook does, or end it.
func commandRules(programs []string) *match.Rules {
	names := []string{"tenterhook", "tenterhook-fleet"}
	for _, p := range programs {
		if filepath.Base(p) == "tenterhook" {
			names = append(names, p)
		}
	}
	var list []string
	for _, name := range compact(names) {
		for _, sub := range Changing {
			if command, flag, ok := strings.Cut(sub, " --"); ok {
				list = append(list, fmt.Sprintf("Bash(%s %s *--%s*)", name, command, flag))
				continue
			}
			list = append(list, fmt.Sprintf("Bash(%s %s)", name, sub), fmt.Sprintf("Bash(%s %s *)", name, sub))
		}
	}
	for _, killer := range []string{"kill", "pkill", "killall", "killall5", "skill", "fuser", "systemctl", "launchctl"} {
		list = append(list, "Bash("+killer+" *tenterhook*)")
	}
	rules, _ := match.ParseRules(list, match.RuleOptions{})
	return rules
}

func compact(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// readers are tools that change nothing.
var readers = []string{"Read", "Glob", "Grep", "LS", "NotebookRead", "WebFetch", "WebSearch"}

// writers are tools whose files are known.
var writers = []string{"Write", "Edit", "MultiEdit", "NotebookEdit"}

// judge says what a call would change, "" for nothing.
func (r *rules) judge(c *match.Call) string {
	if slices.Contains(readers, c.ToolName) {
		return ""
	}
	if d := r.files.Match(c, match.Write); d.Certainty == match.Sure {
		return "this would change a file of tenterhook or an agent's hooks (" + d.By + ")"
	}
	if slices.Contains(writers, c.ToolName) {
		return ""
	}
	if c.ToolName != "Bash" {
		return r.named(c, `"`) // of tools that nobody knows, a text that begins with a file's name is one
	}
	if d := r.commands.Match(c); d.Certainty >= match.Suspected && mentions(c, "", "tenterhook") {
		return "this would change what tenterhook does (" + d.By + ")"
	}
	if rm := r.removers.Match(c); rm.Certainty == match.Sure {
		if d := r.above.Match(c, match.Write); d.Certainty == match.Sure {
			return "this would delete a directory that holds files of tenterhook or an agent's hooks (" + d.By + ")"
		}
	}
	if d := r.files.Match(c, match.Write); d.Certainty == match.Suspected {
		return r.named(c, "")
	}
	return ""
}

// named denies a call that may change a file, and names a protected one in full:
// text in another language, say.
func (r *rules) named(c *match.Call, before string) string {
	for _, word := range r.words {
		if mentions(c, before, word) || c.Home != "" && mentions(c, before, strings.Replace(word, c.Home+"/", "~/", 1)) {
			return "this may change " + word
		}
	}
	return ""
}

// mentions looks for a text in the input, as JSON writes it.
func mentions(c *match.Call, before, text string) bool {
	quoted, err := json.Marshal(text)
	return err == nil && strings.Contains(strings.ToLower(string(c.ToolInput)), before+strings.ToLower(string(quoted[1:len(quoted)-1])))
}
