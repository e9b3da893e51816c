package protect

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/internal/match"
)

// makefile is what is read of one: rules and variables that are written out.
type makefile struct {
	first string // the target that is made if none is named
	rules map[string]*makeRule
	vars  map[string]string
	runs  []string // what reading it runs
	found *search
}

type makeRule struct{ needs, recipe []string }

// recipes takes the recipes of the targets that make has to make, and of what
// these need.
func (s *search) recipes(c *match.Call, args, dirs []string) {
	files, targets, vars, text := []string{"GNUmakefile", "makefile", "Makefile"}, []string(nil), make(map[string]string), ""
	for i := 0; i < len(args); i++ {
		name, value, sets := strings.Cut(args[i], "=")
		switch {
		case args[i] == "-f" || args[i] == "--file" || args[i] == "--makefile":
			if i++; i < len(args) {
				files = []string{args[i]}
			}
		case name == "--file" || name == "--makefile":
			files = []string{value}
		case strings.HasPrefix(args[i], "-f"):
			files = []string{args[i][2:]}
		case args[i] == "-C" || args[i] == "--directory":
			i++ // it is among dirs
		case strings.HasPrefix(args[i], "--eval"):
			text += value + "\n"
		case strings.HasPrefix(args[i], "-"):
		case sets:
			vars[name] = value
		default:
			targets = append(targets, args[i])
		}
	}
	for _, dir := range dirs {
		m := makefile{rules: make(map[string]*makeRule), vars: maps.Clone(vars), found: s}
		m.read(dir, text, 0)
		for _, file := range files {
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			m.read(dir, s.read(file), 0)
		}
		made := targets
		if len(made) == 0 {
			made = []string{m.first}
		}
		for _, line := range append(m.runs, m.recipes(made)...) {
			s.text(c, dir, line)
		}
	}
}

// shellCall is what make has a shell run while it reads.
var shellCall = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$[({]shell\s+([^\n]*)[)}]|^\s*\w+\s*!=\s*(.*)`) })

// assignment is a variable of make.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:export\s+|override\s+)*([\w.-]+)\s*(?:\?|\+|::?:?)?=\s*(.*)$`)
})

// read adds a text.
func (m *makefile) read(dir, text string, depth int) {
	var under []*makeRule
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if !m.spend(len(line)) {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		if run := shellCall().FindStringSubmatch(line); run != nil {
			m.runs = append(m.runs, run[1]+run[2])
		}
		recipe, isRecipe := strings.CutPrefix(line, "\t")
		if !isRecipe && !strings.HasPrefix(line, "#") {
			words := strings.Fields(line)
			if set := assignment().FindStringSubmatch(line); set != nil {
				if _, given := m.vars[set[1]]; !given || !strings.Contains(line, "?=") {
					value := strings.TrimSpace(m.vars[set[1]] + " " + set[2])
					m.vars[set[1]] = value
					m.spend(len(value))
				}
				continue
			}
			if len(words) > 1 && (words[0] == "include" || words[0] == "-include") && depth < 4 {
				for _, file := range words[1:] {
					m.read(dir, m.found.read(filepath.Join(dir, m.expand(file, 0))), depth+1)
				}
				continue
			}
			left, right, isRule := strings.Cut(line, ":")
			if !isRule {
				continue
			}
			needs, behind, _ := strings.Cut(strings.TrimPrefix(right, ":"), ";")
			made, from := strings.Fields(m.expand(left, 0)), strings.Fields(m.expand(needs, 0))
			if !m.spend(len(made) * (1 + len(from))) {
				return
			}
			under, recipe = m.rule(made, from), behind
		}
		if !m.spend(len(under)) {
			return
		}
		for _, rule := range under {
			rule.recipe = append(rule.recipe, recipe)
		}
	}
}

// rule adds a rule, and returns what its recipe belongs to.
func (m *makefile) rule(targets, needs []string) (under []*makeRule) {
	for _, target := range targets {
		rule := m.rules[target]
		if rule == nil {
			rule = new(makeRule)
			m.rules[target] = rule
		}
		if m.first == "" && !strings.HasPrefix(target, ".") && !strings.Contains(target, "%") {
			m.first = target
		}
		rule.needs, under = append(rule.needs, needs...), append(under, rule)
	}
	return under
}

// recipes are the lines that making some targets runs. Of a target without a rule, those
// of every pattern count.
func (m *makefile) recipes(targets []string) (lines []string) {
	met := make(map[string]bool)
	targets = slices.Clone(targets)
	for i := 0; i < len(targets) && len(met) < maxFiles; i++ {
		target := m.expand(targets[i], 0)
		if met[target] {
			continue
		}
		if !m.spend(1 + len(m.rules)/8) { // a look at a rule costs little
			break
		}
		met[target] = true
		var rules []*makeRule
		if rule := m.rules[target]; rule != nil {
			rules = append(rules, rule)
		}
		for name, rule := range m.rules {
			if (strings.Contains(name, "%") && (len(rules) == 0 || len(rules[0].recipe) == 0)) || name == ".DEFAULT" {
				rules = append(rules, rule)
			}
		}
		for _, rule := range rules {
			if !m.spend(len(rule.needs)) {
				break
			}
			targets = append(targets, rule.needs...)
			for _, line := range rule.recipe {
				m.spend(len(line))
				if line = strings.TrimLeft(m.expand(line, 0), "@-+ \t"); line != "" {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

// spend reports whether there is room for so much more of makefiles.
func (m *makefile) spend(n int) bool {
	m.found.made += n
	return m.found.made <= maxMade
}

// reference is a use of a variable of make.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\$|\$[({]([\w.-]+)[)}]|\$(\w)`) })

// expand writes variables out whose values are known.
func (m *makefile) expand(text string, depth int) string {
	return reference().ReplaceAllStringFunc(text, func(use string) string {
		name := strings.Trim(use, "$(){}")
		switch value, ok := m.vars[name]; {
		case use == "$$":
			return "$"
		case name == "MAKE":
			return "make"
		case name == "SHELL":
			return "sh"
		case ok && depth < 8 && len(value) < 1<<12 && m.spend(1+len(value)):
			return m.expand(value, depth+1)
		}
		return use
	})
}
