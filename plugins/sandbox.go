package plugins

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/internal/sandbox"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// confines is what a process of a plugin is confined to: its sandbox, and the workspace that it may read.
type confines struct {
	box     *hook.Sandbox // nil = none
	project string
}

// equal reports whether a process within one is within the other.
func (c confines) equal(other confines) bool {
	if !c.box.Contains() && !other.box.Contains() {
		return true
	}
	return c.project == other.project && reflect.DeepEqual(c.box, other.box)
}

// confine returns what the process is confined to that a call of hk asks: the sandbox that the approval grants,
// else that of the hook.
func (a approval) confine(hk *hook.Hook, project string) approval {
	a.confines = confines{hk.Sandbox, project}
	if a.granted != nil {
		own := *a.granted
		own.Optional = hk.Sandbox != nil && hk.Sandbox.Optional
		a.box = &own
	}
	return a
}

// Sandbox returns the sandbox that the approval grants the plugin of a hook; nil = none.
func (h *Host) Sandbox(hk *hook.Hook) *hook.Sandbox {
	path, _, p := h.find(hk)
	if p != nil {
		return hk.Sandbox
	}
	found, p := h.approvals(path)
	if p != nil {
		return hk.Sandbox
	}
	if len(found) == 0 {
		return nil
	}
	return h.termsOf(path, h.likely(path, found)).granted
}

// policy is what the process of a plugin may do: beside what its sandbox allows it reads its package, itself and
// the workspace, and serves on a socket in socketDir. It can then connect to nothing, as the kernel cannot tell
// sockets of the host from others.
func (s *start) policy(socketDir string) *sandbox.Policy {
	e := resolve.EnvironOf(s.env)
	e.Set(proto.DirVariable, s.dir)
	e.Set("TENTERHOOK_PROJECT_DIR", s.approval.project)
	policy := e.Policy(s.approval.box, s.path, s.dir, s.approval.project)
	if policy != nil {
		policy.Serve = true
		policy.Write = append(policy.Write, socketDir)
	}
	policy, _, _ = resolve.Enforced(policy, s.approval.box) // launch has seen that it may run
	return policy
}

// enforced says of a sandbox that this machine does not enforce: a warning where it is optional, else a problem.
func enforced(box *hook.Sandbox) (warning string, _ *Problem) {
	_, warning, failed := resolve.Enforced(resolve.Asked(box), box)
	if failed != nil {
		return "", &Problem{Code: CodeSandbox, Reason: failed.Reason, Hint: failed.Hint, Err: failed.Err}
	}
	return warning, nil
}

// declaredBox reads the sandbox of a plugin.toml: a mode or a table, as a hook declares it.
func declaredBox(value any) (*hook.Sandbox, error) {
	if value == nil {
		return nil, nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, errors.New("sandbox: want a mode or a table")
	}
	box, problems := hook.SandboxOf(raw)
	if len(problems) > 0 {
		return nil, errors.New(problems[0].Key + ": " + problems[0].String())
	}
	if reason := wrongBox(box); reason != "" {
		return nil, errors.New("sandbox: " + reason)
	}
	return box, nil
}

// wrongBox says what keeps a sandbox from being one for a plugin, "" = nothing.
func wrongBox(box *hook.Sandbox) string {
	switch {
	case box == nil:
		return ""
	case !slices.Contains(hook.SandboxModes(), box.Mode):
		return "there is no such mode"
	case len(box.AllowNet) > 0:
		return "allow_net: a plugin serves on a unix socket, and what may do that and connect reaches every socket of the user; remove allow_net; the modes none and reap have a network"
	case box.Memory < 0:
		return "memory is negative"
	}
	return ""
}
