package model

import (
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

func TestProviderIsChosen(t *testing.T) {
	type settings = dialect.ModelSettings
	for _, tc := range []struct {
		name     string
		env      []string
		settings settings
		want     string // "provider address model keyFrom", or a part of the failure
		note     string // the code of Configure's diagnostic
	}{
		{"by nothing", nil, settings{}, "no model is configured", ""},
		{"by Anthropic's key", []string{"ANTHROPIC_API_KEY=k"}, settings{}, "anthropic https://api.anthropic.com/ claude-haiku-5-5 ANTHROPIC_API_KEY", ""},
		{"by Anthropic's token", []string{"ANTHROPIC_AUTH_TOKEN=k"}, settings{}, "anthropic https://api.anthropic.com/ claude-haiku-5-5 ANTHROPIC_AUTH_TOKEN", ""},
		{"by Anthropic's address", []string{"ANTHROPIC_BASE_URL=http://localhost:1"}, settings{}, "anthropic http://localhost:1/ claude-haiku-5-5 ANTHROPIC_API_KEY", ""},
		{"by OpenAI's key", []string{"OPENAI_API_KEY=k"}, settings{}, "openai https://api.openai.com/v1/ gpt-5.4-mini OPENAI_API_KEY", ""},
		{"by OpenAI's address", []string{"OPENAI_BASE_URL=http://[::1]:1/v1"}, settings{}, "openai http://[::1]:1/v1  OPENAI_API_KEY", ""},
		{"Anthropic first", []string{"OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=k"}, settings{}, "anthropic https://api.anthropic.com/ claude-haiku-5-5 ANTHROPIC_API_KEY", ""},
		{"settings before the environment", []string{"OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=k"}, settings{Provider: "openai", Model: "m"}, "openai https://api.openai.com/v1/ m OPENAI_API_KEY", ""},
		{"settings whole", []string{"MY_KEY= k \n"}, settings{Provider: "openai", Model: "m", BaseURL: "https://models.example.com/v1", APIKeyEnv: "MY_KEY"}, "openai https://models.example.com/v1 m MY_KEY", ""},
		{"an own key hides the token", []string{"ANTHROPIC_AUTH_TOKEN=t"}, settings{Provider: "anthropic", APIKeyEnv: "MY_KEY"}, "no key for the model: MY_KEY is not set", "no_model"},
		{"the own address in another spelling", []string{"OPENAI_API_KEY=k"}, settings{BaseURL: "https://api.openai.com/v1"}, "openai https://api.openai.com/v1 gpt-5.4-mini OPENAI_API_KEY", ""},
		{"the last of two variables", []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_API_KEY="}, settings{}, "no model is configured", ""},
		{"a key too few", nil, settings{Provider: "anthropic"}, "no key for the model: ANTHROPIC_API_KEY is not set", "no_model"},
		{"an unknown provider", nil, settings{Provider: "acme"}, `there is no model provider "acme"`, "no_model"},
		{"no provider", nil, settings{Model: "m"}, "name no provider", "no_model"},
		{"a key of two lines", []string{"OPENAI_API_KEY=a\nb"}, settings{}, "the key in OPENAI_API_KEY has characters", ""},
		{"no URL", []string{"OPENAI_API_KEY=k"}, settings{BaseURL: "models.example.com"}, "no plain http or https URL", "no_model"},
		{"another scheme", []string{"OPENAI_API_KEY=k"}, settings{BaseURL: "file:///v1"}, "no plain http or https URL", "no_model"},
		{"a password in the URL", []string{"OPENAI_API_KEY=k"}, settings{BaseURL: "https://user:hunter2@models.example.com/"}, "no plain http or https URL", "no_model"},
		{"no key, in the clear", nil, settings{Provider: "openai", BaseURL: "http://models.example.com", Model: "m"}, "openai http://models.example.com/ m OPENAI_API_KEY", ""},
		{"a key in the clear", []string{"OPENAI_API_KEY=k"}, settings{BaseURL: "http://models.example.com", Model: "m"}, "openai http://models.example.com/ m OPENAI_API_KEY", "model_key_in_clear"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHandler(t, Options{Env: append([]string{}, tc.env...)})
			notes := h.Configure(dialect.Settings{Model: tc.settings})
			b := h.current.Load()
			switch {
			case b.failed != nil:
				if b.failed.Failure != hook.FailureStart || !strings.Contains(b.failed.Reason, tc.want) || b.failed.Hint == "" || strings.Contains(b.failed.Error(), "hunter2") {
					t.Errorf("got %v, want %s", b.failed, tc.want)
				}
			case strings.Join([]string{b.at.name, b.at.address.String(), b.name, b.at.keyFrom}, " ") != tc.want:
				t.Errorf("got %s %s %s %s, want %s", b.at.name, b.at.address, b.name, b.at.keyFrom, tc.want)
			}
			code := ""
			for _, d := range notes {
				code += d.Code
			}
			if code != tc.note {
				t.Errorf("diagnostics %+v, want %q", notes, tc.note)
			}
		})
	}
}

func TestTokenIsABearer(t *testing.T) {
	s := serve(t, always(anthropicWire.text(`{"ok":true}`, anthropicWire.end)))
	h := newHandler(t, Options{Env: []string{"ANTHROPIC_AUTH_TOKEN=t", "ANTHROPIC_BASE_URL=" + s.URL}})
	if _, err := h.Handle(t.Context(), newCall(t, hook.KindPrompt, object{"prompt": "?"}, nil)); err != nil {
		t.Fatal(err)
	}
	if got := s.all()[0].header; got.Get("Authorization") != "Bearer t" || got.Get("X-Api-Key") != "" {
		t.Errorf("Authorization %q, X-Api-Key %q", got.Get("Authorization"), got.Get("X-Api-Key"))
	}
}

func TestProcessEnvironmentIsNotAsked(t *testing.T) {
	for _, key := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"} {
		t.Setenv(key, theKey)
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: "+theKey)
	for _, w := range wires {
		s := serve(t, always(w.text(`{"ok":true}`, w.end)))
		h := newHandler(t, Options{Env: []string{strings.ToUpper(w.name) + "_BASE_URL=" + s.URL}})
		if _, err := h.Handle(t.Context(), newCall(t, hook.KindPrompt, object{"prompt": "?", "model": "m"}, nil)); err != nil {
			t.Fatal(err)
		}
		for key, values := range s.all()[0].header {
			if strings.Contains(strings.Join(values, " "), theKey) {
				t.Errorf("%s: %s carries a key of the process", w.name, key)
			}
		}
	}
}

func TestConfigureChangesLaterRunsAlone(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	first := serve(t, func(int) reply {
		close(entered)
		<-release
		return openaiWire.text(`{"ok":false,"reason":"first"}`, openaiWire.end)
	})
	second := serve(t, always(openaiWire.text(`{"ok":false,"reason":"second"}`, openaiWire.end)))
	h := newHandler(t, Options{})
	use := func(s *server) {
		if notes := h.Configure(dialect.Settings{Model: dialect.ModelSettings{Provider: "openai", BaseURL: s.URL, Model: "m"}}); len(notes) > 0 {
			t.Error(notes)
		}
	}
	reason := func() string {
		out, err := h.Handle(t.Context(), newCall(t, hook.KindPrompt, object{"prompt": "?"}, nil))
		if err != nil {
			return err.Error()
		}
		return out.Reason
	}
	use(first)
	done := make(chan string)
	go func() { done <- reason() }()
	<-entered
	use(second)
	if got := reason(); got != "second" {
		t.Errorf("a later run got %q", got)
	}
	close(release)
	if got := <-done; got != "first" {
		t.Errorf("the run under way got %q", got)
	}
}

func TestCheckSaysWhatIsWrongBeforeAnythingRuns(t *testing.T) {
	key := []string{"ANTHROPIC_API_KEY=k"}
	for _, tc := range []struct {
		name   string
		kind   hook.Kind
		params object
		env    []string
		agent  AgentRunner
		want   string
	}{
		{"nothing", hook.KindPrompt, object{"prompt": "?"}, key, nil, ""},
		{"no prompt", hook.KindPrompt, object{}, key, nil, "error bad_prompt"},
		{"a bad schema", hook.KindAgent, object{"prompt": "?", "schema": 1}, key, nil, "error bad_prompt"},
		{"a schema without ok", hook.KindPrompt, object{"prompt": "?", "schema": object{"type": "object"}}, key, nil, "warning schema_without_ok"},
		{"a schema with ok", hook.KindPrompt, object{"prompt": "?", "schema": object{"properties": object{"ok": true}}}, key, nil, ""},
		{"no model", hook.KindPrompt, object{"prompt": "?"}, nil, nil, "error no_model"},
		{"no name of a model", hook.KindAgent, object{"prompt": "?"}, []string{"OPENAI_BASE_URL=http://localhost"}, nil, "error no_model"},
		{"an agent of the host", hook.KindAgent, object{"prompt": "?", "agent": "a"}, nil, AgentRunnerFunc(nil), ""},
		{"a named agent", hook.KindAgent, object{"prompt": "?", "agent": "a"}, key, nil, "error bad_prompt"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHandler(t, Options{Env: append([]string{}, tc.env...), Agent: tc.agent})
			c := newCall(t, tc.kind, tc.params, nil)
			c.Hook.Source = hook.Source{Path: "HOOK.md", Line: 3}
			got := ""
			for _, d := range h.Check(&hook.Call{Hook: c.Hook}) {
				got += string(d.Severity) + " " + d.Code
				if d.Hook != "dir/judge" || d.Path != "HOOK.md" || d.Line != 3 || d.Message == "" {
					t.Errorf("it is not located: %+v", d)
				}
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
