// Command agent is a small agent that obeys its hooks. Its model is a script on
// standard input: "> text" is a prompt, `Bash {"command":"ls"}` a tool call.
//
//	printf '> clean up\nBash {"command":"rm -rf /"}\nBash {"command":"ls"}\n' | go run ./examples/agent
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

var (
	dir       = flag.String("dir", "examples/hooks", "folder of hooks")
	workspace = flag.String("workspace", ".", "the project's root")
	yes       = flag.Bool("yes", false, "what a person says when a hook asks")
	base      = hook.Base{SessionID: "example"}
)

func main() {
	flag.Parse()
	reg, err := tenterhook.Open(context.Background(), tenterhook.Options{Workspace: *workspace, Dirs: []string{*dir}})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range reg.Diagnostics() {
		log.Printf("hooks: %s: %s", d.Path, d.Message)
	}
	if err := reg.Prewarm(context.Background()); err != nil { // else the first call that needs a plugin or a server waits
		log.Printf("hooks: %v", err)
	}
	live(reg, bufio.NewScanner(os.Stdin))
	if err := reg.Close(); err != nil { // waits for hooks in the background
		log.Fatal(err)
	}
}

// live is a session from start to stop.
func live(reg *registry.Registry, model *bufio.Scanner) {
	stopped := ask(reg, hook.SessionStart{Base: base, Source: "startup"}).Stop
	for n := 1; !stopped && model.Scan(); n++ {
		fmt.Println(model.Text())
		if prompt, ok := strings.CutPrefix(model.Text(), "> "); ok {
			out := ask(reg, hook.UserPromptSubmit{Base: base, Prompt: prompt})
			if stopped = out.Stop; !out.MayProceed() {
				fmt.Println("  not sent:", out.Reason)
			}
		} else if tool, input, ok := strings.Cut(model.Text(), " "); ok {
			stopped = call(reg, fmt.Sprintf("call_%d", n), tool, json.RawMessage(input))
		}
	}
	for again := false; !stopped; again = true {
		out := ask(reg, hook.Stop{Base: base, StopHookActive: again})
		if stopped = out.MayProceed(); !stopped { // the action is the stop
			fmt.Println("  not done yet:", out.Reason) // a real model would work on this
		}
	}
	ask(reg, hook.SessionEnd{Base: base, Reason: "other"})
}

// call does a tool call that the model proposed, if the hooks let it.
func call(reg *registry.Registry, id, tool string, input json.RawMessage) (stopped bool) {
	out := ask(reg, hook.PreToolUse{Base: base, ToolName: tool, ToolInput: input, ToolUseID: id})
	if !out.MayProceed() && !(out.Verdict == hook.Ask && *yes) {
		fmt.Printf("  not run (%s): %s\n", out.Verdict, out.Reason) // a model gets this as the tool's result
		return out.Stop
	}
	if out.UpdatedInput != nil {
		input = out.UpdatedInput
	}
	result, err := run(tool, input)
	if err != nil {
		fmt.Println("  failed:", err)
		return ask(reg, hook.PostToolUseFailure{Base: base, ToolName: tool, ToolInput: input, ToolUseID: id, Error: err.Error()}).Stop
	}
	response, _ := json.Marshal(result) // a string always encodes
	out = ask(reg, hook.PostToolUse{Base: base, ToolName: tool, ToolInput: input, ToolUseID: id, ToolResponse: response})
	fmt.Println("  result:", cmp.Or(string(out.UpdatedToolOutput), string(response)), out.Reason)
	return out.Stop
}

// run runs the one tool that this agent has.
func run(tool string, input json.RawMessage) (string, error) {
	var bash struct{ Command string }
	if err := json.Unmarshal(input, &bash); err != nil || tool != "Bash" {
		return "", fmt.Errorf("no such tool, or not its input: %s", tool)
	}
	cmd := exec.Command("sh", "-c", bash.Command)
	cmd.Dir = *workspace
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// ask dispatches an event and shows what the hooks said beside their verdict.
func ask(reg *registry.Registry, in hook.Input) *hook.Outcome {
	out, err := reg.Dispatch(context.Background(), in)
	if err != nil { // nothing was decided, so nothing may continue
		log.Fatal(err)
	}
	for _, text := range out.Contexts {
		fmt.Println("  for the model:", text)
	}
	for _, text := range out.SystemMessages {
		fmt.Println("  for the person:", text)
	}
	for _, r := range out.Results {
		if r.Failure != "" {
			fmt.Printf("  %s did not do its work (%s): %s\n", r.Hook.ID, r.Failure, r.Reason)
		}
	}
	return out
}
