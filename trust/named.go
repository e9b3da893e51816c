package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// NamedFiles returns the files below root, but outside of the hooks' own
// folders, that command lines name, for [Subject.Files]: a word that is a file,
// or looks like the path of one that does not exist. Words behind a > are what
// a command writes and are left out. Nothing is run or expanded but the
// directories that the protocol promises (CLAUDE_PROJECT_DIR and its like); what
// a command puts together while it runs cannot be found this way.
func NamedFiles(root string, hooks ...*hook.Hook) []string {
	var files []string
	for _, h := range hooks {
		if h.Command == nil {
			continue
		}
		list := h.Command.Args
		if list == nil {
			list = words(h.Command.Line)
		} else {
			list = append([]string{h.Command.Line}, list...)
		}
		for _, word := range list {
			if path, ok := named(root, h, word); ok {
				files = append(files, path)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// named is the file that a word of a command means.
func named(root string, h *hook.Hook, word string) (string, bool) {
	dirs := strings.NewReplacer(
		"${CLAUDE_PROJECT_DIR}", root, "$CLAUDE_PROJECT_DIR", root,
		"${TENTERHOOK_PROJECT_DIR}", root, "$TENTERHOOK_PROJECT_DIR", root,
		"${CLAUDE_PLUGIN_ROOT}", h.Source.Root, "$CLAUDE_PLUGIN_ROOT", h.Source.Root,
		"${HOOK_DIR}", h.Source.Dir, "$HOOK_DIR", h.Source.Dir,
	)
	path := filepath.FromSlash(dirs.Replace(word))
	if path == "" || strings.ContainsRune(path, 0) {
		return "", false
	}
	looksLikePath := strings.ContainsRune(path, filepath.Separator) && !strings.ContainsAny(word, separators)
	if !filepath.IsAbs(path) {
		base := h.Source.Dir
		if base == "" {
			base = root
		}
		path = filepath.Join(base, path)
	}
	path = filepath.Clean(path)
	if !below(root, path) || h.Source.Dir != "" && below(h.Source.Dir, path) {
		return "", false
	}
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() || absent(err) && looksLikePath
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// separators end the words of a shell line.
const separators = " \t\r\n;|&()<>=,`"

// words splits a shell line twice, once with and once without regard to quotes:
// a quoted text may be a path with spaces, or a command line of its own.
func words(line string) []string {
	var found []string
	for _, quotes := range []bool{true, false} {
		var word strings.Builder
		var quote rune
		writes := false // a > came before
		flush := func(next rune) {
			if word.Len() > 0 {
				if !writes {
					found = append(found, word.String())
				}
				writes = false
				word.Reset()
			}
			writes = writes || next == '>'
		}
		for _, r := range line {
			switch {
			case r == '\'' || r == '"':
				if quote == 0 {
					quote = r
				} else if quote == r {
					quote = 0
				} else if quotes {
					word.WriteRune(r)
				}
			case strings.ContainsRune(separators, r) && (quote == 0 || !quotes):
				flush(r)
			default:
				word.WriteRune(r)
			}
		}
		flush(0)
	}
	return found
}
