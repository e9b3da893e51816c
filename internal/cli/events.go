package cli

import (
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
)

type listedEvent struct {
	Event     hook.Event       `json:"event"`
	Doc       string           `json:"doc"`
	Matcher   string           `json:"matcher"`
	Block     hook.BlockEffect `json:"block"`
	Exit2     string           `json:"exit_2"`
	Stderr    hook.Audience    `json:"stderr_to"`
	Plain     hook.PlainText   `json:"plain_stdout"`
	Fields    []string         `json:"fields"`
	Kinds     []hook.Kind      `json:"kinds"`
	TakesIf   bool             `json:"takes_if"`
	OnFailure bool             `json:"on_failure_blocks"`
	TimeoutMS int64            `json:"timeout_ms"`
	Legacy    bool             `json:"legacy"`
}

func (a *app) eventsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "events [EVENT…]",
		Short:   "Show the events: what a matcher tests, what a block does",
		Example: "  tenterhook events\n  tenterhook events PreToolUse --json",
		RunE: func(_ *cobra.Command, args []string) error {
			var rows []hook.EventInfo
			for _, arg := range args {
				info, ok := hook.Lookup(hook.Event(arg))
				if !ok {
					return unknownEvent(arg)
				}
				rows = append(rows, *info)
			}
			if len(args) == 0 {
				rows = hook.Events()
			}
			if a.json {
				events := make([]listedEvent, len(rows))
				for i := range rows {
					events[i] = describe(&rows[i])
				}
				return a.printJSON(map[string]any{"events": events})
			}
			style := a.styleOf(a.Out)
			cells := make([][]string, len(rows))
			for i := range rows {
				e := describe(&rows[i])
				cells[i] = []string{style.bold(string(e.Event)), dash(e.Matcher), e.Exit2, dash(string(e.Plain)), e.Doc}
			}
			table(a.Out, style, []string{"EVENT", "MATCHER TESTS", "EXIT CODE 2", "PLAIN STDOUT", "FIRED WHEN"}, cells)
			return nil
		},
	}
}

func describe(info *hook.EventInfo) listedEvent {
	return listedEvent{info.Event, info.Doc, info.MatcherField, info.Block, exit2(info), info.Stderr, info.Plain,
		fieldNames(info), info.Kinds(), info.TakesIf, info.Block != hook.BlockNothing && !info.NoPolicy,
		hook.DefaultTimeout(hook.KindCommand, info.Event).Milliseconds(), info.Legacy}
}

// exit2 says what exit code 2 does.
func exit2(info *hook.EventInfo) string {
	switch {
	case info.NoExit2, info.Block == hook.BlockNothing:
		return "fails the hook"
	case info.AnyExit:
		return "blocks, as any other code but 0"
	case info.Block == hook.BlockStop:
		return "keeps it working"
	case info.Block == hook.BlockFeedback:
		return "tells the model"
	case info.Block == hook.BlockLoop:
		return "stops the agent's loop"
	}
	return "blocks"
}

// fieldNames lists the fields of an answer that count.
func fieldNames(info *hook.EventInfo) []string {
	names := info.Fields.Names()
	if info.BlockField {
		names = append(names, "decision", "reason")
	}
	return orEmpty(names)
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func unknownEvent(name string) error {
	e := &located{code: "unknown_event", message: "unknown event \"" + name + "\"", hint: "'tenterhook events' lists them"}
	if near := hook.NearestEvent(name); near != "" {
		e.hint = "did you mean " + string(near) + "?"
	}
	return e
}
