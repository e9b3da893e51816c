package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func plainText(s string) string { return s }

func TestATableFitsItsTerminal(t *testing.T) {
	header := []string{"STATE", "HOOK", "WHY"}
	rows := [][]string{{"\x1b[32mready\x1b[0m", "dir/a", ""}, {"invalid", "project/a-rather-long-name", "command: it does not exist; check the path"}}
	for width, want := range map[int][]string{
		0: {"STATE    HOOK                        WHY", "\x1b[32mready\x1b[0m    dir/a",
			"invalid  project/a-rather-long-name  command: it does not exist; check the path"},
		79: {"STATE    HOOK                        WHY", "\x1b[32mready\x1b[0m    dir/a",
			"invalid  project/a-rather-long-name  command: it does not exist; check the path"},
		40: {"STATE    HOOK", "\x1b[32mready\x1b[0m    dir/a", "invalid  project/a-rather-long-name",
			"    command: it does not exist; check", "    the path"},
		24: {"STATE    HOOK", "\x1b[32mready\x1b[0m    dir/a", "invalid  project/a-rath…",
			"    command: it does not", "    exist; check the", "    path"},
	} {
		if diff := cmp.Diff(want, layout(header, rows, width, plainText)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
}

// A character of Chinese takes two columns of a terminal, and an accent that is a
// character of its own takes none.
func TestATableCountsTheColumnsThatCharactersTake(t *testing.T) {
	header := []string{"STATE", "HOOK", "WHY"}
	rows := [][]string{{"ready", "项目/守卫", "不要删除"}, {"ready", "re\u0301sume\u0301", "x"}}
	for width, want := range map[int][]string{
		0:  {"STATE  HOOK       WHY", "ready  项目/守卫  不要删除", "ready  re\u0301sume\u0301     x"},
		24: {"STATE  HOOK", "ready  项目/守卫", "    不要删除", "ready  re\u0301sume\u0301", "    x"},
	} {
		if diff := cmp.Diff(want, layout(header, rows, width, plainText)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
	for text, want := range map[string][]string{
		"删除所有文件 然后":                  {"删除所", "有文件", "然后"},
		strings.Repeat("e\u0301", 9): {strings.Repeat("e\u0301", 7), strings.Repeat("e\u0301", 2)},
	} {
		if diff := cmp.Diff(want, wrap(text, 7)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if got := cut("\x1b[32m项目/守卫\x1b[0m", 6); got != "\x1b[32m项目/…\x1b[0m" {
		t.Errorf("cut to %q", got)
	}
}

func TestATableOfAnyCellsFitsAndLosesNoWordOfItsLastColumn(t *testing.T) {
	cell := rapid.StringMatching(`[a-z/é你]{0,30}`)
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 5).Draw(t, "columns")
		header := make([]string, columns)
		for i := range header {
			header[i] = rapid.StringMatching(`[A-Z]{1,8}`).Draw(t, "header")
		}
		rows := rapid.SliceOfN(rapid.SliceOfN(cell, columns, columns), 0, 6).Draw(t, "rows")
		for i := range rows {
			rows[i][columns-1] = strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,40}`), 0, 12).Draw(t, "why"), " ")
		}
		width := rapid.IntRange(columns*(minColumn+gap)+minWidth, 200).Draw(t, "width")
		lines := layout(header, rows, width, plainText)
		for _, line := range lines {
			if visible(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
		text := strings.Join(strings.Fields(strings.Join(lines, "")), "")
		for _, row := range rows {
			if why := strings.ReplaceAll(row[columns-1], " ", ""); !strings.Contains(text, why) {
				t.Fatalf("%q is lost in %q", why, lines)
			}
		}
		full := layout(header, rows, 0, plainText)
		if len(full) != len(rows)+1 || slices.ContainsFunc(full, func(l string) bool { return strings.Contains(l, "…") }) {
			t.Fatalf("cut where it is no terminal: %q", full)
		}
	})
}
