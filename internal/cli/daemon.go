package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

func (a *app) daemonCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "daemon",
		Short: "Show or stop the process that decides for agents",
		Long: "One daemon for each user decides for the agents that 'tenterhook install' set up.\n" +
			"The first call of an agent starts it. It ends after 30 minutes without a call.",
		Example: "  tenterhook daemon status\n  tenterhook daemon stop",
	}
	cmd.AddCommand(a.daemonRunCommand(), a.daemonStatusCommand(), a.daemonStopCommand())
	return cmd
}

func (a *app) daemonRunCommand() *cobra.Command {
	idle := daemon.DefaultIdle
	verbose := false
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon in the foreground, until it is stopped",
		Long: "Takes calls on a socket in $XDG_RUNTIME_DIR/tenterhook, or in the state directory.\n" +
			"SIGTERM, SIGINT and 'daemon stop' let it finish what is under way.\n" +
			"It logs to daemon.log in the state directory, at most 1 MiB and as much of the past.",
		Example: "  tenterhook daemon run\n  tenterhook daemon run --idle 2h --verbose",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, os.Interrupt)
			defer stop()
			signal.Ignore(syscall.SIGHUP)
			ready, started := readyPipe()
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			log, err := daemon.OpenLog(os.Environ(), level)
			if err != nil && !started { // a disk that is full must not keep a daemon from deciding
				return err
			}
			defer log.Close()
			err = daemon.Run(ctx, daemon.Options{Idle: idle, Logger: log.Logger, Takeover: started, Ready: func(s daemon.Status) {
				switch {
				case started:
					_, _ = io.WriteString(ready, "ready\n")
					_ = ready.Close()
				case a.json:
					_ = a.printJSON(s)
				default:
					fmt.Fprintf(a.Out, "taking calls on %s (pid %d)\n", s.Socket, s.PID)
				}
			}})
			if err != nil && started {
				_, _ = io.WriteString(ready, err.Error()+"\n") // closed already if it took calls
				_ = ready.Close()
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&idle, "idle", idle, "end after this long without a call")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "log every call")
	return cmd
}

// readyPipe is where a client that started this daemon waits for its word.
func readyPipe() (pipe *os.File, started bool) {
	fd, err := strconv.Atoi(os.Getenv(client.ReadyVariable))
	if err != nil || fd < 3 {
		return nil, false
	}
	_ = os.Unsetenv(client.ReadyVariable)
	return os.NewFile(uintptr(fd), "ready"), true
}

func (a *app) daemonStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show whether the daemon runs, and what it does",
		Long:    "Exit code 0: it runs. Exit code 3: it does not; the next call of an agent starts it.",
		Example: "  tenterhook daemon status\n  tenterhook daemon status --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := daemon.Ask(os.Environ())
			if errors.Is(err, daemon.ErrNoDaemon) {
				a.code = exitAsk
				if a.json {
					return a.printJSON(map[string]any{"running": false})
				}
				fmt.Fprintln(a.Out, onWindows(daemon.ErrNoDaemon.Error(), "no daemon runs; the next call of an agent starts one"))
				return nil
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Running bool `json:"running"`
					*daemon.Status
				}{true, s})
			}
			a.printStatus(s)
			return nil
		},
	}
}

func (a *app) printStatus(s *daemon.Status) {
	fmt.Fprintf(a.Out, "running: pid %d, version %s, for %s\n", s.PID, s.Version, time.Since(s.Started).Round(time.Second))
	fmt.Fprintf(a.Out, "program: %s\nsocket: %s\n", s.Program, s.Socket)
	if s.HTTP != "" {
		fmt.Fprintln(a.Out, "http: "+s.HTTP)
	}
	fmt.Fprintf(a.Out, "calls: %d, %d under way, %d waiting; %s\n", s.Calls, s.UnderWay, s.Waiting, phrase.Count(s.Sessions, "session"))
	for _, w := range s.Workspaces {
		fmt.Fprintln(a.Out, "workspace: "+phrase.Printable(w))
	}
	if s.RSS > 0 {
		fmt.Fprintf(a.Out, "memory: %.1f MB\n", float64(s.RSS)/1e6)
	}
	fmt.Fprintln(a.Out, "self-protection: "+phrase.Printable(s.Protection))
}

func (a *app) daemonStopCommand() *cobra.Command {
	within := 30 * time.Second
	cmd := &cobra.Command{
		Use:     "stop",
		Short:   "Let the daemon finish what is under way, and end",
		Long:    "The next call of an agent starts a daemon again. Agents cannot run this command.",
		Example: "  tenterhook daemon stop\n  tenterhook daemon stop --wait 2m",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			err := daemon.Stop(os.Environ(), within)
			stopped := err == nil
			if errors.Is(err, daemon.ErrNoDaemon) {
				err = nil
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"stopped": stopped})
			}
			if !stopped {
				fmt.Fprintln(a.Out, "no daemon runs")
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&within, "wait", within, "how long to wait for its end")
	return cmd
}
