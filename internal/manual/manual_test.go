package manual_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/internal/cli"
	"github.com/tenterhook/tenterhook/internal/manual"
)

func TestEachCommandHasAPageWithItsUsageAndItsExamples(t *testing.T) {
	dir := t.TempDir()
	if err := manual.Write(dir, cli.Command()); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		pages++
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		page, err := os.ReadFile(filepath.Join(dir, "man1", name+".1"))
		if err != nil {
			t.Error(err)
			return
		}
		for _, want := range []string{".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLE"} {
			if !strings.Contains(string(page), want) && (want != ".SH EXAMPLE" || c.Example != "") {
				t.Errorf("%s.1 has no %s", name, want)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(cli.Command())
	if pages < 40 {
		t.Errorf("only %d commands were seen", pages)
	}
}

func TestEachShellHasItsCompletions(t *testing.T) {
	dir := t.TempDir()
	if err := manual.WriteCompletions(dir, cli.Command()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"tenterhook.bash", "_tenterhook", "tenterhook.fish", "tenterhook.ps1"} {
		text, err := os.ReadFile(filepath.Join(dir, "completions", file))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(text), cobra.ShellCompRequestCmd) {
			t.Errorf("%s does not ask tenterhook", file)
		}
	}
}
