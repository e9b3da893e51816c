package webhook

import (
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/internal/environ"
)

// variables are the variables that one hook may name.
type variables struct {
	env      []string          // as os.Environ has it
	own      map[string]string // what the hook itself sets; goes before env
	listed   []string          // by the hook
	allowed  []string          // by the settings; nil = whatever the hook lists
	settings bool              // false: the settings say nothing
}

func (v *variables) get(name string) string {
	if value, ok := v.own[name]; ok {
		return value
	}
	return environ.Get(v.env, name)
}

// refused says why a variable may not be named, "" if it may.
func (v *variables) refused(name string) *fault {
	switch {
	case !slices.Contains(v.listed, name):
		return &fault{"$" + clip(name) + " is not in its allowed_env_vars", `add it: allowed_env_vars = ["` + clip(name) + `"]`}
	case v.settings && !slices.Contains(v.allowed, name):
		return &fault{"$" + clip(name) + " is not in http_hook_allowed_env_vars", "add it there, in the settings, or do without"}
	}
	return nil
}

// expand replaces ${NAME}, and where bare is true $NAME, by what value returns
// for the name. It is one pass: what value returns is never looked at again.
func expand(text string, bare bool, value func(name string) (string, *fault)) (string, *fault) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	var out strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		out.WriteString(text[:i])
		text = text[i+1:]
		braced := strings.HasPrefix(text, "{")
		if braced {
			text = text[1:]
		}
		name := variableName(text)
		switch {
		case braced && (name == "" || !strings.HasPrefix(text[len(name):], "}")):
			return "", &fault{"there is a ${ in it without the name of a variable and a }", "write ${NAME}; defaults and nesting are not taken"}
		case !braced && (name == "" || !bare):
			out.WriteByte('$')
			continue
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		out.WriteString(v)
		text = text[len(name):]
		if braced {
			text = text[1:]
		}
	}
}

// variableName is the name that a text begins with.
func variableName(text string) string {
	for i := range len(text) {
		b := text[i]
		if b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || i > 0 && b >= '0' && b <= '9' {
			continue
		}
		return text[:i]
	}
	return text
}
