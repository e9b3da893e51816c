package tenterhook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/adrg/frontmatter"
	"go.yaml.in/yaml/v3"

	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/schema"
	"github.com/tenterhook/tenterhook/manifest"
)

// The schemas in the repository are the ones that the code has; -update writes
// them.
func TestGeneratedSchemasAreUpToDate(t *testing.T) {
	for name, schema := range map[string][]byte{"hook": manifest.Schema(), "settings": dialect.SettingsSchema()} {
		path := filepath.Join("schemas", name+".schema.json")
		if *update {
			if err := os.MkdirAll("schemas", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, schema, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, schema) {
			t.Errorf("%s is not what the code has (%v): go test -run TestGenerated -update .", path, err)
		}
	}
}

func compile(t *testing.T, text []byte) *schema.Schema {
	t.Helper()
	compiled, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// valid holds TOML against a schema.
func valid(t *testing.T, s *schema.Schema, value map[string]any) error {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(data)
}

func TestSchemasTakeTheExamplesAndNoUnknownKey(t *testing.T) {
	keys := compile(t, manifest.Schema())
	formats := []*frontmatter.Format{frontmatter.NewFormat("+++", "+++", toml.Unmarshal), frontmatter.NewFormat("---", "---", yaml.Unmarshal)}
	files, _ := filepath.Glob("examples/hooks/*/HOOK.md")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if _, err := frontmatter.MustParse(bytes.NewReader(data), &fields, formats...); err != nil {
			t.Fatal(err)
		}
		if err := valid(t, keys, fields); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		fields["matchr"] = "Bash"
		if valid(t, keys, fields) == nil {
			t.Errorf("%s: an unknown key is fine", file)
		}
	}
	if len(files) < 10 {
		t.Errorf("only %d examples", len(files))
	}
	doc, err := os.ReadFile("docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```toml\n")
	text, _, _ = strings.Cut(text, "```")
	var fields map[string]any
	if err := toml.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	settings := compile(t, dialect.SettingsSchema())
	if err := valid(t, settings, fields); err != nil {
		t.Error(err)
	}
	fields["disable_all_hook"] = true
	if valid(t, settings, fields) == nil {
		t.Error("an unknown setting is fine")
	}
}
