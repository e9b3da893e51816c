package agents

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"

	"github.com/tenterhook/tenterhook/bridge"
)

//go:embed plugins/opencode.js
var opencodePlugin []byte

//go:embed plugins/pi.ts
var piExtension []byte

// naming puts the bridge's path into a plugin, as a string of its language.
func naming(plugin []byte, program string) []byte {
	return bytes.ReplaceAll(plugin, []byte(`"@PROGRAM@"`), []byte(compact(program)))
}

func init() {
	places["opencode"] = place{[]string{"opencode"}, []string{".config/opencode"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, filepath.Join(e.home("XDG_CONFIG_HOME", ".config"), "opencode"), ".opencode")
		return []target{{path: filepath.Join(dir, "plugin", "tenterhook.js"), own: naming(opencodePlugin, e.Program)}}, err
	}}
	places["pi"] = place{[]string{"pi"}, []string{".pi"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, filepath.Join(e.Home, ".pi", "agent"), ".pi")
		return []target{{path: filepath.Join(dir, "extensions", "tenterhook.ts"), own: naming(piExtension, e.Program)}}, err
	}}
	places["cline"] = place{[]string{"cline"}, []string{".cline"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, filepath.Join(e.Home, ".cline", "hooks"), ".clinerules/hooks")
		if err != nil {
			return nil, err
		}
		var list []target
		for _, event := range a.Events() {
			list = append(list, target{path: filepath.Join(dir, event), exec: true, own: []byte("#!/bin/sh\n" + guardLine(e.Program, a, event) + "\n")})
		}
		return list, nil
	}}
	places["cursor"] = sharedPlace("cursor", ".cursor/hooks.json", ".cursor/hooks.json", cursors, "{\n  \"version\": 1\n}\n")
	places["windsurf"] = sharedPlace("windsurf", ".codeium/windsurf/hooks.json", ".windsurf/hooks.json", plain, emptyObject)
	places["factory"] = sharedPlace("droid", ".factory/settings.json", ".factory/settings.json", grouped, emptyObject)
	places["vscode"] = place{[]string{"code"}, nil, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, "", ".github/hooks")
		return []target{{path: filepath.Join(dir, "tenterhook-vscode.json"), own: eventsFile(e.Program, a, grouped, `{"hooks":{}}`)}}, err
	}}
	places["kiro"] = place{[]string{"kiro-cli"}, []string{".kiro"}, func(e Env, a *bridge.Agent, s Scope) ([]target, error) {
		dir, err := e.inHomeOrProject(a, s, filepath.Join(e.Home, ".kiro", "agents"), ".kiro/agents")
		if err != nil {
			return nil, err
		}
		found, _ := filepath.Glob(filepath.Join(dir, "*.json")) // the pattern is sound
		var list []target
		for _, path := range found {
			list = append(list, target{path: path, keys: []string{"hooks"}, shape: kiros, fresh: emptyObject})
		}
		if len(list) == 0 {
			return nil, &os.PathError{Op: "install into Kiro's agents", Path: filepath.Join(dir, "*.json"), Err: os.ErrNotExist}
		}
		return list, nil
	}}
}

// sharedPlace is an agent with one file of entries that others share.
func sharedPlace(client, user, project string, s shape, fresh string) place {
	return place{[]string{client}, []string{filepath.Dir(user)}, func(e Env, a *bridge.Agent, scope Scope) ([]target, error) {
		path, err := e.inHomeOrProject(a, scope, filepath.Join(e.Home, user), project)
		return []target{{path: path, keys: []string{"hooks"}, shape: s, fresh: fresh}}, err
	}}
}
