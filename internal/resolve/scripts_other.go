//go:build !windows

package resolve

import "github.com/tenterhook/tenterhook/hook"

// interpreted returns how a file is started: the system reads the first line of a script.
func (l *locator) interpreted(path string, argv []string) (hook.Program, *hook.Error) {
	return hook.Program{Path: path, Argv: argv}, contained(l.hook, path)
}

// checkArgs refuses nothing: arguments arrive as they are.
func checkArgs(*hook.Command, *Environ) *hook.Error { return nil }

// checkPlace refuses nothing: the system says itself what is too long.
func checkPlace(string, string) *hook.Error { return nil }
