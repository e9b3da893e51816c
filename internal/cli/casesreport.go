package cli

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// tests is what test prints.
type tests struct {
	Cases        []caseResult `json:"cases"`
	WithoutCases []string     `json:"without_cases"`
	Passed       int          `json:"passed"`
	Failed       int          `json:"failed"`
	Updated      int          `json:"updated"`
	NotRun       int          `json:"not_run"`
}

func (t *tests) add(r caseResult) {
	r.Differences = orEmpty(r.Differences)
	t.Cases = append(t.Cases, r)
	*map[string]*int{casePassed: &t.Passed, caseFailed: &t.Failed, caseUpdated: &t.Updated, caseNotRun: &t.NotRun}[r.Status]++
}

// test runs the cases of hooks and tells what came of them.
func (a *app) test(ctx context.Context, f testFlags, args []string) error {
	hooks, err := a.testedHooks(ctx, args)
	if err != nil {
		return err
	}
	t := tests{Cases: []caseResult{}, WithoutCases: []string{}}
	total := 0
	for _, h := range hooks {
		if total += len(h.cases); len(h.cases) == 0 {
			t.WithoutCases = append(t.WithoutCases, h.id)
		}
	}
	b, err := newBench(f.update)
	if err != nil {
		return err
	}
	defer b.close()
	came := b.start(ctx, hooks)
	for _, h := range hooks {
		for range h.cases {
			r, err := a.await(ctx, came[0], len(t.Cases), total)
			if err != nil {
				return err
			}
			came = came[1:]
			t.add(r)
		}
		if !a.json {
			a.printTested(h, t.Cases[len(t.Cases)-len(h.cases):])
		}
	}
	if t.Failed+t.NotRun > 0 || total == 0 {
		a.code = exitError
	}
	if f.junit != "" {
		if err := writeJUnit(f.junit, t.Cases); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(t)
	}
	a.printTests(&t, hooks)
	return nil
}

// await waits for the next result. Where that takes long, a person sees how far
// the tests are.
func (a *app) await(ctx context.Context, came chan caseResult, done, total int) (caseResult, error) {
	for {
		select {
		case r := <-came:
			return r, nil
		case <-ctx.Done():
			return caseResult{}, context.Cause(ctx)
		case <-time.After(progressEvery):
			fmt.Fprintf(a.Err, "%d of %d cases\n", done, total)
		}
	}
}

// printTested prints the cases of one hook.
func (a *app) printTested(h *testedHook, results []caseResult) {
	style := a.styleOf(a.Out)
	if len(results) == 0 {
		return
	}
	passed, took := 0, 0.0
	for _, r := range results {
		took += r.ElapsedMS
		if r.Status == casePassed {
			passed++
		}
	}
	if h.why != "" {
		fmt.Fprintf(a.Out, "%s  %s: %s\n", style.yellow("not run"), oneLine(h.id), oneLine(h.why))
		if h.hint != "" {
			fmt.Fprintln(a.Out, "  "+style.dim(oneLine(h.hint)))
		}
		return
	}
	if passed > 0 {
		fmt.Fprintf(a.Out, "%s  %s  %s  %.1f s\n", style.green("passed"), oneLine(h.id), phrase.Count(passed, "case"), took/1000)
	}
	for _, r := range results {
		switch r.Status {
		case caseUpdated:
			fmt.Fprintf(a.Out, "%s  %s\n", style.yellow("updated"), oneLine(r.Path))
		case caseFailed:
			fmt.Fprintf(a.Out, "%s  %s: %s\n", style.red("failed"), oneLine(h.id), oneLine(strings.TrimSpace(r.Case+". "+r.prose)))
			fmt.Fprintln(a.Out, "  "+style.dim(oneLine(r.Path)))
			for _, d := range r.Differences {
				fmt.Fprintln(a.Out, "  "+strings.ReplaceAll(phrase.Printable(strings.TrimRight(d, "\n")), "\n", "\n  "))
			}
		}
	}
}

// printTests prints the sum, and what there is to do.
func (a *app) printTests(t *tests, hooks []*testedHook) {
	var parts []string
	for _, count := range []struct {
		n    int
		what string
	}{{t.Passed, "passed"}, {t.Failed, "failed"}, {t.Updated, "updated"}, {t.NotRun, "not run"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no cases, so nothing was tested"}
	}
	fmt.Fprintln(a.Out, strings.Join(parts, ", "))
	for _, h := range hooks {
		if t.Updated > 0 && h.needsApproval() {
			fmt.Fprintf(a.Out, "the cases of %s are a part of what was approved: tenterhook trust %s\n", oneLine(h.id), oneLine(h.id))
		}
	}
	if len(t.WithoutCases) > 0 {
		fmt.Fprintf(a.Out, "without cases: %s\n  write %s/NAME%s in the hook's folder, or make one of a run: tenterhook test --record RUN\n",
			oneLine(strings.Join(t.WithoutCases, ", ")), casesName, caseSuffix)
	}
}

// The elements of a JUnit report that its readers agree on.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"` // seconds
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes results as JUnit XML, a suite a hook. What was not run, or was
// updated, is a failure there.
func writeJUnit(path string, results []caseResult) error {
	var report junitSuites
	var took float64
	for _, r := range results {
		if n := len(report.Suites); n == 0 || report.Suites[n-1].Name != r.Hook {
			report.Suites, took = append(report.Suites, junitSuite{Name: r.Hook}), 0
		}
		s := &report.Suites[len(report.Suites)-1]
		c := junitCase{Name: r.Case, Class: r.Hook, File: r.Path, Time: fmt.Sprintf("%.3f", r.ElapsedMS/1000)}
		if r.Status != casePassed {
			s.Failures++
			first := r.Status
			if len(r.Differences) > 0 {
				first, _, _ = strings.Cut(r.Differences[0], "\n")
			}
			c.Failure = &junitFailure{phrase.Printable(first), phrase.Printable(strings.Join(r.Differences, "\n"))}
		}
		took += r.ElapsedMS
		s.Tests, s.Time, s.Cases = s.Tests+1, fmt.Sprintf("%.3f", took/1000), append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(text, '\n')...), 0o644)
}
