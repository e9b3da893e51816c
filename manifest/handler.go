package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

var (
	kindWords     = append(words(hook.Kinds()), "mcp_tool")
	protocolWords = words(hook.Protocols())
	policyWords   = []string{string(hook.FailureContinue), string(hook.FailureBlock)}
	shellWords    = []string{"sh", "bash", "powershell"}
	cwdWords      = []string{"hook", cwdSession}
)

// cwdSession is the value of cwd that starts a command in the session's directory.
const cwdSession = "session"

func words[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

// kind reads type. Claude's name for an MCP hook is taken as well.
func (s section) kind() hook.Kind {
	switch word := s.choice("type", kindWords); word {
	case "":
		return hook.KindCommand
	case "mcp_tool":
		return hook.KindMCP
	default:
		return hook.Kind(word)
	}
}

// handler reads what runs the hook: the keys of its kind. What keeps a hook
// from running that is nobody's mistake becomes its Why.
func (s section) handler(h *hook.Hook, from origin) {
	if s.lenient {
		h.Why = "it is written for another host, as its key " + from.key + " tells"
		s.warn(remark{"foreign_manifest", from.key, "this key is another host's, so the hook does not run here", "name the event with event, and what to run with command"})
		return
	}
	s.unused(h.Kind)
	if h.Kind != hook.KindCommand {
		h.Params = s.params(h.Kind)
		if h.Kind == hook.KindRule {
			s.rule(h)
		}
		return
	}
	h.Async, h.AsyncRewake = s.flag("async", false), s.flag("async_rewake", false)
	h.Sandbox = s.sandbox()
	h.Command = s.command()
	if s.choice("cwd", cwdWords) == cwdSession {
		h.Source.Dir = ""
	}
	if worker := s.flag("worker", false); h.Command != nil {
		h.Command.Worker = worker
	}
	switch {
	case h.Command != nil || s.values["command"] != nil && s.wrong != "":
	case s.values["type"] != nil:
		s.fail(remark{"missing_command", "type", "a command hook needs a command", `add command = "./run.sh", say`})
	default:
		h.Why = s.noCommand(from)
		s.warn(remark{"missing_command", from.key, h.Why, s.kindHint()})
	}
}

// command reads command, args and shell. It returns nil if there is none.
func (s section) command() *hook.Command {
	c := &hook.Command{Shell: s.choice("shell", shellWords)}
	if _, isText := s.values["args"].(string); isText {
		s.wrongType("args", "a list of strings", s.values["args"])
	} else {
		c.Args = s.strings("args")
	}
	switch v := s.values["command"].(type) {
	case nil:
	case string:
		c.Line = strings.TrimSpace(v)
	case []any: // the program and its arguments, as some hosts have it
		list := s.strings("command")
		if len(list) > 0 && c.Args != nil {
			s.fail(remark{"wrong_type", "command", "want a string beside args, got a list", "leave one of the two lists out"})
		} else if len(list) > 0 {
			c.Line, c.Args = list[0], list[1:]
		}
	default:
		s.wrongType("command", "a string", v)
	}
	if c.Line == "" {
		return nil
	}
	if c.Shell != "" && c.Args != nil {
		s.warn(remark{"no_effect", "shell", "a command with args runs without a shell", ""})
	}
	return c
}

// noCommand says what a hook without a command is.
func (s section) noCommand(from origin) string {
	if s.src.Files != nil {
		files := s.src.Files()
		slices.Sort(files)
		for _, name := range files {
			stem, ext, _ := strings.Cut(name, ".")
			if stem == "handler" && (ext == "ts" || ext == "js") || stem == "index" && ext != "" {
				return fmt.Sprintf("its handler is code for another host (%s), and it has no command", name)
			}
		}
	}
	if from.host != "" {
		return fmt.Sprintf("its handler is code for another host (%s), and it has no command", from.host)
	}
	return "it has no command, so there is nothing to run"
}

// kindHint is for whoever gave the keys of a kind and left out its name.
func (s section) kindHint() string {
	for _, p := range params {
		if v, spelt := s.get(p.key); v != nil {
			return fmt.Sprintf("%s needs type = %q beside it", spelt, p.kinds[0])
		}
	}
	return `add command = "./run.sh", say`
}

// unused warns of keys that belong to hooks of another kind.
func (s section) unused(kind hook.Kind) {
	warn := func(key string, of hook.Kind) {
		if v, spelt := s.get(key); v != nil {
			s.warn(remark{"unused_key", s.at(spelt), fmt.Sprintf("has no effect on a %s hook", kind), fmt.Sprintf("it belongs to type = %q", of)})
		}
	}
	for _, p := range params {
		if !slices.Contains(p.kinds, kind) && (kind != hook.KindCommand || s.values["type"] != nil || s.values["command"] != nil) {
			warn(p.key, p.kinds[0])
		}
	}
	if kind != hook.KindCommand {
		for _, key := range commandKeys {
			warn(key, hook.KindCommand)
		}
	}
}

// rule checks the keys of a rule.
func (s section) rule(h *hook.Hook) {
	rule, problems := hook.RuleOf(h.Params)
	for _, p := range problems {
		s.fail(remark{p.Code, s.spelt(p.Key), p.Text, p.Hint})
	}
	if len(problems) == 0 {
		for _, key := range rule.Unused() {
			s.warn(remark{"unused_key", key, fmt.Sprintf("has no effect on a rule that decides %q", rule.Decision), ""})
		}
	}
	for _, key := range runKeys {
		if v, spelt := s.get(key); v != nil {
			s.warn(remark{"unused_key", s.at(spelt), "has no effect on a rule, which starts nothing", "leave it out"})
		}
	}
	h.Rewrites, h.Timeout, h.Breaker = rule.Decision == hook.DecisionRewrite, 0, hook.BreakerSettings{}
}

// spelt is the path of a key as it stands in the manifest, or of the one that
// names the kind if it does not.
func (s section) spelt(key string) string {
	if v, spelt := s.get(key); v != nil {
		return s.at(spelt)
	}
	return s.at("type")
}

// params reads the keys of a kind other than command.
func (s section) params(kind hook.Kind) hook.Params {
	kept := make(hook.Params)
	for _, p := range params {
		if !slices.Contains(p.kinds, kind) {
			continue
		}
		v, spelt := s.get(p.key)
		if v == nil || v == "" {
			if slices.Contains(p.must, kind) {
				s.fail(remark{"missing_" + p.key, s.at("type"), fmt.Sprintf("a hook of type %q needs a %s", kind, p.key), ""})
			}
			continue
		}
		if want, ok := p.want.holds(v); !ok {
			s.wrongType(spelt, want, v)
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil { // a number like nan, which TOML has and JSON has not
			s.fail(remark{"wrong_type", s.at(spelt), "holds a number that JSON does not have", ""})
			continue
		}
		kept[p.name()] = raw
	}
	return kept
}
