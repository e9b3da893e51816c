package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/fleet/internal/telemetry"
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
	sender, err := telemetry.New(ctx, endpoint, version.This().Version)
	if err != nil {
		return &problem.Error{Code: "bad_endpoint", Message: err.Error(), Hint: "name a collector with --endpoint http://HOST:4318"}
	}
	defer sender.Close()
	use, err := a.journal(ctx)
	if err != nil {
		return err
	}
	if !once {
		sender.Forward(ctx, every, use, func(err error) {
			if err == nil {
				fmt.Fprintln(a.err, "tenterhook: spans and metrics are sent again")
				return
			}
			a.complain(otelError(endpoint, err))
		})
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
	fmt.Fprintf(a.out, "sent %s\n", plural(sent, "event"))
	if missed > 0 {
		fmt.Fprintf(a.out, "%s had left the journal before they were sent: see keep and max_size under [journal]\n", plural(int(missed), "event"))
	}
	return nil
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
	told := func(err error) { fmt.Fprintln(a.err, "tenterhook: "+printable(err.Error())) }
	return func(ctx context.Context, ask func(*journal.Journal) error) error {
		return recording.Use(ctx, state, options, told, ask)
	}, nil
}
