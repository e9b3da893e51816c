package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/tenterhook/tenterhook/plugins/proto"
)

// maxRequest bounds an event, in bytes.
const maxRequest = 256 << 20

// Main serves the plugin until its host ends it, then returns. From its call on
// slog's default logger writes to the host's log. What is printed on stdout and
// on os.Stderr goes there too, at level debug.
//
// It exits with status 1 if the plugin was not started by a host, or if
// [Server.Err] has something to say.
func (s *Server) Main() {
	if err := s.Err(); err != nil {
		fmt.Fprintf(os.Stderr, "plugin %s: %v\n", s.name, err)
		os.Exit(1)
	}
	if os.Getenv(proto.CookieKey) != proto.CookieValue {
		s.introduce()
		os.Exit(1)
	}
	slog.SetDefault(newLogger(os.Stderr))
	versions := make(map[int]plugin.PluginSet)
	for v := proto.MinVersion; v <= proto.Version; v++ {
		versions[v] = plugin.PluginSet{"hooks": &hooks{service: s.Service()}}
	}
	var server atomic.Pointer[grpc.Server]
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		<-end
		if running := server.Load(); running != nil {
			running.Stop() // Serve returns, and with it Main
		} else {
			os.Exit(0)
		}
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: proto.CookieKey, MagicCookieValue: proto.CookieValue},
		VersionedPlugins: versions,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			made := grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(maxRequest), grpc.MaxSendMsgSize(maxRequest),
				grpc.InitialWindowSize(1<<20), grpc.InitialConnWindowSize(1<<20),
				// Goroutines that stay: a new one per call would grow its stack each
				// time. go-plugin's own streams hold two of them for good.
				grpc.NumStreamWorkers(uint32(runtime.NumCPU()+2)))...)
			server.Store(made)
			return made
		},
	})
}

// introduce tells a person who started the plugin what it is.
func (s *Server) introduce() {
	fmt.Fprintf(os.Stderr, "%s %s is a plugin of tenterhook: put it into plugins/%s/ as %s%s,\nand approve it with: tenterhook trust plugin/%s/%s\n",
		s.name, s.version, s.name, proto.BinaryPrefix, s.name, s.name, s.name)
	for _, one := range s.hooks {
		fmt.Fprintf(os.Stderr, "  %s on %s %s\n", one.hook.Name, one.hook.Event, one.hook.Matcher)
	}
}

// hooks registers the service with go-plugin.
type hooks struct {
	plugin.NetRPCUnsupportedPlugin
	service proto.HooksServer
}

// GRPCServer registers the service.
func (h *hooks) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	proto.RegisterHooksServer(s, h.service)
	return nil
}

// GRPCClient is the host's side, which is not ours.
func (h *hooks) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("a plugin is no host")
}
