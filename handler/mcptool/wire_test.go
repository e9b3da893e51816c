package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/tenterhook/tenterhook/hook"
)

// readAll reads messages until the wire ends, and returns how it did.
func readAll(in io.Reader) (n int, fault *hook.Error, err error) {
	w := newWire(in, io.Discard, func() error { return nil }, func(e *hook.Error) { fault = e })
	for {
		if _, err = w.Read(context.Background()); err != nil {
			return n, fault, err
		}
		n++
	}
}

func TestWire(t *testing.T) {
	const message = `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	long := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", maxMessage-100) + `"}` + "\n"
	for _, tt := range []struct {
		name, in string
		messages int
		says     string // of the fault; "" = none, a plain end
	}{
		{"messages", message + "\r\n \n" + message, 2, ""},
		{"a notification", `{"jsonrpc":"2.0","method":"x"}` + "\r\n", 1, ""},
		{"a long message", long + message, 2, ""},
		{"too long", long[:200] + long + long, 0, "more than 4 MiB"},
		{"garbage", message + "INFO ready\n" + message, 1, `"INFO ready"`},
		{"bytes behind a message", `{"jsonrpc":"2.0","id":1,"result":{}} {}` + "\n", 0, "no message"},
		{"another version", `{"jsonrpc":"1.0","id":1,"result":{}}` + "\n", 0, "no message"},
		{"a list", "[]\n", 0, "no message"},
		{"too deep", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}\n", 0, "no message"},
		{"half a message", message + `{"jsonrpc":"2.0","id`, 1, "no message"},
		{"nothing", "", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, fault, err := readAll(strings.NewReader(tt.in))
			if n != tt.messages {
				t.Errorf("%d messages, want %d", n, tt.messages)
			}
			switch {
			case tt.says == "" && (fault != nil || !errors.Is(err, io.EOF)):
				t.Errorf("it ended with %v, %v", fault, err)
			case tt.says != "" && (fault == nil || !strings.Contains(fault.Reason, tt.says)):
				t.Errorf("fault %v does not say %q", fault, tt.says)
			}
		})
	}
}

func TestTapKeepsResultsAsTheyCame(t *testing.T) {
	const result = `{"content":[],"structuredContent":{"a":1,"a":2}}`
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"result":` + result + "}\n" + `{"jsonrpc":"2.0","id":2,"result":` + result + "}\n")
	var out bytes.Buffer
	tap := newTap(newWire(in, &out, func() error { return nil }, func(*hook.Error) {}))
	id, err := jsonrpc.MakeID(1.0)
	if err != nil {
		t.Fatal(err)
	}
	ex := &exchange{}
	ctx := context.WithValue(t.Context(), exchangeKey{}, ex)
	if err := tap.Write(ctx, &jsonrpc.Request{ID: id, Method: "tools/call", Params: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{string(noResult), result} { // the second is of no call
		msg, err := tap.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(msg.(*jsonrpc.Response).Result); got != want {
			t.Errorf("the SDK gets %s, want %s", got, want)
		}
	}
	if string(ex.result) != result || len(tap.open) != 0 {
		t.Errorf("kept %s, %d calls open", ex.result, len(tap.open))
	}
}

func FuzzWire(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"method\":\"\"}\n\xff\xfe\n"))
	f.Add([]byte(`[{"jsonrpc":"2.0"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, fault, err := readAll(bytes.NewReader(data))
		if fault == nil && !errors.Is(err, io.EOF) {
			t.Errorf("it ended with %v, and nobody is to blame", err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"{\"decision\":\"block\"}"}],"structuredContent":{"result":1},"isError":false}`))
	f.Add([]byte(`{"content":[{"type":"text","text":"{\"continue\":false}"},{}],"structuredContent":{"async":true}}`))
	f.Add([]byte(`{"content":null,"isError":null}`))
	in := hook.PreToolUse{ToolName: "Bash"}
	h := &Handler{}
	f.Fuzz(func(t *testing.T, result []byte) {
		a, err := parseAnswer(result)
		if err != nil {
			return
		}
		c := &hook.Call{Hook: &hook.Hook{ID: "dir/x", Event: in.Event()}, Input: in}
		if out, err := h.output(c, a); err != nil && out != nil && out.Verdict != hook.NoOpinion {
			t.Errorf("%s: failure %v came with verdict %v", result, err, out.Verdict)
		}
	})
}

func TestSecretsAreTakenOutAndTailsBeginWithALine(t *testing.T) {
	if got := redact("a sesame-5up3r b", []string{"sesame-5up3r", "b"}); got != "a [redacted] b" {
		t.Errorf("got %q", got)
	}
	if got := dropPartialLine("et\nnext\n", 8); got != "next\n" {
		t.Errorf("got %q", got)
	}
	if got := lastLines("one\n\ntwo\x1b[1m\nthree\nfour\n"); got != ` (its stderr ends: "two [1m", "three", "four")` {
		t.Errorf("got %s", got)
	}
}
