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
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
)

//go:embed all:templates
var templates embed.FS

// hookName is what a new hook may be called: a folder's name, and half an ID.
var hookName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// language is a folder of templates, and how its script is run.
type language struct {
	command, bin string
	timeout      int // seconds
}

var languages = map[string]language{
	"sh":     {command: "./run.sh", timeout: 10},
	"python": {command: "./run.py", bin: "python3", timeout: 30},
	"node":   {command: "./run.mjs", bin: "node", timeout: 30},
	"go":     {command: "test hook -nt main.go || go build -o hook . && exec ./hook", bin: "go", timeout: 60},
}

var languageNames = slices.Sorted(maps.Keys(languages))

type newFlags struct {
	event, matcher, lang string
	plugin               bool
}

func (a *app) newCommand() *cobra.Command {
	var f newFlags
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a hook folder that runs at once, or a plugin's source",
		Long: "Writes NAME/HOOK.md and a script into the user's hooks, or into --dir, and says\n" +
			"how to try it. With --plugin it writes NAME/, the source of a plugin in Go with\n" +
			"its test, into the current directory or into --dir, and says how to build it,\n" +
			"approve it and try it. Nothing that exists is overwritten.",
		Example: "  tenterhook new guard --matcher Bash\n" +
			"  tenterhook new audit --event PostToolUse --lang python --dir ./hooks\n" +
			"  tenterhook new keeper --plugin",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !f.plugin {
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
	cmd.Flags().StringVar(&f.matcher, "matcher", "", "what the event's matcher tests, a tool's name for one")
	cmd.Flags().StringVar(&f.lang, "lang", "sh", "the script's language: "+strings.Join(languageNames, ", "))
	cmd.Flags().BoolVar(&f.plugin, "plugin", false, "make a plugin in Go: hooks in a program that stays up")
	_ = cmd.RegisterFlagCompletionFunc("event", completeEvents)
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(languageNames, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) makeHook(name string, f newFlags) error {
	if !hookName.MatchString(name) {
		return &located{"bad_name", fmt.Sprintf("%q cannot be a hook's name", name), "use letters, digits, '.', '_' and '-'"}
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
	files, err := writeTemplates(dir, []string{"templates/HOOK.md.tmpl", "templates/" + f.lang + "/*.tmpl"}, templateData(name, f, info, flags))
	if err != nil {
		return err
	}
	try := tryCommand(info, f.matcher) + flags
	if a.json {
		return a.printJSON(map[string]any{"dir": dir, "files": files, "try": try})
	}
	a.printMade(dir, files)
	fmt.Fprintf(a.Out, "try it:\n  %s\n", printable(try))
	return nil
}

func (a *app) printMade(dir string, files []string) {
	fmt.Fprintf(a.Out, "made %s\n", printable(dir))
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
	Timeout                                      int
	Deny, Policy, Context                        bool // exit code 2 blocks, on_failure counts, stdout is context
}

func templateData(name string, f newFlags, info *hook.EventInfo, flags string) newHook {
	lang := languages[f.lang]
	return newHook{Name: name, Event: f.event, Matcher: f.matcher, Command: lang.command, Bins: lang.bin, Timeout: lang.timeout,
		Deny: info.Block == hook.BlockAction && !info.NoExit2, Policy: info.Block != hook.BlockNothing && !info.NoPolicy,
		Context: info.Plain == hook.PlainContext, Example: tryCommand(info, f.matcher) + flags}
}

// tryCommand is a command that fires the event.
func tryCommand(info *hook.EventInfo, matcher string) string {
	cmd := "tenterhook run " + string(info.Event)
	word := matcher
	if !regexp.MustCompile(`^\w+$`).MatchString(word) {
		word = ""
	}
	switch info.MatcherField {
	case "":
		if info.Event == hook.EventUserPromptSubmit {
			cmd += " --prompt 'deploy it'"
		}
	case "tool_name":
		if word == "" {
			word = "Bash"
		}
		cmd += " --tool " + word + ` --input '{"command":"ls"}'`
	default:
		if word != "" {
			cmd += fmt.Sprintf(" --set %s='%q'", info.MatcherField, word)
		}
	}
	return cmd
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
			path := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), ".tmpl"))
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
	if regexp.MustCompile(`^[\w@%+=:,./-]+$`).MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
