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

// canary is a hook of a project that is not approved: it must deny, whatever
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
	Denied  bool          `json:"denied"` // the canary's call did not run, and the model got the reason or the run was ended
	Ran     bool          `json:"ran"`
	Elapsed time.Duration `json:"-"`
	Output  string        `json:"output,omitempty"` // the end of what the client printed, if it was not denied
}

// liveProject is the project that the client is run in, in the model's directory.
const liveProject = "project"

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
	dir, err := os.MkdirTemp("", "tenterhook-live-") // the canary's name is in no prompt
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	workspace := filepath.Join(dir, liveProject)
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
	at := modelAt{url: model.URL, dir: dir}
	for name, text := range c.files(at) {
		if err := writePrivate(filepath.Join(dir, name), []byte(text)); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, s.Client, c.args(at, "run it")...)
	cmd.Env, cmd.Dir = append(os.Environ(), c.env(at)...), workspace
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	_, statErr := os.Stat(ran)
	live := &Live{Ran: statErr == nil, Elapsed: time.Since(began)}
	live.Denied = !live.Ran && (model.Told("canary") || c.ended != "" && bytes.Contains(out.Bytes(), []byte(c.ended)))
	if !live.Denied {
		live.Output = string(out.Bytes()[max(0, out.Len()-2000):])
		if !live.Ran && len(model.Requests()) == 0 {
			return live, fmt.Errorf("%s did not ask the model on loopback: %w", s.Agent.Title, err)
		}
	}
	return live, nil
}
