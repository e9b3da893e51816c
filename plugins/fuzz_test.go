package plugins

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	protobuf "google.golang.org/protobuf/proto"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// said holds that a message is short, and moves no terminal.
func said(t *testing.T, message string) {
	t.Helper()
	if message == "" || len(message) > 2000 || strings.ContainsFunc(message, unicode.IsControl) {
		t.Fatalf("a message of %d bytes: %.200q", len(message), message)
	}
}

func FuzzHandshake(f *testing.F) {
	const dir = "/run/sockets"
	for _, line := range []string{
		"1|1|unix|/run/sockets/plugin1|grpc\n",
		"1|1|unix|/run/sockets/../sockets/plugin1|grpc|" + strings.Repeat("A", 60) + "\n",
		"1|1|unix|/run/other/plugin1|grpc\n",
		"1|1|tcp|127.0.0.1:1234|grpc|" + strings.Repeat("A", 60) + "|true\n",
		"1|1|tcp|0.0.0.0:1234|grpc|" + strings.Repeat("A", 60) + "\n",
		"1|1|tcp|127.0.0.1:1234|grpc\n",
		"1|99999999999999999999|unix|/run/sockets/x|grpc\n",
		"2|1|unix|/run/sockets/x|grpc\n",
		"1|2|udp|\x1b[2J|\x00\n",
		"hello\n", "1|1|unix", "", strings.Repeat("x", maxHandshake+1),
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, stdout string) {
		line, err := readHandshake(strings.NewReader(stdout))
		if err != nil {
			said(t, err.Error())
			return
		}
		if len(line) >= maxHandshake || strings.Contains(line, "\n") {
			t.Fatalf("the first line has %d bytes", len(line))
		}
		h, p := parseHandshake(line, dir, []int{1, 3})
		if p != nil {
			said(t, p.Error())
			return
		}
		if h.version != 1 && h.version != 3 {
			t.Errorf("version %d was taken", h.version)
		}
		switch h.network {
		case "unix":
			if !strings.HasPrefix(filepath.ToSlash(filepath.Clean(h.address)), dir+"/") {
				t.Errorf("the socket %q was taken", h.address)
			}
		case "tcp":
			if !h.certified || !strings.HasPrefix(h.address, "127.") && !strings.HasPrefix(h.address, "[") {
				t.Errorf("%+v was taken", h)
			}
		default:
			t.Errorf("network %q was taken", h.network)
		}
	})
}

// hostile are descriptions that a plugin may answer with.
var hostile = []*proto.DescribeResponse{
	{},
	{Name: "good", Version: "1", Hooks: []*proto.Hook{{Name: "a", Event: "PreToolUse", Matcher: "Bash", TimeoutMs: 5000, OnFailure: "block",
		Requires: &proto.Requires{Bins: []string{"git"}}, Breaker: &proto.Breaker{Failures: 2, CooldownMs: 10}}}},
	{Hooks: []*proto.Hook{{Name: "a", Event: "PreToolUes"}, {Name: "a", Event: "OurOwnEvent"}, {Name: "a", Event: "OurOwnEvent"}}},
	{Hooks: []*proto.Hook{{Name: "a\x1b[2J", Event: "Stop"}}},
	{Hooks: []*proto.Hook{{Name: "a", Event: "Stop", TimeoutMs: -1, OnFailure: "blok\n\x1b", Breaker: &proto.Breaker{CooldownMs: 1 << 62}}}},
	{Hooks: []*proto.Hook{{Name: "a", Event: "Stop", OnFailure: strings.Repeat("b", 5000)}}},
	{Hooks: []*proto.Hook{{Event: "Stop"}, {}}},
	{Description: strings.Repeat("x", 5000)},
}

func FuzzDescription(f *testing.F) {
	for _, d := range hostile {
		data, err := protobuf.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, answered []byte) {
		d := &proto.DescribeResponse{}
		if protobuf.Unmarshal(answered, d) != nil {
			return
		}
		hooks, err := wire.Hooks("guard", d)
		if err != nil {
			said(t, undescribed("/p", err).Error())
			return
		}
		if len(hooks) != len(d.GetHooks()) {
			t.Fatalf("%d hooks of %d", len(hooks), len(d.GetHooks()))
		}
		notes := strangeEvents(hooks)
		for _, note := range notes {
			said(t, note.String())
		}
		strange := 0
		for _, hk := range hooks {
			sound(t, hk)
			if _, known := hook.Lookup(hk.Event); !known && hk.State == hook.StateReady {
				strange++
			}
		}
		if len(notes) != strange {
			t.Errorf("%d warnings of %d unknown events", len(notes), strange)
		}
		data, err := protojson.Marshal(d)
		if err != nil || len(data) > maxKept {
			t.Fatalf("it is kept in %d bytes: %v", len(data), err)
		}
		again, err := parseDescription(data)
		if err != nil {
			t.Fatalf("what is kept cannot be read: %v", err)
		}
		kept, err := wire.Hooks("guard", again)
		if diff := cmp.Diff(hooks, kept); diff != "" || err != nil {
			t.Errorf("kept it is another: %v %s", err, diff)
		}
	})
}

// sound holds what a registry takes for granted of a described hook.
func sound(t *testing.T, hk *hook.Hook) {
	t.Helper()
	if hk.Name == "" || hk.Event == "" || hk.Kind != hook.KindPlugin || hk.Timeout < 0 || hk.Breaker.Cooldown < 0 {
		t.Errorf("got %+v", hk)
	}
	switch hk.State {
	case hook.StateReady:
		if near := hook.NearestEvent(string(hk.Event)); near != "" && near != hk.Event {
			t.Errorf("it is ready for %q, which is %s misspelt", hk.Event, near)
		}
		if hk.OnFailure != "" && hk.OnFailure != hook.FailureBlock && hk.OnFailure != hook.FailureContinue {
			t.Errorf("it is ready with on_failure %.100q", hk.OnFailure)
		}
	case hook.StateInvalid:
		said(t, hk.Why)
	default:
		t.Errorf("state %q", hk.State)
	}
}

func FuzzKeptDescription(f *testing.F) {
	f.Add([]byte(`{"name":"good","hooks":[{"name":"a","event":"Stop","timeoutMs":"5000","later":1}]}`))
	f.Add([]byte(`{"hooks":[{"name":"\u001b","event":"Stop"}]}`))
	f.Add([]byte(`{"hooks":null`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parseDescription(data)
		if err != nil {
			return
		}
		hooks, err := wire.Hooks("guard", d)
		if err != nil {
			said(t, undescribed("/p", err).Error())
		}
		for _, hk := range hooks {
			sound(t, hk)
		}
	})
}
