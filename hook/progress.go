package hook

// Phase is where a hook is in its run.
type Phase string

// The phases of a [Progress].
const (
	PhaseStarted  Phase = "started"
	PhaseProgress Phase = "progress"
	PhaseFinished Phase = "finished"
	PhaseDone     Phase = "done" // all hooks have finished
)

// Progress is a step of a dispatch, as it happens.
type Progress struct {
	Phase   Phase
	Hook    *Hook    // nil when done
	Line    string   // of a progress step
	Result  *Result  // of a finished hook
	Outcome *Outcome // when done: the same that Dispatch returns
	Err     error    // when done: why nothing could be decided
}

// AsyncResult is what became of a hook that ran in the background. Its verdict
// does not count; Rewake asks the host to wake the agent with its stderr.
type AsyncResult struct {
	Event     Event
	SessionID string
	Result    Result
	Rewake    bool
	Message   string // what to wake the agent with
}
