package telemetry

// Metrics. Durations are histograms in seconds.
const (
	DispatchDuration = "tenterhook.dispatch.duration" // of an event with all its hooks
	HookDuration     = "tenterhook.hook.duration"     // of one hook
	JournalMissed    = "tenterhook.journal.missed"    // entries that the journal gave up before they were sent
)

// Attributes of spans; those with "M" are also of metrics. Names in
// gen_ai. and error. follow the semantic conventions for generative AI.
const (
	Event         = "tenterhook.event"       // M
	Verdict       = "tenterhook.verdict"     // M of the dispatch
	HookID        = "tenterhook.hook.id"     // M
	HookStatus    = "tenterhook.hook.status" // M
	HookKind      = "tenterhook.hook.kind"
	Agent         = "tenterhook.agent" // M of the dispatch
	Background    = "tenterhook.hook.background"
	Run           = "tenterhook.run"
	Policy        = "tenterhook.policy." // and the channel: the version of the fleet's document that was in force
	ErrorType     = "error.type"         // M, where there is one
	OperationName = "gen_ai.operation.name"
	ToolName      = "gen_ai.tool.name"
	ToolCallID    = "gen_ai.tool.call.id"
	Conversation  = "gen_ai.conversation.id"
)

// MetricAttributes are those of each metric.
var MetricAttributes = map[string][]string{
	DispatchDuration: {Event, Verdict, Agent, ErrorType},
	HookDuration:     {Event, HookID, HookStatus, ErrorType},
	JournalMissed:    nil,
}
