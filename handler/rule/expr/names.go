package expr

import (
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/tenterhook/tenterhook/handler/rule"
)

// names are what an expression may name, read as it names them.
type names struct {
	facts   *rule.Facts
	envVars []string
	err     error // the first that could not be read
}

var _ cel.Activation = (*names)(nil)

// Parent returns nil: there are no other names.
func (n *names) Parent() cel.Activation { return nil }

// ResolveName reads what a name stands for. CEL asks for the longest form of a
// qualified name first.
func (n *names) ResolveName(name string) (any, bool) {
	value, ok, err := n.value(name)
	if err != nil {
		if n.err == nil {
			n.err = err
		}
		return nil, false
	}
	return value, ok
}

func (n *names) value(name string) (any, bool, error) {
	f := n.facts
	switch name {
	case namePayload:
		event, err := f.Event()
		return event, true, err
	case nameEnv:
		listed := make(map[string]string, len(n.envVars))
		for _, name := range n.envVars {
			listed[name] = f.Getenv(name)
		}
		return listed, true, nil
	case "git.branch":
		branch, _, err := f.Git()
		return branch, true, err
	case "git.root":
		_, root, err := f.Git()
		return root, true, err
	case "agent":
		return f.Input.Common().Agent, true, nil
	case "session":
		return f.Input.Common().SessionID, true, nil
	case "workspace":
		return f.Workspace, true, nil
	case "user":
		user, err := f.User()
		return user, true, err
	case "os":
		return rule.OS(), true, nil
	case "time.now":
		return f.Now(), true, nil
	case "time.date":
		return f.Now().Format("2006-01-02"), true, nil
	case "time.weekday":
		return strings.ToLower(f.Now().Weekday().String()), true, nil
	case "time.hour":
		return int64(f.Now().Hour()), true, nil
	case "time.minute":
		return int64(f.Now().Minute()), true, nil
	}
	field := fields()[name]
	if field == nil {
		return nil, false, nil
	}
	value, found, err := f.Field(name)
	if err != nil || !found {
		return field.zero, err == nil, err
	}
	return value, true, nil
}
