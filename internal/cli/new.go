package cli

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/resolve"
)

//go:embed all:templates
var templates embed.FS

// hookName is what a new hook may be called: a folder's name, and half an ID.
var hookName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// language is a folder of templates, and how its script is run.
type language struct {
	command, bin string
	timeout      int // seconds
}

var languages = map[string]language{
	"sh":         {command: "./run.sh", timeout: 5},
	"python":     {command: "./run.py", bin: onWindows("py", "python3"), timeout: 10},
	"powershell": {command: "./run.ps1", bin: onWindows("", "pwsh"), timeout: 10},
	"node":       {command: "./run.mjs", bin: "node", timeout: 10},
	"go":         {command: "./run.sh", bin: "go", timeout: 60},
}

// onWindows is the one on Windows, which has PowerShell and finds Python by its launcher, and the other elsewhere.
func onWindows(there, elsewhere string) string {
	if runtime.GOOS == "windows" {
		return there
	}
	return elsewhere
}

var languageNames = slices.Sorted(maps.Keys(languages))

type newFlags struct {
	event, matcher, lang string
	plugin, rule         bool
}

func (a *app) newCommand() *cobra.Command {
	var f newFlags
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a hook folder that runs at once, or a plugin's source",
		Long: "Writes NAME/HOOK.md and a script into the user's hooks, or into --dir, and says\n" +
			"how to try it. With --rule it writes NAME/HOOK.md alone: a rule, which decides\n" +
			"without starting anything. With --plugin it writes NAME/, the source of a plugin in Go with\n" +
			"its test, into the current directory or into --dir, and says how to build it,\n" +
			"approve it and try it. Nothing that exists is overwritten.",
		Example: "  tenterhook new guard --matcher Bash\n" +
			"  tenterhook new no-push --rule\n" +
			"  tenterhook new audit --event PostToolUse --lang python --dir ./hooks\n" +
			"  tenterhook new keeper --plugin",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.rule && (f.plugin || cmd.Flags().Changed("lang")) {
				return &located{"bad_flags", "--rule goes without --plugin and --lang", "leave them out: a rule has no program"}
			}
			if !f.plugin {
				if !cmd.Flags().Changed("lang") && !resolve.HasShell(os.Environ()) {
					f.lang = "powershell"
				}
				return a.makeHook(args[0], f)
			}
			for _, name := range []string{"event", "matcher", "lang"} {
				if cmd.Flags().Changed(name) {
					return &located{"bad_flags", "--plugin goes without --" + name, "leave it out, and say in main.go what the plugin does"}
				}
			}
			return a.makePlugin(args[0])
		},
	}
	cmd.Flags().StringVar(&f.event, "event", string(hook.EventPreToolUse), "the event that the hook is for")
	cmd.Flags().StringVar(&f.matcher, "matcher", "", "which of the events: a tool's name, for example")
	cmd.Flags().StringVar(&f.lang, "lang", "sh", "the script's language (powershell where there is no sh): "+strings.Join(languageNames, ", "))
	cmd.Flags().BoolVar(&f.rule, "rule", false, "make a rule: a decision that needs no program")
	cmd.Flags().BoolVar(&f.plugin, "plugin", false, "make a plugin in Go: hooks in a program that stays up")
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(languageNames, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) makeHook(name string, f newFlags) error {
	if !hookName().MatchString(name) {
		return &located{"bad_name", fmt.Sprintf("%q cannot be a hook's name", name), "use letters, digits, '.', '_' and '-'"}
	}
	if err := pack.CheckPart(name, name); err != nil {
		return &located{"bad_name", err.Error(), "take another name"}
	}
	info, ok := hook.Lookup(hook.Event(f.event))
	if !ok {
		return unknownEvent(f.event)
	}
	if _, ok := languages[f.lang]; !ok {
		e := &located{"bad_lang", fmt.Sprintf("no template for %q", f.lang), "take one of " + strings.Join(languageNames, ", ")}
		if near := hook.Nearest(f.lang, languageNames); near != "" {
			e.hint = "did you mean " + near + "?"
		}
		return e
	}
	if f.matcher != "" && info.MatcherField == "" {
		return &located{"bad_matcher", f.event + " has no matcher", "leave --matcher out"}
	}
	dir, flags, err := a.newDir(name)
	if err != nil {
		return err
	}
	data := templateData(name, f, info, flags)
	data.Builds = f.lang == "go" && slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), ".tenterhook")
	sources := []string{"templates/HOOK.md.tmpl", "templates/" + f.lang + "/*.tmpl"}
	if f.rule {
		data.rule(info, flags)
		sources = []string{"templates/HOOK.rule.md.tmpl"}
	}
	files, err := writeTemplates(dir, sources, data)
	if err != nil {
		return err
	}
	try := data.Example
	if a.json {
		return a.printJSON(map[string]any{"dir": dir, "files": files, "try": try})
	}
	a.printMade(dir, files)
	what := shows(info)
	if f.rule {
		what = ""
	}
	fmt.Fprintf(a.Out, "try it%s:\n  %s\n", what, phrase.Printable(try))
	return nil
}

