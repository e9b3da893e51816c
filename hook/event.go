package hook

import "time"

// Event names a point in an agent's life. An event that the table does not
// know is carried under its own name.
type Event string

// EventInfo is one row of the event table: all that the pipeline knows of an
// event.
type EventInfo struct {
	Event Event
	Doc   string // when it fires, one line

	Input         Input  // the empty input of the event, a struct
	MatcherField  string // the input key that a matcher tests; "" = matchers are ignored
	MatcherBase   bool   // of a path, its last part
	NarrowMatcher bool   // only letters, digits, _ and | make an exact matcher
	TakesIf       bool   // an `if` rule is tested; elsewhere a hook with one never runs

	Block      BlockEffect
	Stderr     Audience  // who gets the stderr of exit code 2
	AnyExit    bool      // every non-zero exit counts as exit code 2
	NoExit2    bool      // exit code 2 is a failure like any other
	BlockField bool      // a top-level decision "block" counts
	OnTimeout  bool      // a hook whose time is up blocks, whatever its policy
	NoPolicy   bool      // on_failure = "block" has no effect here
	Plain      PlainText // what stdout that is no JSON means
	Fields     FieldSet  // which fields of an answer count
	Legacy     bool      // from older hosts

	asks    reach         // of the kinds that can answer it, see Takes
	timeout time.Duration // of hooks without one, see DefaultTimeout; 0 = the usual
}

// BlockEffect is what a blocking answer does to an event.
type BlockEffect string

const (
	BlockNothing  BlockEffect = ""           // it cannot be blocked
	BlockAction   BlockEffect = "prevents"   // what was about to happen does not
	BlockFeedback BlockEffect = "feeds back" // it has happened; the reason goes to the model
	BlockStop     BlockEffect = "continues"  // the agent does not stop, it works on
	BlockLoop     BlockEffect = "stops"      // the agent's loop ends
)

// Audience is who gets a message.
type Audience string

// The audiences of a hook's stderr.
const (
	ToNobody Audience = ""
	ToModel  Audience = "model"
	ToUser   Audience = "user"
)

// PlainText is what an answer that is no JSON object means.
type PlainText string

const (
	PlainIgnored PlainText = ""        // nothing
	PlainContext PlainText = "context" // it is added to the model's context
	PlainResult  PlainText = "result"  // it is the result itself
	PlainPath    PlainText = "path"    // its last line that is not empty is a path
)

// FieldSet is a set of the fields that an answer can carry.
type FieldSet uint32

// The fields of an answer, by their place in it.
const (
	FieldContinue       FieldSet = 1 << iota // continue, stopReason
	FieldSystemMessage                       // systemMessage
	FieldTerminal                            // terminalSequence
	FieldPermission                          // permissionDecision, permissionDecisionReason
	FieldUpdatedInput                        // updatedInput
	FieldContext                             // additionalContext
	FieldToolOutput                          // updatedToolOutput, updatedMCPToolOutput
	FieldRequest                             // PermissionRequest's decision object
	FieldRetry                               // retry
	FieldInitialMessage                      // initialUserMessage
	FieldSessionTitle                        // sessionTitle
	FieldWatchPaths                          // watchPaths
	FieldSuppressPrompt                      // suppressOriginalPrompt
	FieldDisplay                             // displayContent
	FieldElicitation                         // action, content
	FieldWorktreePath                        // worktreePath

	fieldsUniversal = FieldContinue | FieldSystemMessage | FieldTerminal
)

var fieldWords = [...][]string{
	{"continue", "stopReason"}, {"systemMessage"}, {"terminalSequence"},
	{"permissionDecision", "permissionDecisionReason"}, {"updatedInput"}, {"additionalContext"},
	{"updatedToolOutput", "updatedMCPToolOutput"}, {"decision{behavior}"}, {"retry"}, {"initialUserMessage"},
	{"sessionTitle"}, {"watchPaths"}, {"suppressOriginalPrompt"}, {"displayContent"}, {"action", "content"},
	{"worktreePath"},
}

// Names lists the fields in s as an answer spells them.
func (s FieldSet) Names() []string {
	var names []string
	for i, words := range fieldWords {
		if s.Has(1 << i) {
			names = append(names, words...)
		}
	}
	return names
}

// Has reports whether all of f are in s.
func (s FieldSet) Has(f FieldSet) bool { return s&f == f }

// CanBlock reports whether a hook can block this input: a change of
// managed policy, for one, cannot be blocked.
func (e *EventInfo) CanBlock(in Input) bool {
	if e.Block == BlockNothing {
		return false
	}
	change, ok := As[ConfigChange](in)
	return !ok || change.Source != "policy_settings"
}

// SessionEndBudget and SessionEndBudgetMax bound all SessionEnd hooks
// together: the first, raised to the largest timeout that one declares, up to
// the second.
const (
	SessionEndBudget    = 1500 * time.Millisecond
	SessionEndBudgetMax = 60 * time.Second
)
