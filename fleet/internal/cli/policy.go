package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/policy"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/registry"
)

const hereHelp = "on this machine alone, and not at the hub"

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Sign policies and bring them to machines",
		Long: "A policy is a signed document. Release keys sign the channel packs: which packs run, by digest, and\n" +
			"settings. On-call keys sign the channel guard: rules that deny or ask, and hooks that are switched off.\n" +
			"Machines believe the keys in their settings, under [fleet], and neither the hub nor the network.",
		Example: "  tenterhook fleet policy keygen release --channel packs\n  tenterhook fleet policy sign packs.toml --channel packs --key release.key --output packs.policy\n" +
			"  tenterhook fleet policy set packs.policy\n  tenterhook fleet policy show",
		Args: cobra.ArbitraryArgs, RunE: needCommand,
	}
	cmd.AddCommand(a.keygenCommand(), a.signCommand(), a.verifyPolicyCommand(), a.setCommand(), a.showCommand(), a.rollbackCommand())
	return cmd
}

// desk is what a command works on: this machine, and its settings of a fleet.
type desk struct {
	a       *app
	machine *policy.Machine
	store   *fleetpolicy.Store // nil = the settings name no fleet that can be used
	err     error              // why
}

// desk opens this machine.
func (a *app) desk(ctx context.Context) (*desk, error) {
	state, err := stateDir()
	if err != nil {
		return nil, err
	}
	m, err := a.machine(ctx, state, slog.New(slog.NewTextHandler(a.err, nil)))
	if err != nil {
		return nil, err
	}
	d := &desk{a: a, machine: m}
	d.store, d.err = m.Store(ctx)
	return d, nil
}

// atDesk calls do with this machine, whose settings name a fleet.
func (a *app) atDesk(ctx context.Context, do func(*desk) error) error {
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	defer d.close()
	if d.store == nil {
		return d.err
	}
	return do(d)
}

// withDocument calls do with this machine and the signed document in a file.
func (a *app) withDocument(ctx context.Context, path string, do func(d *desk, raw []byte) error) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return problem.New("no_file", err.Error(), "name a signed document", err)
	}
	return a.atDesk(ctx, func(d *desk) error { return do(d, raw) })
}

// machine opens this machine for documents.
func (a *app) machine(ctx context.Context, state string, log *slog.Logger) (*policy.Machine, error) {
	return policy.Open(ctx, policy.Options{
		Registry: registry.Options{StateDir: state},
		Logger:   log,
		Pull: func(ctx context.Context, ref pack.Reference) error {
			_, _, err := a.pull(ctx, ref, state)
			return err
		},
	})
}

func (d *desk) close() { _ = d.machine.Close() } // what it says is about the journal, and the log has it

func (d *desk) fleet() string {
	if d.store == nil {
		return ""
	}
	return d.store.Roots.Fleet
}

func (d *desk) roots() *fleetpolicy.Roots {
	if d.store == nil {
		return nil
	}
	return d.store.Roots
}

// next is the version after every known one: here, and at the hub.
func (d *desk) next(ctx context.Context, channel string, atHub bool) (int64, error) {
	if d.store == nil {
		return 0, d.err
	}
	last, err := d.store.Accepted(channel)
	if err != nil {
		return 0, problem.New("policy_changed", "what this machine accepted cannot be read: "+err.Error(), "say the version with --version", err)
	}
	if atHub {
		err = d.atHub(ctx, func(h *policy.Desk) error {
			now, _, err := h.Current(ctx, d.store.Roots, channel)
			if now != nil {
				last = max(last, now.Version)
			}
			return err
		})
	}
	return last + 1, err
}

func (d *desk) atHub(ctx context.Context, do func(*policy.Desk) error) error {
	c, err := d.a.connected()
	if e := (*problem.Error)(nil); errors.As(err, &e) && e.Code == "not_enrolled" {
		return problem.New(e.Code, e.Message, "name a publisher's credential with --connection FILE; or use --here for this machine alone", err)
	}
	if err != nil {
		return err
	}
	h, err := policy.OpenDesk(ctx, c)
	if err != nil {
		return err
	}
	defer h.Close()
	return do(h)
}

