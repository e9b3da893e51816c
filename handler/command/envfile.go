package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// maxEnvFile bounds what is read back of a hook's environment file.
const maxEnvFile = 1 << 20

// takesEnvFile reports whether an event's hooks may set variables for the
// session's later commands.
func takesEnvFile(ev hook.Event) bool {
	switch ev {
	case hook.EventSessionStart, hook.EventSetup, hook.EventCwdChanged, hook.EventFileChanged:
		return true
	}
	return false
}

// newEnvFile makes the file that one run writes its export lines to.
func newEnvFile() (string, error) {
	f, err := os.CreateTemp("", "tenterhook-env-*")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// readEnvFile returns the variables that a hook exported, and removes the
// file. Lines that are no plain assignment are passed over and counted: the
// file is read, never run.
func readEnvFile(path string, lookup func(string) string) (vars map[string]string, passed int, err error) {
	defer os.Remove(path)
	data, err := safefile.Read(path, maxEnvFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(data) == 0:
		return nil, 0, nil
	case err != nil:
		return nil, 0, fmt.Errorf("its environment file: %w", err)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(string(data)), "")
	if err != nil {
		return nil, 0, fmt.Errorf("its environment file is not shell text: %w", err)
	}
	vars = make(map[string]string)
	for _, stmt := range file.Stmts {
		assigns, ok := assignments(stmt.Cmd)
		if !ok {
			passed++
			continue
		}
		for _, a := range assigns {
			value, ok := "", a.Value == nil
			if !ok {
				value, ok = resolve.PlainWord(a.Value, func(name string) string {
					if v, set := vars[name]; set {
						return v
					}
					return lookup(name)
				})
			}
			if !ok || a.Name == nil || a.Append || a.Index != nil || a.Array != nil {
				passed++
				continue
			}
			vars[a.Name.Value] = value
		}
	}
	return vars, passed, nil
}

// assignments returns the variables that `export A=b` or `A=b` sets.
func assignments(cmd syntax.Command) ([]*syntax.Assign, bool) {
	switch cmd := cmd.(type) {
	case *syntax.DeclClause:
		return cmd.Args, cmd.Variant.Value == "export"
	case *syntax.CallExpr:
		return cmd.Assigns, len(cmd.Args) == 0
	}
	return nil, false
}
