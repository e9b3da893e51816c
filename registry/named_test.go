package registry_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// A pack that cannot be what its settings name is an error, which says where it is named.
func TestPackThatIsNoneIsAnErrorOfItsSettings(t *testing.T) {
	for name, ref := range map[string]string{"no reference": "nonsense", "no digest": "registry.example.com/team/guards:v1",
		"not in the store": "registry.example.com/team/guards@sha256:" + strings.Repeat("0", 64)} {
		opts := machine(t, "")
		settings := filepath.Join(opts.UserDir, "settings.toml")
		write(t, settings, "packs = [\""+ref+"\"]\n")
		reg := open(t, opts)
		said := false
		for _, d := range reg.Diagnostics() {
			said = said || d.Path == settings && d.Severity == hook.SeverityError && strings.HasPrefix(d.Message, "packs: ") && d.Hint != ""
		}
		if !said {
			t.Errorf("%s: %+v", name, reg.Diagnostics())
		}
	}
}

// A config file that is named is judged as one of a folder that the operator named.
func TestHooksOfAConfigFileThatIsCheckedAreOfItsScope(t *testing.T) {
	dir := tree(t, "-- settings.json --\n{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"mcp_tool\", \"server\": \"s\", \"tool\": \"x\"}]}]}}\n")
	report, err := registry.Check(t.Context(), only(), filepath.Join(dir, "settings.json"))
	if err != nil || report.Hooks != 1 || len(report.Diagnostics) == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, d := range report.Diagnostics {
		if !strings.HasPrefix(d.Hook, "dir/") {
			t.Errorf("%+v", d)
		}
	}
}
