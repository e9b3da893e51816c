package trust

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Word is a word of a command that may name a file.
type Word struct {
	// Path is where the file lies, if the word names one.
	Path string
	// AsPath tells that the word is written as a path, so that it names a file
	// even where there is none. Other words seldom name any: sh, -e, lint.
	AsPath bool
}

// Words returns the words of command lines that may name files below root, but
// outside of the hooks' own folders, for [Subject.Words]. It reads nothing.
//
// Left out is what a command says that it writes, for that is its own work: a
// word behind a > or behind tee, the value of --out, --output or --logfile
// (--out-file, --outfile, --output-file, --log-file), and behind any option a
// file called *.log. Nothing is run or expanded but the directories that the
// protocol promises (CLAUDE_PROJECT_DIR and its like); what a command puts
// together while it runs cannot be found this way.
func Words(root string, hooks ...*hook.Hook) []Word {
	found := make(map[string]bool) // by path: AsPath
	for _, h := range hooks {
		if h.Command == nil {
			continue
		}
		dirs := strings.NewReplacer(
			"${CLAUDE_PROJECT_DIR}", root, "$CLAUDE_PROJECT_DIR", root,
			"${TENTERHOOK_PROJECT_DIR}", root, "$TENTERHOOK_PROJECT_DIR", root,
			"${CLAUDE_PLUGIN_ROOT}", h.Source.Root, "$CLAUDE_PLUGIN_ROOT", h.Source.Root,
			"${HOOK_DIR}", h.Source.Dir, "$HOOK_DIR", h.Source.Dir,
		)
		for _, word := range wordsOf(h.Command) {
			path := filepath.FromSlash(dirs.Replace(word))
			asPath := strings.ContainsRune(path, filepath.Separator) && !strings.ContainsAny(word, separators)
			if path, ok := named(root, h.Source.Dir, path); ok {
				found[path] = found[path] || asPath
			}
		}
	}
	list := make([]Word, 0, len(found))
	for _, path := range slices.Sorted(maps.Keys(found)) {
		list = append(list, Word{path, found[path]})
	}
	return list
}

// named is the path below root, but outside of dir, that a word means.
func named(root, dir, path string) (string, bool) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", false
	}
	if !filepath.IsAbs(path) {
		base := dir
		if base == "" {
			base = root
		}
		path = filepath.Join(base, path)
	}
	path = filepath.Clean(path)
	return path, below(root, path) && path != filepath.Clean(root) && (dir == "" || !below(dir, path))
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
