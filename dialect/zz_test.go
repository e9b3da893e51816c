package dialect

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	mib := 1 << 20
	cases := map[string][2]string{
		"bombs [":      {"a.json", strings.Repeat("[", mib)},
		"bombs [t":     {"a.toml", "a = " + strings.Repeat("[", mib-10)},
		"bombs {":      {"settings.json", strings.Repeat(`{"hooks":`, mib/9-1)},
		"dotted":       {"a.toml", strings.Repeat("a.", mib/2-10) + "b=1"},
		"dotted lines": {"a.toml", strings.Repeat("a.b.c.d.e.f.g.h.i.j.k.l.m.n=1\n", mib/32)},
		"dotted lines2": {"a.toml", func() string {
			var b strings.Builder
			for i := 0; b.Len() < mib-40; i++ {
				fmt.Fprintf(&b, "a.b.c.d.e.f.g.h.i.j.k.l.m.n%d=1\n", i)
			}
			return b.String()
		}()},
		"many tables": {"a.toml", strings.Repeat("[[hooks.Stop]]\n", mib/16)},
		"many nested": {"a.toml", strings.Repeat("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand='a'\n", mib/50)},
		"long key":    {"a.toml", "[" + strings.Repeat("k", mib/2) + "]\n" + strings.Repeat("a=1\n", 10000)},
		"many keys": {"config.toml", func() string {
			var b strings.Builder
			for i := 0; b.Len() < mib-40; i++ {
				fmt.Fprintf(&b, "key%d=1\n", i)
			}
			return b.String()
		}()},
		"inline": {"a.toml", "a=[" + strings.Repeat("{b.c.d=1},", mib/12) + "]"},
		"values":  {"settings.json", "[" + strings.Repeat("1,", mib/2-10) + "1]"},
		"hooks":   {"settings.json", `{"hooks":{"Stop":[` + strings.Repeat(`{"command":1},`, mib/16) + `{}]}}`},
		"unknown": {"settings.json", `{"hooks":{"Stop":[` + strings.Repeat(`{"command":"a"},`, mib/18) + `{}]}}`},
		"events": {"settings.json", func() string {
			var b strings.Builder
			b.WriteString(`{"hooks":{"Stop":[]`)
			for i := 0; b.Len() < mib-40; i++ {
				fmt.Fprintf(&b, `,"PreToolUs%d":[]`, i)
			}
			return b.String() + "}}"
		}()},
		"settings": {".tenterhook/settings.json", func() string {
			var b strings.Builder
			b.WriteString(`{"hooks":{"Stop":[]}`)
			for i := 0; b.Len() < mib-40; i++ {
				fmt.Fprintf(&b, `,"disable_all_hook%d":[]`, i)
			}
			return b.String() + "}"
		}()},
		"comments": {"settings.json", strings.Repeat("/*", mib/2)},
		"slashes":  {"settings.json", strings.Repeat("/", mib)},
		"commas":   {"settings.json", "[" + strings.Repeat(",", mib-3) + "]"},
		"matcher":  {".gemini/settings.json", `{"hooks":{"BeforeTool":[{"matcher":"` + strings.Repeat("(a+)+|", 150) + `","hooks":[` + strings.Repeat(`{"command":"a"},`, 3000) + `]}]}}`},
		"names":    {"settings.json", `{"hooks":{"Stop":[` + strings.Repeat(`{"command":"a","name":"x"},`, mib/30) + `{}]}}`},
		"wide":     {"settings.json", `{"hooks":{"Stop":[{` + strings.Repeat(`"command":"a",`, mib/16) + `"a":1}]}}`},
		"toml strings": {"a.toml", strings.Repeat(`"""`, mib/3)},
	}
	for name, c := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		cfg := ReadConfig(ConfigSource{Source: hookSource(c[0])}, []byte(c[1]))
		d := time.Since(start)
		runtime.ReadMemStats(&after)
		first := ""
		if len(cfg.Notes) > 0 {
			first = cfg.Notes[0].Code
		}
		t.Logf("%-14s %8s alloc %3d MiB hooks %d notes %d %s", name, d.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, len(cfg.Hooks), len(cfg.Notes), first)
	}
}
