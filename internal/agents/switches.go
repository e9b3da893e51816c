package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"
	"github.com/tailscale/hujson"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// base is the directory in which a file is looked for.
type base uint8

const (
	ownDir    base = iota // the user's directory of the agent
	inProject             // the root of the project
	ofMachine             // the machine's
)

// switchFile is a file that can switch an agent's hooks off. Its
// last element may be a pattern.
type switchFile struct {
	in   base
	path string
	// off names the setting that switches the user's entries off, "" for none.
	off func(e Env, s settings) string
	// managed are settings of an administrator: our own managed entries survive
	// what switches a user's off.
	managed bool
}

// settings is a decoded file.
type settings map[string]any

// at is the value below keys, nil if there is none.
func (s settings) at(keys ...string) any {
	var v any = map[string]any(s)
	for _, key := range keys {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[key]
	}
	return v
}

// texts are the strings of a list.
func (s settings) texts(keys ...string) (list []string) {
	values, _ := s.at(keys...).([]any)
	for _, v := range values {
		if text, ok := v.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// switchFiles are the files of each agent. The tests against real clients show
// that each setting disarms.
var switchFiles = map[string][]switchFile{
	"claude": {
		{in: ownDir, path: "settings.json", off: allHooksOff}, {in: inProject, path: ".claude/settings.json", off: allHooksOff},
		{in: inProject, path: ".claude/settings.local.json", off: allHooksOff},
		{in: ofMachine, path: filepath.Join(claudeManaged(), "managed-settings.json"), off: claudePolicyOff, managed: true},
		{in: ofMachine, path: filepath.Join(claudeManaged(), "managed-settings.d/*.json"), off: claudePolicyOff, managed: true},
	},
	"codex": {
		{in: ownDir, path: "config.toml", off: codexOff}, {in: inProject, path: ".codex/config.toml", off: codexOff},
		{in: ofMachine, path: onMachine("/etc/codex/config.toml", `OpenAI\Codex\config.toml`), off: codexOff},
	},
	"gemini": {
		{in: ownDir, path: "settings.json", off: geminiOff}, {in: inProject, path: ".gemini/settings.json", off: geminiOff},
		{in: ofMachine, path: onMachine("/etc/gemini-cli/settings.json", `gemini-cli\settings.json`), off: geminiOff},
		{in: ownDir, path: "extensions/extension-enablement.json", off: geminiExtensionOff},
	},
	"copilot": {
		{in: ownDir, path: "settings.json", off: allHooksOff}, {in: ownDir, path: "config.json", off: allHooksOff},
		{in: inProject, path: ".github/copilot/settings.json", off: allHooksOff}, {in: inProject, path: ".github/copilot/settings.local.json", off: allHooksOff},
		{in: inProject, path: ".claude/settings.json", off: allHooksOff}, {in: inProject, path: ".claude/settings.local.json", off: allHooksOff},
	},
	"qwen": {
		{in: ownDir, path: "settings.json", off: allHooksOff}, {in: inProject, path: ".qwen/settings.json", off: allHooksOff},
		{in: ofMachine, path: onMachine("/etc/qwen-code/settings.json", `qwen-code\settings.json`), off: allHooksOff},
	},
	"pi": {{in: ownDir, path: "settings.json", off: piOff}},
}

// onMachine is a file of the machine's own: on Windows it is in C:\ProgramData.
func onMachine(path, windows string) string {
	if runtime.GOOS == "windows" {
		return `C:\ProgramData\` + windows
	}
	return path
}

func allHooksOff(_ Env, s settings) string {
	if s.at("disableAllHooks") == true {
		return "disableAllHooks"
	}
	return ""
}

func claudePolicyOff(e Env, s settings) string {
	plugins := s.at("strictPluginOnlyCustomization")
	switch {
	case s.at("allowManagedHooksOnly") == true:
		return "allowManagedHooksOnly"
	case plugins != nil && plugins != false && !isListWithout(plugins, "hooks"):
		return "strictPluginOnlyCustomization"
	}
	return allHooksOff(e, s)
}

// isListWithout reports whether a value is a list of other words.
func isListWithout(v any, word string) bool {
	list, ok := v.([]any)
	return ok && !slices.Contains(list, any(word))
}

func codexOff(_ Env, s settings) string {
	for _, name := range []string{"hooks", "codex_hooks"} { // the second is an older name
		if s.at("features", name) == false {
			return "features." + name + " = false"
		}
	}
	if profile, ok := s.at("profile").(string); ok && s.at("profiles", profile, "features", "hooks") == false {
		return "profiles." + profile + ".features.hooks = false"
	}
	return ""
}

func geminiOff(_ Env, s settings) string {
	switch {
	case s.at("hooksConfig", "enabled") == false:
		return "hooksConfig.enabled = false"
	case slices.Contains(s.texts("hooksConfig", "disabled"), "tenterhook"):
		return `hooksConfig.disabled with "tenterhook"`
	case s.at("admin", "extensions", "enabled") == false:
		return "admin.extensions.enabled = false"
	}
	return ""
}

// geminiExtensionOff reads which extensions are on where: of the overrides that
// a path is in, the last one counts.
func geminiExtensionOff(e Env, s settings) string {
	off := ""
	for _, rule := range s.texts("tenterhook", "overrides") {
		path, negative := strings.CutPrefix(rule, "!")
		if dir := filepath.Clean(strings.TrimSuffix(path, "*")); inside(e.Project, dir) {
			if off = ""; negative {
				off = fmt.Sprintf("the override %q of the extension", rule)
			}
		}
	}
	return off
}

// piOff reads which of the user's extensions are left out.
func piOff(_ Env, s settings) string {
	const file = "extensions/tenterhook.ts"
	off := ""
	for _, rule := range s.texts("extensions") {
		pattern := strings.TrimPrefix(strings.TrimLeft(rule, "!+-"), "./")
		named, _ := doublestar.Match(pattern, file)
		bare, _ := doublestar.Match(pattern, filepath.Base(file))
		switch {
		case !named && !bare && !strings.HasSuffix(pattern, "/"+file):
		case rule[0] == '-' || rule[0] == '!':
			off = fmt.Sprintf("extensions with %q", rule)
		}
	}
	return off
}

// switches looks for what switches the agent's hooks off.
func (v *verifier) switches(scope Scope) {
	for _, f := range switchFiles[v.agent.Name] {
		if f.managed && scope == Managed {
			continue
		}
		for _, path := range v.switchPaths(f) {
			v.switchIn(path, f, scope)
		}
	}
}

// switchPaths are where a file is looked for.
func (v *verifier) switchPaths(f switchFile) []string {
	dir := v.Project
	switch f.in {
	case ownDir:
		var err error
		if dir, err = v.homeOf(v.agent.Name); err != nil {
			return nil // entries says so
		}
	}
	name := filepath.Base(f.path)
	if f.in == ofMachine {
		dir = v.ofMachine(filepath.Dir(f.path))
	} else {
		dir = filepath.Join(dir, filepath.Dir(f.path))
	}
	if !strings.Contains(name, "*") {
		return []string{filepath.Join(dir, name)}
	}
	found, _ := os.ReadDir(dir) // it may not be there
	var paths []string
	for _, file := range found {
		if ok, _ := filepath.Match(name, file.Name()); ok {
			paths = append(paths, filepath.Join(dir, file.Name()))
		}
	}
	return paths
}

func (v *verifier) switchIn(path string, f switchFile, scope Scope) {
	s, err := readSettings(path)
	if err != nil {
		v.say(hook.SeverityWarning, "unreadable", path, 0, "it cannot be told whether it switches hooks off: "+err.Error(), "correct it, or remove it")
		return
	}
	if v.http {
		v.reaches(path, s)
	}
	off := f.off(v.Env, s)
	switch {
	case off == "":
	case scope == Managed: // the client keeps an administrator's hooks
		v.say(hook.SeverityInfo, "switched_off", path, 0, fmt.Sprintf("%s switches hooks of %s off, but not managed ones", off, v.agent.Title), "")
	default:
		v.say(hook.SeverityError, "switched_off", path, 0, fmt.Sprintf("%s switches the hooks of %s off", off, v.agent.Title), "remove it")
	}
}

// proxyVariables are what a client's environment says of proxies.
var proxyVariables = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"}

// reaches looks for what leads calls over HTTP elsewhere.
func (v *verifier) reaches(path string, s settings) {
	given, _ := s.at("env").(map[string]any)
	env := make(map[string]string)
	for _, name := range proxyVariables {
		env[name] = v.Getenv(name)
	}
	for name, value := range given {
		env[name], _ = value.(string)
	}
	var list []string
	for name, value := range env {
		if _, set := given[name]; set || value != "" {
			list = append(list, name+"="+value)
		}
	}
	slices.Sort(list)
	if name := door.Proxied(list); name != "" && len(given) > 0 {
		v.say(hook.SeverityError, "proxied", path, 0, "its env sends calls over HTTP to a proxy ("+name+"), which could answer in the daemon's place", "add 127.0.0.1 to NO_PROXY there, or remove it")
	}
	if s.at("allowedHttpHookUrls") != nil && !slices.ContainsFunc(s.texts("allowedHttpHookUrls"), matchesDoor) {
		v.say(hook.SeverityWarning, "http_blocked", path, 0, "allowedHttpHookUrls leaves out 127.0.0.1: every call of a tool is blocked", `add "http://127.0.0.1:*", or install with --transport command`)
	}
}

func matchesDoor(pattern string) bool {
	return strings.HasPrefix(pattern, "*") || strings.HasPrefix(pattern, "http://127.0.0.1:") || strings.HasPrefix(pattern, "http://*")
}

// readSettings decodes a file, JSON with comments or TOML. A missing file
// is empty.
func readSettings(path string) (settings, error) {
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s settings
	if filepath.Ext(path) == ".toml" {
		_, err := toml.Decode(string(data), (*map[string]any)(&s))
		return s, err
	}
	if tooDeep(data) >= 0 {
		return nil, fmt.Errorf("more than %d values lie within each other", maxDepth)
	}
	plain, err := hujson.Standardize(bytes.TrimPrefix(data, utf8BOM))
	if err != nil {
		return nil, err
	}
	return s, json.Unmarshal(plain, &s)
}
