package agents

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tenterhook/tenterhook/internal/agents/loopback"
)

// liveTime bounds a session of a client.
const liveTime = 90 * time.Second

// canary is a hook of a project that nobody approved: it must deny, whatever
// else there is.
const canary = `+++
name = "canary"
event = "PreToolUse"
command = "exit 0"
on_failure = "block"
+++
`

// Live is what a session of the real client showed.
type Live struct {
	Denied  bool          `json:"denied"` // the canary's call did not run, and the model was told why
	Ran     bool          `json:"ran"`
	Elapsed time.Duration `json:"-"`
	Output  string        `json:"output,omitempty"` // the end of what the client printed, if it was not denied
}

// VerifyLive runs the client of an agent, in its user's configuration, on a
// model on loopback that calls the client's shell once. A canary in a project of
// its own must deny the call.
func (e Env) VerifyLive(ctx context.Context, s State) (*Live, error) {
	c, ok := clients[s.Agent.Name]
	if !ok {
		return nil, fmt.Errorf("tenterhook cannot run %s without a person", s.Agent.Title)
	}
	if s.Client == "" {
		return nil, fmt.Errorf("the program of %s is not on the PATH", s.Agent.Title)
	}
	dir, err := os.MkdirTemp("", "tenterhook-canary-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	workspace := filepath.Join(dir, "project")
	if err := writePrivate(filepath.Join(workspace, ".tenterhook/hooks/canary/HOOK.md"), []byte(canary)); err != nil {
		return nil, err
	}
	ran := filepath.Join(dir, "ran")
	model, err := loopback.Start(loopback.Conversation{Turns: []loopback.Turn{{Calls: []loopback.Call{c.shell("touch " + shellQuote(ran))}}}})
	if err != nil {
		return nil, err
	}
	defer model.Close()
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Client, c.args(model.URL, "run it")...)
	cmd.Env, cmd.Dir = append(os.Environ(), c.env(model.URL)...), workspace
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	_, statErr := os.Stat(ran)
	live := &Live{Ran: statErr == nil, Elapsed: time.Since(began)}
	live.Denied = !live.Ran && model.Told("canary")
	if !live.Denied {
		live.Output = string(out.Bytes()[max(0, out.Len()-2000):])
		if !live.Ran && len(model.Requests()) == 0 {
			return live, fmt.Errorf("%s did not ask the model on loopback: %w", s.Agent.Title, err)
		}
	}
	return live, nil
}

// client is how an agent's program is run once, without a person and without an
// account, against a model on loopback.
type client struct {
	// args run a prompt. Tools run without the client asking for a permission.
	args func(url, prompt string) []string
	// env is what the program needs beside the caller's environment.
	env func(url string) []string
	// shell is a call of its shell.
	shell func(command string) loopback.Call
}

func shellTool(name, key string, more map[string]any) func(string) loopback.Call {
	return func(command string) loopback.Call {
		input := map[string]any{key: command}
		for k, v := range more {
			input[k] = v
		}
		return loopback.Call{Name: name, Input: input}
	}
}

var described = map[string]any{"description": "x"}

var clients = map[string]client{
	"claude": {
		args: func(_, prompt string) []string {
			return []string{"-p", prompt, "--output-format", "json", "--allowedTools", "Bash,Write,Edit,Read,Agent,mcp__probe__mark"}
		},
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1"}
		},
		shell: shellTool("Bash", "command", described),
	},
	"codex": {
		args: func(url, prompt string) []string {
			provider := `model_providers.loopback={name="loopback",base_url="` + url + `/v1",wire_api="responses",env_key="LOOPBACK_KEY",request_max_retries=0,stream_max_retries=0}`
			return []string{"exec", "--skip-git-repo-check", "-c", `model="gpt-5.1-codex"`, "-c", `model_provider="loopback"`, "-c", provider,
				"-c", `approval_policy="never"`, "-c", `sandbox_mode="danger-full-access"`, prompt}
		},
		env:   func(string) []string { return []string{"LOOPBACK_KEY=x"} },
		shell: shellTool("exec_command", "cmd", nil),
	},
	"gemini": {
		args: func(_, prompt string) []string {
			return []string{"-p", prompt, "--output-format", "json", "--approval-mode", "yolo"}
		},
		env: func(url string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=x", "GEMINI_CLI_TRUST_WORKSPACE=true",
				"GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_DEFAULT_AUTH_TYPE=gemini-api-key"}
		},
		shell: shellTool("run_shell_command", "command", described),
	},
	"copilot": {
		args: func(_, prompt string) []string { return []string{"-p", prompt, "--allow-all-tools"} },
		env: func(url string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=x",
				"COPILOT_MODEL=mock", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false"}
		},
		shell: shellTool("bash", "command", described),
	},
	"qwen": {
		args: func(_, prompt string) []string {
			return []string{"-p", prompt, "--output-format", "json", "--approval-mode", "yolo", "--auth-type", "openai"}
		},
		env: func(url string) []string {
			return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=x", "OPENAI_MODEL=mock"}
		},
		shell: shellTool("run_shell_command", "command", map[string]any{"description": "x", "is_background": false}),
	},
	"opencode": {
		args: func(_, prompt string) []string { return []string{"run", "--model", "loopback/mock", prompt} },
		env: func(url string) []string {
			config := `{"model":"loopback/mock","small_model":"loopback/mock","autoupdate":false,"share":"disabled","permission":{"external_directory":"allow","bash":"allow"},` +
				`"provider":{"loopback":{"npm":"@ai-sdk/openai-compatible","name":"loopback","options":{"baseURL":"` + url + `/v1","apiKey":"x"},` +
				`"models":{"mock":{"name":"mock","tool_call":true}}}}}`
			return []string{"OPENCODE_CONFIG_CONTENT=" + config, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
		},
		shell: shellTool("bash", "command", described),
	},
	"pi": {
		args: func(_, prompt string) []string {
			return []string{"-p", "--provider", "loopback", "--model", "mock", prompt}
		},
		env:   func(string) []string { return []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1"} },
		shell: shellTool("bash", "command", nil),
	},
}
