package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/tenterhook/tenterhook/bridge"
)

// Trusted is the state of entries that their agent runs.
const Trusted = "trusted"

// trustTime bounds a conversation with a client about trust.
const trustTime = 60 * time.Second

// TrustState says whether an agent runs our entries: "trusted", another word of
// the agent's own such as "untrusted" or "modified", "unknown" where its client
// is not on the PATH, or "" for an agent that asks for no trust.
func (e Env) TrustState(a *bridge.Agent, s Scope) (string, error) {
	if a.Name != "codex" {
		return "", nil
	}
	if e.clientPath(a.Name) == "" {
		return "unknown", nil
	}
	hooks, err := e.codexHooks(s, nil)
	if err != nil {
		return "unknown", err
	}
	ours := 0
	for _, h := range hooks {
		if h.ours() {
			ours++
			if h.Status != Trusted {
				return h.Status, nil
			}
		}
	}
	if ours == 0 {
		return "missing", nil
	}
	return Trusted, nil
}

// Trust has an agent trust our entries, and checks that it does.
func (e Env) Trust(a *bridge.Agent, s Scope) error {
	if e.clientPath(a.Name) == "" {
		return fmt.Errorf("the program of %s is not on the PATH; trust the entries in the client, with /hooks", a.Title)
	}
	err := e.noteTrust(a, s, func() (keys []string, err error) {
		_, err = e.codexHooks(s, func(hooks []codexHook) map[string]any {
			state := make(map[string]any)
			for _, h := range hooks {
				if h.ours() {
					state[h.Key] = map[string]string{"trusted_hash": h.Hash}
					keys = append(keys, h.Key)
				}
			}
			return state
		})
		return keys, err
	})
	if err != nil {
		return err
	}
	now, err := e.TrustState(a, s)
	if err != nil {
		return err
	}
	if now != Trusted {
		return fmt.Errorf("%s says that the entries are %s", a.Title, now)
	}
	return nil
}

// codexHook is a hook as Codex lists it.
type codexHook struct {
	Key     string `json:"key"`
	Hash    string `json:"currentHash"`
	Status  string `json:"trustStatus"`
	Command string `json:"command"`
}

func (h codexHook) ours() bool { return lineAgent(h.Command) == "codex" }

// codexHooks asks Codex' app-server for its hooks, and has it trust the hooks that
// choose returns, by key.
func (e Env) codexHooks(s Scope, choose func([]codexHook) map[string]any) ([]codexHook, error) {
	ctx, cancel := context.WithTimeout(context.Background(), trustTime)
	defer cancel()
	dir := e.Home
	if s == Project {
		dir = e.Project
	}
	server, err := startServer(ctx, e.clientPath("codex"), dir)
	if err != nil {
		return nil, err
	}
	defer server.close()
	var listed struct {
		Data []struct {
			Hooks  []codexHook `json:"hooks"`
			Errors []struct {
				Path, Message string
			} `json:"errors"`
		} `json:"data"`
	}
	if err := server.call("hooks/list", map[string]any{"cwds": []string{dir}}, &listed); err != nil {
		return nil, err
	}
	var hooks []codexHook
	for _, one := range listed.Data {
		for _, problem := range one.Errors {
			return nil, fmt.Errorf("codex cannot read %s: %s", problem.Path, problem.Message)
		}
		hooks = append(hooks, one.Hooks...)
	}
	if choose == nil {
		return hooks, nil
	}
	edit := map[string]any{"keyPath": "hooks.state", "value": choose(hooks), "mergeStrategy": "upsert"}
	return hooks, server.call("config/batchWrite", map[string]any{"edits": []any{edit}}, nil)
}

// appServer is a conversation with Codex' app-server: JSON-RPC, a line a message.
type appServer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func startServer(ctx context.Context, client, dir string) (*appServer, error) {
	s := &appServer{cmd: exec.CommandContext(ctx, client, "app-server")}
	s.cmd.Dir, s.cmd.WaitDelay = dir, time.Second
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	params := map[string]any{"clientInfo": map[string]string{"name": "tenterhook", "version": "1"},
		"capabilities": map[string]bool{"experimentalApi": true}}
	if err := s.call("initialize", params, nil); err != nil {
		s.close()
		return nil, err
	}
	return s, s.send(map[string]any{"method": "initialized"})
}

func (s *appServer) send(message map[string]any) error {
	return json.NewEncoder(s.in).Encode(message)
}

