package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	gap       = 2 // between columns
	indent    = 4 // of a last column that has lines of its own
	minColumn = 8 // no column is cut shorter
	minWidth  = 20
)

// table prints rows in aligned columns, fitted to the terminal that w is; what
// is no terminal gets everything. Every cell is the caller's to escape.
func table(w io.Writer, s style, header []string, rows [][]string) {
	for _, line := range layout(header, rows, widthOf(w), s.dim) {
		fmt.Fprintln(w, line)
	}
}

// layout returns the lines of a table that is at most width wide; 0 = as wide as
// it is. Where it does not fit, the last column goes onto lines of its own, and
// the longest of the others are cut.
func layout(header []string, rows [][]string, width int, dim func(string) string) []string {
	all := append([][]string{header}, rows...)
	widths := make([]int, len(header))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], visible(cell))
		}
	}
	last := len(header) - 1
	below := width >= minWidth && total(widths) > width
	if below {
		widths = widths[:last]
		shrink(widths, width)
	}
	var lines []string
	for n, row := range all {
		var b strings.Builder
		for i := range widths {
			cell := cut(row[i], widths[i])
			if n == 0 {
				cell = dim(cell)
			}
			b.WriteString(cell)
			if i < len(widths)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-visible(cell)+gap))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
		if below && n > 0 {
			for _, line := range wrap(row[last], width-indent) {
				lines = append(lines, strings.Repeat(" ", indent)+line)
			}
		}
	}
	return lines
}

func total(widths []int) int {
	sum := gap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// shrink cuts the widest columns until all fit, or none can be cut any more.
func shrink(widths []int, width int) {
	for total(widths) > width {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= minColumn {
			return
		}
		widths[widest]--
	}
}

// cut shortens a cell to a width. Colours stay whole.
func cut(cell string, width int) string { return ansi.Truncate(cell, width, "…") }

// wrap breaks a text into lines at its spaces, and in a word that is longer than
// a line.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && visible(line)+1+visible(word) > width {
			lines, line = append(lines, line), ""
		}
		for visible(word) > width && !strings.Contains(word, "\x1b") {
			head, rest, _ := strings.Cut(ansi.Hardwrap(word, width, true), "\n")
			lines, word = append(lines, head), strings.ReplaceAll(rest, "\n", "")
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// visible is how many columns of a terminal a cell takes, without its colours.
func visible(cell string) int { return ansi.StringWidth(cell) }
