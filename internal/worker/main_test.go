package worker_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/internal/worker"
)

// roleVariable makes the test binary one of the programs that the tests talk to.
const roleVariable = "WORKER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "worker":
		work()
	case "bare":
		bare()
	case "plugin":
		servePlugin()
	default:
		if r, w, err := os.Pipe(); err == nil { // has Go open its poller, which stays
			r.Close()
			w.Close()
		}
		goleak.VerifyTestMain(m)
		return
	}
	os.Exit(0)
}

// request tells the worker of the tests what to do.
type request struct {
	ID   int    `json:"id"`
	Do   string `json:"do,omitempty"`
	Text string `json:"text,omitempty"`
}

// answer is what it says.
type answer struct {
	ID   int    `json:"id"`
	Seq  int    `json:"seq"` // how many requests it has had
	PID  int    `json:"pid"`
	Text string `json:"text,omitempty"`
}

func work() {
	in := bufio.NewReader(os.Stdin)
	for seq := 1; ; seq++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Printf("no JSON: %v\n", err)
			continue
		}
		reply, _ := json.Marshal(answer{r.ID, seq, os.Getpid(), r.Text})
		act(r, string(reply)+"\n")
	}
}

// act behaves as the request says, mostly badly.
func act(r request, reply string) {
	switch r.Do {
	case "":
		fmt.Print(reply)
	case "print":
		fmt.Print(r.Text)
	case "twice":
		fmt.Print(reply + reply)
	case "later":
		fmt.Print(reply)
		time.Sleep(20 * time.Millisecond)
		fmt.Print(reply)
	case "fill":
		fmt.Print(`{"text":"` + strings.Repeat("x", 1<<20-len(`{"text":""}`)) + "\"}\n")
	case "overfill":
		fmt.Print(`{"text":"` + strings.Repeat("x", 1<<20-len(`{"text":"`)) + "\"}\n")
	case "flood":
		for {
			fmt.Print(strings.Repeat("y", 4096))
		}
	case "hang":
		time.Sleep(time.Minute)
	case "slow":
		time.Sleep(100 * time.Millisecond)
		fmt.Print(reply)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "stubborn")
		fmt.Print(reply)
	case "mute":
		os.Stdout.Close()
		time.Sleep(time.Minute)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		fmt.Print(reply)
		time.Sleep(time.Minute)
	case "last":
		fmt.Print(reply)
		time.Sleep(50 * time.Millisecond)
		fmt.Fprintln(os.Stderr, "enough")
		os.Exit(7)
	case "exit":
		fmt.Fprintln(os.Stderr, "because")
		os.Exit(3)
	case "stderr":
		fmt.Fprintln(os.Stderr, r.Text)
		time.Sleep(50 * time.Millisecond)
		fmt.Print(reply)
	case "stop":
		stopSelf()
	}
}

// bare is the least that answers.
func bare() {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	reply := []byte("{}\n")
	for {
		if _, err := in.ReadSlice('\n'); err != nil {
			return
		}
		os.Stdout.Write(reply)
	}
}

// slack is what a busy machine may add to each promise about time.
const slack = 15 * time.Second

// program is how the test binary is started in a role.
func program(role string) worker.Command {
	return worker.Command{Path: os.Args[0], Env: append(os.Environ(), roleVariable+"="+role)}
}

func planned(c worker.Command) func() (worker.Command, error) {
	return func() (worker.Command, error) { return c, nil }
}
