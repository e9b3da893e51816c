package protect

import (
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
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
	mark  string   // that a line of a recipe begins with
	runs  []string // what reading it runs
	found *search
}

type makeRule struct{ needs, recipe []string }

// recipes takes the recipes of the targets that make, or just, has to make, and of what
// these need.
func (s *search) recipes(c *match.Call, args, dirs []string, just bool) {
	files, targets, vars, text := []string(nil), []string(nil), make(map[string]string), ""
	for i := 0; i < len(args); i++ {
		name, value, sets := strings.Cut(args[i], "=")
		letter := strings.IndexAny(args[i], "fCEIoW") // which take what follows, also behind other letters: -sf
		short := strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "--") && letter > 0 && args[i][letter] == 'f'
		switch {
		case short, name == "--file", name == "--makefile", name == "--justfile":
			if short {
				value = args[i][letter+1:]
			}
			if i+1 < len(args) && value == "" {
				i++
				value = args[i]
			}
			files = append(files, value)
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
	if len(files) == 0 {
		files = []string{"GNUmakefile", "makefile", "Makefile"}
		if just {
			files = []string{"justfile", "Justfile", ".justfile"}
		}
		if runtime.GOOS == "windows" { // where two of them are one file
			files = slices.CompactFunc(files, strings.EqualFold)
		}
	}
	for _, dir := range dirs {
		m := makefile{rules: make(map[string]*makeRule), vars: maps.Clone(vars), mark: "\t", found: s}
		m.read(dir, text, 0)
		for _, file := range files {
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			text := s.read(file)
			if just {
				text = s.justfile(filepath.Dir(file), text)
			}
			m.read(dir, text, 0)
		}
		made := targets
		if len(made) == 0 {
			made = []string{m.first}
		}
		lines := append(m.runs, m.recipes(made)...)
		if shell := m.vars["SHELL"]; shell != "" { // it runs each recipe
			lines = append(lines, m.expand(shell+" "+m.vars[".SHELLFLAGS"], 0))
		}
		for _, line := range lines {
			s.text(c, dir, line)
		}
	}
}

var (
	justImport  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^import\??\s+['"](.+?)['"]`) })
	justSetting = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:set|alias)\s.*:=.*$`) })
	justShell   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^set\s+(?:shell|windows-shell|script-interpreter)\s*:=\s*\[([^\]]*)\]`)
	})
	justIndent = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]+`) })
	justValue  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{\s*([\w-]+)\s*\}\}`) })
)

// justfile returns a justfile, and what it imports, as a makefile has it.
func (s *search) justfile(dir, text string) string {
	for _, m := range justImport().FindAllStringSubmatch(text, maxScripts) {
		if !filepath.IsAbs(m[1]) {
			m[1] = filepath.Join(dir, m[1])
		}
		text += "\n" + s.read(m[1])
	}
	for _, m := range justShell().FindAllStringSubmatch(text, maxScripts) { // it runs each recipe
		text += "\nSHELL := " + strings.Join(strings.Fields(listMarks.Replace(m[1])), " ")
	}
	text = justShell().ReplaceAllString(text, "")
	text = justIndent().ReplaceAllString(justSetting().ReplaceAllString(text, ""), "\t")
	return justValue().ReplaceAllString(text, "$($1)")
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
	defined := "" // the variable whose lines are read, up to endef
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if !m.spend(len(line)) {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		if run := shellCall().FindStringSubmatch(line); run != nil {
			m.runs = append(m.runs, run[1]+run[2])
		}
		words := strings.Fields(line)
		switch {
		case defined != "" && len(words) > 0 && words[0] == "endef":
			defined = ""
			continue
		case defined != "":
			m.set(defined, line, "\n")
			continue
		}
		recipe, isRecipe := strings.CutPrefix(line, m.mark)
		if !isRecipe && !strings.HasPrefix(line, "#") {
			if len(words) > 1 && slices.Contains(words[:2], "define") {
				defined = words[slices.Index(words, "define")+1:][0]
				continue
			}
			if set := assignment().FindStringSubmatch(line); set != nil {
				if _, given := m.vars[set[1]]; !given || !strings.Contains(line, "?=") {
					m.set(set[1], set[2], " ")
				}
				if set[1] == ".RECIPEPREFIX" {
					m.mark = (set[2] + "\t")[:1]
				}
				continue
			}
			if len(words) > 1 && slices.Contains([]string{"include", "-include", "sinclude"}, words[0]) && depth < 4 {
				for _, file := range words[1:] {
					m.read(dir, m.found.read(filepath.Join(dir, m.expand(file, 0))), depth+1)
				}
				continue
			}
			left, right, isRule := strings.Cut(line, ":")
			if !isRule {
				continue
			}
			if set := assignment().FindStringSubmatch(strings.TrimPrefix(right, ":")); set != nil { // of one target
				m.set(set[1], set[2], " ")
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

// set adds a value to a variable: which of several counts is not looked at.
func (m *makefile) set(name, value, between string) {
	if value = strings.TrimSpace(value); value == m.vars[name] {
		return // said again
	}
	m.vars[name] = strings.TrimSpace(m.vars[name] + between + value)
	m.spend(len(m.vars[name]))
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
