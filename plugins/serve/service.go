package serve

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// service answers the calls of the protocol.
type service struct {
	proto.UnimplementedHooksServer
	server *Server
}

func (v *service) Health(ctx context.Context, _ *proto.HealthRequest) (*proto.HealthResponse, error) {
	answer := &proto.HealthResponse{}
	if v.server.Healthy != nil {
		if err := v.server.Healthy(ctx); err != nil {
			answer.Trouble = err.Error()
		}
	}
	return answer, nil
}

func (v *service) Describe(context.Context, *proto.DescribeRequest) (*proto.DescribeResponse, error) {
	s := v.server
	d := &proto.DescribeResponse{Name: s.name, Version: s.version, Description: s.Description}
	for _, one := range s.hooks {
		d.Hooks = append(d.Hooks, wire.Describe(one.hook))
	}
	return d, nil
}

// The exit codes of an answer.
const (
	exitFailed = 1
	exitBlock  = 2
)

func (v *service) Handle(ctx context.Context, r *proto.HandleRequest) (answer *proto.HandleResponse, err error) {
	one := v.server.find(r.GetHook(), hook.Event(r.GetEvent()))
	if one == nil {
		return nil, status.Errorf(codes.NotFound, "no hook %q for %s in %s %s", r.GetHook(), r.GetEvent(), v.server.name, v.server.version)
	}
	in, err := hook.DecodeInput(r.GetInput())
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "the event cannot be read: %v", err)
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Error("a hook panicked", "hook", one.hook.Name, "event", string(one.hook.Event), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			answer, err = &proto.HandleResponse{Panicked: true, Stderr: fmt.Sprint(p)}, nil
		}
	}()
	out, err := one.handle(context.WithValue(ctx, projectDir{}, r.GetProjectDir()), in)
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err() // no caller waits: this is neither an answer nor a failure
	}
	if err != nil {
		return &proto.HandleResponse{ExitCode: exitFailed, Stderr: err.Error()}, nil
	}
	answer, err = respond(in.Event(), out)
	if err != nil {
		return &proto.HandleResponse{ExitCode: exitFailed, Stderr: err.Error()}, nil
	}
	return answer, nil
}

type projectDir struct{}

// ProjectDir is the workspace's root, in the context of a hook's function; ""
// where the host has none.
func ProjectDir(ctx context.Context) string {
	dir, _ := ctx.Value(projectDir{}).(string)
	return dir
}
