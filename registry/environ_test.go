package registry_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func TestHooksInheritTheEnvironmentOfTheCaller(t *testing.T) {
	opts := only(tree(t, `
-- who/HOOK.md --
+++
event = "SessionStart"
command = "./who.sh"
+++
-- who/who.sh --
#!/bin/sh
echo "command of $WHO"
`))
	opts.Env = []string{"WHO=registry", "PATH=/usr/bin:/bin"}
	reg := open(t, opts)
	for _, test := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"none", t.Context(), "registry"},
		{"one caller's", registry.WithEnv(t.Context(), []string{"WHO=alice", "PATH=/usr/bin:/bin"}), "alice"},
		{"another's", registry.WithEnv(t.Context(), []string{"WHO=bob", "PATH=/usr/bin:/bin"}), "bob"},
		{"an empty one", registry.WithEnv(t.Context(), []string{}), ""},
		{"none again", registry.WithEnv(registry.WithEnv(t.Context(), []string{"WHO=alice"}), nil), "registry"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := reg.Dispatch(test.ctx, hook.SessionStart{Source: "startup"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{strings.TrimSpace("command of " + test.want)}, out.Contexts); diff != "" {
				t.Error(diff)
			}
		})
	}
}
