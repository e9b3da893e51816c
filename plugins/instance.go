package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	goplugin "github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// start is all that a process of a plugin is started from.
type start struct {
	path     string   // the verified copy
	argv0    string   // what the plugin is called
	dir      string   // the package's folder
	env      []string // without the handshake's
	approval approval

	versions []int
	sockets  string
	maxReply int
	grace    time.Duration
	log      *slog.Logger
}

// instance is one running process of a plugin.
type instance struct {
	approval
	version int // of the protocol
	service *process.Service
	conn    *grpc.ClientConn
	client  proto.HooksClient

	run    *runner
	cancel context.CancelFunc // ends the stream of what the plugin prints
	stdio  chan struct{}      // that stream has ended

	felled   atomic.Pointer[Problem] // why this host ended it; nil = it did not
	stopping sync.Once
	stopped  chan struct{}
}

// Done is closed when the process has ended.
func (in *instance) Done() <-chan struct{} { return in.service.Done() }

// launch starts a process and waits until it is healthy. It is bounded by ctx.
//
// Of go-plugin it takes the handshake: the cookie, the versions, the
// certificates. The connection is made here, and ended after the process is
// gone: go-plugin's own client waits for the plugin when it connects, pings and
// closes, so a plugin that is stopped would stop its host.
func launch(ctx context.Context, s start) (*instance, *Problem) {
	versions := make(map[int]plugin.PluginSet)
	for _, v := range s.versions {
		versions[v] = plugin.PluginSet{}
	}
	var run *runner
	config := &plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: proto.CookieKey, MagicCookieValue: proto.CookieValue},
		VersionedPlugins: versions,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true,
		SkipHostEnv:      true,
		Logger:           hclog.NewNullLogger(),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: s.sockets},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, socketDir string) (goplugin.Runner, error) {
			run = newRunner(ctx, s, cmd.Env, socketDir)
			return run, nil
		},
	}
	client := plugin.NewClient(config)
	_, err := client.Start()
	if err != nil {
		if run != nil {
			os.RemoveAll(run.socketDir)
			if run.service != nil {
				run.service.Stop()
			}
		}
		return nil, refused(err)
	}
	in := &instance{approval: s.approval, version: run.shake.version, service: run.service, run: run,
		stdio: make(chan struct{}), stopped: make(chan struct{})}
	if err := in.connect(config, s.maxReply); err != nil {
		close(in.stdio)
		in.cancel = func() {}
		in.Stop()
		return nil, &Problem{Code: CodeStart, Reason: err.Error(), Err: err}
	}
	if p := in.health(ctx); p != nil {
		in.Stop()
		return nil, p
	}
	return in, nil
}

func newRunner(ctx context.Context, s start, handshake []string, socketDir string) *runner {
	env := append(append([]string(nil), s.env...), proto.DirVariable+"="+s.dir)
	name := nameIn(s.argv0)
	return &runner{ctx: ctx, socketDir: socketDir, versions: s.versions, spec: process.ServiceSpec{
		Path: s.path, Argv: []string{s.argv0}, Dir: s.dir, Env: append(env, handshake...), Sandbox: s.policy(socketDir), NoStdin: true, Grace: s.grace,
		Stderr: func(line []byte) {
			if s.log != nil {
				logLine(s.log, name, line)
			}
		},
	}}
}

// refused is why go-plugin did not start a plugin: our own word, as a rule.
func refused(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return &Problem{Code: CodeGarbage, Reason: "its handshake does not hold: " + wire.FirstLine(err.Error()),
		Hint: "is it a plugin of tenterhook?", Err: err}
}

