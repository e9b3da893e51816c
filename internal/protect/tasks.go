package protect

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

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

// cargoRuns are the keys of cargo's configuration whose value is a program that it runs.
var cargoRuns = []string{"runner", "linker", "rustc", "rustc-wrapper", "rustc-workspace-wrapper", "rustdoc"}

// runners takes the programs with which cargo runs others.
func (s *search) runners(c *match.Call, dirs []string) {
	for _, dir := range dirs {
		for _, file := range []string{"config.toml", "config"} {
			var config struct{ Build, Target map[string]any }
			if toml.Unmarshal([]byte(s.read(filepath.Join(dir, ".cargo", file))), &config) != nil {
				continue // cargo does not read it either
			}
			s.cargoRuns(c, dir, config.Build)
			s.cargoRuns(c, dir, config.Target)
		}
	}
}

func (s *search) cargoRuns(c *match.Call, dir string, table map[string]any) {
	for key, value := range table {
		if below, ok := value.(map[string]any); ok {
			s.cargoRuns(c, dir, below)
		} else if slices.Contains(cargoRuns, key) {
			s.text(c, dir, listMarks.Replace(fmt.Sprint(value)))
		}
	}
}

// gitSection is a header of git's configuration, with the name of the section.
var gitSection = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\[\s*([\w.-]+)[^\]]*\]`) })

// gitAliases takes the alias of a repository that a command of git is. No name there has a case.
func (s *search) gitAliases(c *match.Call, args, dirs []string) {
	for _, dir := range dirs {
		top, git := repository(dir)
		if git == "" {
			continue
		}
		section := ""
		for line := range strings.Lines(strings.ReplaceAll(s.read(filepath.Join(git, "config")), "\\\n", " ")) {
			if m := gitSection().FindStringSubmatch(line); m != nil {
				section, line = strings.ToLower(m[1]), line[len(m[0]):]
			}
			name, text, ok := strings.Cut(line, "=")
			if !ok || section != "alias" || !slices.ContainsFunc(args, func(w string) bool { return strings.EqualFold(w, strings.TrimSpace(name)) }) {
				continue
			}
			text = strings.Trim(strings.TrimSpace(text), `"`)
			if run, ok := strings.CutPrefix(text, "!"); ok {
				s.text(c, top, run)
			} else {
				s.text(c, top, "git "+text)
			}
		}
	}
}
