package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// BenchmarkHandle measures a whole Handle (approval, supervision, call, reading
// of the answer) against the same call of the same service through go-plugin's
// own client and server, with its certificates. The two take turns, so that a
// noisy machine is noisy for both; "ratio" is that of the medians.
func BenchmarkHandle(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			w := newBench(b, func(o *Options) { o.Logger = nil }).good()
			raw, err := json.Marshal(do{Do: "version", Text: strings.Repeat("x", size)})
			if err != nil {
				b.Fatal(err)
			}
			in := hook.PreToolUse{ToolName: "Bash", ToolInput: raw}
			payload, err := hook.Encode(in, in.Base)
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
			defer cancel()
			hk := w.hook()
			ours := func() {
				c := hook.Call{Hook: hk, Input: in, Payload: payload, ProjectDir: "/project"}
				if out, err := w.host.Handle(ctx, &c); err != nil || out.Context != "1.0.0" {
					b.Fatal(out, err)
				}
			}
			client := bareClient(b)
			bare := func() {
				r := proto.HandleRequest{Hook: "fault", Event: "PreToolUse", Input: payload, ProjectDir: "/project"}
				if out, err := client.Handle(ctx, &r); err != nil || len(out.GetStdout()) == 0 {
					b.Fatal(out, err)
				}
			}
			for range 200 {
				ours()
				bare()
			}
			var took [2][]time.Duration
			for i := 0; b.Loop(); i++ {
				for j, f := range []func(){ours, bare} {
					if i%2 == 1 { // who goes first changes
						j = 1 - j
						f = []func(){ours, bare}[j]
					}
					began := time.Now()
					f()
					took[j] = append(took[j], time.Since(began))
				}
			}
			one, other := median(took[0]), median(took[1])
			b.ReportMetric(float64(one.Nanoseconds()), "ours-ns")
			b.ReportMetric(float64(other.Nanoseconds()), "bare-ns")
			b.ReportMetric(float64(one)/float64(other), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// bareClient starts a plugin as go-plugin's examples do.
func bareClient(b *testing.B) proto.HooksClient {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), faultVariable+"=versions 1")
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: proto.CookieKey, MagicCookieValue: proto.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{1: {"hooks": &contract{}}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         os.Getenv("PLUGINS_BENCH_CLEAR") == "",
		Cmd:              c,
		Logger:           hclog.NewNullLogger(),
	})
	b.Cleanup(client.Kill)
	protocol, err := client.Client()
	if err != nil {
		b.Fatal(err)
	}
	raw, err := protocol.Dispense("hooks")
	if err != nil {
		b.Fatal(err)
	}
	return raw.(proto.HooksClient)
}

// BenchmarkDescribe measures what loading a package costs that was learnt.
func BenchmarkDescribe(b *testing.B) {
	w := newBench(b)
	w.install("fault", "good")
	w.trust()
	time.Sleep(150 * time.Millisecond) // until the file's times tell
	for b.Loop() {
		if hooks, notes := described(w.host, w.dir); len(hooks) != 1 || len(notes) != 0 {
			b.Fatal(hooks, notes)
		}
	}
}
