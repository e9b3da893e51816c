package hooktest_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

var update = flag.Bool("update", false, "rewrite the generated table of docs/protocol.md")

const protocol = "../docs/protocol.md"

func readProtocol(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(protocol)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDifferencesAreThoseOfTheDocument holds the table of differences against
// the cases: each one named there exists and says why, and none is missing.
func TestDifferencesAreThoseOfTheDocument(t *testing.T) {
	_, section, _ := strings.Cut(readProtocol(t), "## Where this differs")
	section, _, _ = strings.Cut(section, "\n## ")
	var named, want []string
	for _, m := range regexp.MustCompile("`([a-z0-9]+(?:-[a-z0-9]+)+)`").FindAllStringSubmatch(section, -1) {
		named = append(named, m[1])
	}
	for _, c := range cases(t) {
		if c.Differs != "" {
			want = append(want, c.Name)
		}
	}
	slices.Sort(named)
	slices.Sort(want)
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("-cases with a paragraph Differs +cases in the table:\n%s", diff)
	}
}

// TestGroupsOfCasesInTheDocumentExist holds mentions like `payload-…`.
func TestGroupsOfCasesInTheDocumentExist(t *testing.T) {
	groups := regexp.MustCompile("`([a-z0-9-]+-)…`").FindAllStringSubmatch(readProtocol(t), -1)
	if len(groups) == 0 {
		t.Error("the document names no group of cases")
	}
	for _, m := range groups {
		if !slices.ContainsFunc(names(t), func(name string) bool { return strings.HasPrefix(name, m[1]) }) {
			t.Errorf("no case is named %s…", m[1])
		}
	}
}

func names(t *testing.T) []string {
	var list []string
	for _, c := range cases(t) {
		list = append(list, c.Name)
	}
	return list
}

func TestTableOfAnswersIsUpToDate(t *testing.T) {
	text := readProtocol(t)
	const begin, end = "<!-- begin answers -->\n", "<!-- end answers -->\n"
	before, rest, ok1 := strings.Cut(text, begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no lines %q and %q", protocol, begin, end)
	}
	want := answers()
	if old == want {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: run go test ./hooktest -run TestTableOfAnswers -update", protocol)
	}
	if err := os.WriteFile(protocol, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// answers is the event table as far as it is about answers.
func answers() string {
	var b strings.Builder
	b.WriteString("| Event | Exit code 2 | Plain text | Fields that count |\n|---|---|---|---|\n")
	for _, e := range hook.Events() {
		mark := ""
		if e.NoPolicy {
			mark = " †"
		}
		fields := e.Fields.Names()
		if e.BlockField {
			fields = append([]string{"decision"}, fields...)
		}
		for i := range fields {
			fields[i] = "`" + fields[i] + "`"
		}
		plain := strings.ReplaceAll(string(e.Plain), "path", "its last line is the path")
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s |\n", e.Event, mark, exit2(&e), orDash(plain), orDash(strings.Join(fields, ", ")))
	}
	return b.String()
}

func exit2(e *hook.EventInfo) string {
	effect := map[hook.BlockEffect]string{hook.BlockAction: "prevents it", hook.BlockFeedback: "feeds back",
		hook.BlockStop: "keeps it working", hook.BlockLoop: "ends the agent's loop"}[e.Block]
	if effect == "" || e.NoExit2 {
		effect = "fails"
	}
	if e.AnyExit {
		effect += ", as any code but 0 does"
	}
	if e.Stderr != hook.ToNobody {
		effect += "; stderr to the " + string(e.Stderr)
	}
	return effect
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
