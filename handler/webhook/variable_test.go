package webhook

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	values := func(name string) (string, *fault) { return "<" + name + ">", nil }
	for _, test := range []struct {
		text          string
		header, inURL string // "" = refused
	}{
		{"plain", "plain", "plain"},
		{"Bearer $TOKEN", "Bearer <TOKEN>", "Bearer $TOKEN"},
		{"Bearer ${TOKEN}", "Bearer <TOKEN>", "Bearer <TOKEN>"},
		{"$A$B_1-${C}d", "<A><B_1>-<C>d", "$A$B_1-<C>d"},
		{"$a", "<a>", "$a"},
		{"costs 5$", "costs 5$", "costs 5$"},
		{"$5 $$ $-", "$5 $$ $-", "$5 $$ $-"},
		{"$$A", "$<A>", "$$A"},
		{"${A", "", ""},
		{"${}", "", ""},
		{"${A:-b}", "", ""},
		{"${1}", "", ""},
		{"${${A}}", "", ""},
		{"${A B}", "", ""},
	} {
		for bare, want := range map[bool]string{true: test.header, false: test.inURL} {
			got, err := expand(test.text, bare, values)
			if (err != nil) != (want == "") || got != want {
				t.Errorf("expand(%q, %v) = %q, %v; want %q", test.text, bare, got, err, want)
			}
		}
	}
}

func TestN6WhatAVariableHoldsIsNeverExpanded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"$A", "${A}", "${B}", "x", "$", "-", "$ "})).Draw(t, "text"), "")
		value := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"$A", "${A}", "${", "}", "$", "A", "B"})).Draw(t, "value"), "")
		marked, err1 := expand(text, true, func(string) (string, *fault) { return "\x00", nil })
		got, err2 := expand(text, true, func(string) (string, *fault) { return value, nil })
		if (err1 == nil) != (err2 == nil) {
			t.Fatal(err1, err2)
		}
		if want := strings.ReplaceAll(marked, "\x00", value); got != want {
			t.Fatalf("%q with %q: %q, want %q", text, value, got, want)
		}
	})
}

// FuzzExpand: whatever the text, it ends, and leaves a text without variables
// as it is.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "$", "${", "${A}", "$A}", "${${A}}", "\xff$é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, bare := range []bool{true, false} {
			named := false
			got, err := expand(text, bare, func(name string) (string, *fault) {
				named = true
				if variableName(name) != name || name == "" {
					t.Fatalf("%q is no name", name)
				}
				return "", nil
			})
			if err == nil && !named && got != text {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}
