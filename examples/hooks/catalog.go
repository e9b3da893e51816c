// Package hooks holds the ready-made hooks of the catalogue, each a folder with
// a HOOK.md and, in cases, events with their expected outcomes.
package hooks

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/manifest"
)

//go:embed */*
var files embed.FS

// SelfProtection names the rules that keep an agent from switching off its own
// guards: files, and commands.
var SelfProtection = []string{"self-protection", "self-protection-commands"}

// catalogue are the folders that the catalogue offers. The other examples show
// how a kind of hook is written, and need something to be set up.
var catalogue = []string{
	"ask-before-network", "ask-before-push", "ask-before-secrets", "audit-log", "format-after-edit", "git-context", "guard-destructive", "house-rules",
	"no-verify", "prompt-secrets", "protect-secrets", "protect-secrets-from-changes", "protected-paths", "self-protection", "self-protection-commands", "tests-before-stop",
}

// Names lists the hooks of the catalogue, in order.
func Names() []string { return slices.Clone(catalogue) }

// Folder returns the files of a hook's folder. It fails for a name that the
// catalogue does not have.
func Folder(name string) (fs.FS, error) {
	if !slices.Contains(catalogue, name) {
		hint := ""
		if near := hook.Nearest(name, catalogue); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return nil, fmt.Errorf("the catalogue has no hook %q%s", name, hint)
	}
	return fs.Sub(files, name)
}

// Files lists the files of a hook, its cases included.
func Files(name string) ([]string, error) {
	folder, err := Folder(name)
	if err != nil {
		return nil, err
	}
	var list []string
	err = fs.WalkDir(folder, ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, file)
		}
		return err
	})
	return list, err
}

// Declared returns the hooks that a folder of the catalogue declares, one for
// each event. A host can register the rules among them, with
// [registry.Registry.Register].
func Declared(name string) ([]*hook.Hook, error) {
	folder, err := Folder(name)
	if err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(folder, "HOOK.md")
	if err != nil {
		return nil, err
	}
	src := manifest.Source{Source: hook.Source{Path: path.Join("catalog:", name, "HOOK.md")}, Scope: hook.ScopeInProcess, Folder: name}
	declared, notes := manifest.Parse(src, data)
	for _, d := range notes {
		if d.Severity == hook.SeverityError {
			return nil, fmt.Errorf("%s", d)
		}
	}
	return declared, nil
}