func (a *app) printMade(dir string, files []string) {
	fmt.Fprintf(a.Out, "made %s\n", phrase.Printable(dir))
	for _, file := range files {
		fmt.Fprintf(a.Out, "  %s\n", filepath.Base(file))
	}
}

// newDir is where a new hook goes, and the flags that load it from there.
func (a *app) newDir(name string) (dir, flags string, err error) {
	if len(a.opts.Dirs) > 1 {
		return "", "", &located{"bad_dir", "a new hook goes into one folder", "give --dir once"}
	}
	if len(a.opts.Dirs) == 1 {
		dir, err = filepath.Abs(filepath.Join(a.opts.Dirs[0], name))
		return dir, " --dir " + shellQuote(a.opts.Dirs[0]), err
	}
	user := discovery.DefaultUserDir()
	if user == "" {
		return "", "", &located{"no_home", "no home directory is known", "set HOME, or say where with --dir"}
	}
	return filepath.Join(user, "hooks", name), "", nil
}

// newHook is what the templates are filled with.
type newHook struct {
	Name, Event, Matcher, Command, Bins, Example string
	If, Decision, Reason                         string // of a rule

	Timeout         int
	Silence, Exit2  string // what exit code 0 without output means, and 2
	Deny, Guard     bool   // exit code 2 blocks; so should a failure
	Context, Result bool   // what stdout is
	Path            bool
	Builds          bool // it builds itself where hooks are contained
}

func templateData(name string, f newFlags, info *hook.EventInfo, flags string) newHook {
	lang := languages[f.lang]
	return newHook{Name: name, Event: f.event, Matcher: f.matcher, Command: lang.command, Bins: lang.bin, Timeout: lang.timeout,
		Silence: silence(info), Exit2: exit2Comment(info),
		Deny: blocks(info), Guard: info.Block == hook.BlockAction && !info.NoPolicy && !info.NoExit2,
		Context: info.Plain == hook.PlainContext, Result: info.Plain == hook.PlainResult, Path: info.Plain == hook.PlainPath,
		Example: tryCommand(info, f.matcher) + flags}
}

// blocks reports whether exit code 2 blocks an event.
func blocks(info *hook.EventInfo) bool { return info.Block != hook.BlockNothing && !info.NoExit2 }

// silence says what a hook that exits with 0 and prints nothing decides.
func silence(info *hook.EventInfo) string {
	if info.Plain == hook.PlainPath {
		return "take the path that was printed"
	}
	return "no objection"
}

// exit2Comment says what exit code 2 does, for the author of the script.
func exit2Comment(info *hook.EventInfo) string {
	if !blocks(info) {
		return "Any other code: the hook has failed."
	}
	switch info.Block {
	case hook.BlockStop:
		return "Exit 2: the agent keeps working; standard error says what is left to do."
	case hook.BlockFeedback:
		return "Exit 2: standard error is reported to the model."
	case hook.BlockLoop:
		return "Exit 2: the agent's loop ends; standard error is the reason."
	}
	if info.AnyExit {
		return "Any other code: block; standard error is the reason."
	}
	return "Exit 2: block; standard error is the reason."
}

// shows says what the suggested command shows.
func shows(info *hook.EventInfo) string {
	if blocks(info) {
		return "; it blocks what holds the word FORBIDDEN"
	}
	return ""
}

// rule fills in what a rule can decide on the event.
func (n *newHook) rule(info *hook.EventInfo, flags string) {
	n.Decision, n.Reason = string(hook.DecisionWarn), n.Name+" applies here."
	switch {
	case info.Block != hook.BlockNothing:
		n.Decision = string(hook.DecisionDeny)
	case info.Fields.Has(hook.FieldContext):
		n.Decision = string(hook.DecisionContext)
	}
	if info.TakesIf && (n.Matcher == "" || n.Matcher == "Bash") {
		n.If, n.Reason = "Bash(git push *)", "Pushes go through review."
		n.Example = "tenterhook run " + n.Event + " --tool Bash --input " + shellQuote(`{"command":"git push"}`) + flags
	}
}

