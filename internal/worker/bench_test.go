package worker_test

import (
	"bytes"
	"context"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/worker"
)

// kilobyte is an event of about 1 KB.
var kilobyte = slices.Concat([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"`),
	bytes.Repeat([]byte("x"), 940), []byte(`"}}`))

// BenchmarkCall compares a call with its floors, each answering the same event: a bare net/rpc call of
// go-plugin, and what a worker saves, the start of the same Python hook for each event. They take turns, so
// that what else the machine does falls on all of them; the ratios are those of the medians.
func BenchmarkCall(b *testing.B) {
	b.Run("plugin", func(b *testing.B) {
		ask := pluginFloor(b)
		b.ReportAllocs()
		for b.Loop() {
			ask()
		}
	})
	b.Run("worker", func(b *testing.B) {
		ask := workerCall(b, program("bare"))
		b.ReportAllocs()
		for b.Loop() {
			ask()
		}
	})
	b.Run("ratio-plugin", func(b *testing.B) {
		compare(b, workerCall(b, program("bare")), "worker", pluginFloor(b), "plugin", 50)
	})
	b.Run("ratio-python", func(b *testing.B) {
		python, script := pythonHook(b)
		once := process.Spec{Argv: []string{python, script, "once"}, Env: os.Environ(), Stdin: kilobyte, Timeout: time.Minute}
		spawn := func() {
			if res, err := process.Run(b.Context(), once); err != nil || string(res.Stdout) != "{}\n" {
				b.Fatalf("%v, %+v", err, res)
			}
		}
		stays := worker.Command{Path: python, Argv: []string{python, script}, Env: os.Environ()}
		compare(b, workerCall(b, stays), "worker", spawn, "spawn", 1)
	})
}

// compare lets two take turns, each a few times in a row, as calls come in.
func compare(b *testing.B, one func(), oneName string, other func(), otherName string, row int) {
	var ones, others []time.Duration
	timed := func(f func(), to *[]time.Duration) {
		for range row {
			began := time.Now()
			f()
			*to = append(*to, time.Since(began))
		}
	}
	for b.Loop() {
		timed(one, &ones)
		timed(other, &others)
	}
	b.ReportMetric(float64(median(ones).Nanoseconds())/1000, oneName+"-µs")
	b.ReportMetric(float64(median(others).Nanoseconds())/1000, otherName+"-µs")
	b.ReportMetric(float64(median(ones))/float64(median(others)), oneName+"/"+otherName)
	b.ReportMetric(float64(median(others))/float64(median(ones)), otherName+"/"+oneName)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// workerCall asks a worker, as the command handler does: with a context that can end, and files to look at.
func workerCall(b *testing.B, cmd worker.Command) func() {
	cmd.Files = []string{cmd.Path}
	p := worker.NewPool(worker.Options{MaxCalls: 1 << 30})
	b.Cleanup(func() { p.Close() })
	plan := planned(cmd)
	ask := func() {
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		reply, err := p.Call(ctx, "key", plan, kilobyte)
		cancel()
		if err != nil || string(reply.Line) != "{}" {
			b.Fatalf("%q, %v", reply.Line, err)
		}
	}
	ask()
	return ask
}

// pythonHook writes a hook that is a worker, or with an argument an ordinary command.
func pythonHook(b *testing.B) (python, script string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		b.Skip("no python3")
	}
	script = filepath.Join(b.TempDir(), "hook.py")
	const text = `import json, sys
def answer(event):
    return {}
if sys.argv[1:]:
    print(json.dumps(answer(json.load(sys.stdin))))
    sys.exit()
for line in sys.stdin:
    sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
    sys.stdout.flush()
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return python, script
}

var handshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "WORKER_TEST_COOKIE", MagicCookieValue: "1"}

// rpcPlugin is a plugin with one method.
type rpcPlugin struct{}

func (rpcPlugin) Server(*plugin.MuxBroker) (any, error)                  { return rpcServer{}, nil }
func (rpcPlugin) Client(_ *plugin.MuxBroker, c *rpc.Client) (any, error) { return c, nil }

type rpcServer struct{}

// Answer answers an event.
func (rpcServer) Answer(_ []byte, reply *[]byte) error {
	*reply = []byte("{}")
	return nil
}

func servePlugin() {
	plugin.Serve(&plugin.ServeConfig{HandshakeConfig: handshake, Plugins: plugin.PluginSet{"p": rpcPlugin{}}, Logger: hclog.NewNullLogger()})
}

// pluginFloor asks the test binary as a plugin of go-plugin, over net/rpc.
func pluginFloor(b *testing.B) func() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=plugin")
	c := plugin.NewClient(&plugin.ClientConfig{HandshakeConfig: handshake, Plugins: plugin.PluginSet{"p": rpcPlugin{}}, Cmd: cmd, Logger: hclog.NewNullLogger()})
	b.Cleanup(c.Kill)
	protocol, err := c.Client()
	if err != nil {
		b.Fatal(err)
	}
	raw, err := protocol.Dispense("p")
	if err != nil {
		b.Fatal(err)
	}
	client := raw.(*rpc.Client)
	return func() {
		var reply []byte
		if err := client.Call("Plugin.Answer", kilobyte, &reply); err != nil || string(reply) != "{}" {
			b.Fatalf("%q, %v", reply, err)
		}
	}
}
