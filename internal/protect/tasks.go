package protect

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/internal/match"
)

// above returns directories and those above them, where a program looks for its file.
func above(dirs []string) (all []string) {
	for _, dir := range dirs {
		for {
			if !slices.Contains(all, dir) && len(all) < maxScripts {
				all = append(all, dir)
			}
			up := filepath.Dir(dir)
			if up == dir {
				break
			}
			dir = up
		}
	}
	return all
}

// taskLine is a line of a Taskfile: its indentation, a name, and what stands behind it.
var taskLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*)(-\s+)?(?:['"]?([\w:.-]+)['"]?:(?:\s+|$))?(.*)$`)
})

// tasks takes the commands of the tasks that task runs, and of what these call.
func (s *search) tasks(c *match.Call, args, dirs []string) {
	names := slices.DeleteFunc(slices.Clone(args), func(w string) bool { return strings.HasPrefix(w, "-") })
	if len(names) == 0 {
		names = []string{"default"}
	}
	for _, dir := range dirs {
		for _, file := range []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"} {
			var lines [][]string
			for line := range strings.Lines(s.read(filepath.Join(dir, file))) {
				if m := taskLine().FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil && strings.TrimSpace(line) != "" {
					lines = append(lines, m)
				}
			}
			var commands []string
			for i := 0; i < len(names) && len(lines) > 0; i++ {
				runs, needs := task(lines, names[i])
				s.text(c, dir, strings.Join(runs, "\n"))
				commands = append(commands, runs...)
				for _, need := range needs {
					if len(names) < maxFiles && !slices.Contains(names, need) {
						names = append(names, need)
					}
				}
			}
			for _, run := range commands { // one that cannot be read hides no other
				s.text(c, dir, run)
			}
		}
	}
}

// task returns the commands of one task, and the tasks that it names.
func task(lines [][]string, name string) (commands, needs []string) {
	depth := -1 // of the task's name
	for _, m := range lines {
		switch text := strings.Trim(strings.TrimSpace(m[4]), `'"`); {
		case depth >= 0 && len(m[1]) <= depth:
			depth = -1
			fallthrough
		case depth < 0:
			if m[3] == name && m[1] != "" {
				depth = len(m[1])
				commands = append(commands, text)
			}
		case m[3] == "task":
			needs = append(needs, text)
		case m[3] == "deps":
			needs = append(needs, strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("[], '\"", c) })...)
		case m[3] == "" || m[3] == "cmd" || m[3] == "sh" || m[3] == "cmds":
			commands = append(commands, text)
			needs = append(needs, text) // a dependency in a list
		}
	}
	return commands, slices.DeleteFunc(needs, func(need string) bool { return need == "" || need == name || strings.Contains(need, " ") })
}

var (
	generator = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^//go:generate\s+(.+)$`) })
	runner    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:runner|linker|rustc|rustc-wrapper|rustc-workspace-wrapper)\s*=\s*(.+)$`)
	})
	listMarks = strings.NewReplacer(`"`, " ", "'", " ", "[", " ", "]", " ", ",", " ")
)

// generators takes what go generate runs in the packages that it is given, up to three folders
// below a directory.
func (s *search) generators(c *match.Call, args, dirs []string) {
	patterns := []string{"*.go"}
	for _, w := range args {
		switch {
		case strings.HasSuffix(w, "..."):
			patterns = append(patterns, "*/*.go", "*/*/*.go", "*/*/*/*.go")
		case strings.HasSuffix(w, ".go"):
			patterns = append(patterns, w)
		case filepath.IsLocal(w):
			patterns = append(patterns, w+"/*.go")
		}
	}
	for _, dir := range dirs {
		for _, pattern := range patterns {
			for _, file := range s.glob(dir, pattern) {
				for _, m := range generator().FindAllStringSubmatch(s.read(file), -1) {
					s.text(c, filepath.Dir(file), m[1])
				}
			}
		}
	}
}

// runners takes the programs with which cargo runs others.
func (s *search) runners(c *match.Call, dirs []string) {
	for _, dir := range dirs {
		for _, file := range []string{"config.toml", "config"} {
			for _, m := range runner().FindAllStringSubmatch(s.read(filepath.Join(dir, ".cargo", file)), -1) {
				s.text(c, dir, listMarks.Replace(m[1]))
			}
		}
	}
}

// gitAliases takes the alias of a repository that a command of git is.
func (s *search) gitAliases(c *match.Call, args, dirs []string) {
	for _, dir := range dirs {
		top, git := repository(dir)
		if git == "" {
			continue
		}
		config := s.read(filepath.Join(git, "config"))
		_, aliases, _ := strings.Cut(config, "[alias]")
		for line := range strings.Lines(aliases) {
			if name, text, ok := strings.Cut(line, "="); ok && slices.Contains(args, strings.TrimSpace(name)) {
				text = strings.Trim(strings.TrimSpace(text), `"`)
				if run, ok := strings.CutPrefix(text, "!"); ok {
					s.text(c, top, run)
				} else {
					s.text(c, top, "git "+text)
				}
			}
		}
	}
}
