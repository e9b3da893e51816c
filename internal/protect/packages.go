package protect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/tenterhook/tenterhook/internal/match"
)

// packageFile is what a package.json says of what is run, or a file like it.
type packageFile struct {
	Scripts    map[string]packageScript
	Tasks      map[string]packageScript // of deno.json
	Workspaces workspaces
}

// packageFiles are the files in which package managers look, but package.json.
var packageFiles = map[string][]string{"composer": {"composer.json"}, "deno": {"deno.json", "deno.jsonc", "package.json"}}

// packageScript is the lines of a script, which composer writes as a list and deno as an
// object too. One that begins with @ names another script.
type packageScript []string

func (p *packageScript) UnmarshalJSON(data []byte) error {
	var value any
	_ = json.Unmarshal(data, &value) // it was JSON before
	object, _ := value.(map[string]any)
	if object != nil {
		*p = stringsOf(object["command"])
		for _, name := range stringsOf(object["dependencies"]) {
			*p = append(*p, "@"+name)
		}
	} else {
		*p = stringsOf(value)
	}
	return nil // what is no text runs nothing, and hides no other script
}

// stringsOf are those of a value: itself, or in a list.
func stringsOf(value any) (list []string) {
	all, ok := value.([]any)
	if !ok {
		all = []any{value}
	}
	for _, one := range all {
		if text, ok := one.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// workspaces are patterns of the folders of a project's packages, which yarn writes as
// an object too.
type workspaces []string

func (w *workspaces) UnmarshalJSON(data []byte) error {
	var object struct{ Packages []string }
	if json.Unmarshal(data, (*[]string)(w)) != nil && json.Unmarshal(data, &object) == nil {
		*w = object.Packages
	}
	return nil // what is neither names no folder
}

// packageScripts takes what a package manager runs by a name as what is run: the
// script itself, and those before and after it, also of the project's own packages.
func (s *search) packageScripts(c *match.Call, manager string, args, dirs []string) {
	names, more, all := scriptNames(args)
	if len(names) == 0 { // yarn alone installs
		names = installs["install"]
	}
	bases, dirs := dirs, slices.Clone(dirs)
	add := func(dir string) {
		if len(dirs) < maxFiles && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range slices.Backward(more) { // of several, the last counts
		for _, base := range bases {
			if filepath.IsAbs(dir) {
				base = ""
			}
			add(filepath.Join(base, dir))
		}
		if len(dirs) == maxFiles {
			break
		}
	}
	for _, dir := range dirs { // a manager looks for the project from there upward
		for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
			add(up)
		}
	}
	files := cmpOr(packageFiles[manager], "package.json")
	for i := 0; i < len(dirs)*len(files); i++ {
		dir := dirs[i/len(files)]
		var pkg packageFile
		text, err := hujson.Standardize([]byte(s.read(filepath.Join(dir, files[i%len(files)])))) // deno.jsonc has comments
		if err != nil {
			continue
		}
		_ = json.Unmarshal(text, &pkg) // a member of another type hides no other
		names := slices.Clone(names)
		if manager == "composer" {
			names = append(names, composerEvents(args, pkg.Scripts)...)
		}
		seen := make(map[string]bool) // each line once
		for i := 0; i < len(names); i++ {
			for _, script := range []string{"pre" + names[i], names[i], "post" + names[i]} {
				for _, line := range append(pkg.Scripts[script], pkg.Tasks[script]...) {
					if seen[line] {
						continue
					}
					seen[line] = true
					line, named := strings.CutPrefix(line, "@")
					s.text(c, dir, line)
					if name, _, _ := strings.Cut(line, " "); named && len(names) < maxFiles && !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		}
		for _, pattern := range pkg.Workspaces {
			if all && filepath.IsLocal(pattern) {
				for _, dir := range s.glob(dir, pattern) {
					add(dir)
				}
			}
		}
	}
}

// glob returns what a pattern matches below a directory. It and each directory that is
// listed count as files that are looked for.
func (s *search) glob(dir, pattern string) []string {
	if s.files++; s.files > maxFiles {
		return nil
	}
	found := []string{dir}
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(pattern)), "/") {
		var next []string
		for _, dir := range found {
			if !strings.ContainsAny(part, `*?[\`) {
				next = append(next, filepath.Join(dir, part))
				continue
			}
			if s.files++; s.files > maxFiles {
				break
			}
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if ok, _ := filepath.Match(part, e.Name()); ok && len(next) < maxFiles {
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
		}
		found = next
	}
	return found
}

// installs are commands with which a package manager runs scripts of these names.
var installs = func() map[string][]string {
	all := map[string][]string{"pack": {"pack", "prepare"}, "publish": {"publish", "pack", "prepare"}, "t": {"test"}, "tst": {"test"}, "restart": {"restart", "stop", "start"},
		"it": {"install", "prepare", "test"}, "install-test": {"install", "prepare", "test"}, "cit": {"install", "prepare", "test"}, "install-ci-test": {"install", "prepare", "test"},
		"clean-install-test": {"install", "prepare", "test"}, "sit": {"install", "prepare", "test"}}
	for _, name := range []string{"install", "i", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall", "add", "ci", "clean-install", "ic", "install-clean",
		"isntall-clean", "rebuild", "rb", "link", "ln", "update", "up", "upgrade", "udpate", "dedupe", "ddp", "prune"} {
		all[name] = []string{"install", "prepare"}
	}
	return all
}()

// composerChanges are the commands of composer that change packages or what loads them.
var composerChanges = []string{"install", "i", "update", "u", "upgrade", "require", "r", "remove", "rm", "uninstall", "reinstall", "dump-autoload", "dumpautoload",
	"create-project", "archive", "status"}

// composerEvents are the scripts that composer runs by itself: those before and after what a command does.
func composerEvents(args []string, scripts map[string]packageScript) []string {
	names := []string{"init", "command", "pre-command-run"}
	if slices.ContainsFunc(args, func(w string) bool { return slices.Contains(composerChanges, w) }) {
		for name := range scripts {
			if strings.HasPrefix(name, "pre-") || strings.HasPrefix(name, "post-") {
				names = append(names, name)
			}
		}
	}
	return names
}

// scriptNames are the words of a package manager that may name a script: for run the
// one behind it, else the command, as in npm test and yarn build. dirs are other
// directories that options name; all reports whether the packages of the project count.
func scriptNames(args []string) (names, dirs []string, all bool) {
	for i, w := range args {
		option, dir, ok := strings.Cut(w, "=")
		if !ok && i+1 < len(args) {
			dir = args[i+1]
		}
		switch {
		case slices.Contains([]string{"--prefix", "-C", "--dir", "--cwd"}, option):
			dirs = append(dirs, dir)
		case slices.Contains([]string{"-w", "--workspace", "--workspaces", "-ws", "-r", "--recursive", "--filter", "-F", "workspace", "workspaces"}, option):
			all = true
		case strings.HasPrefix(w, "-"):
		case len(names) < maxScripts: // run, a name; what options take too
			names = append(names, cmpOr(installs[w], w)...)
		}
	}
	return names, dirs, all
}

func cmpOr(list []string, word string) []string {
	if list == nil {
		return []string{word}
	}
	return list
}