// connect makes the connection. Nothing is sent yet.
func (in *instance) connect(config *plugin.ClientConfig, maxReply int) error {
	shake := in.run.shake
	secured := insecure.NewCredentials() // over a socket that no other user can reach
	if shake.certified {
		secured = credentials.NewTLS(config.TLSConfig)
	}
	var err error
	in.conn, err = grpc.NewClient("passthrough:///plugin",
		grpc.WithTransportCredentials(secured),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, shake.network, shake.address)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply), grpc.MaxCallSendMsgSize(1<<30)),
		grpc.WithInitialWindowSize(1<<20), grpc.WithInitialConnWindowSize(1<<20),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 2, MaxDelay: time.Second}, MinConnectTimeout: time.Second}),
		grpc.WithIdleTimeout(0), grpc.WithDisableServiceConfig())
	if err != nil {
		return err
	}
	in.client = proto.NewHooksClient(in.conn)
	var ctx context.Context
	ctx, in.cancel = context.WithCancel(context.Background())
	go in.drain(ctx)
	return nil
}

// drain takes what a plugin in Go prints on its stdout and stderr, which
// go-plugin turns into a stream: left alone, a full pipe would hold it up. The
// messages are not looked at; a plugin logs by slog.
func (in *instance) drain(ctx context.Context) {
	defer close(in.stdio)
	stream, err := in.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/plugin.GRPCStdio/StreamStdio", grpc.WaitForReady(true))
	if err != nil || stream.SendMsg(&emptypb.Empty{}) != nil || stream.CloseSend() != nil {
		return
	}
	for stream.RecvMsg(&emptypb.Empty{}) == nil {
	}
}

// health asks whether the plugin works.
func (in *instance) health(ctx context.Context) *Problem {
	r := &proto.HealthRequest{}
	wire.Grease(r)
	asked := time.Now()
	asking, cancel := in.whileItRuns(ctx)
	defer cancel()
	answer, err := in.client.Health(asking, r, grpc.WaitForReady(true))
	switch {
	case errors.Is(context.Cause(ctx), errClosed):
		return closedProblem()
	case err != nil && in.gone(ctx):
		return in.died("")
	case err != nil && (ctx.Err() != nil || status.Code(err) == codes.DeadlineExceeded): // the plugin's clock may be first
		return &Problem{Code: CodeUnhealthy, Reason: fmt.Sprintf("it did not answer whether it works within %v", time.Since(asked).Round(time.Millisecond)),
			Hint: "nothing in a plugin may hold up its Health call", Err: err}
	case err != nil:
		return &Problem{Code: CodeUnhealthy, Reason: "it failed when it was asked whether it works: " + wire.FirstLine(status.Convert(err).Message()),
			Hint: "fix the plugin's Health call", Err: err}
	case answer.GetTrouble() != "":
		return &Problem{Code: CodeUnhealthy, Reason: "it says that it cannot work: " + wire.FirstLine(answer.GetTrouble()), Hint: "fix what it reports"}
	}
	return nil
}

// whileItRuns is a context that ends with the process too: without, a call that
// waits for a connection waits for an answer that never comes.
func (in *instance) whileItRuns(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-in.service.Done():
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// gone reports whether the process has ended, or does so in a moment, before
// the end of ctx: the connection breaks before the process can be waited for.
func (in *instance) gone(ctx context.Context) bool {
	select {
	case <-in.service.Done():
	case <-ctx.Done():
	case <-time.After(500 * time.Millisecond):
	}
	return in.dead()
}

// dead reports whether the process has ended.
func (in *instance) dead() bool {
	select {
	case <-in.service.Done():
		return true
	default:
		return false
	}
}

// died is why the process ended, once it has.
func (in *instance) died(path string) *Problem {
	if p := in.felled.Load(); p != nil {
		own := *p
		return &own
	}
	result := in.service.Result()
	return &Problem{Code: CodeExited, Path: path, Reason: "it ended: " + result.Describe() + in.run.said(),
		Hint: "what it wrote to stderr may tell why"}
}

// Stop ends the process and everything of it. It is bounded by the grace and
// 250 ms, whatever the plugin does, and may be called any number of times.
func (in *instance) Stop() {
	in.stopping.Do(func() {
		defer close(in.stopped)
		in.service.Stop() // first, so that nothing below waits for it
		in.cancel()
		if in.conn != nil {
			in.conn.Close()
		}
		<-in.stdio
		<-in.run.drained
		os.RemoveAll(in.run.socketDir)
	})
	<-in.stopped
}
