package environ_test

import (
	"runtime"
	"testing"

	"github.com/tenterhook/tenterhook/internal/environ"
)

func TestTheLastVariableOfANameCounts(t *testing.T) {
	list := []string{"A=1", "AB=2", "A=3", "B=", "=C:=C:\\x"}
	for name, want := range map[string]string{"A": "3", "AB": "2", "B": "", "C": "", "": ""} {
		if got := environ.Get(list, name); name != "" && got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if _, set := environ.Lookup(list, "B"); !set {
		t.Error("an empty variable is set")
	}
	if _, set := environ.Lookup(list, "ABC"); set {
		t.Error("ABC is not set")
	}
}

func TestCaseOfANameMattersAsTheSystemHasIt(t *testing.T) {
	_, set := environ.Lookup([]string{"Path=x"}, "PATH")
	if want := runtime.GOOS == "windows"; set != want {
		t.Errorf("Path is PATH: %v, want %v", set, want)
	}
}
