package dialect

// calibanWire reads caliban's answers: an object that decides comes before the
// exit code, and its hookSpecificOutput need not name the event.
var calibanWire = wire{
	blockCode:         2,
	objectOverBlock:   true,
	objectOverFailure: true,
	nameOptional:      true,
}
