package servetest

import (
	"context"
	"fmt"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
	"github.com/tenterhook/tenterhook/plugins/serve"
)

// Host asks one plugin. It is safe for concurrent use, and ends with its test.
type Host struct {
	// ProjectDir is the workspace's root that hooks get; may be empty.
	ProjectDir string

	client proto.HooksClient
	hooks  []*hook.Hook
}

// New serves s and describes it, as the approval of a plugin does. It fails the
// test if a host would refuse what the plugin says of itself.
func New(t testing.TB, s *serve.Server) *Host {
	t.Helper()
	if err := s.Err(); err != nil {
		t.Fatalf("plugin: %v", err)
	}
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	proto.RegisterHooksServer(server, s.Service())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // ends by Stop
	}()
	conn, err := grpc.NewClient("passthrough:///plugin", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		server.Stop()
		<-ended
	})
	h := &Host{client: proto.NewHooksClient(conn)}
	r := &proto.DescribeRequest{}
	wire.Grease(r)
	d, err := h.client.Describe(t.Context(), r)
	if err != nil {
		t.Fatalf("describe: %v", err)
	}
	if h.hooks, err = wire.Hooks(d.GetName(), d); err != nil {
		t.Fatalf("describe: %v", err)
	}
	for _, one := range h.hooks {
		if one.State == hook.StateInvalid {
			t.Fatalf("hook %s: %s", one.Name, one.Why)
		}
	}
	return h
}

// Hooks lists what the plugin declares, as a host has it.
func (h *Host) Hooks() []*hook.Hook { return h.hooks }

// Call runs the plugin's hook of this name for an event, whatever its matcher
// says. It returns what a host's registry would get: an answer that the protocol
// does not allow is an error, a [*hook.Error] as a rule.
func (h *Host) Call(ctx context.Context, name string, in hook.Input) (*hook.Output, error) {
	for _, one := range h.hooks {
		if one.Name != name || one.Event != in.Event() {
			continue
		}
		payload, err := hook.Encode(in, in.Common())
		if err != nil {
			return nil, err
		}
		r := &proto.HandleRequest{Hook: name, Event: string(in.Event()), Input: payload, ProjectDir: h.ProjectDir}
		wire.Grease(r)
		answer, err := h.client.Handle(ctx, r)
		if err != nil {
			return nil, err
		}
		return wire.Read(dialect.Reader{}, &hook.Call{Hook: one, Input: in, Payload: payload}, answer)
	}
	return nil, fmt.Errorf("the plugin has no hook %q for %s", name, in.Event())
}
