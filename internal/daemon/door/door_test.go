package door_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

func TestAFileThatOthersCanReadIsRefused(t *testing.T) {
	built.NotOnWindows(t, "files have no modes")
	state := t.TempDir()
	if d, err := door.Read(state); d != nil || err != nil {
		t.Errorf("no file: %v, %v", d, err)
	}
	d, err := door.New()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o660: false} {
		_ = os.Remove(door.Path(state))
		if err := os.WriteFile(door.Path(state), data, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(door.Path(state), mode); err != nil {
			t.Fatal(err)
		}
		got, err := door.Read(state)
		if ok != (err == nil && *got == d) {
			t.Errorf("mode %04o: %v, %v", mode, got, err)
		}
	}
	for _, text := range []string{"", "{}", `{"port": 70000, "token": "` + d.Token + `"}`, `{"port": 20000, "token": "short"}`} {
		_ = os.Remove(door.Path(state))
		if err := os.WriteFile(door.Path(state), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := door.Read(state); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestOnlyTheWholeHeaderIsKnown(t *testing.T) {
	d := door.Door{Port: 20000, Token: strings.Repeat("a", 64)}
	for header, want := range map[string]bool{
		"Bearer " + d.Token: true, "bearer " + d.Token: false, d.Token: false, "": false, "Bearer ": false,
		"Bearer " + d.Token + " ": false, "Bearer " + d.Token[:63]: false, "Bearer " + strings.Repeat("b", 64): false,
	} {
		if d.Knows(header) != want {
			t.Errorf("%q: %v", header, !want)
		}
	}
}

func TestURLsOfEntriesAreRecognized(t *testing.T) {
	for _, event := range door.Events() {
		if url := (door.Door{Port: 20001}).URL(event); !door.IsURL(url) {
			t.Errorf("%s is not recognized", url)
		}
	}
	for _, url := range []string{"", "http://127.0.0.1:1/x", "http://localhost:20001/tenterhook/claude/PreToolUse", "http://127.0.0.1:x/tenterhook/claude/PreToolUse",
		"http://127.0.0.1:20001/tenterhook/claude/SessionStart", "https://127.0.0.1:20001/tenterhook/claude/PreToolUse", "http://127.0.0.1:20001/tenterhook/claude/PreToolUse/x"} {
		if door.IsURL(url) {
			t.Errorf("%s is taken for one of ours", url)
		}
	}
}

func TestAnEnvironmentThatSendsLoopbackToAProxyIsRecognized(t *testing.T) {
	for env, want := range map[string]string{
		"":                                    "",
		"NO_PROXY=x":                          "",
		"HTTP_PROXY=":                         "",
		"HTTP_PROXY=p":                        "HTTP_PROXY",
		"http_proxy=p":                        "http_proxy",
		"https_proxy=p":                       "https_proxy",
		"ALL_PROXY=p":                         "ALL_PROXY",
		"npm_config_proxy=p":                  "npm_config_proxy",
		"HTTP_PROXY=p NO_PROXY=":              "HTTP_PROXY",
		"HTTP_PROXY=p NO_PROXY=127.0.0.1":     "",
		"HTTP_PROXY=p NO_PROXY=a,127.0.0.1,b": "",
		"HTTP_PROXY=p no_proxy=*":             "",
		"HTTP_PROXY=p NO_PROXY=localhost":     "HTTP_PROXY",
		"HTTP_PROXY=p NO_PROXY=127.0.0.1 no_proxy=x":   "HTTP_PROXY",
		"HTTP_PROXY=p NO_PROXY=127.0.0.1 no_proxy=":    "HTTP_PROXY",
		"HTTP_PROXY=p NO_PROXY=127.0.0.10":             "HTTP_PROXY",
		"HTTP_PROXY=p NO_PROXY=* npm_config_noproxy=*": "",
	} {
		if got := door.Proxied(strings.Fields(env)); got != want {
			t.Errorf("%s: %q, want %q", env, got, want)
		}
	}
}
