package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	protobuf "google.golang.org/protobuf/proto"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
	"github.com/tenterhook/tenterhook/plugins/serve"
)

// fault is the plugin that misbehaves: in the handshake by its mode, in a call
// by what that says.
func fault(mode string) {
	mode, arg, _ := strings.Cut(mode, " ")
	switch mode {
	case "good":
		faultServer("1.0.0").Main()
	case "second":
		faultServer("2.0.0").Main()
	case "versions":
		serveVersions(arg)
	case "garbage":
		fmt.Println("hello, here is your plugin")
		time.Sleep(time.Minute)
	case "longline":
		fmt.Println(strings.Repeat("x", 1<<20))
		time.Sleep(time.Minute)
	case "silent":
		time.Sleep(time.Minute)
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence file")
		os.Exit(3)
	case "cookie":
		plugin.Serve(&plugin.ServeConfig{
			HandshakeConfig: plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "OTHER", MagicCookieValue: "other"},
			Plugins:         plugin.PluginSet{"other": &contract{}}, GRPCServer: plugin.DefaultGRPCServer,
		})
	case "line":
		fmt.Println(strings.ReplaceAll(arg, "DIR", os.Getenv(plugin.EnvUnixSocketDir)))
		time.Sleep(time.Minute)
	case "leave":
		fmt.Println("1|1|unix|" + os.Getenv(plugin.EnvUnixSocketDir) + "/x|grpc")
		time.Sleep(100 * time.Millisecond)
		os.Exit(4)
	case "alien":
		serveRival(proto.UnimplementedHooksServer{})
	case "choosy":
		serveRival(choosy{faultServer("1.0.0").Service(), arg})
	case "nameless":
		serveRival(describes{faultServer("1.0.0").Service(), func() (*proto.DescribeResponse, error) {
			return &proto.DescribeResponse{Hooks: []*proto.Hook{{Event: "Stop"}}}, nil
		}})
	case "speechless":
		serveRival(describes{faultServer("1.0.0").Service(), func() (*proto.DescribeResponse, error) {
			return nil, status.Error(codes.Internal, "no words today")
		}})
	case "deaf":
		serveRival(faultServer("1.0.0").Service())
		time.Sleep(time.Minute)
	case "sick":
		s := faultServer("1.0.0")
		s.Healthy = func(context.Context) error { return errors.New("the database is gone") }
		s.Main()
	default:
		fmt.Fprintln(os.Stderr, "no such mode:", mode)
		os.Exit(1)
	}
}

// faultServer has one hook, which does what the tool's input says.
func faultServer(version string) *serve.Server {
	s := serve.New("fault", version)
	s.Description = "does what it is told"
	serve.On(s, "fault", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
		var d do
		if err := json.Unmarshal(in.ToolInput, &d); err != nil {
			return nil, err
		}
		return obey(ctx, version, d)
	}, func(h *hook.Hook) {
		h.Matcher, h.Timeout, h.OnFailure = "Bash", 5*time.Second, hook.FailureBlock
		h.Requires.Bins = []string{"sh"}
	})
	return s
}

