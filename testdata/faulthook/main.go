// The runtime keeps descriptors open for these two, and mode fds is to show those of the parent.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command faulthook is a child that misbehaves: one mode for each way in which a hook's command can.
// Tests build it once and run it as `faulthook MODE [ARG…]`; without arguments it lists its modes.
//
// Durations are as Go writes them ("500ms"). A mode that starts further processes starts this program
// again, so that nothing else is needed on the machine.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// decision is what a well-behaved hook would print.
const decision = `{"continue":true,"systemMessage":"faulthook decided"}`

// mode is one way to behave.
type mode struct {
	args, does string
	run        func(args []string)
}

var modes = map[string]mode{
	"ok":     {"", "prints a decision", func([]string) { fmt.Println(decision) }},
	"say":    {"TEXT", "prints the text, byte for byte", func(a []string) { fmt.Print(arg(a, 0, "")) }},
	"exit":   {"CODE [TEXT]", "prints the text to stderr and exits with the code", exit},
	"echo":   {"", "copies stdin to stdout", func([]string) { io.Copy(os.Stdout, os.Stdin) }},
	"count":  {"", "reads stdin to its end, prints its length and SHA-256 as JSON", count},
	"args":   {"…", "prints its arguments as JSON", func(a []string) { printJSON(a) }},
	"env":    {"", "prints its environment as JSON", func([]string) { printJSON(os.Environ()) }},
	"cwd":    {"", "prints its working directory", cwd},
	"sleep":  {"DURATION", "reads nothing, writes nothing, sleeps", func(a []string) { time.Sleep(duration(a, 0)) }},
	"late":   {"DURATION", "sleeps, then prints a decision", late},
	"mute":   {"DURATION", "closes its three descriptors, then sleeps", mute},
	"binary": {"", "prints every byte value, NUL and invalid UTF-8 among them", func([]string) { os.Stdout.Write(everyByte()) }},
	"noise":  {"", "prints a shell profile's noise before its decision", func([]string) { fmt.Println("Welcome back!\n" + decision) }},
	"bytes":  {"N [stderr]", "prints N bytes to stdout, or to stderr", someBytes},
	"flood":  {"[stderr]", "prints for ever", func(a []string) { flood(output(a, 0)) }},
	"panic":  {"", "panics", func([]string) { panic("faulthook was told to") }},
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	m, ok := modes[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "faulthook: no mode %q on this system\n", os.Args[1])
		usage()
	}
	m.run(os.Args[2:])
}

func usage() {
	for _, name := range slices.Sorted(maps.Keys(modes)) {
		fmt.Fprintf(os.Stderr, "%-12s %-22s %s\n", name, modes[name].args, modes[name].does)
	}
	os.Exit(64)
}

func exit(a []string) {
	fmt.Fprint(os.Stderr, arg(a, 1, ""))
	code, err := strconv.Atoi(arg(a, 0, "1"))
	check(err)
	os.Exit(code)
}

func count([]string) {
	h := sha256.New()
	n, err := io.Copy(h, os.Stdin)
	check(err)
	printJSON(map[string]any{"bytes": n, "sha256": fmt.Sprintf("%x", h.Sum(nil))})
}

func cwd([]string) {
	dir, err := os.Getwd()
	check(err)
	fmt.Print(dir)
}

func late(a []string) {
	time.Sleep(duration(a, 0))
	fmt.Println(decision)
}

func mute(a []string) {
	os.Stdin.Close()
	os.Stdout.Close()
	os.Stderr.Close()
	time.Sleep(duration(a, 0))
}

func everyByte() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func someBytes(a []string) {
	n, err := strconv.Atoi(arg(a, 0, "1"))
	check(err)
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	_, err = output(a, 1).Write(b)
	check(err)
}

func flood(w io.Writer) {
	line := make([]byte, 8192)
	for i := range line {
		line[i] = "y\n"[i%2]
	}
	for {
		if _, err := w.Write(line); err != nil {
			os.Exit(1)
		}
	}
}

// again starts this program in another mode, with the given outputs, and does not wait for it.
func again(prepare func(*exec.Cmd), stdout io.Writer, mode string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	check(err)
	cmd := exec.Command(self, append([]string{mode}, args...)...)
	cmd.Stdout = stdout
	if prepare != nil {
		prepare(cmd)
	}
	check(cmd.Start())
	return cmd
}

func arg(a []string, i int, fallback string) string {
	if i < len(a) {
		return a[i]
	}
	return fallback
}

func duration(a []string, i int) time.Duration {
	d, err := time.ParseDuration(arg(a, i, "60s"))
	check(err)
	return d
}

func output(a []string, i int) *os.File {
	if arg(a, i, "stdout") == "stderr" {
		return os.Stderr
	}
	return os.Stdout
}

func printJSON(v any) { check(json.NewEncoder(os.Stdout).Encode(v)) }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "faulthook:", err)
		os.Exit(70)
	}
}
