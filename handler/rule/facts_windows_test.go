package rule_test

import (
	"testing"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
)

func TestFactsTakeAVariableInAnyCaseOnWindows(t *testing.T) {
	facts := rule.NewFacts(&hook.Call{Input: hook.PreToolUse{}, Env: []string{"Build_Id=7", `UserProfile=C:\Users\me`}})
	if got := facts.Getenv("BUILD_ID"); got != "7" {
		t.Errorf("BUILD_ID is %q", got)
	}
	if got := facts.Call.Home; got != `C:\Users\me` {
		t.Errorf("home is %q", got)
	}
}

// No program of Windows has zones for Go.
func TestFactsKnowTimeZonesOnWindows(t *testing.T) {
	facts := rule.NewFacts(&hook.Call{Input: hook.PreToolUse{}, Env: []string{"TZ=Asia/Kathmandu"}})
	if zone, offset := facts.Now().Zone(); offset != 5*3600+45*60 {
		t.Errorf("it is %s, %d s east", zone, offset)
	}
}