// bring puts a document in force here, or at the hub.
func (d *desk) bring(ctx context.Context, raw []byte, here bool, from string) error {
	if here {
		signed, changed, err := d.machine.Take(ctx, raw, "", from)
		if err != nil {
			return refusal(err)
		}
		where := "is in force on this machine"
		if !changed {
			where = "was in force on this machine already"
		}
		return d.say(signed, where)
	}
	return d.atHub(ctx, func(h *policy.Desk) error {
		signed, err := h.Publish(ctx, d.store.Roots, raw)
		if err != nil {
			return refusal(err)
		}
		return d.say(signed, "is at the hub "+h.URL+": machines obey it as soon as they hear of it")
	})
}

func (d *desk) say(s *fleetpolicy.Signed, where string) error {
	if d.a.json {
		return d.a.printJSON(map[string]any{"fleet": s.Fleet, "channel": s.Channel, "version": s.Version, "expires": s.Expires, "signers": s.Signers, "reason": s.Reason, "where": where})
	}
	fmt.Fprintf(d.a.out, "version %d of %s, signed by %s, %s\nit is valid until %s\n", s.Version, s.Channel, strings.Join(s.Signers, ", "), phrase.Printable(where), s.Expires.Local().Format(time.DateTime))
	return nil
}

func (a *app) setCommand() *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use:   "set FILE",
		Short: "Bring a signed document to the machines, or to this one",
		Long: "Publishes the document at the hub, with a publisher's credential. With --here it comes into force on\n" +
			"this machine alone, without any network but for packs that it names and that are not here.",
		Example: "  tenterhook fleet policy set packs.policy --connection publisher.json\n  tenterhook fleet policy set --here packs.policy",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withDocument(cmd.Context(), args[0], func(d *desk, raw []byte) error { return d.bring(cmd.Context(), raw, here, "file") })
		},
	}
	cmd.Flags().BoolVar(&here, "here", false, hereHelp)
	return cmd
}

func (a *app) verifyPolicyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "Say whether this machine would obey a document, and what it says",
		Long:  "Changes and records nothing. The exit code is 1 if this machine would refuse the document.",
		Example: "  tenterhook fleet policy verify packs.policy\n" +
			"  tenterhook fleet policy verify packs.policy --json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withDocument(cmd.Context(), args[0], func(d *desk, raw []byte) error {
				signed, changed, err := d.store.Judge(raw)
				if err != nil {
					return refusal(err)
				}
				where := "would come into force on this machine"
				if !changed {
					where = "is in force on this machine"
				}
				if err := d.say(signed, where); err != nil || a.json {
					return err
				}
				return a.printSettings(signed.Settings)
			})
		},
	}
}

// printSettings prints what a document says.
func (a *app) printSettings(settings json.RawMessage) error {
	var plain any
	if err := json.Unmarshal(settings, &plain); err != nil {
		return err
	}
	text, err := json.MarshalIndent(plain, "  ", "  ")
	if err == nil {
		fmt.Fprintln(a.out, "  "+phrase.Printable(string(text)))
	}
	return err
}

