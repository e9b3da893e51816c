//go:build !windows

package cli

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// fileOfPage is a file that a page has its reader write: its path at the end of a
// line, an empty line, and the text, indented.
var fileOfPage = regexp.MustCompile("(?m)`(~/[^`]+)`:\n\n((?:(?:    .*)?\n)*    .*\n)")

// kindPages are the pages of docs/kinds, and what plays the server that a page
// speaks of, at the address of the page.
var kindPages = map[string]struct {
	address string
	serve   func(*testing.T, *guide, string) // at an address that is free
}{
	"rule.md":    {},
	"command.md": {},
	"worker.md":  {},
	"http.md":    {"localhost:8080", servePolicy},
	"mcp.md":     {},
	"prompt.md":  {"localhost:11434", serveModel},
	"agent.md":   {"localhost:11434", serveModel},
}

// A reader who writes the files of a page and types its commands sees what the page
// shows. -update rewrites the outputs.
func TestEachPageOfAKindWorksAsItIsWritten(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "kinds", "*.md"))
	if err != nil || len(pages) != len(kindPages) {
		t.Fatalf("%d pages, want %d: %v", len(pages), len(kindPages), err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			path, err := filepath.Abs(page)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text, server := string(data), kindPages[filepath.Base(page)]
			g := newGuide(t)
			free := ""
			if server.serve != nil {
				free = freeAddress(t)
			}
			for _, file := range fileOfPage.FindAllStringSubmatch(text, -1) {
				content := strings.ReplaceAll("\n"+file[2], "\n    ", "\n")[1:]
				if server.address != "" {
					host, port, _ := net.SplitHostPort(server.address)
					_, another, _ := net.SplitHostPort(free)
					content = strings.NewReplacer(server.address, free, `("`+host+`", `+port+`)`, `("`+host+`", `+another+`)`).Replace(content)
				}
				if strings.HasPrefix(content, "#!") { // for the reader to make executable
					g.write(strings.TrimPrefix(file[1], "~/"), "")
					if err := os.Chmod(filepath.Join(g.base, strings.TrimPrefix(file[1], "~/")), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				g.write(strings.TrimPrefix(file[1], "~/"), content)
			}
			if server.serve != nil {
				server.serve(t, g, free)
			}
			fresh := g.follow(strings.Split(text, "\n"))
			if len(g.ran) == 0 {
				t.Error("the page has no command to try")
			}
			if *updateGuide {
				if err := os.WriteFile(path, []byte(strings.Join(fresh, "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Each kind has a row in docs/handlers.md whose page exists.
func TestEachKindHasItsPage(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(repository, "docs", "handlers.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range hook.Kinds() {
		row := regexp.MustCompile("(?m)^\\| `" + string(kind) + "`.*\\]\\(([^)]+)\\) \\|$").FindStringSubmatch(string(index))
		if row == nil {
			t.Errorf("docs/handlers.md has no row for %s", kind)
			continue
		}
		if _, err := os.Stat(filepath.Join(repository, "docs", row[1])); err != nil {
			t.Error(err)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "localhost:" + port
}

// servePolicy starts the server that the page has its reader write.
func servePolicy(t *testing.T, g *guide, address string) {
	cmd := exec.Command("python3", filepath.Join(g.base, "policy.py"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// serveModel objects, in the words that the pages show: to an agent, whose requests
// have tools, by its verdict.
func serveModel(t *testing.T, _ *guide, address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Tools []any }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		message := map[string]any{"role": "assistant", "content": `{"ok": false, "reason": "It discards every change that is not committed."}`}
		if len(request.Tools) > 0 {
			message = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "1", "type": "function",
				"function": map[string]any{"name": "verdict", "arguments": `{"ok": false, "reason": "The tests that were asked for are missing."}`}}}}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": message, "finish_reason": "stop"}},
			"usage": map[string]int{"prompt_tokens": 1840, "completion_tokens": 31}})
	})}}
	server.Start()
	t.Cleanup(server.Close)
}
