// Package manual writes the man pages and the completions of a command.
//
// Stage: release alone. The programs that a release runs import it; no program of
// a release does.
package manual

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Write writes a page of section 1 for each command below root into dir/man1, as
// in man1/tenterhook-list.1. Pages carry the date SOURCE_DATE_EPOCH, or today's.
// It creates the directories and replaces files.
func Write(dir string, root *cobra.Command) error {
	man := filepath.Join(dir, "man1")
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Source: "tenterhook", Manual: "tenterhook"}
	if err := doc.GenManTree(root, header, man); err != nil {
		return fmt.Errorf("man pages of %s: %w", root.Name(), err)
	}
	return nil
}

// WriteCompletions writes a completion script for each shell into
// dir/completions, under the file names that the shells look for.
func WriteCompletions(dir string, root *cobra.Command) error {
	to := filepath.Join(dir, "completions")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	name := root.Name()
	for file, write := range map[string]func(path string) error{
		name + ".bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_" + name:     root.GenZshCompletionFile,
		name + ".fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		name + ".ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(to, file)); err != nil {
			return fmt.Errorf("completions of %s: %w", name, err)
		}
	}
	return nil
}
