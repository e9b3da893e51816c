package resolve

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/account"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// Sandbox returns what the hook's processes may do where its command comes to p; nil = everything. Beside what
// the hook declares they may read the program, the files that the command names, the hook's folder and the
// workspace. Under strict the environment loses what is not in [strictVariables].
func Sandbox(h *hook.Hook, e *Environ, p *hook.Program, at Place) *sandbox.Policy {
	box := h.Sandbox
	if !box.Contains() {
		return nil
	}
	readable := []string{at.Project, h.Source.Dir, h.Source.Root}
	for _, dir := range []string{p.Dir, at.Session} { // an agent may be anywhere, also where secrets are
		if at.Project != "" && within(at.Project, dir) {
			readable = append(readable, dir)
		}
	}
	policy := e.Policy(box, p.Path, readable...)
	policy.Read = append(policy.Read, p.Files...)
	if h.Scope == hook.ScopePlugin && h.Source.Data != "" { // its own
		policy.Write = append(policy.Write, h.Source.Data)
	}
	if file := e.Get("CLAUDE_ENV_FILE"); file != "" {
		policy.Write = append(policy.Write, file)
	}
	slices.Sort(policy.Read)
	policy.Read = slices.Compact(policy.Read)
	if box.Mode == hook.SandboxStrict {
		e.Narrow(slices.Concat(slices.Collect(maps.Keys(h.Env)), h.Requires.Envs))
	}
	return policy
}

// DefaultSandbox is the mode of hooks of a scope where neither they nor the settings choose one.
func DefaultSandbox(s hook.Scope) hook.SandboxMode {
	if NeedsApproval(s) {
		return hook.SandboxMode(sandbox.OfOthers())
	}
	return hook.SandboxNone
}

// Asked is what box asks of a machine, without the paths; nil = nothing.
func Asked(box *hook.Sandbox) *sandbox.Policy {
	if !box.Contains() {
		return nil
	}
	policy := &sandbox.Policy{Mode: sandbox.Mode(box.Mode), Memory: uint64(box.Memory)}
	policy.Ports, _ = box.Ports() // what is wrong with them, the reader of the definition said
	return policy
}

// Policy is what box allows in this environment; nil = everything. Beside what it declares, processes may read
// the program, what is readable, but for directories that hold more than a project, and the programs of PATH.
func (e *Environ) Policy(box *hook.Sandbox, program string, readable ...string) *sandbox.Policy {
	if !box.Contains() {
		return nil
	}
	policy := Asked(box)
	policy.Write, policy.Read, policy.Deny = e.paths(box.AllowWrite), e.paths(box.AllowRead), e.paths(box.DenyRead)
	for _, path := range append(readable, program) {
		if filepath.IsAbs(path) && !wide(path, e) {
			policy.Read = append(policy.Read, filepath.Clean(path))
		}
	}
	if box.Mode == hook.SandboxStrict {
		policy.Read = append(policy.Read, e.toolchains(program)...)
	}
	return policy
}

// Enforced returns the policy if this machine enforces it. If not, that is a failure, or where box is optional a
// warning, and the part of the policy that it enforces; nil = nothing of it.
func Enforced(policy *sandbox.Policy, box *hook.Sandbox) (enforced *sandbox.Policy, warning string, _ *hook.Error) {
	missing := policy.Missing()
	if len(missing) == 0 {
		return policy, "", nil
	}
	why := &sandbox.Error{Missing: missing}
	if !box.Optional {
		return nil, "", &hook.Error{Failure: hook.FailureSandbox, Reason: why.Error(), Hint: why.Remedy(), Err: why}
	}
	part := policy.Enforceable()
	how := "uncontained"
	if part != nil {
		how = "with less"
	}
	return part, why.Error() + "; it runs " + how + ", since sandbox_required is false", nil
}

// wide reports whether a directory holds more than a project: to let a hook read it would give it all secrets.
func wide(path string, e *Environ) bool {
	path = filepath.Clean(path)
	if filepath.IsAbs(path) && filepath.Dir(path) == path {
		return true
	}
	named := filepath.Clean(e.Home())
	for _, home := range []string{named, real(named), account.Home()} {
		if filepath.IsAbs(home) && (path == home || strings.HasPrefix(home, path+string(filepath.Separator))) {
			return true
		}
	}
	return false
}

// paths replaces ~ and ${NAME} in declared paths. What does not come to an absolute path is left out.
func (e *Environ) paths(declared []string) []string {
	var list []string
	for _, path := range declared {
		if path == "~" || strings.HasPrefix(path, "~/") {
			path = e.Home() + path[1:]
		}
		for {
			open := strings.Index(path, "${")
			if open < 0 {
				break
			}
			name, rest, ok := strings.Cut(path[open+2:], "}")
			if !ok {
				break
			}
			path = path[:open] + e.Get(name) + rest
		}
		if filepath.IsAbs(path) && !strings.Contains(path, "${") {
			list = append(list, filepath.Clean(path))
		}
	}
	return list
}

// strictVariables are what a strict sandbox hands down, beside what the protocol and the hook itself set and what
// the hook requires by name. Other variables may hold secrets.
var strictVariables = strings.Fields(`PATH HOME USER LOGNAME SHELL PWD LANG LANGUAGE TZ TERM COLORTERM NO_COLOR TMPDIR TEMP TMP
	HOOK_DIR CLAUDE_PROJECT_DIR CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA CLAUDE_ENV_FILE
	SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) OS
	PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS PSMODULEPATH
	PYENV_ROOT RBENV_ROOT NVM_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR VOLTA_HOME VIRTUAL_ENV CONDA_PREFIX JAVA_HOME GOROOT`)

var strictPrefixes = []string{"LC_", "TENTERHOOK_"}

// Narrow leaves only what a strict sandbox hands down, and the variables of these names.
func (e *Environ) Narrow(own []string) {
	keep := func(name string) bool {
		same := func(other string) bool { return environ.Same(other, name) }
		return slices.ContainsFunc(own, same) || slices.ContainsFunc(strictVariables, same) ||
			slices.ContainsFunc(strictPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	e.list = slices.DeleteFunc(e.list, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !keep(name)
	})
	if e.Get("GIT_CONFIG_GLOBAL") == "" {
		e.Set("GIT_CONFIG_GLOBAL", "/dev/null") // git ends at a file that it may not read
	}
}
