package match

import (
	"slices"
	"strings"
)

// container judges docker run: what it deletes or writes below a directory of this machine that the container has.
func (d *destruction) container(args []string) {
	deletes := slices.ContainsFunc(args, func(w string) bool {
		return deleters.has(programName(w)) || strings.Contains(w, "-delete") || strings.Contains(w, "rm -") || strings.Contains(w, ">")
	})
	if !deletes || !slices.ContainsFunc(args, func(w string) bool { return w == "run" || w == "create" }) {
		return
	}
	for i, w := range args {
		from, to := mounted(args, i)
		if from == "" || to == "" {
			continue
		}
		for _, text := range args[i+1:] {
			for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(" \t\n;&|'\"`()", c) }) {
				if rest, ok := strings.CutPrefix(part, to); !ok || rest != "" && rest[0] != '/' {
					continue
				}
				if p := d.danger(from); p.harm > harmless && p.kind != ofHere {
					d.verdict(doubtful, "would change "+describe(from, p)+", which the container has as "+excerpt(shown(w)))
				}
			}
		}
	}
}

// mounted returns the directory of this machine and the directory of the container that an option
// joins: -v FROM:TO, --mount type=bind,source=FROM,target=TO.
func mounted(args []string, i int) (from, to string) {
	option, value, joined := strings.Cut(args[i], "=")
	if !joined && i+1 < len(args) {
		value = args[i+1]
	}
	switch option {
	case "-v", "--volume":
		from, to, _ = strings.Cut(value, ":")
		to, _, _ = strings.Cut(to, ":")
	case "--mount":
		for part := range strings.SplitSeq(value, ",") {
			switch key, dir, _ := strings.Cut(part, "="); key {
			case "source", "src":
				from = dir
			case "target", "dst", "destination":
				to = dir
			}
		}
	}
	return from, strings.TrimSuffix(to, "/")
}
