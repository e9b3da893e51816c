package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/agents"
	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/protect"
	"github.com/tenterhook/tenterhook/trust"
)

type installFlags struct {
	project, managed, dryRun, yes bool
	transport                     string // of install alone
}

// installed is what --json says of one agent.
type installed struct {
	Agent   string        `json:"agent"`
	Scope   agents.Scope  `json:"scope"`
	Changed bool          `json:"changed"`
	DryRun  bool          `json:"dry_run,omitempty"`
	Files   []changedFile `json:"files"`
	Trust   string        `json:"trust,omitempty"` // of an agent that asks for it
	Error   string        `json:"error,omitempty"`
}

type changedFile struct {
	Path string `json:"path"`
	Diff string `json:"diff,omitempty"`
}

func (a *app) installCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install [AGENT…]",
		Short: "Put these hooks into an agent's configuration",
		Long: "Makes agents ask tenterhook at each of their events. Without a name, every agent that is\n" +
			"on this machine is meant. What would change is shown first; --yes answers where there is\n" +
			"no terminal to ask. Shared files are edited in place: only bytes are added, and\n" +
			"'tenterhook uninstall' gives the file back as it was.",
		Example: "  tenterhook install claude --dry-run\n  tenterhook install\n  tenterhook install codex --project\n  tenterhook install claude --transport http",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeAgents(cmd.Context(), args, f, false)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.transport, "transport", "", "how Claude Code asks: command, or http (no process for each call of a tool)")
	_ = cmd.RegisterFlagCompletionFunc("transport", cobra.FixedCompletions([]string{agents.CommandTransport, agents.HTTPTransport}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall [AGENT…]",
		Short: "Take these hooks out of an agent's configuration",
		Long: "Restores the files to what they were before 'tenterhook install'. If something else changed a\n" +
			"file since, the entries of tenterhook alone are removed. Without a name, every agent that\n" +
			"tenterhook is installed into is meant.",
		Example: "  tenterhook uninstall claude\n  tenterhook uninstall --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeAgents(cmd.Context(), args, f, true)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *installFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.project, "project", false, "in the project's configuration, not the user's")
	flags.BoolVar(&f.managed, "managed", false, "in the machine's configuration, which users and projects cannot switch off")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the difference, and change nothing")
	flags.BoolVar(&f.yes, "yes", false, "change it without asking")
	cmd.MarkFlagsMutuallyExclusive("project", "managed")
}

func (f *installFlags) scope() agents.Scope {
	switch {
	case f.project:
		return agents.Project
	case f.managed:
		return agents.Managed
	}
	return agents.User
}

// agentEnv is where the agents of this user are.
func (a *app) agentEnv() (agents.Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return agents.Env{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return agents.Env{}, err
	}
	project, err := filepath.Abs(a.opts.Workspace)
	if err != nil {
		return agents.Env{}, err
	}
	state := a.opts.StateDir
	if state == "" {
		state = discovery.DefaultStateDir()
	}
	return agents.Env{Getenv: os.Getenv, Home: home, Project: project, StateDir: state,
		Program: filepath.Join(filepath.Dir(exe), onWindows("tenterhook-bridge.exe", "tenterhook-bridge")),
		Where:   daemon.Where(os.Environ()), Windows: runtime.GOOS == "windows"}, nil
}

// agentsNamed are the agents of the arguments, or without any the agents that fit.
func agentsNamed(args []string, otherwise func() []*bridge.Agent) ([]*bridge.Agent, error) {
	if len(args) == 0 {
		return otherwise(), nil
	}
	var list []*bridge.Agent
	for _, name := range args {
		agent, ok := bridge.Lookup(name)
		if !ok {
			return nil, &located{"unknown_agent", fmt.Sprintf("unknown agent %q", name), "known are " + strings.Join(agentNames(), ", ")}
		}
		if !slices.Contains(list, agent) {
			list = append(list, agent)
		}
	}
	return list, nil
}

func (a *app) changeAgents(ctx context.Context, args []string, f installFlags, remove bool) error {
	env, err := a.agentEnv()
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"", agents.CommandTransport, agents.HTTPTransport}, f.transport) {
		return &located{code: "usage", message: fmt.Sprintf("--transport: there is no transport %q", f.transport), hint: "use command or http"}
	}
	env.Transport = f.transport
	list, err := agentsNamed(args, func() []*bridge.Agent {
		if remove {
			return env.Installed(f.scope())
		}
		return env.Present()
	})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		if remove {
			return &located{"no_agent", "tenterhook is installed into no agent", "'tenterhook agents' shows them"}
		}
		return &located{"no_agent", "no agent is meant", "name one, as in 'tenterhook install claude'; 'tenterhook agents' lists them"}
	}
	if !f.dryRun {
		unlock, err := env.Lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
	}
	var done []installed
	var failed error
	for _, agent := range list {
		one, err := a.changeAgent(env, agent, f, remove)
		if err != nil {
			one.Error = err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s: %w", agent.Name, err))
		}
		done = append(done, one)
	}
	if a.json {
		if err := a.printJSON(map[string]any{"agents": done}); err != nil {
			return err
		}
		if failed != nil {
			a.code = exitError
			fmt.Fprintln(a.Err, "tenterhook: "+phrase.Printable(failed.Error()))
		}
		return nil
	}
	return failed
}