func (s *appServer) call(method string, params, result any) error {
	s.id++
	if err := s.send(map[string]any{"id": s.id, "method": method, "params": params}); err != nil {
		return fmt.Errorf("codex app-server: %s: %w", method, err)
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("codex app-server ended before it answered %s: %w", method, err)
		}
		var m struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct{ Message string }
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil || *m.ID != s.id {
			continue // a notification
		}
		if m.Error != nil {
			return fmt.Errorf("codex app-server: %s: %s", method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	}
}

func (s *appServer) close() {
	_ = s.in.Close()
	timer := time.AfterFunc(5*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait() // its exit code says nothing
}

// noteTrust keeps in the receipt what trusting changes in Codex' configuration.
func (e Env) noteTrust(a *bridge.Agent, s Scope, change func() ([]string, error)) error {
	r, err := e.receipt(a.Name, s)
	if err != nil || r == nil {
		_, err := change()
		return err
	}
	home, err := e.homeOf(a.Name)
	if err != nil {
		return err
	}
	config, err := readTarget(filepath.Join(home, "config.toml"))
	if err != nil {
		return err
	}
	path, before := config.path, config.data
	f := &FileReceipt{Path: path, Existed: before != nil}
	if r.Trust != nil && digest(before) == r.Trust.After { // trusted again: keep what was there first
		f.Existed, f.Before, f.Backup = r.Trust.Existed, r.Trust.Before, r.Trust.Backup
	} else if before != nil {
		if f.Backup, err = e.backup(path, before); err != nil {
			return fmt.Errorf("the backup: %w", err)
		}
		f.Before = digest(before)
	}
	if f.Created, err = change(); err != nil {
		return err
	}
	after, err := readBounded(path)
	if err != nil {
		return err
	}
	f.After = digest(after)
	r.Trust = f
	return e.writeReceipt(r)
}

// withoutTrust is Codex' configuration without the trust of our entries.
func withoutTrust(now []byte, f *FileReceipt) []byte {
	if digest(now) == f.After {
		if !f.Existed {
			return nil
		}
		if data, err := readBounded(f.Backup); err == nil && digest(data) == f.Before {
			return data
		}
	}
	kept := withoutTables(now, f.Created)
	var before, after map[string]any
	if _, err := toml.Decode(string(now), &before); err != nil {
		return now // Codex does not read it either
	}
	forgetTables(before, f.Created)
	if _, err := toml.Decode(string(kept), &after); err != nil || !reflect.DeepEqual(before, after) {
		return now // trust of entries that are gone does no harm
	}
	return kept
}

// withoutTables leaves out the tables of our entries' trust, of which Codex
// wrote all lines, with the empty line before each.
func withoutTables(text []byte, keys []string) []byte {
	var kept []byte
	ours := false
	for line := range bytes.Lines(text) {
		switch trimmed := bytes.TrimSpace(line); {
		case bytes.HasPrefix(trimmed, []byte("[")) && trustTable(trimmed, keys):
			ours = true
			if nl := bytes.TrimPrefix(line, bytes.TrimRight(line, "\r\n")); len(nl) > 0 && bytes.HasSuffix(kept, append(bytes.Clone(nl), nl...)) {
				kept = kept[:len(kept)-len(nl)]
			}
			continue
		case ours && (bytes.HasPrefix(trimmed, []byte("trusted_hash")) || bytes.HasPrefix(trimmed, []byte("enabled"))):
			continue
		}
		ours = false
		kept = append(kept, line...)
	}
	return kept
}

// trustTable reports whether a table's header is that of one of our entries.
func trustTable(header []byte, keys []string) bool {
	var table struct {
		Hooks struct{ State map[string]any }
	}
	if _, err := toml.Decode(string(header), &table); err != nil {
		return false
	}
	return slices.ContainsFunc(keys, func(key string) bool { return table.Hooks.State[key] != nil })
}

// forgetTables removes what withoutTables leaves out from the decoded text.
func forgetTables(config map[string]any, keys []string) {
	hooks, _ := config["hooks"].(map[string]any)
	state, _ := hooks["state"].(map[string]any)
	for _, key := range keys {
		delete(state, key)
	}
	if hooks != nil && len(state) == 0 {
		delete(hooks, "state")
	}
	if len(hooks) == 0 {
		delete(config, "hooks")
	}
}
