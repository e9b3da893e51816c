package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/fleet/internal/agent"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/fleet/internal/telemetry"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/internal/version"
	"github.com/tenterhook/tenterhook/journal"
)

func (a *app) otelCommand() *cobra.Command {
	var endpoint string
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "otel --endpoint URL",
		Short: "Send spans and metrics of this machine's journal to an OpenTelemetry collector",
		Long: "Makes a span of each event and below it one of each hook, and histograms of how long they took, of\n" +
			"what the journal holds, and sends them over OTLP/HTTP. Nothing of it is in the way of a decision.\n" +
			"How far it is stands in the journal, for each address by itself, so that nothing is lost or counted\n" +
			"twice, whatever is killed. The variables OTEL_EXPORTER_OTLP_* count for headers and certificates.\n" +
			"Payloads, reasons and what hooks print are not sent.",
		Example: "  tenterhook fleet otel --endpoint http://127.0.0.1:4318\n  tenterhook fleet otel --endpoint https://otel.example.com --once --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			endpoint = cmp.Or(endpoint, os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
			if endpoint == "" {
				return &problem.Error{Code: "bad_flags", Message: "no collector is named", Hint: "name one with --endpoint http://HOST:4318"}
			}
			return a.otel(cmd.Context(), endpoint, once, max(every, 100*time.Millisecond))
		},
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "", "the collector, as http://HOST:4318; without it OTEL_EXPORTER_OTLP_ENDPOINT counts")
	cmd.Flags().BoolVar(&once, "once", false, "send what is there, and end")
	cmd.Flags().DurationVar(&every, "every", 5*time.Second, "how often to look for what is new")
	return cmd
}

func (a *app) otel(ctx context.Context, endpoint string, once bool, every time.Duration) error {
	sender, err := newSender(ctx, endpoint)
	if err != nil {
		return err
	}
	defer sender.Close()
	use, err := a.journal(ctx)
	if err != nil {
		return err
	}
	if !once {
		sender.Forward(ctx, every, use, a.toldOfOtel(endpoint))
		return nil
	}
	var sent int
	var missed int64
	err = use(ctx, func(j *journal.Journal) error {
		sent, missed, err = sender.All(ctx, j)
		return err
	})
	if err != nil {
		return otelError(endpoint, err)
	}
	if a.json {
		return a.printJSON(map[string]any{"sent": sent, "missed": missed})
	}
	fmt.Fprintf(a.out, "sent %s\n", phrase.Count(sent, "event"))
	if missed > 0 {
		fmt.Fprintf(a.out, "%s had left the journal before they were sent: see keep and max_size under [journal]\n", phrase.Count(int(missed), "event"))
	}
	return nil
}

func newSender(ctx context.Context, endpoint string) (*telemetry.Sender, error) {
	sender, err := telemetry.New(ctx, endpoint, version.This().Version)
	if err != nil {
		return nil, problem.New("bad_endpoint", err.Error(), "name a collector, as http://HOST:4318", err)
	}
	return sender, nil
}

// toldOfOtel says on standard error what goes wrong, and when it works again.
func (a *app) toldOfOtel(endpoint string) func(error) {
	return func(err error) {
		if err == nil {
			fmt.Fprintln(a.err, "tenterhook: spans and metrics are sent again")
			return
		}
		fmt.Fprintln(a.err, "tenterhook: "+phrase.Printable(otelError(endpoint, err).Error()))
	}
}

// otelPart sends spans and metrics as a part of the agent.
type otelPart struct {
	app      *app
	sender   *telemetry.Sender
	endpoint string
	failed   atomic.Pointer[string] // why sending fails; nil = it does not
}

func (*otelPart) Name() string { return otelName }

func (p *otelPart) Run(ctx context.Context, l *agent.Link) {
	defer p.sender.Close()
	use, err := p.app.journal(ctx)
	if err != nil {
		l.Log.Error("spans and metrics are not sent", "err", err)
		return
	}
	p.sender.Forward(ctx, 5*time.Second, use, func(err error) {
		p.failed.Store(nil)
		if err != nil {
			why := err.Error()
			p.failed.Store(&why)
		}
		p.app.toldOfOtel(p.endpoint)(err)
	})
}

// State says where spans go, and why they do not.
func (p *otelPart) State() any {
	state := otelState{Endpoint: p.endpoint}
	if why := p.failed.Load(); why != nil {
		state.Error = *why
	}
	return state
}

// otelError gives an error of sending a remedy.
func otelError(endpoint string, err error) error {
	if errors.Is(err, telemetry.ErrElsewhere) {
		return &problem.Error{Code: "otel_twice", Message: err.Error(), Hint: "end one of them"}
	}
	return &problem.Error{Code: "otel_failed", Message: fmt.Sprintf("%s: %v", endpoint, err), Hint: "start the collector, or correct --endpoint; what is in the journal waits there"}
}

// journal returns a function that opens the journal of this machine, as its settings
// say, with everything in it that processes have written so far.
func (a *app) journal(ctx context.Context) (func(context.Context, func(*journal.Journal) error) error, error) {
	state := discovery.DefaultStateDir()
	if state == "" {
		return nil, &problem.Error{Code: "no_home", Message: "no home directory is known, so there is no journal", Hint: "set HOME to an absolute path"}
	}
	options, err := journalOptions(ctx, state)
	if err != nil {
		return nil, err
	}
	told := func(err error) { fmt.Fprintln(a.err, "tenterhook: "+phrase.Printable(err.Error())) }
	return func(ctx context.Context, ask func(*journal.Journal) error) error {
		return recording.Use(ctx, state, options, told, ask)
	}, nil
}