// shownPolicy is a channel as show prints it.
type shownPolicy struct {
	registry.Policy
	Settings json.RawMessage `json:"settings,omitempty"`
	Kept     []int64         `json:"kept"` // the versions that rollback can go back to
}

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Show the policies in force on this machine, and what they say",
		Example: "  tenterhook fleet policy show\n  tenterhook fleet policy show --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.atDesk(cmd.Context(), func(d *desk) error {
				list := []shownPolicy{}
				for _, p := range d.machine.Policies() {
					s := shownPolicy{Policy: p, Kept: []int64{}}
					if signed, err := d.store.Read(p.Channel); err == nil && signed != nil {
						s.Settings = signed.Settings
					}
					if versions, err := d.store.Versions(p.Channel); err == nil && len(versions) > 0 {
						s.Kept = versions
					}
					list = append(list, s)
				}
				if a.json {
					return a.printJSON(map[string]any{"policies": list})
				}
				for _, s := range list {
					if err := a.printPolicy(s); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func (a *app) printPolicy(s shownPolicy) error {
	fmt.Fprintf(a.out, "%s: %s", s.Channel, s.State)
	switch s.State {
	case registry.PolicyUnknown:
		fmt.Fprintln(a.out, ": none has come here yet")
		return nil
	case registry.PolicyBroken:
		fmt.Fprintf(a.out, ", so everything is blocked: %s\n", phrase.Printable(s.Why))
		return nil
	}
	fmt.Fprintf(a.out, ", version %d of the fleet %s, signed by %s\n", s.Version, s.Fleet, strings.Join(s.Signers, ", "))
	fmt.Fprintf(a.out, "  issued %s, valid until %s\n", s.Issued.Local().Format(time.DateTime), s.Expires.Local().Format(time.DateTime))
	if s.Reason != "" {
		fmt.Fprintf(a.out, "  reason: %s\n", phrase.Printable(s.Reason))
	}
	return a.printSettings(s.Settings)
}

func (a *app) rollbackCommand() *cobra.Command {
	var s signing
	var to int64
	var reason string
	var here bool
	cmd := &cobra.Command{
		Use:   "rollback CHANNEL",
		Short: "Sign the content of an earlier version as the next version",
		Long: "No machine goes back to an older version, whoever asks. So the content of one that this machine kept\n" +
			"is signed anew, with the next version. 'policy show --json' lists those that are kept.",
		Example: "  tenterhook fleet policy rollback packs --to 6 --key release.key --reason 'version 7 blocks builds'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, channel := cmd.Context(), args[0]
			return a.atDesk(ctx, func(d *desk) error {
				versions, err := d.store.Versions(channel)
				if err != nil {
					return err
				}
				if to == 0 && len(versions) < 2 {
					return problem.New("no_version", fmt.Sprintf("this machine has no version of %s before the last: it kept %v", channel, versions), "sign its settings anew: tenterhook fleet policy sign", nil)
				}
				if to == 0 {
					to = versions[1]
				}
				before, err := d.store.Version(channel, to)
				if err != nil {
					return problem.New("no_version", fmt.Sprintf("this machine has no version %d of %s that still verifies: it kept %v", to, channel, versions), "sign its settings anew: tenterhook fleet policy sign", err)
				}
				if reason == "" {
					reason = fmt.Sprintf("as version %d", to)
				}
				return d.issue(cmd, &s, channel, reason, before.Settings, here)
			})
		},
	}
	s.flags(cmd, 30*24*time.Hour)
	cmd.Flags().Int64Var(&to, "to", 0, "the version to go back to (default: the one before the last)")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	cmd.Flags().BoolVar(&here, "here", false, hereHelp)
	return cmd
}

// conflicts is how often a document is made again because another came first.
const conflicts = 5

// issue makes, signs and brings a document with the next version.
func (d *desk) issue(cmd *cobra.Command, s *signing, channel, reason string, settings json.RawMessage, here bool) error {
	if len(s.keys) == 0 {
		return problem.New("no_key", "--key says with which key it is signed", "name the file of a key of the channel "+channel+": --key FILE", nil)
	}
	for left := conflicts; ; left-- {
		version, err := d.next(cmd.Context(), channel, !here)
		if err != nil {
			return err
		}
		e, err := s.envelope(d.store.Roots.Fleet, channel, version, reason, settings)
		if err != nil {
			return err
		}
		if err := s.sign(cmd, d.store.Roots, e); err != nil {
			return err
		}
		raw, err := e.Encode()
		if err != nil {
			return err
		}
		if err = d.bring(cmd.Context(), raw, here, "command"); !errors.Is(err, policy.ErrConflict) || left == 0 {
			return err
		}
	}
}