func obey(ctx context.Context, version string, d do) (*hook.Output, error) {
	switch d.Do {
	case "deny":
		return hook.Denied(d.Text), nil
	case "version":
		return hook.WithContext(version), nil
	case "sleep":
		select {
		case <-time.After(time.Duration(d.MS) * time.Millisecond):
		case <-ctx.Done():
		}
		return hook.WithContext(version), nil
	case "await": // until there is a file
		for ctx.Err() == nil {
			if _, err := os.Stat(d.Text); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		return hook.WithContext(version), nil
	case "fail":
		return nil, errors.New(d.Text)
	case "panic":
		panic(d.Text)
	case "crash":
		go panic(d.Text)
		<-ctx.Done()
	case "exit":
		os.Exit(7)
	case "kill":
		fmt.Fprint(serveStderr, d.Text)
		exec.Command("kill", "-KILL", strconv.Itoa(os.Getpid())).Run()
		<-ctx.Done()
	case "stop":
		exec.Command("kill", "-STOP", strconv.Itoa(os.Getpid())).Run()
	case "grandchild":
		c := exec.Command("sleep", "60")
		c.Stderr = serveStderr
		if err := c.Start(); err != nil {
			return nil, err
		}
		return hook.WithContext(strconv.Itoa(c.Process.Pid)), nil
	case "big":
		return hook.WithContext(strings.Repeat("x", d.MS<<20)), nil
	case "size":
		return hook.WithContext(strconv.Itoa(len(d.Text))), nil
	case "stdin":
		n, err := io.Copy(io.Discard, os.Stdin)
		return hook.WithContext(fmt.Sprint(n, " ", err)), nil
	case "environ":
		return hook.WithContext(strings.Join(os.Environ(), "\n")), nil
	case "project":
		return hook.WithContext(serve.ProjectDir(ctx)), nil
	case "reach":
		return hook.WithContext(reach(d.Text)), nil
	case "log":
		slog.Warn(d.Text, "answer", 42)
		return &hook.Output{}, nil
	case "print":
		for range d.MS {
			fmt.Println(d.Text)
		}
		return hook.WithContext("printed"), nil
	}
	return nil, nil
}

// reach tries to get at each thing of a list, and says which it got at.
func reach(list string) string {
	var got []string
	for _, one := range strings.Fields(list) {
		how, what, _ := strings.Cut(one, ":")
		var err error
		switch how {
		case "read":
			_, err = os.ReadFile(what)
		case "write":
			err = os.WriteFile(what, []byte("x"), 0o600)
		case "daemon": // one that leaves its group and beats
			err = exec.Command("setsid", "-f", "sh", "-c", "while :; do echo x >> "+what+"; sleep 0.01; done").Run()
		default:
			var c net.Conn
			if c, err = net.Dial(how, what); err == nil {
				c.Close()
			}
		}
		if err == nil {
			got = append(got, how)
		}
	}
	return strings.Join(got, " ")
}

// serveStderr is the stderr that the process was started with; go-plugin puts a
// pipe of its own in its place.
var serveStderr = os.Stderr

// serveVersions serves the same hooks under the versions of a list.
func serveVersions(arg string) {
	sets := make(map[int]plugin.PluginSet)
	for _, word := range strings.Split(arg, ",") {
		v, _ := strconv.Atoi(word)
		sets[v] = plugin.PluginSet{"hooks": &contract{version: word}}
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: proto.CookieKey, MagicCookieValue: proto.CookieValue},
		VersionedPlugins: sets, GRPCServer: plugin.DefaultGRPCServer,
	})
}

// contract serves the protocol by go-plugin alone, as a rival of package serve
// would. Its hooks say which version they were served under.
type contract struct {
	plugin.NetRPCUnsupportedPlugin
	version string
}

func (c *contract) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	proto.RegisterHooksServer(s, faultServer(c.version).Service())
	return nil
}

func (c *contract) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return proto.NewHooksClient(conn), nil
}

// rival is a plugin of another author's making, which gives calls of its own
// accord the codes of a lost connection, or loses it.
type rival struct {
	plugin.NetRPCUnsupportedPlugin
	proto.HooksServer
	server *grpc.Server
}

func (r *rival) Handle(ctx context.Context, in *proto.HandleRequest) (*proto.HandleResponse, error) {
	switch {
	case bytes.Contains(in.GetInput(), []byte(`"unavailable"`)):
		return nil, status.Error(codes.Unavailable, "come back later")
	case bytes.Contains(in.GetInput(), []byte(`"deaf"`)):
		go r.server.Stop()
		<-ctx.Done()
	}
	return r.HooksServer.Handle(ctx, in)
}

// choosy fails a call that has a field which it does not know.
type choosy struct {
	proto.HooksServer
	call string
}

func (c choosy) judge(call string, r protobuf.Message) error {
	if call == c.call && len(r.ProtoReflect().GetUnknown()) > 0 {
		return status.Error(codes.InvalidArgument, "an unknown field in "+call)
	}
	return nil
}

func (c choosy) Describe(ctx context.Context, r *proto.DescribeRequest) (*proto.DescribeResponse, error) {
	if err := c.judge("describe", r); err != nil {
		return nil, err
	}
	return c.HooksServer.Describe(ctx, r)
}

func (c choosy) Health(ctx context.Context, r *proto.HealthRequest) (*proto.HealthResponse, error) {
	if err := c.judge("health", r); err != nil {
		return nil, err
	}
	return c.HooksServer.Health(ctx, r)
}

func (c choosy) Handle(ctx context.Context, r *proto.HandleRequest) (*proto.HandleResponse, error) {
	if err := c.judge("handle", r); err != nil {
		return nil, err
	}
	return c.HooksServer.Handle(ctx, r)
}

// describes says of itself what it likes.
type describes struct {
	proto.HooksServer
	how func() (*proto.DescribeResponse, error)
}

func (d describes) Describe(context.Context, *proto.DescribeRequest) (*proto.DescribeResponse, error) {
	return d.how()
}

func (r *rival) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	r.server = s
	proto.RegisterHooksServer(s, r)
	return nil
}

func (r *rival) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return proto.NewHooksClient(conn), nil
}

// serveRival serves until the server is stopped.
func serveRival(s proto.HooksServer) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: proto.CookieKey, MagicCookieValue: proto.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{1: {"hooks": &rival{HooksServer: s}}}, GRPCServer: plugin.DefaultGRPCServer,
	})
}
