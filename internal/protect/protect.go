package protect

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
	"github.com/tenterhook/tenterhook/internal/safefile"
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

// current reads the receipts again if there are others now.
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
		var r struct {
			Program string
			Files   []struct{ Path string }
			Trust   *struct{ Path string }
		}
		if safefile.ReadJSON(name, &r) != nil {
			continue
		}
		for _, f := range r.Files {
			files = append(files, f.Path)
		}
		if r.Trust != nil {
			files = append(files, r.Trust.Path)
		}
		if r.Program != "" {
			programs = append(programs, r.Program, filepath.Join(filepath.Dir(r.Program), "tenterhook"+filepath.Ext(r.Program)))
		}
	}
	return files, programs
}

// Changing are the subcommands of tenterhook that change what guards there are,
// some with a certain flag only.
var Changing = []string{
	"trust", "install", "uninstall", "enable", "disable", "add", "remove", "update", "import",
	"daemon stop", "breaker reset", "pack", "fleet", "test --update", "test --record",
}

// rules are what is held against a call.
type rules struct {
	files    *match.Touches
	above    directories      // above them
	around   directories      // that they are in
	over     []string         // the paths of above
	hidden   []*regexp.Regexp // those of them below a home, as the last part of a text
	paths    []string         // the protected files, also as they are below a home
	words    []string         // the same, squeezed: what names one in any text
	commands *match.Rules
}

// removers delete directories with all that is in them.
var removers = commands("Bash(rimraf *)", "Bash(cmake -E remove_directory *)", "Bash(rm *)", "Bash(rmdir *)", "Bash(unlink *)", "Bash(shred *)", "Bash(trash *)",
	"Bash(rd *)", "Bash(del *)", "Bash(erase *)", "Bash(remove-item *)")

func newRules(dirs []Dirs, files, programs []string) *rules {
	protected := append(slices.Clone(files), programs...)
	protected = append(protected, discovery.DefaultManagedDir())
	for _, d := range dirs {
		protected = append(protected, d.Config, d.Data, d.State)
	}
	protected = slices.DeleteFunc(compact(protected), func(path string) bool { return path == "" })
	r := &rules{commands: commandRules(programs)}
	for _, path := range protected {
		r.paths = append(r.paths, path)
		for _, d := range dirs {
			if rel, err := filepath.Rel(d.Home, path); err == nil && filepath.IsLocal(rel) {
				r.paths = append(r.paths, rel) // below a home that the text computes
			}
		}
	}
	for _, path := range r.paths {
		r.words = append(r.words, squeezed(filepath.ToSlash(path[len(filepath.VolumeName(path)):])))
	}
	patterns := append(slices.Clone(protected), ".tenterhook")
	r.files, _ = match.ParseTouches(patterns, match.TouchOptions{})
	var above, around []string
	for _, path := range protected {
		dir := filepath.Dir(path)
		if !slices.ContainsFunc(dirs, func(d Dirs) bool { return d.Home == dir }) {
			around = append(around, dir)
		}
		for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			above = append(above, dir)
		}
	}
	r.above, r.around, r.over = each(above), each(around), compact(above)
	for _, d := range dirs {
		for _, dir := range r.over {
			if rel, err := filepath.Rel(d.Home, dir); err == nil && filepath.IsLocal(rel) && strings.HasPrefix(rel, ".") && rel != "." {
				r.hidden = append(r.hidden, regexp.MustCompile(`["'`+"`"+`/~ ]`+regexp.QuoteMeta(filepath.ToSlash(rel))+`/?\\?["'`+"`"+`)]`))
			}
		}
	}
	return r
}

// directories are some directories, without what is below them.
type directories []*match.Touches

func each(dirs []string) (list directories) {
	for _, dir := range compact(dirs) {
		t, _ := match.ParseTouches([]string{dir, "!" + dir + "/*"}, match.TouchOptions{})
		list = append(list, t)
	}
	return list
}