func (a *app) changeAgent(env agents.Env, agent *bridge.Agent, f installFlags, remove bool) (installed, error) {
	one := installed{Agent: agent.Name, Scope: f.scope(), DryRun: f.dryRun, Files: []changedFile{}}
	plan, err := env.PlanInstall, error(nil)
	if remove {
		plan = env.PlanUninstall
	}
	p, err := plan(agent, f.scope())
	if err != nil {
		return one, err
	}
	for _, c := range p.Changes {
		if !c.Same() {
			diff := trust.UnifiedDiff(c.Path, c.Old, c.New)
			if secret := p.Secret(); secret != "" {
				diff = strings.ReplaceAll(diff, secret, "<token>")
			}
			one.Files = append(one.Files, changedFile{c.Path, diff})
		}
	}
	if !a.json {
		a.showPlan(agent, one.Files, remove)
	}
	switch {
	case f.dryRun:
		return one, nil
	case p.Same() && remove:
		return one, env.Forget(p)
	case p.Same():
		one.Trust, err = a.trustEntries(env, agent, f)
		return one, err
	case !f.yes && !a.confirmed("Change them?"):
		return one, errors.New("nothing was changed; --yes answers where there is no terminal to ask")
	}
	if err := env.Apply(p); err != nil {
		return one, err
	}
	one.Changed = true
	if !remove {
		one.Trust, err = a.trustEntries(env, agent, f)
	}
	if !remove && !a.json {
		a.showShortfalls(agent)
	}
	if !a.json {
		verb := "installed into"
		if remove {
			verb = "uninstalled from"
		}
		fmt.Fprintf(a.Out, "%s %s\n", verb, agent.Title)
	}
	return one, err
}

// showPlan shows a person what is about to change.
func (a *app) showPlan(agent *bridge.Agent, files []changedFile, remove bool) {
	if len(files) == 0 {
		state := "is installed already"
		if remove {
			state = "is not installed"
		}
		fmt.Fprintf(a.Out, "%s: tenterhook %s\n", agent.Title, state)
		return
	}
	for _, file := range files {
		fmt.Fprint(a.Out, phrase.Printable(file.Diff))
	}
}

// showShortfalls says what the agent does not do of what the hooks that are here
// can ask for.
func (a *app) showShortfalls(agent *bridge.Agent) {
	reg, err := a.open(context.Background())
	if err != nil {
		return // 'list' says what is wrong with the hooks
	}
	defer reg.Close()
	var events []hook.Event
	named := make(map[hook.Event][]string)
	for _, listed := range reg.List() {
		h := listed.Hook
		if h.State == hook.StateInvalid || h.ID == "managed/"+protect.Name { // which only denies
			continue
		}
		if named[h.Event] == nil {
			events = append(events, h.Event)
		}
		named[h.Event] = append(named[h.Event], oneLine(h.ID))
	}
	for _, event := range events {
		a.printShortfalls(agent, strings.Join(named[event], ", "), event)
	}
}

// confirmed asks the person at the terminal; without one the answer is no.
func (a *app) confirmed(question string) bool {
	in, ok := a.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return false
	}
	fmt.Fprintf(a.Err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}

// trustEntries has an agent trust the entries, where it asks for that.
func (a *app) trustEntries(env agents.Env, agent *bridge.Agent, f installFlags) (string, error) {
	state, err := env.TrustState(agent, f.scope())
	if err != nil || state == "" || state == agents.Trusted {
		return state, err
	}
	if !f.yes && !a.confirmed(fmt.Sprintf("%s runs hooks only after a person trusts them. Trust the entries of tenterhook?", agent.Title)) {
		return state, fmt.Errorf("the entries are %s, and %s ignores them; run the command again, or trust them in the client", state, agent.Title)
	}
	if err := env.Trust(agent, f.scope()); err != nil {
		return state, err
	}
	return agents.Trusted, nil
}
