package manifest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// matcher reads matcher. In a manifest for another host it may be something
// else altogether.
func (s section) matcher() string {
	if s.lenient {
		text, _ := s.values["matcher"].(string)
		return text
	}
	return s.text("matcher")
}

// policy reads on_failure. A misspelt "block" still means that: the hook is
// invalid, and whoever wanted its failure to block wants this one to.
func (s section) policy() hook.FailurePolicy {
	policy := hook.FailurePolicy(s.choice("on_failure", policyWords))
	if v, _ := s.get("on_failure"); policy == "" && v != nil {
		if word, ok := v.(string); ok {
			policy = hook.FailurePolicy(hook.Nearest(word, policyWords))
		}
	}
	return policy
}

// env reads the environment that the hook gets. A list under this key names
// variables that are required.
func (s section) env() map[string]string {
	if _, isList := s.values["env"].([]any); isList {
		return nil
	}
	table := s.table("env")
	if len(table.values) == 0 {
		return nil
	}
	env := make(map[string]string, len(table.values))
	for _, name := range slices.Sorted(maps.Keys(table.values)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			s.fail(remark{"unknown_value", table.at(name), "is no name that a variable can have", ""})
			continue
		}
		switch v := table.values[name].(type) {
		case string:
			if strings.ContainsRune(v, 0) {
				s.fail(remark{"unknown_value", table.at(name), "no variable can hold a NUL character", ""})
				continue
			}
			env[name] = v
		case bool:
			env[name] = strconv.FormatBool(v)
		case int64:
			env[name] = strconv.FormatInt(v, 10)
		default:
			table.wrongType(name, "a string", v)
		}
	}
	return env
}

func (s section) breaker() hook.BreakerSettings {
	table := s.table("breaker")
	table.check(breakerKeys)
	return hook.BreakerSettings{Failures: table.integer("failures"), Cooldown: table.duration("cooldown")}
}

// sandbox reads the sandbox that the hook asks for; nil = none is declared.
func (s section) sandbox() *hook.Sandbox {
	v, _ := s.get("sandbox")
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		s.wrongType("sandbox", "a mode or a table", v)
		return nil
	}
	box, problems := hook.SandboxOf(raw)
	for _, p := range problems {
		s.fail(remark{p.Code, p.Key, p.Text, p.Hint})
	}
	return box
}

// requires gathers the requirements from wherever hosts look for them: a table
// of their own, the top, and metadata, unless that says that they always hold.
func (s section) requires(from origin) hook.Requires {
	var need hook.Requires
	own := s.table("requires")
	own.check(requiresKeys)
	own.require(&need)
	need.Envs = append(need.Envs, own.strings("env")...)

	s.require(&need)
	if _, isTable := s.values["env"].(map[string]any); !isTable {
		need.Envs = append(need.Envs, s.listed("env")...)
	}
	if from.meta.values != nil && !from.meta.flag("always", false) {
		meta := from.meta.table("requires")
		meta.require(&need)
		need.Envs = append(need.Envs, meta.strings("env")...)
		from.meta.system(&need)
	}
	return need
}

func (s section) require(need *hook.Requires) {
	need.Bins = append(need.Bins, s.strings("bins")...)
	need.AnyBins = append(need.AnyBins, s.strings("any_bins")...)
	need.Envs = append(need.Envs, s.strings("envs")...)
	s.system(need)
	if s.path != "" && s.values["config"] != nil && s.doc.root["command"] != nil {
		s.warn(remark{"no_effect", s.at("config"), "settings of another host are not looked up", ""})
	}
}

// listed is strings for a key that means something else when it is no list.
func (s section) listed(key string) []string {
	if _, isList := s.values[key].([]any); !isList {
		return nil
	}
	return s.strings(key)
}

// otherSystems are names that manifests have for a system beside its own.
var otherSystems = map[string]string{"darwin": "macos", "win32": "windows"}

var systems = []string{"linux", "macos", "windows", "freebsd", "openbsd", "netbsd", "dragonfly", "solaris", "illumos", "android", "ios", "aix"}

func (s section) system(need *hook.Requires) {
	for _, name := range s.strings("os") {
		name = strings.ToLower(name)
		name = cmp.Or(otherSystems[name], name)
		if !slices.Contains(systems, name) {
			if near := hook.Nearest(name, systems); near != "" {
				s.warn(remark{"unknown_value", s.at("os"), "there is no system " + quote(name), "did you mean " + quote(near) + "?"})
			}
		}
		need.OS = append(need.OS, name)
	}
}

// want is what kind of value a param takes.
type want string

const (
	wantText  want = "a string"
	wantList  want = "a list of strings"
	wantWords want = "a string or a list of strings"
	wantTexts want = "a table of strings"
	wantTable want = "a table"
	wantFlag  want = "true or false"
	wantAny   want = "a value"
)

// holds reports whether v is what is wanted, and what that is.
func (w want) holds(v any) (string, bool) {
	ok := true
	switch w {
	case wantText:
		_, ok = v.(string)
	case wantFlag:
		_, ok = v.(bool)
	case wantTable:
		_, ok = v.(map[string]any)
	case wantList, wantWords:
		list, isList := v.([]any)
		_, isText := v.(string)
		ok = isList && !slices.ContainsFunc(list, notText) || isText && w == wantWords
	case wantTexts:
		table, isTable := v.(map[string]any)
		ok = isTable && !slices.ContainsFunc(slices.Collect(maps.Values(table)), notText)
	}
	return string(w), ok
}

func notText(v any) bool { _, ok := v.(string); return !ok }
