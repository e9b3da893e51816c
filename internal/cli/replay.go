package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// replayed is what replay prints of one run.
type replayed struct {
	Run     string   `json:"run"`
	Before  decision `json:"before"`
	Now     decision `json:"now"`
	Changes []change `json:"changes"`
	Why     string   `json:"why,omitempty"` // why the run could not be replayed
}

type decision struct {
	Verdict hook.Verdict `json:"verdict"`
	Reason  string       `json:"reason"`
}

// change is a hook whose answer is another one now.
type change struct {
	Hook   string `json:"hook"`
	Before string `json:"before"` // its verdict or failure; "" = it was not there
	Now    string `json:"now"`
}

func (a *app) replayCommand() *cobra.Command {
	var hookID, since string
	cmd := &cobra.Command{
		Use:   "replay RUN…",
		Short: "Ask today's hooks about recorded events, and show what they decide differently",
		Long: "Fires the events of recorded runs again, each at the hooks of its own project, or all at those\n" +
			"of --workspace. Only hooks run: no tool, no agent.\n" +
			"Hooks run for real, so a hook that writes, sends or counts does so again. The exit code is 1 if a decision changed.",
		Example: "  tenterhook replay dn3ga4f0\n  tenterhook replay --since 7d --hook user/guard",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && since == "" && hookID == "" {
				return &located{code: "usage", message: "which runs?", hint: "name them, or choose them with --since and --hook; 'tenterhook log' lists them"}
			}
			from, err := journal.ParseSince(since)
			if err != nil {
				return err
			}
			return a.withJournal(cmd.Context(), func(j *journal.Journal) error {
				if len(args) == 0 {
					if args, err = j.Runs(cmd.Context(), hookID, from.Add(time.Microsecond)); err != nil {
						return err
					}
				}
				return a.replay(cmd, j, args)
			})
		},
	}
	cmd.Flags().StringVar(&hookID, "hook", "", "the runs that this hook had a result in")
	cmd.Flags().StringVar(&since, "since", "", "the runs since then: 90s, 2h, 7d, or a date")
	return cmd
}

func (a *app) replay(cmd *cobra.Command, j *journal.Journal, runs []string) error {
	p := &replayer{app: a, ctx: cmd.Context(), open: make(map[string]*registry.Registry)}
	if cmd.Flags().Changed("workspace") {
		p.only = a.opts.Workspace
	}
	defer p.close()
	changed, asked := 0, 0
	for i, run := range runs {
		e, err := j.Run(p.ctx, run)
		if err != nil {
			return err
		}
		r, err := p.ask(e)
		if err != nil {
			return err
		}
		if r.Why == "" {
			asked++
		}
		if r.Before.Verdict != r.Now.Verdict && r.Why == "" {
			changed++
			a.code = exitError
		}
		if a.json {
			if err := a.printJSONLine(r); err != nil {
				return err
			}
			continue
		}
		a.printReplayed(r)
		if n := i + 1; n%100 == 0 && n < len(runs) {
			fmt.Fprintf(a.Err, "%d of %d runs\n", n, len(runs))
		}
	}
	if !a.json {
		fmt.Fprintf(a.Out, "%d of %d decisions changed\n", changed, asked)
	}
	return nil
}

// replayer fires events of runs again, each at the hooks of its own workspace.
type replayer struct {
	*app
	ctx  context.Context
	only string // the workspace of all of them; "" = each has its own
	open map[string]*registry.Registry
}

func (p *replayer) close() {
	for _, reg := range p.open {
		_ = reg.Close()
	}
}

// registry loads the hooks of a run's workspace, or says why it cannot.
func (p *replayer) registry(e *journal.Entry) (reg *registry.Registry, why string, err error) {
	root := cmp.Or(p.only, e.Workspace, p.opts.Workspace)
	if reg = p.open[root]; reg != nil {
		return reg, "", nil
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, "its project is gone: " + root, nil
	}
	if reg, err = p.openIn(p.ctx, root); err == nil {
		p.open[root] = reg
	}
	return reg, "", err
}

// ask fires the event of a run again.
func (p *replayer) ask(e *journal.Entry) (*replayed, error) {
	r := &replayed{Run: e.Run, Before: decision{e.Verdict, e.Reason}, Changes: []change{}}
	if e.Payload == nil {
		r.Why = "its event was not recorded"
		if e.Omitted != "" {
			r.Why += ": " + e.Omitted
		}
		return r, nil
	}
	in, err := hook.DecodeInput(e.Payload)
	if err != nil {
		return nil, fmt.Errorf("the event of run %s: %w", e.Run, err)
	}
	reg, why, err := p.registry(e)
	if err != nil || why != "" {
		r.Why = why
		return r, err
	}
	reg.ResetBreakers("") // each run is asked as if no other was before it
	out, err := reg.Dispatch(p.ctx, in)
	if err != nil {
		return nil, err
	}
	r.Now = decision{out.Verdict, out.Reason}
	before := make(map[string]string)
	for _, one := range e.Results {
		if !one.Background {
			before[one.Hook] = answer(one.Verdict, one.Failure)
		}
	}
	for i := range out.Results {
		one := &out.Results[i]
		now := answer(one.Verdict(), one.Failure)
		was, there := before[one.Hook.ID]
		if !there || was != now {
			r.Changes = append(r.Changes, change{one.Hook.ID, was, now})
		}
		delete(before, one.Hook.ID)
	}
	for _, one := range e.Results {
		if was, gone := before[one.Hook]; gone {
			r.Changes = append(r.Changes, change{one.Hook, was, ""})
			delete(before, one.Hook)
		}
	}
	return r, nil
}

// answer is a hook's verdict, with its failure if it failed.
func answer(v hook.Verdict, f hook.Failure) string {
	if f != "" {
		return v.String() + " (" + string(f) + ")"
	}
	return v.String()
}

func (a *app) printReplayed(r *replayed) {
	style := a.styleOf(a.Out)
	switch {
	case r.Why != "":
		fmt.Fprintf(a.Out, "%s  %s\n", oneLine(r.Run), style.dim("cannot be replayed: "+oneLine(r.Why)))
		return
	case r.Before.Verdict == r.Now.Verdict:
		fmt.Fprintf(a.Out, "%s  %s, as before\n", oneLine(r.Run), style.verdict(r.Now.Verdict))
	default:
		fmt.Fprintf(a.Out, "%s  %s, was %s: %s\n", oneLine(r.Run), style.verdict(r.Now.Verdict), r.Before.Verdict, oneLine(r.Now.Reason))
	}
	for _, c := range r.Changes {
		was, now := c.Before, c.Now
		if was == "" {
			was = "not there"
		}
		if now == "" {
			now = "not there"
		}
		fmt.Fprintf(a.Out, "  %s: %s, was %s\n", oneLine(c.Hook), oneLine(now), oneLine(was))
	}
}
