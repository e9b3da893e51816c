package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// tool is a program that this shell has within itself. It returns an exit code.
type tool func(ctx context.Context, h interp.HandlerContext, args []string) int

var all = map[string]tool{"cat": cat, "sleep": sleep, "rm": rm, "mkdir": mkdir, "touch": touch, "chmod": chmod, "grep": grep, "wc": wc, "mv": mv, "cp": cp, "env": env, "seq": seq, "yes": yes, "head": head, "tr": tr, "sort": sortLines, "sed": sed, "date": date, "dirname": dirname}

// tools runs what is a tool here, and leaves the rest to PATH.
func tools(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		h := interp.HandlerCtx(ctx)
		name := strings.TrimPrefix(args[0], "/bin/")
		if run, ok := all[name]; ok && !(name == "sleep" && program() != "sleep" && onPath(h, name)) { // it must outlive its shell
			if code := run(ctx, h, args[1:]); code != 0 {
				return interp.ExitStatus(code)
			}
			return nil
		}
		if strings.ContainsAny(args[0], `/\`) {
			if text, err := os.ReadFile(at(h, args[0])); err == nil && !bytes.HasPrefix(text, []byte("MZ")) { // a script
				self, _ := os.Executable()
				return next(ctx, append([]string{self, at(h, args[0])}, args[1:]...))
			}
		}
		if !onPath(h, args[0]) {
			fmt.Fprintf(h.Stderr, "sh: 1: %s: not found\n", args[0])
			return interp.ExitStatus(127)
		}
		return next(ctx, args)
	}
}

func onPath(h interp.HandlerContext, name string) bool {
	_, err := interp.LookPathDir(h.Dir, h.Env, name)
	return err == nil
}

// each calls f for each operand, as a path, and reports the first failure.
func each(h interp.HandlerContext, args []string, f func(file string) error) int {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") && arg != "-" {
			continue
		}
		if err := f(at(h, arg)); err != nil {
			fmt.Fprintln(h.Stderr, err)
			return 1
		}
	}
	return 0
}

func at(h interp.HandlerContext, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(h.Dir, file)
}

func cat(_ context.Context, h interp.HandlerContext, args []string) int {
	if len(args) == 0 && h.Stdin != nil {
		io.Copy(h.Stdout, h.Stdin)
	}
	return each(h, args, func(file string) error {
		text, err := os.ReadFile(file)
		h.Stdout.Write(text)
		return err
	})
}

func sleep(ctx context.Context, _ interp.HandlerContext, args []string) int {
	seconds, err := strconv.ParseFloat(strings.Join(args, ""), 64)
	if err != nil {
		return 1
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(seconds * float64(time.Second))):
	}
	return 0
}

func rm(_ context.Context, h interp.HandlerContext, args []string) int {
	return each(h, args, os.RemoveAll)
}
func mkdir(_ context.Context, h interp.HandlerContext, args []string) int {
	return each(h, args, func(dir string) error { return os.MkdirAll(dir, 0o755) })
}

// touch takes the time of -t, as "202601020304".
func touch(_ context.Context, h interp.HandlerContext, args []string) int {
	to := time.Time{}
	if len(args) > 1 && args[0] == "-t" {
		to, _ = time.ParseInLocation("200601021504", args[1], time.Local)
		args = args[2:]
	}
	return each(h, args, func(file string) error {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			err = f.Close()
		}
		if err == nil && !to.IsZero() {
			err = os.Chtimes(file, to, to)
		}
		return err
	})
}

// chmod: Windows has no such modes.
func chmod(context.Context, interp.HandlerContext, []string) int { return 0 }

func mv(_ context.Context, h interp.HandlerContext, args []string) int {
	args = operands(args)
	return failed(h, os.Rename(at(h, args[0]), at(h, args[1])))
}

func cp(_ context.Context, h interp.HandlerContext, args []string) int {
	args = operands(args)
	text, err := os.ReadFile(at(h, args[0]))
	if err == nil {
		err = os.WriteFile(at(h, args[1]), text, 0o755)
	}
	return failed(h, err)
}

func operands(args []string) []string {
	for len(args) > 2 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	return args
}

func failed(h interp.HandlerContext, err error) int {
	if err != nil {
		fmt.Fprintln(h.Stderr, err)
		return 1
	}
	return 0
}

// env prints the variables.
func env(_ context.Context, h interp.HandlerContext, _ []string) int {
	for _, v := range os.Environ() {
		fmt.Fprintln(h.Stdout, v)
	}
	return 0
}

func seq(_ context.Context, h interp.HandlerContext, args []string) int {
	last, err := strconv.Atoi(args[len(args)-1])
	for i := 1; i <= last; i++ {
		fmt.Fprintln(h.Stdout, i)
	}
	return failed(h, err)
}

func yes(_ context.Context, h interp.HandlerContext, args []string) int {
	line := strings.Join(append(args, "y")[:max(1, len(args))], " ") + "\n"
	block := strings.Repeat(line, max(1, 8<<10/len(line))) // as others do: a call for each line takes minutes
	for {
		if _, err := io.WriteString(h.Stdout, block); err != nil {
			return 1
		}
	}
}

// wc prints how many lines, with -c bytes, stdin has.
func wc(_ context.Context, h interp.HandlerContext, args []string) int {
	text, err := io.ReadAll(h.Stdin)
	n := strings.Count(string(text), "\n")
	if strings.Join(args, "") == "-c" {
		n = len(text)
	}
	fmt.Fprintln(h.Stdout, n)
	return failed(h, err)
}

// grep looks for an expression, with -F for a fixed string, and with the flags -q, -i and -o.
func grep(_ context.Context, h interp.HandlerContext, args []string) int {
	flags := ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flags += args[0]
		args = args[1:]
	}
	text, err := input(h, args[1:])
	want := args[0]
	if strings.Contains(flags, "F") {
		want = regexp.QuoteMeta(want)
	}
	if strings.Contains(flags, "i") {
		want = "(?i)" + want
	}
	pattern, wrong := regexp.Compile(basic.Replace(want))
	if err = errors.Join(err, wrong); err != nil {
		return 2 * failed(h, err)
	}
	found := 1
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		shown := []string{line}
		if strings.Contains(flags, "o") {
			shown = pattern.FindAllString(line, -1)
		}
		if !pattern.MatchString(line) {
			continue
		}
		found = 0
		if !strings.Contains(flags, "q") {
			fmt.Fprintln(h.Stdout, strings.Join(shown, "\n"))
		}
	}
	return found
}

// basic turns a basic expression into Go's, as far as tests need: a brace stands for itself.
var basic = strings.NewReplacer(`\{`, `{`, `\}`, `}`, `{`, `\{`, `}`, `\}`, `\(`, `(`, `\)`, `)`, `\\`, `\\`)

// input is the text of the first file, else of stdin.
func input(h interp.HandlerContext, files []string) (string, error) {
	var text []byte
	var err error
	if len(files) > 0 {
		text, err = os.ReadFile(at(h, files[0]))
	} else {
		text, err = io.ReadAll(h.Stdin)
	}
	return string(text), err
}

// head prints the first bytes: -c N [FILE].
func head(_ context.Context, h interp.HandlerContext, args []string) int {
	n, err := strconv.Atoi(args[1])
	if err == nil && args[len(args)-1] == "/dev/zero" {
		_, err = h.Stdout.Write(make([]byte, n))
		return failed(h, err)
	}
	text, wrong := input(h, args[2:])
	fmt.Fprint(h.Stdout, text[:min(n, len(text))])
	return failed(h, errors.Join(err, wrong))
}

// tr replaces one character by another, or with -d deletes those named.
func tr(_ context.Context, h interp.HandlerContext, args []string) int {
	escapes := strings.NewReplacer(`\n`, "\n", `\0`, "\x00")
	from, to := escapes.Replace(args[0]), escapes.Replace(args[1])
	if from == "-d" {
		from, to = to, ""
	}
	text, err := input(h, nil)
	for _, c := range from {
		text = strings.ReplaceAll(text, string(c), to)
	}
	fmt.Fprint(h.Stdout, text)
	return failed(h, err)
}

// sortLines is sort without flags.
func sortLines(_ context.Context, h interp.HandlerContext, args []string) int {
	text, err := input(h, args)
	for _, line := range slices.Sorted(strings.Lines(text)) {
		fmt.Fprint(h.Stdout, line)
	}
	return failed(h, err)
}

// sed knows s/FROM/TO/ with any character as its separator, with and without g, several with "; " between, and
// -n s/FROM/TO/p.
func sed(_ context.Context, h interp.HandlerContext, args []string) int {
	matched := args[0] == "-n"
	if matched {
		args = args[1:]
	}
	text, err := input(h, args[1:])
	parts := strings.Split(args[0], args[0][1:2])
	for ; len(parts) > 3 && err == nil; parts = parts[3:] { // what stands behind one begins the next
		var from *regexp.Regexp
		if from, err = regexp.Compile("(?m)" + basic.Replace(parts[1])); err != nil {
			break
		}
		if matched {
			lines := slices.DeleteFunc(slices.Collect(strings.Lines(text)), func(line string) bool { return !from.MatchString(line) })
			text = strings.Join(lines, "")
		}
		text = from.ReplaceAllString(text, groups.Replace(parts[2]))
	}
	fmt.Fprint(h.Stdout, text)
	return failed(h, err)
}

// groups turns what sed puts in the place of an expression into Go's.
var groups = strings.NewReplacer(`$`, `$$`, `\1`, `${1}`, `\2`, `${2}`)

// date prints the time as "-u +%Y-%m-%dT%H:%M:%SZ" does.
func date(_ context.Context, h interp.HandlerContext, _ []string) int {
	fmt.Fprintln(h.Stdout, time.Now().UTC().Format(time.RFC3339))
	return 0
}

func dirname(_ context.Context, h interp.HandlerContext, args []string) int {
	fmt.Fprintln(h.Stdout, path.Dir(args[0]))
	return 0
}
