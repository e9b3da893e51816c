package agents

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// generated is a settings file as people and other tools leave them: any order
// and indentation, comments, other hooks, odd line breaks.
type generated struct {
	rt       *rapid.T
	file     sharedFile
	comments bool
	crlf     bool
	unit     string
	inline   bool
}

func (g *generated) pick(label string, words ...string) string {
	return rapid.SampledFrom(words).Draw(g.rt, label)
}

func (g *generated) coin(label string) bool { return rapid.Bool().Draw(g.rt, label) }

// gap is what stands between two tokens at a depth.
func (g *generated) gap(depth int) string {
	if g.inline {
		return g.pick("space", "", " ")
	}
	nl := "\n"
	if g.crlf {
		nl = "\r\n"
	}
	gap := nl + strings.Repeat(g.unit, depth)
	if g.comments && g.coin("comment") {
		if g.coin("block") {
			return " /* it's \"}\" , */" + gap
		}
		return " // note: ], {" + gap
	}
	return gap
}

func (g *generated) value(depth int) string {
	switch n := rapid.IntRange(0, 5).Draw(g.rt, "kind"); {
	case n == 0 && depth < 4:
		return g.list("[", "]", depth, rapid.IntRange(0, 3).Draw(g.rt, "n"), func(int) string { return g.value(depth + 1) })
	case n == 1 && depth < 4:
		return g.object(depth, rapid.IntRange(0, 3).Draw(g.rt, "n"), func(i int) (string, string) { return fmt.Sprint("k", i), g.value(depth + 1) })
	case n == 2:
		return g.pick("literal", "true", "false", "null", "-1.5e3", "0")
	}
	return g.pick("text", `"a"`, `"{\"hooks\": [\"}"`, `"// no comment"`, `"ü\u0041\\"`, `""`)
}

func (g *generated) list(open, end string, depth, n int, item func(int) string) string {
	var b strings.Builder
	b.WriteString(open)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(g.gap(depth+1) + item(i))
	}
	if n > 0 || g.coin("wide") {
		b.WriteString(g.gap(depth))
	}
	return b.String() + end
}

func (g *generated) object(depth, n int, member func(int) (string, string)) string {
	return g.list("{", "}", depth, n, func(i int) string {
		key, value := member(i)
		return `"` + key + `"` + g.pick("colon", ":", ": ", " : ") + value
	})
}

// entries is another tool's list of entries of an event.
func (g *generated) entries(depth int) string {
	if g.file.flat {
		return g.list("[", "]", depth, rapid.IntRange(0, 3).Draw(g.rt, "entries"), func(int) string {
			return g.object(depth+1, 2, func(i int) (string, string) {
				return []string{"command", "timeout"}[i], []string{`"other --tool"`, "5"}[i]
			})
		})
	}
	return g.list("[", "]", depth, rapid.IntRange(0, 2).Draw(g.rt, "groups"), func(int) string {
		return g.object(depth+1, 2, func(i int) (string, string) {
			if i == 0 {
				return "matcher", g.pick("matcher", `"Bash"`, `"*"`, `""`)
			}
			return "hooks", g.list("[", "]", depth+2, 1, func(int) string {
				return `{"type": "command", "command": "other --tool", "timeout": 5}`
			})
		})
	})
}

func (g *generated) text() string {
	keys := g.file.keys
	n := rapid.IntRange(0, len(keys)).Draw(g.rt, "keys")
	from := rapid.IntRange(0, len(keys)-1).Draw(g.rt, "from")
	root := g.object(0, n, func(i int) (string, string) {
		key := keys[(from+i)%len(keys)]
		if key != "hooks" {
			return key, g.value(1)
		}
		events := []string{"SomethingNew", g.file.events[0], g.file.events[len(g.file.events)-1]}
		return key, g.object(1, rapid.IntRange(0, 3).Draw(g.rt, "events"), func(i int) (string, string) { return events[i], g.entries(2) })
	})
	if g.inline {
		return root + g.pick("end", "", "\n")
	}
	return g.pick("begin", "", "\n", "  ") + root + g.pick("end", "", "\n", "\n\n", "\r\n")
}

func drawFile(rt *rapid.T, file sharedFile) []byte {
	g := &generated{rt: rt, file: file, comments: file.comments && rapid.Bool().Draw(rt, "comments"), crlf: rapid.Bool().Draw(rt, "crlf"),
		inline: rapid.IntRange(0, 4).Draw(rt, "inline") == 0,
		unit:   rapid.SampledFrom([]string{"  ", "\t", "    ", "", " "}).Draw(rt, "unit")}
	if g.inline {
		g.comments = false
	}
	text := g.text()
	if file.bom && rapid.IntRange(0, 4).Draw(rt, "bom") == 0 {
		text = "\ufeff" + text
	}
	return []byte(text)
}
