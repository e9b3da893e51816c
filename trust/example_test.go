package trust_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// A hook that came with a workspace runs once a person approved it, for as long
// as nothing changes.
func Example() {
	workspace, err := os.MkdirTemp("", "workspace")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(workspace)
	dir := filepath.Join(workspace, ".tenterhook", "hooks", "guard")
	script := filepath.Join(dir, "run.sh")
	_ = os.MkdirAll(dir, 0o755)
	_ = os.WriteFile(script, []byte("#!/bin/sh\nexit 2\n"), 0o755)

	definition, err := trust.Define(&hook.Hook{Event: hook.EventPreToolUse, Kind: hook.KindCommand, Command: &hook.Command{Line: "./run.sh"}})
	if err != nil {
		panic(err)
	}
	subject := trust.Subject{ID: "project/guard", Root: workspace, Path: filepath.Join(dir, "HOOK.md"), Dir: dir, Definition: definition}

	store := trust.Memory() // or trust.Open(the user's state directory)
	guard := trust.NewGuard(subject, store)
	fmt.Println(guard.Check(nil).Why)

	seal, err := subject.Seal() // what is there, to be shown to a person
	if err != nil {
		panic(err)
	}
	_ = store.Approve(seal)
	fmt.Println(guard.Check(nil).Approved)

	_ = os.WriteFile(script, []byte("#!/bin/sh\nexit 0\n"), 0o755)
	verdict := guard.Check(nil)
	fmt.Println(verdict.Why)
	fmt.Print(store.Diff(verdict.Seal, verdict.Changes[0]))
	// Output:
	// it is not approved
	// true
	// run.sh changed since it was approved
	// --- run.sh
	// +++ run.sh
	// @@ -1,2 +1,2 @@
	//  #!/bin/sh
	// -exit 2
	// +exit 0
}
