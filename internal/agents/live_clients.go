package agents

import (
	"maps"

	"github.com/tenterhook/tenterhook/internal/agents/loopback"
)

// client is how an agent's program is run once, without a person and without an
// account, against a model on loopback.
type client struct {
	// args run a prompt. Tools run without the client asking for a permission.
	args func(at modelAt, prompt string) []string
	// env is what the program needs beside the caller's environment.
	env func(at modelAt) []string
	// ended is what it prints if a denial ended its run; "" = the reason reaches the model.
	ended string
	// config are files in the model's directory, by their names; nil = none.
	config func(at modelAt) map[string]string
	// shell is a call of its shell.
	shell func(command string) loopback.Call
}

// modelAt is a model on loopback, and a directory for what makes the program ask it.
type modelAt struct{ url, dir string }

// files are the files that the program needs in the model's directory.
func (c client) files(at modelAt) map[string]string {
	if c.config == nil {
		return nil
	}
	return c.config(at)
}

func shellTool(name, key string, more map[string]any) func(string) loopback.Call {
	return func(command string) loopback.Call {
		input := map[string]any{key: command}
		maps.Copy(input, more)
		return loopback.Call{Name: name, Input: input}
	}
}

var described = map[string]any{"description": "x"}

var clients = map[string]client{
	"claude": {
		args: func(_ modelAt, prompt string) []string {
			return []string{"-p", prompt, "--output-format", "json", "--allowedTools", "Bash,Write,Edit,Read,Agent,mcp__probe__mark"}
		},
		env: func(at modelAt) []string {
			return []string{"ANTHROPIC_BASE_URL=" + at.url, "ANTHROPIC_API_KEY=sk-x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1"}
		},
		shell: shellTool("Bash", "command", described),
	},
	"codex": {
		args: func(at modelAt, prompt string) []string {
			provider := `model_providers.loopback={name="loopback",base_url="` + at.url + `/v1",wire_api="responses",env_key="LOOPBACK_KEY",request_max_retries=0,stream_max_retries=0}`
			return []string{"exec", "--skip-git-repo-check", "-c", `model="gpt-5.1-codex"`, "-c", `model_provider="loopback"`, "-c", provider,
				"-c", `approval_policy="never"`, "-c", `sandbox_mode="danger-full-access"`, prompt}
		},
		env:   func(modelAt) []string { return []string{"LOOPBACK_KEY=x"} },
		shell: shellTool("exec_command", "cmd", nil),
	},
	"gemini": {
		args: func(_ modelAt, prompt string) []string {
			return []string{"-p", prompt, "--output-format", "json", "--approval-mode", "yolo"}
		},
		env: func(at modelAt) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + at.url, "GEMINI_API_KEY=x", "GEMINI_CLI_TRUST_WORKSPACE=true",
				"GEMINI_CLI_NO_RELAUNCH=true"}
		},
		// Whatever account the user has chosen, or none, the model needs none.
		config: func(modelAt) map[string]string {
			return map[string]string{liveProject + "/.gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`}
		},
		shell: shellTool("run_shell_command", "command", described),
	},
	"copilot": {
		args: func(_ modelAt, prompt string) []string { return []string{"-p", prompt, "--allow-all-tools"} },
		env: func(at modelAt) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + at.url + "/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=x",
				"COPILOT_MODEL=mock", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false"}
		},
		shell: shellTool("bash", "command", described),
	},
	"qwen": {
		args: func(_ modelAt, prompt string) []string {
			return []string{"-p", prompt, "--output-format", "json", "--approval-mode", "yolo", "--auth-type", "openai"}
		},
		env: func(at modelAt) []string {
			return []string{"OPENAI_BASE_URL=" + at.url + "/v1", "OPENAI_API_KEY=x", "OPENAI_MODEL=mock"}
		},
		shell: shellTool("run_shell_command", "command", map[string]any{"description": "x", "is_background": false}),
	},
	"opencode": {
		args: func(_ modelAt, prompt string) []string { return []string{"run", "--model", "loopback/mock", prompt} },
		env: func(at modelAt) []string {
			config := `{"model":"loopback/mock","small_model":"loopback/mock","autoupdate":false,"share":"disabled","permission":{"external_directory":"allow","bash":"allow"},` +
				`"provider":{"loopback":{"npm":"@ai-sdk/openai-compatible","name":"loopback","options":{"baseURL":"` + at.url + `/v1","apiKey":"x"},` +
				`"models":{"mock":{"name":"mock","tool_call":true}}}}}`
			return []string{"OPENCODE_CONFIG_CONTENT=" + config, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
		},
		shell: shellTool("bash", "command", described),
	},
	"pi": {
		args: func(at modelAt, prompt string) []string {
			return []string{"-p", "--extension", at.dir + "/loopback.js", "--provider", "loopback", "--model", "mock", prompt}
		},
		config: func(at modelAt) map[string]string {
			return map[string]string{"loopback.js": `export default (pi) => pi.registerProvider("loopback", {name: "loopback", baseUrl: "` + at.url + `/v1", apiKey: "x", api: "openai-completions",
  models: [{id: "mock", name: "mock", reasoning: false, input: ["text"], cost: {input: 0, output: 0, cacheRead: 0, cacheWrite: 0}, contextWindow: 100000, maxTokens: 1000}]})
`}
		},
		env:   func(modelAt) []string { return []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1"} },
		shell: shellTool("bash", "command", nil),
	},
	"cline": {
		args: func(_ modelAt, prompt string) []string {
			return []string{"--provider", "openai-compatible", "--model", "mock", "--json", prompt}
		},
		env: func(at modelAt) []string { // no daemon of its own, which would stay
			return []string{"CLINE_PROVIDER_SETTINGS_PATH=" + at.dir + "/providers.json", "CLINE_SESSION_BACKEND_MODE=local", "CLINE_NO_AUTO_UPDATE=1", "CLINE_TELEMETRY_DISABLED=1"}
		},
		config: func(at modelAt) map[string]string {
			return map[string]string{"providers.json": `{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":{"tokenSource":"manual",` +
				`"updatedAt":"2026-01-01T00:00:00.000Z","settings":{"provider":"openai-compatible","apiKey":"x","model":"mock","baseUrl":"` + at.url + `/v1"}}}}`}
		},
		ended: `"type":"run_aborted"`,
		shell: func(command string) loopback.Call {
			return loopback.Call{Name: "run_commands", Input: map[string]any{"commands": []string{command}}}
		},
	},
}
