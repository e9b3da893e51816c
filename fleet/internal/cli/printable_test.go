package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/fleet/internal/cli"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

func TestWhatOthersNamedDrivesNoTerminal(t *testing.T) {
	const name = "gone\u202e\u009b2J"
	for _, args := range [][]string{{"policy", "verify", name}, {"policy", "verify", name, "--json"}} {
		var out, errs bytes.Buffer
		if code := cli.Main(t.Context(), args, &out, &errs); code != 1 {
			t.Errorf("%q: exit code %d", args, code)
		}
		if all := out.String() + errs.String(); strings.ContainsFunc(all, phrase.Hostile) || !strings.Contains(all, "gone") {
			t.Errorf("%q printed %q", args, all)
		}
		var said struct{ Error string }
		if err := json.Unmarshal(out.Bytes(), &said); out.Len() > 0 && (err != nil || !strings.Contains(said.Error, name)) {
			t.Errorf("%q: %q, %v", args, said.Error, err)
		}
	}
}
