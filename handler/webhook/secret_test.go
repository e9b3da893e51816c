package webhook_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

func TestN6VariablesAreThoseOnBothLists(t *testing.T) {
	env := []string{"A=1", "B=$A", "C=${A}/%2e", "D=", "SECRET=hunter2", "BAD=x y"}
	for _, test := range []struct {
		name     string
		listed   []string
		settings []string
		header   string
		path     string // behind the server's URL
		wantHead string
		wantPath string
		wantErr  string // "" = it is called
		warnings int
	}{
		{name: "both list it", listed: []string{"A"}, settings: []string{"A"}, header: "x $A ${A}", path: "/${A}", wantHead: "x 1 1", wantPath: "/1"},
		{name: "the settings say nothing", listed: []string{"A"}, header: "$A", path: "/", wantHead: "1", wantPath: "/"},
		{name: "only the settings list it", settings: []string{"SECRET"}, header: "x$SECRET", path: "/", wantHead: "x", wantPath: "/", warnings: 1},
		{name: "only the hook lists it", listed: []string{"SECRET"}, settings: []string{"A"}, header: "x$SECRET", path: "/", wantHead: "x", wantPath: "/", warnings: 1},
		{name: "the settings list none", listed: []string{"SECRET"}, settings: []string{}, header: "x$SECRET", path: "/", wantHead: "x", wantPath: "/", warnings: 1},
		{name: "what it holds is text", listed: []string{"B"}, header: "$B ${B}", path: "/", wantHead: "$A $A", wantPath: "/"},
		{name: "what it holds is text in a URL", listed: []string{"B"}, path: "/${B}", wantPath: "/$A"},
		{name: "not set", listed: []string{"D", "E"}, header: "x$D$E", path: "/", wantHead: "x", wantPath: "/", warnings: 2},
		{name: "unlisted in a URL", path: "/${SECRET}", wantErr: "allowed_env_vars"},
		{name: "not in the settings in a URL", listed: []string{"SECRET"}, settings: []string{}, path: "/${SECRET}", wantErr: "http_hook_allowed_env_vars"},
		{name: "not set in a URL", listed: []string{"D"}, path: "/${D}", wantErr: "$D is not set"},
		{name: "nested", listed: []string{"A", "B"}, path: "/${${B}}", wantErr: "${"},
		{name: "nested in a header", listed: []string{"A", "B"}, header: "${${B}}", path: "/", wantErr: "${"},
		{name: "with a default", listed: []string{"A"}, path: "/${A:-x}", wantErr: "${"},
		{name: "braces in what it holds", listed: []string{"C"}, path: "/${C}", wantErr: "brace"},
		{name: "a space in what it holds", listed: []string{"BAD"}, path: "/${BAD}", wantErr: "space"},
		{name: "without braces in a URL", listed: []string{"A"}, path: "/$A", wantPath: "/$A", warnings: 1},
		{name: "another case", listed: []string{"secret", "Secret"}, header: "x$SECRET", path: "/", wantHead: "x", wantPath: "/", warnings: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := serve(t, says(""))
			h := handler(t, webhook.Options{Env: env}, dialect.Settings{AllowedHTTPHookURLs: []string{server.URL + "*"},
				AllowLocalHTTPHookTargets: yes(), HTTPHookAllowedEnvVars: test.settings})
			p := params{"url": server.URL + test.path, "headers": params{"X-Test": test.header}}
			if test.listed != nil {
				p["allowedEnvVars"] = test.listed
			}
			declared := declares(p)
			_, c, err := run(t, h, declared)
			if test.wantErr != "" {
				kind, text := failure(t, err)
				if kind != hook.FailureStart || !strings.Contains(text, test.wantErr) || strings.Contains(text, "hunter2") {
					t.Errorf("got %v", err)
				}
				if n := len(server.requests()); n != 0 {
					t.Errorf("%d requests came", n)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := server.requests()[0]
			if got.header.Get("X-Test") != test.wantHead || got.uri != test.wantPath {
				t.Errorf("got %q and %q", got.header.Get("X-Test"), got.uri)
			}
			if len(c.Report.Warnings) != test.warnings {
				t.Errorf("warnings: %v", c.Report.Warnings)
			}
			if _, again, err := run(t, h, declared); err != nil || len(again.Report.Warnings) != 0 {
				t.Errorf("said twice: %v, %v", again.Report.Warnings, err)
			}
		})
	}
}

func TestTheURLIsCheckedAsItIsSent(t *testing.T) {
	good, evil := serve(t, says("")), serve(t, says(""))
	for _, env := range []string{"X=" + strings.TrimPrefix(evil.URL, "http://"), "X=" + strings.TrimPrefix(good.URL, "http://") + "@" + strings.TrimPrefix(evil.URL, "http://")} {
		h := handler(t, webhook.Options{Env: []string{env}}, dialect.Settings{AllowedHTTPHookURLs: []string{good.URL + "/*"}, AllowLocalHTTPHookTargets: yes()})
		_, _, err := run(t, h, declares(params{"url": "http://${X}/", "allowedEnvVars": []string{"X"}}))
		if kind, _ := failure(t, err); kind != hook.FailureStart {
			t.Error(err)
		}
	}
	if n := len(evil.requests()); n != 0 {
		t.Errorf("%d requests came", n)
	}
}

func TestTheHooksOwnVariablesGoFirst(t *testing.T) {
	server := serve(t, says(""))
	h := handler(t, webhook.Options{Env: []string{"A=env"}}, dialect.Settings{AllowedHTTPHookURLs: []string{server.URL}, AllowLocalHTTPHookTargets: yes()})
	declared := declares(params{"url": server.URL, "headers": params{"X-A": "$A"}, "allowedEnvVars": []string{"A"}})
	declared.Env = map[string]string{"A": "own"}
	if _, _, err := run(t, h, declared); err != nil || server.requests()[0].header.Get("X-A") != "own" {
		t.Error(err, server.requests())
	}
}

func TestNoEnvironmentValueIsEverSaid(t *testing.T) {
	const secret = "hunter2"
	refused := func() string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		return "http://" + listener.Addr().String() + "/"
	}()
	redirect := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/"+r.Header.Get("X-A"), http.StatusFound)
	})
	failing := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.Header.Get("X-A")+r.URL.Path, http.StatusTeapot)
	})
	junk := raw(t, func(_ int, conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, secret+"\r\n\r\n")
	})
	for _, url := range []string{
		"http://${SECRET}/", "http://${SECRET}.example/a", "http://x.example/${SECRET}", "http://x.example/?${SECRET}", "${SECRET}", "${URL}", "http:/${SLASHED}/a",
		"http://x.example:${SECRET}/", "http://${SECRET}@x.example/", "http://x.example/${SECRET}/../", "http://x.example/${UNLISTED}",
		refused + "${SECRET}", redirect.URL + "/${SECRET}", failing.URL + "/${SECRET}?${SECRET}", "http://" + junk + "/${SECRET}",
	} {
		for _, open := range []bool{true, false} {
			h := handler(t, webhook.Options{Resolver: resolver(t, nil), Env: []string{"SECRET=" + secret, "UNLISTED=" + secret, "URL=http://" + secret + ".example/", "SLASHED=/" + secret + ".example"}},
				dialect.Settings{AllowedHTTPHookURLs: []string{"*"}, AllowLocalHTTPHookTargets: &open})
			if !open {
				h.Configure(dialect.Settings{AllowedHTTPHookURLs: []string{"https://nothing.example/"}})
			}
			declared := declares(params{"url": url, "headers": params{"X-A": "$SECRET", "X-B": "$UNLISTED"}, "allowedEnvVars": []string{"SECRET", "URL", "SLASHED"}})
			_, c, err := run(t, h, declared)
			_, text := failure(t, err)
			text += fmt.Sprint(c.Report.Warnings, h.Check(&hook.Call{Hook: declared}), errors.Unwrap(err))
			if strings.Contains(text, secret) {
				t.Errorf("%s: %s", url, text)
			}
		}
	}
}
