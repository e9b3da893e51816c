package rule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/match"
)

// Facts are what conditions may ask about one event. Each is read at the first
// question and kept. Facts are for one goroutine.
type Facts struct {
	Input     hook.Input
	Payload   []byte // the event as JSON
	Cwd       string // the session's working directory
	Workspace string // the project's root
	Env       []string
	Call      *match.Call // the tool call, for patterns
	// Also is the same call with other directories that ~ may mean.
	Also []*match.Call

	members []hook.Member
	decoded map[string]any
	failed  error // why the payload has no fields
	git     *git
	now     time.Time
}

// NewFacts prepares the facts of a call.
func NewFacts(c *hook.Call) *Facts {
	tool, _ := hook.ToolCallOf(c.Input)
	f := &Facts{Input: c.Input, Payload: c.Payload, Cwd: c.Dir, Workspace: c.ProjectDir, Env: c.Env}
	f.Call = &match.Call{ToolName: tool.ToolName, ToolInput: tool.ToolInput, Cwd: c.Dir, Workspace: c.ProjectDir,
		Home: environ.Home(f.Getenv)} // without one, patterns below the home match everything
	for _, home := range environ.OtherHomes(f.Getenv) {
		f.Also = append(f.Also, f.Call.At(home))
	}
	return f
}

// Field returns a field of the event's JSON, and false where it has none of that
// name. It fails where the event is ambiguous: a key stands twice.
func (f *Facts) Field(key string) (any, bool, error) {
	if err := f.read(); err != nil {
		return nil, false, err
	}
	if value, ok := f.decoded[key]; ok {
		return value, true, nil
	}
	i := slices.IndexFunc(f.members, func(m hook.Member) bool { return m.Key == key })
	if i < 0 {
		return nil, false, nil
	}
	value, err := decode(f.members[i].Value)
	if err != nil {
		return nil, false, err
	}
	f.decoded[key] = value
	return value, true, nil
}

// Event returns the whole event.
func (f *Facts) Event() (map[string]any, error) {
	if err := f.read(); err != nil {
		return nil, err
	}
	all := make(map[string]any, len(f.members))
	for _, m := range f.members {
		value, _, err := f.Field(m.Key)
		if err != nil {
			return nil, err
		}
		all[m.Key] = value
	}
	return all, nil
}

func (f *Facts) read() error {
	if f.decoded == nil {
		f.decoded = make(map[string]any)
		f.members, f.failed = hook.Members(f.Payload)
	}
	return f.failed
}

// decode reads a JSON value: whole numbers as int64, others as float64.
func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	return plain(value)
}

func plain(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		n, err := v.Float64()
		if err != nil {
			return nil, fmt.Errorf("the number %s is too large", v)
		}
		return n, nil
	case []any:
		for i := range v {
			if v[i], err = plain(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = plain(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// Getenv returns a variable of the process that caused the event, "" = it is not set.
func (f *Facts) Getenv(name string) string {
	if f.Env == nil {
		return os.Getenv(name)
	}
	return environ.Get(f.Env, name)
}

// Now is the time of the first question, in the zone of the process that caused the
// event: that of TZ, or this machine's.
func (f *Facts) Now() time.Time {
	if !f.now.IsZero() {
		return f.now
	}
	f.now = time.Now()
	if f.Env != nil {
		if zone := strings.TrimPrefix(f.Getenv("TZ"), ":"); zone != "" {
			if at, err := time.LoadLocation(zone); err == nil {
				f.now = f.now.In(at)
			}
		}
	}
	return f.now
}

// User is the name of the user that this process runs as.
func (f *Facts) User() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("user: %w", err)
	}
	return u.Username, nil
}

// OS is the system's name as requires.os has it: linux, macos, windows, ….
func OS() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}

// Git returns the branch that is checked out and the root of the working tree
// around the session's directory. Both are empty outside of one, and the branch
// where no branch is checked out. It starts nothing.
func (f *Facts) Git() (branch, root string, err error) {
	if f.git == nil {
		f.git = readGit(cmp.Or(f.Cwd, f.Workspace))
	}
	return f.git.branch, f.git.root, f.git.err
}