// named returns how a call surely names one of them, "" if it does not.
func (l directories) named(c *match.Call, mode match.TouchMode) string {
	for _, t := range l {
		if d := t.Match(c, mode); d.Certainty == match.Sure {
			return d.By
		}
	}
	return ""
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
	if c.ToolName == "PowerShell" {
		return r.judgePowerShell(c)
	}
	if why := r.changes(c); why != "" {
		return why
	}
	if slices.Contains(writers, c.ToolName) {
		return ""
	}
	if c.ToolName == "Bash" {
		return r.judgeShell(c)
	}
	if why := r.named(c, `"`); why != "" { // of unknown tools, a text that begins with a file's name is one
		return why
	}
	for _, line := range shellLines(c.ToolInput) {
		one := asLine(c, line)
		why := r.changes(one)
		if why == "" {
			why = r.judgeShell(one)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// asLine is a call of a POSIX shell, where the call c is.
func asLine(c *match.Call, line string) *match.Call {
	input, _ := json.Marshal(map[string]string{"command": line}) // a text always encodes
	return &match.Call{ToolName: "Bash", ToolInput: input, Cwd: c.Cwd, Workspace: c.Workspace, Home: c.Home}
}

// judgeShell says what a shell line, and the scripts that it runs, would change.
func (r *rules) judgeShell(c *match.Call) string {
	if why := r.judgeLine(c, match.Suspected); why != "" {
		return why
	}
	if d := r.files.Match(c, match.Write); d.Certainty == match.Suspected {
		if why := r.named(c, ""); why != "" {
			return why
		}
	}
	if line := lineOf(c); startsWindowsShell().MatchString(line) { // its text is not a shell's
		one := asLine(c, posixLine(startsWindowsShell().ReplaceAllString(line, "sh -c ")))
		why := r.changes(one)
		if why == "" {
			why = r.judgeLine(one, match.Suspected)
		}
		if why != "" {
			return why
		}
	}
	for _, line := range scripts(c) {
		why := r.changes(line)
		if why == "" {
			why = r.judgeLine(line, match.Sure)
		}
		if why != "" {
			return "of a script that this runs: " + why
		}
	}
	return ""
}

// changes says which protected file, or startup file, a call surely changes.
func (r *rules) changes(c *match.Call) string {
	if d := r.files.Match(c, match.Write); d.Certainty == match.Sure {
		return "this would change a file of tenterhook or an agent's hooks (" + d.By + ")"
	}
	if d := startup().Match(c, match.Write); d.Certainty == match.Sure && rerouting().MatchString(texts(c.ToolInput)) {
		return "this may have shells start agents where their hooks are not (" + d.By + ")"
	}
	if d := settingsOfAgents().Match(c, match.Write); d.Certainty == match.Sure && switching().MatchString(texts(c.ToolInput)) {
		return "this may switch an agent's hooks off (" + d.By + ")"
	}
	if d := wrappers().Match(c, match.Write); d.Certainty == match.Sure {
		return "this would put another program in the place of an agent or of tenterhook (" + d.By + ")"
	}
	if d := scheduled().Match(c, match.Write); d.Certainty == match.Sure {
		return "this would have a command run where no guard sees it (" + d.By + ")"
	}
	return ""
}

// judgeLine says what the commands of a shell line would change. A line that
// speaks of tenterhook and cannot be read counts if suspicion is enough.
func (r *rules) judgeLine(c *match.Call, enough match.Certainty) string {
	line, sure := lineOf(c), func(rules *match.Rules) bool { return rules.Match(c).Certainty == match.Sure }
	if d := r.commands.Match(c); d.Certainty == match.Sure || d.Certainty == enough && strings.Contains(squeezed(line), "tenterhook") {
		return "this would change what tenterhook does (" + d.By + ")"
	}
	if d := unhooked().Match(c); d.Certainty == match.Sure {
		return "this would run an agent without its hooks (" + d.By + ")"
	}
	if d := clients().Match(c); d.Certainty == match.Sure && moved().MatchString(line) {
		return "this would run an agent where its hooks are not (" + d.By + ")"
	}
	if d := elsewhere().MatchUnless(c, elsewhereReading()); d.Certainty == match.Sure {
		return "this would have a command run where no guard sees it (" + d.By + ")"
	}
	if killsAll(line) {
		return "this would end tenterhook's daemon"
	}
	if sure(placers()) && relocated().MatchString(line) {
		return "this may change files of tenterhook or an agent's hooks, which lie below the working tree that it names"
	}
	if why := r.indirect(c, line); why != "" {
		return why
	}
	if changers().Match(c).Certainty == match.Sure {
		if path := r.globbed(line, c); path != "" {
			return "this may change " + path + ", which one of its patterns matches"
		}
		if strings.Contains(line, "$(") || strings.Contains(line, "`") {
			if why := r.named(c, ""); why != "" {
				return why
			}
		}
	}
	if sure(removers()) {
		if by := r.above.named(c, match.Write); by != "" {
			return "this would delete a directory that holds files of tenterhook or an agent's hooks (" + by + ")"
		}
	}
	if rights().MatchUnless(c, rightsKept()).Certainty == match.Sure {
		if by := r.above.named(c, match.Touch); by != "" {
			return "this would change the rights to a directory that holds files of tenterhook or an agent's hooks (" + by + ")"
		}
	}
	switch {
	case sure(finders()) && finds(line) && (r.touched(c) || r.above.named(c, match.Touch) != ""):
		return "this would change what it finds, files of tenterhook or an agent's hooks among them"
	case placers().MatchUnless(c, placersReading()).Certainty == match.Sure && (r.touched(c) || r.around.named(c, match.Touch) != ""):
		return "this may put another file in the place of one of tenterhook or an agent's hooks"
	case sure(unpackers()) && r.above.named(c, match.Touch) != "":
		return "this may change files of tenterhook or an agent's hooks, which lie below a directory that it names"
	case sure(mounters()) && r.above.named(c, match.Touch) != "":
		return "this would replace a directory that contains files of tenterhook or an agent's hooks"
	case sure(programs()):
		if text := squeezed(line); strings.Contains(text, "tenterhook") && acting().MatchString(text) {
			return "this may change what tenterhook does, or end it"
		}
		if r.removesAbove(line) {
			return "this may remove a directory that holds files of tenterhook or an agent's hooks"
		}
		return r.named(c, "")
	}
	return ""
}

// touched reports whether a call surely names a protected file in any way.
func (r *rules) touched(c *match.Call) bool {
	return r.files.Match(c, match.Touch).Certainty == match.Sure
}

// lineOf is the command of a call.
func lineOf(c *match.Call) string {
	var in struct{ Command string }
	if json.Unmarshal(c.ToolInput, &in) != nil {
		return string(c.ToolInput)
	}
	return in.Command
}
