package client

import (
	"bytes"

	"github.com/tenterhook/tenterhook/bridge/closed"
)

// options reads the options of the bridge, which stand before agent and event.
func options(args []string) (where []string, alone bool, rest []string) {
	for len(args) > 0 {
		switch {
		case args[0] == "--direct":
			alone, args = true, args[1:]
		case args[0] == "--env" && len(args) > 1:
			where, args = append(where, args[1]), args[2:]
		default:
			return where, alone, args
		}
	}
	return where, alone, nil
}

// bridgeArgs are the arguments of a tenterhook that decides alone.
func bridgeArgs(program string, where []string, agent, event string) []string {
	args := []string{program, "bridge"}
	for _, variable := range where {
		args = append(args, "--env", variable)
	}
	return append(args, agent, event)
}

// usageCode blocks unless the event is known to be an observer: an entry that
// is written wrongly guards nothing.
func usageCode(args []string) int {
	if len(args) > 2 && closed.Classify(args[0], args[1]) == closed.Observer {
		return 0
	}
	return 2
}

// crashed reports whether a program of Go ended by a fault: then its exit code 2 is no denial.
func crashed(stderr []byte) bool {
	first, _, _ := bytes.Cut(stderr, []byte("\n"))
	begins := func(prefix string) bool { return bytes.HasPrefix(first, []byte(prefix)) }
	if begins("panic: ") {
		return true
	}
	return (begins("fatal error: ") || begins("runtime: ") || begins("unexpected fault address ")) &&
		(bytes.Contains(stderr, []byte("\ngoroutine ")) || bytes.Contains(stderr, []byte("\nruntime stack:")))
}
