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

func TestRecordKeepsItsLevel(t *testing.T) {
	for word, want := range map[string]slog.Level{"trace": -8, "debug": -4, "info": 0, "warn": 4, "error": 8, "ERROR": 8, "off": 0, "": 0} {
		if r, ok := parseRecord([]byte(`{"@message":"x","@level":"` + word + `"}`)); !ok || r.level != want {
			t.Errorf("%q: level %v, %v", word, r.level, ok)
		}
	}
}

func TestPluginGetsTheUsualVariablesAlone(t *testing.T) {
	for variable, want := range map[string]bool{
		"PATH=" + t.TempDir(): true, "HOME=/me": true, "TMPDIR=/t": true, "LANG=C": true, "LANGUAGE=en": true, "TZ=UTC": true, "LC_ALL=C": true, "LC_TIME=C": true,
		"API_KEY=x": false, "LD_PRELOAD=x": false, "XPATH=/bin": false, "ALLOWED=x": true, "LCX=1": false, "": false,
	} {
		if got := handedDown([]string{variable}, []string{"ALLOWED"}); (len(got) == 1) != want {
			t.Errorf("%q: %q", variable, got)
		}
	}
}

func TestPathOfRelativeElementsIsNoPath(t *testing.T) {
	// An empty PATH would be the working directory.
	if got := handedDown([]string{"PATH=.:bin:", "HOME=/me"}); len(got) != 1 || got[0] != "HOME=/me" {
		t.Errorf("got %q", got)
	}
}
