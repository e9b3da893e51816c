package process_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/tenterhook/tenterhook/internal/process"
)

// runsVariable says how many runs TestNoProcessIsLeft makes, where the few of the suite are not enough.
const runsVariable = "PROCESS_TEST_RUNS"

// Of three runs one ends, one leaves children behind, and one hangs with its children.
func TestNoProcessIsLeft(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv(runsVariable))
	runs = max(runs, 12)
	began := time.Now()
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wg.Go(func() {
			for i := range next {
				leaveSomething(t, i)
			}
		})
	}
	for i := range runs {
		next <- i
	}
	close(next)
	wg.Wait()
	t.Logf("%d runs in %v", runs, time.Since(began))
	if left := named(t, "faulthook.exe"); left > 0 {
		t.Errorf("%d processes are left", left)
	}
}

func leaveSomething(t *testing.T, i int) {
	s := fault("exit", "3")
	switch i % 3 {
	case 1:
		s = fault("background", "60s")
	case 2:
		s = fault("nest", "60s")
		s.Timeout = 2 * time.Second
	}
	res, err := process.Run(context.Background(), s)
	if err != nil || !res.Started || len(res.Survivors) > 0 || res.TimedOut != (i%3 == 2) {
		t.Errorf("run %d: %+v, %v", i, res, err)
	}
}

// named counts the processes of a program.
func named(t *testing.T, program string) (n int) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if strings.EqualFold(windows.UTF16ToString(entry.ExeFile[:]), program) {
			n++
		}
	}
	return n
}
