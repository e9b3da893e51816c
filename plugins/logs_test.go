package plugins

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestRecordIsOfThePluginThatWroteIt(t *testing.T) {
	var buf bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&buf, nil))
	logLine(l, "guard", []byte(`{"@message":"all is well","@level":"warn","plugin":"audit","answer":42}`))
	var got map[string]any
	if err := json.Unmarshal(buf.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["plugin"] != "guard" || got["msg"] != "all is well" || got["level"] != "WARN" || got["answer"] != 42.0 {
		t.Errorf("got %s", buf.String())
	}
	if n := strings.Count(buf.String(), `"plugin"`); n != 1 {
		t.Errorf("%d plugins: %s", n, buf.String())
	}
}

func TestPathOfRelativeElementsIsNoPath(t *testing.T) {
	// An empty PATH would be the working directory.
	if got := handedDown([]string{"PATH=.:bin:", "HOME=/me"}); len(got) != 1 || got[0] != "HOME=/me" {
		t.Errorf("got %q", got)
	}
}
