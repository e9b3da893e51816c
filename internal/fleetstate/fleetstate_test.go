package fleetstate

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// An agent that died is not taken for one that runs because the clock was set back.
func TestAgentIsKnownToRunByWhatItSaidOfLate(t *testing.T) {
	now := time.Now()
	for said, want := range map[time.Duration]string{
		0: "", -Beat: "", Beat: "", // the clocks of two looks may differ
		-time.Hour: "does not run since " + now.Add(-time.Hour).UTC().Format(time.RFC3339),
		time.Hour:  "does not run since this machine's clock was set back",
	} {
		dir := t.TempDir()
		text, err := json.Marshal(State{Fleet: "acme", At: now.Add(said).UTC(), Connected: true})
		if err == nil {
			err = os.MkdirAll(Dir(dir), 0o700)
		}
		for _, file := range []string{File(dir), ConnectionFile(dir)} {
			if err == nil {
				err = os.WriteFile(file, text, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		troubles := Troubles(dir, now)
		if want == "" && len(troubles) > 0 || want != "" && (len(troubles) != 1 || !strings.Contains(troubles[0].Message, want)) {
			t.Errorf("said %v from now: %+v, want %q", said, troubles, want)
		}
	}
}
