// Command sh is a POSIX shell for tests on a Windows that has none: the interpreter of mvdan.cc/sh,
// with the few programs that the tests' scripts call. It runs "sh -c LINE [NAME [ARG…]]",
// "sh FILE [ARG…]" and a script on stdin. A copy of another name, such as cat.exe, is the program of that name.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

func main() {
	var exit interp.ExitStatus
	args := os.Args[1:]
	if name := program(); name != "sh" && name != "bash" {
		args = append([]string{"-c", name + ` "$@"`, name}, args...)
	}
	switch err := run(args); {
	case err == nil:
	case errors.As(err, &exit):
		os.Exit(int(exit))
	default:
		fmt.Fprintln(os.Stderr, "sh:", err)
		os.Exit(127)
	}
}

// background reports whether a script starts anything without waiting for it.
func background(script *syntax.File) (found bool) {
	syntax.Walk(script, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		found = found || ok && s.Background
		return true
	})
	return found
}

// program is the name under which this was started, without its ending.
func program() string {
	name := filepath.Base(os.Args[0])
	return strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name)))
}

func run(args []string) error {
	options := []string{}
	line := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && len(args[0]) > 1 {
		flags := args[0]
		args = args[1:]
		if flags == "--" {
			break
		}
		if strings.Contains(flags, "c") {
			line, flags = true, strings.ReplaceAll(flags, "c", "")
		}
		if len(flags) > 1 {
			options = append(options, flags)
		}
	}
	source, name := io.Reader(os.Stdin), "sh"
	switch {
	case line && len(args) > 0:
		source = strings.NewReader(args[0])
		if args = args[1:]; len(args) > 0 {
			name, args = args[0], args[1:]
		}
	case len(args) > 0:
		text, err := os.ReadFile(args[0]) // an open file could not be replaced
		if err != nil {
			return fmt.Errorf("0: cannot open %s: No such file", args[0])
		}
		source, name, args = bytes.NewReader(text), args[0], args[1:]
	}
	script, err := syntax.NewParser().Parse(source, name)
	if err != nil {
		return err
	}
	runner, err := interp.New(
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.Params(append(append(options, "--"), args...)...),
		interp.ExecHandlers(tools),
	)
	if err != nil {
		return err
	}
	err = runner.Run(context.Background(), script)
	if background(script) {
		time.Sleep(300 * time.Millisecond) // it has yet to start, or to fail
	}
	return err
}
