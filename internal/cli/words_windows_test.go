package cli

import "golang.org/x/sys/windows"

// wordsOf splits a line as programs on Windows do.
func wordsOf(line string) ([]string, error) { return windows.DecomposeCommandLine(line) }
