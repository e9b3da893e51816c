package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook/hook"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// explain makes a classified failure of what a call came to.
func (s *session) explain(ctx context.Context, c *hook.Call, tool string, input json.RawMessage, ex *exchange, err error) error {
	v := s.server
	refusal := refusalOf(err)
	switch {
	case ctx.Err() != nil:
		return gaveUp(ctx, "tool "+strconv.Quote(tool)+" of "+v.subject()+" had not answered")
	case ex.fault.Load() != nil:
		return v.about(ex.fault.Load())
	case ex.status == 0 && refusal != nil:
		return s.refusal(ctx, tool, input, "refused the call: "+v.clean(refusal.Message))
	case v.isRemote() && s.link.fault.Load() == nil:
		return v.about(&hook.Error{Failure: hook.FailureTransport, Reason: v.trouble(ex, err), Hint: httpHint(ex.status), Err: err})
	}
	wait := time.NewTimer(endTimeout)
	defer wait.Stop()
	select {
	case <-s.gone:
		c.Report.Stderr = strings.TrimRight(strings.ToValidUTF8(s.link.stderr(), "\uFFFD"), "\n")
	case <-wait.C:
	case <-ctx.Done():
	}
	failed := &hook.Error{Failure: hook.FailureTransport, Reason: s.describeEnd(), Hint: "the next call starts it again", Err: err}
	if f := s.link.fault.Load(); f != nil {
		failed.Failure, failed.Hint = f.Failure, f.Hint
	}
	return v.about(failed)
}

// isLost reports whether a call failed because its session is no longer known
// to the server, or had ended before the request was sent. Many HTTP servers
// refuse a session that they do not know with 400 instead of 404.
func (s *session) isLost(ex *exchange, err error) bool {
	stale := errors.Is(err, mcp.ErrSessionMissing) || ex.status == http.StatusNotFound || ex.status == http.StatusBadRequest
	return !ex.sent || s.answered.Load() && stale
}

// about says which server a failure is about.
func (v *server) about(e *hook.Error) *hook.Error {
	about := *e
	about.Reason = v.subject() + ": " + e.Reason
	return &about
}

// refusal is the failure of a call that the server answered with an error. Is
// there such a tool at all, and is the input what it asks for?
func (s *session) refusal(ctx context.Context, tool string, input json.RawMessage, said string) error {
	failed := &hook.Error{Failure: hook.FailureExit, Reason: "tool " + strconv.Quote(tool) + " of " + s.server.subject() + " " + said}
	tools, err := s.listTools(ctx)
	if err != nil {
		return failed
	}
	names := make([]string, 0, len(tools))
	for _, t := range tools {
		if t.Name == tool {
			failed.Hint = misfit(t.InputSchema, input)
			return failed
		}
		names = append(names, t.Name)
	}
	return &hook.Error{Failure: hook.FailureStart, Reason: s.server.subject() + " has no tool " + strconv.Quote(tool) + ": it " + said,
		Hint: choices("tools", tool, names)}
}

// maxTools bounds how many tools a server is heard about.
const maxTools = 500

// listTools returns the server's tools, which are asked once until they change.
func (s *session) listTools(ctx context.Context) ([]*mcp.Tool, error) {
	if known := s.tools.Load(); known != nil {
		return *known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	answer := make(chan []*mcp.Tool, 1)
	err := await(ctx, func(ctx context.Context) error {
		var tools []*mcp.Tool
		for t, err := range s.mcp.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			if tools = append(tools, t); len(tools) == maxTools {
				break
			}
		}
		answer <- tools
		return nil
	})
	if err != nil {
		return nil, err
	}
	tools := <-answer
	s.tools.Store(&tools)
	return tools, nil
}

// choices names what there is, the nearest first.
func choices(what, word string, names []string) string {
	if len(names) == 0 {
		return "it has no " + what
	}
	names = slices.Sorted(slices.Values(names))
	near := hook.Nearest(word, names)
	const most = 20
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	for i := range names {
		names[i] = phrase.First(names[i], 80)
	}
	hint := what + ": " + strings.Join(names, ", ")
	if near != "" {
		hint = fmt.Sprintf("did you mean %s? ", phrase.Quote(near)) + hint
	}
	return hint
}

// misfit says in which simple way an input is not what a schema asks for: a key
// that is missing, or one of another type. "" = none that is seen here.
func misfit(schema any, input json.RawMessage) string {
	var asked struct {
		Required   []string
		Properties map[string]struct{ Type any }
	}
	var given map[string]any
	raw, err := json.Marshal(schema)
	if err != nil || json.Unmarshal(raw, &asked) != nil || json.Unmarshal(input, &given) != nil {
		return ""
	}
	for _, key := range asked.Required {
		if _, ok := given[key]; !ok {
			return "its input lacks " + phrase.Quote(key) + ", which the tool requires"
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		want, ok := asked.Properties[key].Type.(string)
		if got := typeOf(given[key]); ok && got != want && !(got == "number" && want == "integer") {
			return fmt.Sprintf("its input has %s as %s, and the tool wants %s", phrase.Quote(key), got, phrase.First(want, 20))
		}
	}
	return ""
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
