package daemon

import (
	"os"
	"strings"
	"testing"
)

func TestDocsListEachVariableThatHooksDoNotGet(t *testing.T) {
	text, err := os.ReadFile("../../docs/daemon.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range disarming[3:] { // the first three concern tenterhook alone
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/daemon.md does not name %s", name)
		}
	}
	for name, want := range map[string]bool{
		"LD_PRELOAD": true, "DYLD_FALLBACK_LIBRARY_PATH": true, "LUA_INIT_5_4": true, "_JAVA_OPTIONS": true, "BASH_FUNC_cat%%": true, "ENV": true,
		"LD_": false, "PATH": false, "ENVIRONMENT": false, "XLD_PRELOAD": false, "NODE_ENV": false, "PYTHON": false,
	} {
		if disarms(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}
