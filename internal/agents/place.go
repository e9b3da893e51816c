package agents

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/tenterhook/tenterhook/bridge"
)

// Scope says whose configuration is changed.
type Scope string

// The scopes of an installation.
const (
	User    Scope = "user"
	Project Scope = "project"
	Managed Scope = "managed" // of the machine's administrator
)

// Env is where things are. Each field must be set.
type Env struct {
	Getenv   func(string) string
	Home     string
	Project  string // the root of the project, for the scope Project and for switch-offs
	StateDir string // backups and receipts
	Program  string // the absolute path of tenterhook-bridge
	Root     string // in front of the machine's own directories; "" = none, for tests
}

// target is one file of an installation.
type target struct {
	path string
	own  []byte // the whole content of a file of our own; nil = a shared file
	exec bool

	keys   []string // where the events are, in a shared file
	shape  shape
	syntax syntax
	fresh  string // what a shared file holds that is not there yet
}

// place is where an agent is configured.
type place struct {
	clients []string // names of its program
	traces  []string // directories below the home directory that only it makes
	targets func(e Env, a *bridge.Agent, s Scope) ([]target, error)
}

const emptyObject = "{\n}\n"

// shared is a file that holds Claude Code's groups of entries below "hooks".
func shared(path string, s syntax) ([]target, error) {
	return []target{{path: path, keys: []string{"hooks"}, shape: grouped, syntax: s, fresh: emptyObject}}, nil
}

func noScope(a *bridge.Agent, s Scope, remedy string) ([]target, error) {
	return nil, fmt.Errorf("%s has no %s configuration that tenterhook installs into; %s", a.Title, s, remedy)
}

// inHomeOrProject is the usual pair of directories.
func (e Env) inHomeOrProject(a *bridge.Agent, s Scope, home, project string) (string, error) {
	switch {
	case s == User && home != "":
		return home, nil
	case s == Project && project != "":
		return filepath.Join(e.Project, project), nil
	case s == Managed:
		_, err := noScope(a, s, "leave out --managed")
		return "", err
	}
	_, err := noScope(a, s, "use the other scope (--project, or none)")
	return "", err
}

func (e Env) home(variable string, parts ...string) string {
	if dir := e.Getenv(variable); variable != "" && dir != "" {
		return dir
	}
	return filepath.Join(append([]string{e.Home}, parts...)...)
}

var places = map[string]place{
	"claude": {[]string{"claude"}, []string{".claude"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		strict := syntax{bom: true}
		switch s {
		case Managed:
			return shared(filepath.Join(e.Root, claudeManaged(), "managed-settings.json"), strict)
		case Project:
			return shared(filepath.Join(e.Project, ".claude/settings.json"), strict)
		}
		return shared(filepath.Join(e.home("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"), strict)
	}},
	"codex": {[]string{"codex"}, []string{".codex"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, e.home("CODEX_HOME", ".codex"), ".codex")
		if err != nil {
			return nil, err
		}
		return shared(filepath.Join(dir, "hooks.json"), syntax{})
	}},
	"gemini": {[]string{"gemini"}, []string{".gemini"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, filepath.Join(e.home("GEMINI_CLI_HOME"), ".gemini"), ".gemini")
		if err != nil {
			return nil, err
		}
		if s == Project {
			return shared(filepath.Join(dir, "settings.json"), syntax{comments: true})
		}
		extension := filepath.Join(dir, "extensions", "tenterhook")
		return []target{
			{path: filepath.Join(extension, "gemini-extension.json"), own: []byte("{\n  \"name\": \"tenterhook\",\n  \"version\": \"1.0.0\"\n}\n")},
			{path: filepath.Join(extension, "hooks", "hooks.json"), own: eventsFile(e.Program, a, grouped, `{"hooks":{}}`)},
		}, nil
	}},
	"copilot": {[]string{"copilot"}, []string{".copilot"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, filepath.Join(e.home("COPILOT_HOME", ".copilot"), "hooks"), ".github/hooks")
		if err != nil {
			return nil, err
		}
		return []target{{path: filepath.Join(dir, "tenterhook.json"), own: eventsFile(e.Program, a, copilots, `{"version":1,"hooks":{}}`)}}, nil
	}},
	"qwen": {[]string{"qwen"}, []string{".qwen"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, filepath.Join(e.Home, ".qwen"), ".qwen")
		if err != nil {
			return nil, err
		}
		return shared(filepath.Join(dir, "settings.json"), syntax{comments: true, bom: true})
	}},
}

// claudeManaged is the directory of an administrator's settings of Claude Code.
func claudeManaged() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

// eventsFile is the content of a file of our own that holds all entries.
func eventsFile(program string, a *bridge.Agent, s shape, skeleton string) []byte {
	d, err := readDocument("", []byte(skeleton), syntax{})
	if err != nil {
		return nil
	}
	d.flat = false
	for _, event := range a.Events() {
		if err := d.addEntry([]string{"hooks"}, event, s.element(program, a, event)); err != nil {
			return nil
		}
	}
	return append(d.bytes(), '\n')
}

// addEntry appends an element to the list of an event.
func (d *document) addEntry(keys []string, event, element string) error {
	for i, key := range append(slices.Clone(keys), event) {
		if d.at(append(slices.Clone(keys[:i]), key)...) != nil {
			continue
		}
		value := "{}"
		if i == len(keys) {
			value = "[]"
		}
		if err := d.add(d.at(keys[:i]...), compact(key)+": "+value); err != nil {
			return err
		}
	}
	return d.add(d.at(append(slices.Clone(keys), event)...), element)
}

// clientPath finds an agent's program on the PATH of the environment.
func (e Env) clientPath(agent string) string {
	for _, name := range places[agent].clients {
		for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
			path := filepath.Join(cmp.Or(dir, "."), name)
			if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				return path
			}
		}
	}
	return ""
}

// present reports whether an agent is on this machine, and by what.
func (e Env) present(agent string) (by string, ok bool) {
	if path := e.clientPath(agent); path != "" {
		return path, true
	}
	for _, trace := range places[agent].traces {
		path := filepath.Join(e.Home, trace)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path, true
		}
	}
	return "", false
}
