package hooks_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
)

// fake makes a key that is none: the parts are joined here so that no scanner
// takes this file for a leak.
func fake(parts ...string) string { return strings.Join(parts, "") }

func TestPromptSecretsBlocksKeysAndNeverRepeatsThem(t *testing.T) {
	ask := prompts(t)
	random := "q7Zt3Kp9Lw2Xv8Rb5Nc1Ym6Hd4Js0Gf"
	for _, c := range []struct{ kind, secret string }{
		{"Anthropic", fake("sk-", "ant-api03-", random)},
		{"OpenAI", fake("sk-", "proj-", random, random)},
		{"AWS", fake("AK", "IA", "QWERTYUIOPASDFGH")},
		{"GitHub", fake("gh", "p_", random, "AbCdEfGh")},
		{"GitLab", fake("gl", "pat-", random)},
		{"Google", fake("AI", "za", random, "1234567")},
		{"Slack", fake("xo", "xb-", "123456789012-", random)},
		{"Stripe", fake("sk_", "live_", random)},
		{"npm", fake("np", "m_", random, "AbCdE")},
		{"private key", fake("-----BEGIN OPENSSH ", "PRIVATE KEY-----")},
		{"password in a URL", fake("postgres://", "app:", "hunter22", "@db.internal/x")},
		{"called a secret", fake("API_", "KEY=", random)},
		{"called a secret", fake("\"client_secret\": \"", random, "\"")},
	} {
		out := ask("Hello,\nuse " + c.secret + " for it")
		if out.Verdict != hook.Deny || !out.SuppressOriginalPrompt {
			t.Errorf("%s: got %v, want deny, and the prompt not kept: %+v", c.kind, out.Verdict, out)
			continue
		}
		if !strings.Contains(out.Reason, c.kind) || !strings.Contains(out.Reason, "(line 2)") {
			t.Errorf("%s: the reason is %q", c.kind, out.Reason)
		}
		shown, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(shown), random[:8]) || strings.Contains(string(shown), "hunter22") {
			t.Errorf("%s: the value is repeated: %s", c.kind, shown)
		}
	}
}

func TestPromptSecretsLetsOrdinaryPromptsPass(t *testing.T) {
	ask := prompts(t)
	for _, prompt := range []string{
		"",
		"Why does the token expire after an hour?",
		"set API_KEY=your-api-key-goes-in-here-1234 in .env",
		"use " + fake("AK", "IA", "IOSFODNN7EXAMPLE") + " as in the docs",
		"commit 984ee92b3c1f5a7d9e0b2c4f6a8d1e3f5b7c9d0a broke it",
		"the secret: never_put_two_things_in_one_function_of_yours",
		"clone https://github.com/a/b and ssh://git@example.com/x",
		"sk-learn and skeleton-key",
	} {
		if out := ask(prompt); out.Verdict != hook.NoOpinion {
			t.Errorf("%q: got %v: %s", prompt, out.Verdict, out.Reason)
		}
	}
}

// A prompt that costs too much to search is blocked, and not quoted.
func TestPromptSecretsFailsWithoutQuotingThePrompt(t *testing.T) {
	ask := prompts(t)
	if out := ask(strings.Repeat("ordinary words ", 10_000)); out.Verdict != hook.NoOpinion {
		t.Errorf("150 KB of words: got %v: %s", out.Verdict, out.Reason)
	}
	out := ask(strings.Repeat("hush ", 200_000))
	shown, err := json.Marshal(out)
	if err != nil || out.Verdict != hook.Deny || strings.Contains(string(shown), "hush") || len(out.Failures()) != 1 {
		t.Errorf("got %v: %.300s, want a failure that blocks, without the prompt", out.Verdict, shown)
	}
}

func TestPromptSecretsNamesEveryKindThatItLooksFor(t *testing.T) {
	text, err := os.ReadFile("prompt-secrets/HOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`(?s)\n\[\n.*?\n\]\.`).FindAllString(string(text), -1)
	if len(lists) != 2 || lists[0] != lists[1] {
		t.Errorf("when and reason have different lists: %q", lists)
	}
}

// prompts opens prompt-secrets as tenterhook does, and returns a function that
// submits a prompt.
func prompts(t *testing.T) func(prompt string) *hook.Outcome {
	t.Helper()
	reg, err := tenterhook.Open(t.Context(), tenterhook.Options{Workspace: t.TempDir(), Dirs: []string{one(t, "prompt-secrets")}, StateDir: t.TempDir(),
		Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopePlugin, hook.ScopeProject, hook.ScopeLocal}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	return func(prompt string) *hook.Outcome {
		out, err := reg.Dispatch(t.Context(), hook.UserPromptSubmit{Prompt: prompt})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}
