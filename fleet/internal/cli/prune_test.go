package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPruneKeepsWhatASignedPolicyAloneNames(t *testing.T) {
	m := inFleet(t)
	key := m.key("release", "packs")
	layout := filepath.Join(t.TempDir(), "guards")
	push := func(tag, text string) (ref, digest string) {
		t.Helper()
		said := says(t, "pack", "push", folder(t, map[string]string{"guard/HOOK.md": guard, "guard/run.sh": text}), "oci:"+layout+":"+tag)
		return said["reference"].(string), said["digest"].(string)
	}
	sign := func(ref string) string {
		t.Helper()
		draft := m.write(filepath.Join(t.TempDir(), "packs.toml"), fmt.Appendf(nil, "packs = [%q]\n", ref))
		path := filepath.Join(t.TempDir(), "packs.policy")
		says(t, "policy", "sign", draft, "--channel", "packs", "--key", key, "--output", path)
		return path
	}
	pruned := func(args ...string) string {
		t.Helper()
		return fmt.Sprint(says(t, append([]string{"pack", "prune"}, args...)...)["packs"])
	}
	one, oneDigest := push("v1", "#!/bin/sh\nexit 0\n")
	two, twoDigest := push("v2", "#!/bin/sh\nexit 2\n")
	says(t, "policy", "set", "--here", sign(one)) // it pulls the pack
	if got := pruned("--yes"); got != "[]" {
		t.Errorf("removed what the policy names: %s", got)
	}
	says(t, "pack", "pull", two)
	if got := pruned(); got != "["+twoDigest+"]" {
		t.Errorf("prune would remove %s, want %s", got, twoDigest)
	}
	says(t, "policy", "set", "--here", sign(two))
	if got := pruned("--yes"); got != "["+oneDigest+"]" {
		t.Errorf("removed %s, want %s", got, oneDigest)
	}
	// What the policy names is unknown: nothing goes.
	path := ""
	for _, p := range says(t, "policy", "show")["policies"].([]any) {
		if one := p.(map[string]any); one["channel"] == "packs" {
			path = one["path"].(string)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := call(t, "pack", "prune", "--yes"); code != 1 || !strings.Contains(errs, "nothing was removed") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	says(t, "policy", "rollback", "packs", "--to", "1", "--here", "--key", key) // the older pack comes back
	if got := pruned("--yes"); got != "["+twoDigest+"]" {
		t.Errorf("removed %s, want %s", got, twoDigest)
	}
}
