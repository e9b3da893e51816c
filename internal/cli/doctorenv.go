package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/registry"
)

// probeWithin is how long doctor --probe waits for servers.
const probeWithin = 10 * time.Second

// examineServers says which hooks need what is not reached.
func examineServers(ctx context.Context, reg *registry.Registry) (problems []problem) {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	unreached, err := reg.Probe(ctx)
	if err != nil {
		return []problem{{Severity: hook.SeverityError, Code: "probe", Subject: "probe", Message: err.Error()}}
	}
	for _, u := range unreached {
		p := problem{Severity: hook.SeverityError, Code: "unreachable", Subject: u.Hook.ID, Message: u.Err.Error(),
			Hint: "start what it needs, or see whether the network lets it through", path: u.Hook.Source.Path, line: u.Hook.Source.Line}
		if e := (*hook.Error)(nil); errors.As(u.Err, &e) {
			p.Message = e.Reason
			if e.Hint != "" {
				p.Hint = e.Hint
			}
		}
		if errors.Is(u.Err, context.DeadlineExceeded) {
			p.Message = fmt.Sprintf("what it needs did not answer within %s", probeWithin)
		}
		problems = append(problems, p)
	}
	return problems
}

// examinePaths says which hooks find their programs here, and not with the PATH
// that an agent calls with.
func (a *app) examinePaths(ctx context.Context, list []registry.Listed) (problems []problem) {
	here := os.Getenv("PATH")
	agents := daemon.AgentPaths(os.Environ())
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		there := agents[agent]
		if there == here {
			continue
		}
		lost, err := a.lostOn(ctx, there, list)
		if err != nil {
			problems = append(problems, problem{Severity: hook.SeverityWarning, Code: "path_differs", Subject: agent, Message: err.Error()})
			continue
		}
		for _, l := range lost {
			problems = append(problems, problem{Severity: hook.SeverityWarning, Code: "path_differs", Subject: l.Hook.ID,
				Message: fmt.Sprintf("it is ready here, and not with the PATH of %s: %s", agent, l.Why),
				Hint:    "start the agent with this PATH, or write the program's full path", path: l.Hook.Source.Path, line: l.Hook.Source.Line})
		}
		if missing := without(here, there); len(lost) == 0 && len(missing) > 0 {
			problems = append(problems, problem{Severity: hook.SeverityInfo, Code: "path_differs", Subject: agent,
				Message: "its PATH has other folders than this one; it lacks " + strings.Join(missing, ", "), Hint: "no hook that is loaded here needs them"})
		}
	}
	return problems
}

// lostOn are the hooks that are ready here, as they are with another PATH.
func (a *app) lostOn(ctx context.Context, path string, list []registry.Listed) (lost []registry.Listed, err error) {
	opts := a.opts
	opts.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }), "PATH="+path)
	reg, err := tenterhook.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer reg.Close()
	for _, there := range reg.List() {
		ready := func(l registry.Listed) bool {
			return l.Hook.ID == there.Hook.ID && l.Hook.Source == there.Hook.Source && l.State == hook.StateReady
		}
		if there.State == hook.StateIneligible && slices.ContainsFunc(list, ready) {
			lost = append(lost, there)
		}
	}
	return lost, nil
}

// without are the folders of one PATH that another lacks.
func without(path, other string) []string {
	has := filepath.SplitList(other)
	return slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return slices.Contains(has, dir) })
}

// examineDaemon says what is wrong with the daemon, if one runs.
func examineDaemon() (problems []problem) {
	say := func(s hook.Severity, code, message, hint string) {
		problems = append(problems, problem{Severity: s, Code: code, Subject: "daemon", Message: message, Hint: hint})
	}
	status, err := daemon.Ask(os.Environ())
	if errors.Is(err, daemon.ErrNoDaemon) {
		return nil // the next call of an agent starts one
	}
	if err != nil {
		say(hook.SeverityError, "daemon_silent", "it does not answer: "+err.Error(), "end it with: tenterhook daemon stop; the next call of an agent starts another")
		return problems
	}
	if status.Dropped > 0 {
		say(hook.SeverityWarning, "journal_lost", fmt.Sprintf("%s could not be written to the journal", phrase.Count(int(status.Dropped), "record")),
			"free space, or make the state directory writable")
	}
	if _, err := os.Stat(status.Program); err != nil {
		say(hook.SeverityWarning, "daemon_outdated", "it runs a program that is gone: "+status.Program, "end it with: tenterhook daemon stop")
	}
	if strings.HasPrefix(status.Protection, "off: ") && status.Protection != daemon.NothingInstalled {
		say(hook.SeverityWarning, "self_protection_off", "agents can change their own guards: "+status.Protection, "take self_protection = false out of the settings")
	}
	return problems
}
