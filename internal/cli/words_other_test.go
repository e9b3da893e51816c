//go:build !windows

package cli

import "mvdan.cc/sh/v3/shell"

// wordsOf splits a line as a shell does.
func wordsOf(line string) ([]string, error) { return shell.Fields(line, nil) }
