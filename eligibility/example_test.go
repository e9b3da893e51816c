package eligibility_test

import (
	"fmt"

	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/hook"
)

func Example() {
	environment := map[string]string{"PATH": "/nowhere"}
	checker := eligibility.New(eligibility.Options{
		LookupEnv: func(name string) (string, bool) { // default: os.LookupEnv
			value, ok := environment[name]
			return value, ok
		},
	})

	// Once, when the hook is loaded:
	check := checker.Prepare(hook.Requires{Envs: []string{"GITHUB_TOKEN"}, Bins: []string{"jq"}})

	// At each dispatch:
	v := check.Verdict()
	fmt.Println(v.Eligible)
	fmt.Println(v.Why)
	fmt.Println(v.Hint)

	environment["GITHUB_TOKEN"] = "a secret"
	fmt.Println(check.Verdict().Why)
	// Output:
	// false
	// needs jq on PATH: not found; needs GITHUB_TOKEN set
	// install jq, or add its folder to PATH; set GITHUB_TOKEN in the environment of the agent
	// needs jq on PATH: not found
}
