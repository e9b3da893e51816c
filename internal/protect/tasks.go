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
	var names []string
	seen := make(map[string]bool)
	add := func(name string) {
		if !seen[name] && len(names) < maxFiles && !strings.HasPrefix(name, "-") {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, w := range args {
		add(w)
	}
	if len(names) == 0 {
		add("default")
	}
	for _, dir := range dirs {
		for _, file := range []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"} {
			var lines [][]string
			starts := make(map[string][]int) // where a name stands below another
			for line := range strings.Lines(s.read(filepath.Join(dir, file))) {
				if m := taskLine().FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil && strings.TrimSpace(line) != "" {
					if lines = append(lines, m); m[1] != "" && m[3] != "" {
						starts[m[3]] = append(starts[m[3]], len(lines)-1)
					}
				}
			}
			var commands []string
			for i := 0; i < len(names); i++ {
				var runs []string
				for _, at := range starts[names[i]] {
					run, needs := task(lines[at:])
					runs = append(runs, run...)
					for _, need := range needs {
						add(need)
					}
				}
				s.text(c, dir, strings.Join(runs, "\n"))
				commands = append(commands, runs...)
			}
			for _, run := range commands { // one that cannot be read hides no other
				s.text(c, dir, run)
			}
		}
	}
}

// task returns the commands of the task whose name the first line has, and the tasks that it names.
func task(lines [][]string) (commands, needs []string) {
	for i, m := range lines {
		text := strings.Trim(strings.TrimSpace(m[4]), `'"`)
		switch {
		case i == 0:
			commands = append(commands, text)
		case len(m[1]) <= len(lines[0][1]):
			return commands, taskNames(needs)
		case m[3] == "task":
			needs = append(needs, text)
		case m[3] == "deps":
			needs = append(needs, strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("[], '\"", c) })...)
		case m[3] == "" || m[3] == "cmd" || m[3] == "sh" || m[3] == "cmds":
			commands = append(commands, text)
			needs = append(needs, text) // a dependency in a list
		}
	}
	return commands, taskNames(needs)
}

// taskNames are the words that may be names of tasks.
func taskNames(words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" || strings.Contains(w, " ") })
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
			text := s.read(filepath.Join(dir, ".cargo", file))
			var config map[string]any
			if isPlainTOML(text) && toml.Unmarshal([]byte(text), &config) == nil {
				s.cargoRuns(c, dir, config)
				continue
			}
			for _, m := range cargoLine().FindAllStringSubmatch(text, -1) {
				s.text(c, dir, listMarks.Replace(m[1]))
			}
		}
	}
}

// cargoLine is a line of cargo's configuration that sets such a key, for a file that cannot be parsed.
var cargoLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\b(?:` + strings.Join(cargoRuns, "|") + `)["']?\s*=(.*)$`)
})

// isPlainTOML tells that no line has a key of so many parts that the parser takes long.
func isPlainTOML(text string) bool {
	for line := range strings.Lines(text) {
		if strings.Count(line, ".") > 64 {
			return false
		}
	}
	return true
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

// gitSection is a header of git's configuration.
var gitSection = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\[[^\]]*\]`) })

// gitAliases takes the alias of a repository that a command of git is. No name there has a case. Each section counts: where one
// begins depends on how git reads comments and lines that continue. So lines are read as they stand, and joined.
func (s *search) gitAliases(c *match.Call, args, dirs []string) {
	for _, dir := range dirs {
		top, git := repository(dir)
		if git == "" {
			continue
		}
		config := strings.ReplaceAll(strings.TrimPrefix(s.read(filepath.Join(git, "config")), "\ufeff"), "\r\n", "\n")
		for line := range strings.Lines(config + "\n" + strings.ReplaceAll(config, "\\\n", " ")) {
			name, text, ok := strings.Cut(line[len(gitSection().FindString(line)):], "=")
			name = strings.TrimSpace(name)
			if !ok || !slices.ContainsFunc(args, func(w string) bool { return strings.EqualFold(w, name) }) {
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
