package trust

import "github.com/tenterhook/tenterhook/hook"

// Plugin is a program that has hooks in it. One approval binds its bytes, what
// it asks for and what its hooks are.
type Plugin struct {
	Subject Subject
	// Hooks are those that it is known to have. An approval that is missing or
	// does not hold any more keeps all of them from running.
	Hooks []*hook.Hook
}
