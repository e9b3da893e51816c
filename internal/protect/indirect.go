package protect

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/internal/match"
)

// lookup is a part of a line that finds where a program of tenterhook lies.
var lookup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(\\$\\(|`)[^)`]*\\b(which|command\\s+-v|type\\s+-\\w*[pP]|whereis|readlink|realpath|locate)\\b[^)`]*tenterhook")
})

// listers print the names of files, and handsOn is a line that changes what it reads.
var (
	listers = commands("Bash(find *)", "Bash(fd *)", "Bash(ls *)", "Bash(du *)", "Bash(tree *)", "Bash(grep *)", "Bash(rg *)")
	handsOn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\|[^;&]*\b(xargs|parallel|while\s+(IFS=\S*\s+)?read)\b`)
	})
	changed = commands("Bash(rm *)", "Bash(rm)", "Bash(mv *)", "Bash(unlink *)", "Bash(shred *)", "Bash(truncate *)", "Bash(chmod *)", "Bash(sed *-i*)", "Bash(tee *)", "Bash(rmdir *)")
)

// copiers write files, and intoUnknown is a redirection into one whose name the shell makes.
var (
	copiers     = commands("Bash(cp *)", "Bash(ln *)", "Bash(install *)", "Bash(dd *)", "Bash(rsync *)")
	intoUnknown = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(">[>|&]?\\s*[\"']?[$`]") })
)

// trees are commands of git that change the working tree that they run in.
var trees = commands("Bash(git clean *)", "Bash(git stash*)", "Bash(git checkout *)", "Bash(git restore *)", "Bash(git reset *)", "Bash(git switch *)")

// indirect says what a line would change without naming it: what it finds, what git has in
// the directory it runs in, or a program that it looks up. "" = nothing.
func (r *rules) indirect(c *match.Call, line string) string {
	sure := func(rules *match.Rules) bool { return rules.Match(c).Certainty == match.Sure }
	switch {
	case lookup().MatchString(line) && (sure(changed()) || sure(copiers()) || intoUnknown().MatchString(line)):
		return "this may put another file in the place of a program of tenterhook, which it looks up"
	case handsOn().MatchString(line) && sure(listers()) && (sure(changed()) || intoUnknown().MatchString(line)) && finds(line) && (r.touched(c) || r.above.named(c, match.Touch) != ""):
		return "this would change what it finds, files of tenterhook or an agent's hooks among them"
	case sure(trees()) && slices.ContainsFunc(c.Runs().Dirs, func(dir string) bool { return slices.ContainsFunc(r.over, same(dir)) }):
		return "this may change files of tenterhook or an agent's hooks, which lie below the directory that git runs in"
	}
	return ""
}

// same tells whether a path is that of a directory, in any case on Windows.
func same(dir string) func(path string) bool {
	dir = filepath.Clean(dir)
	return func(path string) bool {
		return path == dir || runtime.GOOS == "windows" && strings.EqualFold(path, dir)
	}
}

// removing is a text in another language that removes or moves a whole directory.
var removing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)rmtree|remove_tree|rm_rf|rm_r\b|rmsync|rmdirsync|renamesync|removeall|\brename\b|os\.remove|unlink|shutil\.move`)
})

// removesAbove reports whether a text in another language removes a directory that
// protected files lie in: ~/.config, and not a file of another program there.
func (r *rules) removesAbove(line string) bool {
	return removing().MatchString(line) && slices.ContainsFunc(r.hidden, func(name *regexp.Regexp) bool { return name.MatchString(line) })
}
