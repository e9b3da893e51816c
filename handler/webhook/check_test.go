package webhook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// codes are the severities and codes of diagnostics, in order.
func codes(ds []hook.Diagnostic) string {
	var list []string
	for _, d := range ds {
		list = append(list, fmt.Sprintf("%s %s", d.Severity, d.Code))
	}
	return strings.Join(list, ", ")
}

func TestCheckTellsWhatIsWrongBeforeAnythingIsCalled(t *testing.T) {
	settings := dialect.Settings{AllowedHTTPHookURLs: []string{"https://hooks.example.com/*", "http://*:*"}, HTTPHookAllowedEnvVars: []string{"TOKEN", "HOST", "UNSET"}}
	env := []string{"TOKEN=hunter2", "HOST=hooks.example.com", "OTHER=1"}
	for name, test := range map[string]struct {
		params params
		codes  string
		says   string
	}{
		"fine":                             {params{"url": "https://hooks.example.com/a", "headers": params{"Authorization": "Bearer $TOKEN"}, "allowedEnvVars": []string{"TOKEN"}}, "", ""},
		"fine with a host from a variable": {params{"url": "https://${HOST}/a", "allowedEnvVars": []string{"HOST"}}, "", ""},
		"no url":                           {params{}, "error missing_url", "url ="},
		"no text":                          {params{"url": 3}, "error wrong_type, error missing_url", "texts"},
		"no list":                          {params{"url": "https://hooks.example.com/a", "allowedEnvVars": "TOKEN"}, "error wrong_type", "list"},
		"no URL":                           {params{"url": "hooks.example.com/a"}, "error http_url", "https://"},
		"a user":                           {params{"url": "https://user:pass@hooks.example.com/a"}, "error http_url", "headers"},
		"not allowed":                      {params{"url": "https://other.example.com/a?token=hunter2"}, "error http_url_not_allowed", `"https://other.example.com/*"`},
		"not allowed, hidden":              {params{"url": "https://x.${HOST}/a", "allowedEnvVars": []string{"HOST"}}, "error http_url_not_allowed", "a pattern for it"},
		"not encrypted":                    {params{"url": "http://other.example.com/"}, "warning http_plain", "https"},
		"local":                            {params{"url": "http://localhost:8080/"}, "error http_local_target", "allow_local_http_hook_targets"},
		"an unlisted variable":             {params{"url": "https://hooks.example.com/a", "headers": params{"A": "$TOKEN"}}, "warning http_env_not_allowed", `allowed_env_vars = ["TOKEN"]`},
		"not in the settings":              {params{"url": "https://hooks.example.com/a", "headers": params{"A": "$OTHER"}, "allowedEnvVars": []string{"OTHER"}}, "warning http_env_not_allowed", "http_hook_allowed_env_vars"},
		"not set":                          {params{"url": "https://hooks.example.com/a", "headers": params{"A": "$UNSET"}, "allowedEnvVars": []string{"UNSET"}}, "warning http_env_not_set", "set it"},
		"not set in the URL":               {params{"url": "https://hooks.example.com/${UNSET}", "allowedEnvVars": []string{"UNSET"}}, "error http_url_variable", "$UNSET is not set"},
		"no braces in the URL":             {params{"url": "https://hooks.example.com/$TOKEN", "allowedEnvVars": []string{"TOKEN"}}, "warning http_url_variable", "${TOKEN}"},
		"a method without event":           {params{"url": "https://hooks.example.com/a", "method": "GET"}, "error http_method", "PUT"},
		"a header of a connection":         {params{"url": "https://hooks.example.com/a", "headers": params{"transfer-encoding": "chunked"}}, "error http_header", "leave it out"},
		"a header's name":                  {params{"url": "https://hooks.example.com/a", "headers": params{"X Y": "z"}}, "error http_header", "letters"},
		"a header without one":             {params{"url": "https://hooks.example.com/a", "headers": params{"": "z"}}, "error http_header", "letters"},
		"a header's value":                 {params{"url": "https://hooks.example.com/a", "headers": params{"X": "a\r\nY: z"}}, "error http_header", "line break"},
		"no table":                         {params{"url": "https://hooks.example.com/a", "headers": []string{"X: y"}}, "error http_header", "table"},
		"no text in a header":              {params{"url": "https://hooks.example.com/a", "headers": params{"X": 1}}, "error http_header", "quotes"},
		"null headers":                     {params{"url": "https://hooks.example.com/a", "headers": nil}, "", ""},
		"all at once": {params{"url": "https://evil.example/", "method": "DELETE", "headers": params{"Host": "hooks.example.com", "X": "$NONE"}},
			"error http_method, error http_url_not_allowed, error http_header, warning http_env_not_allowed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := handler(t, webhook.Options{Env: env}, settings)
			ds := h.Check(&hook.Call{Hook: declares(test.params)})
			if diff := cmp.Diff(test.codes, codes(ds)); diff != "" {
				t.Error(diff, ds)
			}
			text := fmt.Sprint(ds)
			if !strings.Contains(text, test.says) || strings.Contains(text, "hunter2") {
				t.Error(text)
			}
			for _, d := range ds {
				if d.Hook != "dir/post" || d.Path != "/hooks/post/HOOK.md" || d.Line != 3 || d.Hint == "" {
					t.Errorf("incomplete: %+v", d)
				}
			}
			if hook.HasErrors(ds) { // an error never runs
				_, _, err := run(t, h, declares(test.params))
				if kind, _ := failure(t, err); kind != hook.FailureStart {
					t.Error(err)
				}
			}
		})
	}
}

func TestAHeaderIsSaidOnce(t *testing.T) {
	h := local(t, "*")
	for raw, want := range map[string]string{
		`{"X-A": "1", "x-a": "2"}`: "error http_header", // a map's order would choose
		`{"X-A": "1", "X-A": "2"}`: "error http_header",
		`{"X-A": "1", "X-B": "2"}`: "",
	} {
		declared := posts("https://hooks.example.com/")
		declared.Params["headers"] = json.RawMessage(raw)
		if got := codes(h.Check(&hook.Call{Hook: declared})); got != want {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

func TestConfigureTellsWhatCannotBeMeant(t *testing.T) {
	for _, test := range []struct {
		settings dialect.Settings
		codes    string
	}{
		{dialect.Settings{}, ""},
		{dialect.Settings{AllowedHTTPHookURLs: []string{"https://hooks.example.com/*", "https://*.example.com*"}}, ""},
		{dialect.Settings{AllowedHTTPHookURLs: []string{"*"}}, "warning http_every_url"},
		{dialect.Settings{AllowedHTTPHookURLs: []string{"https://*/hook"}}, "warning http_every_url"},
		{dialect.Settings{AllowedHTTPHookURLs: []string{"hooks.example.com", "https://a@b/", "https://b.*/x"}}, "error http_url_pattern, error http_url_pattern, error http_url_pattern"},
		{dialect.Settings{HTTPHookAllowedEnvVars: []string{"TOKEN", "$TOKEN", "TOKEN_*", ""}}, "warning http_env_name, warning http_env_name, warning http_env_name"},
	} {
		h := webhook.New(webhook.Options{})
		ds := h.Configure(test.settings)
		if diff := cmp.Diff(test.codes, codes(ds)); diff != "" {
			t.Error(diff)
		}
		for _, d := range ds {
			if d.Hint == "" {
				t.Errorf("no hint: %s", d)
			}
		}
		_ = h.Close()
	}
}
