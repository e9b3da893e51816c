package protect

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// packageManagers run the scripts that package.json names.
var packageManagers = []string{"npm", "pnpm", "yarn", "bun"}

// packageScripts takes what a package manager runs by a name as what is run: the
// script itself, and those before and after it.
func (r *runner) packageScripts(words []string) {
	if len(words) == 0 || !slices.Contains(packageManagers, words[0]) {
		return
	}
	names := r.scriptNames(words[1:])
	if len(names) == 0 {
		return
	}
	for _, dir := range r.places() {
		var pkg struct{ Scripts map[string]string }
		if r.files++; r.files > maxFiles || json.Unmarshal([]byte(readScript(filepath.Join(dir, "package.json"))), &pkg) != nil {
			continue
		}
		for _, name := range names {
			for _, script := range []string{"pre" + name, name, "post" + name} {
				if text := pkg.Scripts[script]; text != "" {
					r.named = append(r.named, text)
				}
			}
		}
	}
}

// scriptNames are the words of a package manager that may name a script: for run the
// one behind it, else the command, as in npm test and yarn build. It follows the
// options that name another directory.
func (r *runner) scriptNames(args []string) (names []string) {
	for i, w := range args {
		option, dir, ok := strings.Cut(w, "=")
		if !ok && i+1 < len(args) {
			dir = args[i+1]
		}
		switch {
		case slices.Contains([]string{"--prefix", "-C", "--dir", "--cwd"}, option):
			r.enter(dir)
		case strings.HasPrefix(w, "-"):
		case len(names) == 3: // a directory, run, a name
			return names
		case w == "t" || w == "tst":
			names = append(names, "test")
		default:
			names = append(names, w)
		}
	}
	return names
}
