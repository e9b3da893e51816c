package trust

import "github.com/tenterhook/tenterhook/hook"

// Plugin is a program that has hooks in it. One approval binds its bytes, what
// it asks for and what its hooks are.
type Plugin struct {
	Subject Subject
	// Hooks are its known ones. An approval that is missing or
	// does not hold any more keeps all of them from running.
	Hooks []*hook.Hook
}
