package command

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// environ is a hook's environment: what the host hands down, what the protocol
// promises, and what the hook itself sets, the later ones first.
type environ struct {
	list []string // "key=value", a later one replaces an earlier
}

func (h *Handler) environ(c *hook.Call) environ {
	own, inherited := c.Hook.Env, h.inherited
	if c.Env != nil {
		inherited = c.Env
	}
	e := environ{list: make([]string, len(inherited), len(inherited)+8+len(own))}
	copy(e.list, inherited)
	e.set("TENTERHOOK_PROJECT_DIR", c.ProjectDir)
	e.set("CLAUDE_PROJECT_DIR", c.ProjectDir)
	if c.Hook.Source.Dir != "" {
		e.set("HOOK_DIR", c.Hook.Source.Dir)
	}
	if c.Hook.Scope == hook.ScopePlugin {
		e.set("CLAUDE_PLUGIN_ROOT", c.Hook.Source.Root)
		e.set("CLAUDE_PLUGIN_DATA", c.Hook.Source.Data)
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		e.set(key, own[key])
	}
	return e
}

func (e *environ) set(key, value string) { e.list = append(e.list, key+"="+value) }

// get returns a variable's value, "" if it is not set.
func (e *environ) get(key string) string {
	for i := len(e.list) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.list[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// placeholders replaces the ${…} that the protocol promises in arguments. A
// shell line needs none of it: there they are variables, which cannot become
// shell text.
func (e *environ) placeholders(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	for _, key := range []string{"CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "TENTERHOOK_PROJECT_DIR", "HOOK_DIR"} {
		s = strings.ReplaceAll(s, "${"+key+"}", e.get(key))
	}
	return s
}

// lookPath finds a program on the environment's PATH. An element that is not
// absolute is passed over: it would let a workspace bring its own git.
func (e *environ) lookPath(name string) (string, bool) {
	for _, dir := range filepath.SplitList(e.get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, ok := executable(filepath.Join(dir, name), e); ok {
			return path, true
		}
	}
	return "", false
}