// tryCommand is a command that fires the event, so that the new hook's example
// blocks it.
func tryCommand(info *hook.EventInfo, matcher string) string {
	cmd := "tenterhook run " + string(info.Event)
	subject := subjectOf(info, matcher)
	switch {
	case info.MatcherField == "tool_name":
		cmd += " --tool " + shellQuote(subject)
		if blocks(info) {
			return cmd + " --input " + shellQuote(`{"command":"echo FORBIDDEN"}`)
		}
		return cmd + " --input " + shellQuote(`{"command":"ls"}`)
	case subject != "":
		cmd += " --set " + shellQuote(info.MatcherField+"="+fieldValue(info, subject))
	}
	switch {
	case info.Event == hook.EventUserPromptSubmit:
		cmd += " --prompt FORBIDDEN"
	case blocks(info):
		cmd += " --set note=" + shellQuote(`"FORBIDDEN"`)
	}
	return cmd
}

// fieldValue is what --set gives the matcher's field: a text in quotes, and a number as it is.
func fieldValue(info *hook.EventInfo, subject string) string {
	text := string(quoted(subject))
	if _, err := hook.DecodeInput(fmt.Appendf(nil, `{"hook_event_name":%q,%q:%s}`, info.Event, info.MatcherField, text)); err != nil {
		return subject
	}
	return text
}

// subjectOf is something that the matcher selects, as far as that can be
// guessed: the first of its words that it takes.
func subjectOf(info *hook.EventInfo, matcher string) string {
	if info.MatcherField == "tool_name" && (matcher == "" || matcher == "*") {
		return "Bash"
	}
	var candidates []string
	if !strings.ContainsAny(matcher, ".^$()[]+*?\\") {
		candidates = strings.FieldsFunc(matcher, func(r rune) bool { return r == '|' || r == ',' || r == ' ' })
	}
	if info.MatcherField == "tool_name" {
		candidates = append(candidates, "Bash", "Write", "Read", "WebFetch", "mcp__server__tool")
	}
	candidates = append(candidates, strings.NewReplacer(".*", "x", ".+", "x", "^", "", "$", "", `\`, "").Replace(matcher))
	m := match.Compile(matcher, match.MatcherOptions{})
	for _, c := range candidates {
		if ok, err := m.Match(c); ok && err == nil && c != "" && matcher != "" {
			return c
		}
	}
	return ""
}

// writeTemplates fills templates into a folder that does not exist yet. If a
// file cannot be written, the folder is removed again.
func writeTemplates(dir string, patterns []string, data any) (files []string, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, &located{"exists", dir + " exists", "take another name, or remove it"}
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	for _, pattern := range patterns {
		sources, err := fs.Glob(templates, pattern)
		if err != nil {
			return nil, err
		}
		for _, source := range sources {
			path := filepath.Join(dir, strings.Replace(strings.TrimSuffix(filepath.Base(source), ".tmpl"), "HOOK.rule.md", "HOOK.md", 1))
			if err := fillTemplate(path, source, data); err != nil {
				return nil, err
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// fillTemplate writes one file. A script may be executed.
func fillTemplate(path, source string, data any) error {
	t, err := template.New(filepath.Base(source)).Funcs(template.FuncMap{"toml": strconv.Quote, "modpath": modPath}).ParseFS(templates, source)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, data); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if bytes.HasPrefix(text.Bytes(), []byte("#!")) {
		mode = 0o755
	}
	return os.WriteFile(path, text.Bytes(), mode)
}

// shellQuote quotes a word for a command line that a person copies.
func shellQuote(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return onWindows(cmdQuote(s), "'"+strings.ReplaceAll(s, "'", `'\''`)+"'")
}

// plainWord matches what needs no quotes.
var plainWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(onWindows(`^[\w@+=:,./\\-]+$`, `^[\w@%+=:,./-]+$`))
})

// cmdQuote quotes a word for a line of cmd.exe.
func cmdQuote(s string) string {
	var b strings.Builder
	slashes := 0
	for _, c := range []byte(s + `"`) { // a backslash counts as itself unless a quote comes behind it
		switch c {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(c)
	}
	return `"` + strings.TrimSuffix(b.String(), `\"`) + `"`
}
