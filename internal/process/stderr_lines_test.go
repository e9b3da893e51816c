package process

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStderrIsHandedOnInLinesWhateverPiecesItComesIn(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", "a line"}),
		rapid.Map(rapid.IntRange(0, 3*maxLine), func(n int) string { return strings.Repeat("x", n) }))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "text"), "")
		piece := rapid.SampledFrom([]int{1000, 32 << 10, 1 << 20}).Draw(t, "piece")
		var got []string
		l := stderrLines{each: func(line []byte) { got = append(got, string(line)) }}
		for p := range slices.Chunk([]byte(text), piece) {
			l.Write(bytes.Clone(p))
			if len(l.tail) > 2*maxTail || len(l.line) > maxLine {
				t.Fatalf("%d and %d bytes are kept", len(l.tail), len(l.line))
			}
		}
		l.end()
		var want []string
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			want = append(want, strings.TrimSuffix(line[:min(len(line), maxLine)], "\r"))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %d lines, want %d", len(got), len(want))
		}
		if tail := l.last(); tail != text[max(0, len(text)-maxTail):] {
			t.Fatalf("the tail has %d bytes", len(tail))
		}
	})
}

func TestLastLineNeedsNoEnd(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "\n": {""}, "x": {"x"}, "a\nx": {"a", "x"}, "a\n": {"a"}, "x\r": {"x"}} {
		var got []string
		l := stderrLines{each: func(line []byte) { got = append(got, string(line)) }}
		l.Write([]byte(text))
		l.end()
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
