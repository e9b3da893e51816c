package eligibility_test

import (
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/hook"
)

// expect fails the test unless the verdict is as wanted.
func expect(t *testing.T, check *eligibility.Check, eligible bool, when string) {
	t.Helper()
	if v := check.Verdict(); v.Eligible != eligible {
		t.Errorf("%s: got %+v, want eligible %v", when, v, eligible)
	}
}

func TestFilesAreLookedAtAgainAfterTheTTL(t *testing.T) {
	for _, r := range []hook.Requires{
		{Bins: []string{"tool"}},
		{AnyBins: []string{"gone", "tool"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			check := newEnvironment("PATH", dir).checker().Prepare(r)
			expect(t, check, false, "at first")

			file := program(t, dir, "tool")
			time.Sleep(eligibility.DefaultTTL - time.Nanosecond)
			expect(t, check, false, "it appeared, within the TTL")
			time.Sleep(time.Nanosecond)
			expect(t, check, true, "it appeared, after the TTL")

			remove(t, file)
			time.Sleep(eligibility.DefaultTTL - time.Nanosecond)
			expect(t, check, true, "it vanished, within the TTL")
			time.Sleep(time.Nanosecond)
			expect(t, check, false, "it vanished, after the TTL")
		})
	}
}

func TestLostPermissionIsNoticedAfterTheTTL(t *testing.T) {
	needsModes(t)
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		file := program(t, dir, "tool")
		check := newEnvironment("PATH", dir).checker().Prepare(hook.Requires{Bins: []string{"tool"}})
		for _, mode := range []os.FileMode{0o755, 0o644, 0o700} {
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
			time.Sleep(eligibility.DefaultTTL)
			expect(t, check, mode&0o111 != 0, mode.String())
		}
	})
}

// The file that was found goes, but there is another one further down PATH.
func TestFoundProgramMayMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := t.TempDir(), t.TempDir()
		first := program(t, near, "tool")
		check := newEnvironment("PATH", pathOf(near, far)).checker().Prepare(hook.Requires{Bins: []string{"tool"}})
		expect(t, check, true, "at first")
		program(t, far, "tool")
		remove(t, first)
		time.Sleep(eligibility.DefaultTTL)
		expect(t, check, true, "after it moved")
	})
}

func TestEnvironmentCountsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		program(t, dir, "tool")
		env := newEnvironment("PATH", dir, "TOKEN", "x")
		check := env.checker().Prepare(hook.Requires{Bins: []string{"tool"}, Envs: []string{"TOKEN"}})
		expect(t, check, true, "at first")

		env.set("PATH", t.TempDir())
		expect(t, check, false, "PATH lost the program")
		env.set("PATH", dir)
		expect(t, check, true, "PATH has it again")
		env.unset("PATH")
		expect(t, check, false, "PATH is gone")
		env.set("PATH", dir)

		env.set("TOKEN", "")
		expect(t, check, false, "TOKEN is empty")
		env.set("TOKEN", "y")
		expect(t, check, true, "TOKEN has another value")
		env.unset("TOKEN")
		expect(t, check, false, "TOKEN is gone")
	})
}

// A requirement of variables alone never goes stale: they are read each time.
func TestVariablesAloneAreAlwaysCurrent(t *testing.T) {
	env := newEnvironment()
	check := env.checker().Prepare(hook.Requires{Envs: []string{"A", "B"}})
	expect(t, check, false, "at first")
	env.set("A", "1")
	expect(t, check, false, "with A")
	env.set("B", "1")
	expect(t, check, true, "with both")
	env.unset("A")
	expect(t, check, false, "without A")
}

func TestInvalidateLooksAfresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		file := program(t, dir, "tool")
		checker := newEnvironment("PATH", dir).checker()
		check := checker.Prepare(hook.Requires{Bins: []string{"tool"}})
		expect(t, check, true, "at first")
		remove(t, file)
		expect(t, check, true, "within the TTL")
		check.Invalidate()
		expect(t, check, false, "after Invalidate")
	})
}

func TestInvalidateLeavesFixedVerdictsAlone(t *testing.T) {
	checker := newEnvironment().checker()
	for _, r := range []hook.Requires{{}, {OS: []string{"plan9"}}} {
		check := checker.Prepare(r)
		want := check.Verdict()
		check.Invalidate()
		if got := check.Verdict(); got != want {
			t.Errorf("%+v: got %+v, want %+v", r, got, want)
		}
	}
}

// Invalidate may come while a lookup is under way, which must neither make it
// wait nor bury it.
func TestInvalidateDuringALookupIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		env := newEnvironment("PATH", dir)
		var check *eligibility.Check
		var once sync.Once
		check = eligibility.New(eligibility.Options{LookupEnv: func(name string) (string, bool) {
			once.Do(func() { check.Invalidate() })
			return env.lookup(name)
		}}).Prepare(hook.Requires{Bins: []string{"tool"}})
		expect(t, check, false, "at first")
		program(t, dir, "tool")
		expect(t, check, true, "invalidated by the first lookup")
	})
}

func TestNegativeTTLLooksEachTime(t *testing.T) {
	dir := t.TempDir()
	env := newEnvironment("PATH", dir)
	check := eligibility.New(eligibility.Options{LookupEnv: env.lookup, TTL: -1}).
		Prepare(hook.Requires{Bins: []string{"tool"}})
	expect(t, check, false, "at first")
	file := program(t, dir, "tool")
	expect(t, check, true, "when it appeared")
	remove(t, file)
	expect(t, check, false, "when it vanished")
}

// One lookup serves all who ask at once: each gets the same explanation.
func TestConcurrentCallersShareALookup(t *testing.T) {
	check := eligibility.New(eligibility.Options{TTL: time.Hour, LookupEnv: func(string) (string, bool) {
		time.Sleep(10 * time.Millisecond) // long enough for the others to come
		return "", false
	}}).Prepare(hook.Requires{Bins: []string{"tool"}})

	var texts [8]*byte
	var callers sync.WaitGroup
	for i := range texts {
		callers.Go(func() { texts[i] = unsafe.StringData(check.Verdict().Why) })
	}
	callers.Wait()
	for i, text := range texts {
		if text != texts[0] {
			t.Errorf("caller %d looked for itself", i)
		}
	}
}

// Programs and variables come and go while many ask. No one may get a verdict
// that belongs to no moment: either one explains itself, or is eligible.
func TestVerdictsAreSafeForConcurrentUse(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := t.TempDir()
	env := newEnvironment("PATH", dir, "TOKEN", "x")
	checker := eligibility.New(eligibility.Options{LookupEnv: env.lookup, TTL: time.Microsecond})
	r := hook.Requires{Bins: []string{"tool"}, Envs: []string{"TOKEN"}}

	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			check := checker.Prepare(r)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if v := check.Verdict(); v.Eligible != (v.Why == "") {
					t.Errorf("torn verdict %+v", v)
				}
			}
		})
	}
	check := checker.Prepare(r)
	for i := range 200 {
		file := program(t, dir, "tool")
		env.set("TOKEN", "x")
		check.Invalidate()
		expect(t, check, true, "all there")
		if i%2 == 0 {
			remove(t, file)
		} else {
			env.unset("TOKEN")
		}
		check.Invalidate()
		expect(t, check, false, "one missing")
	}
	close(stop)
	readers.Wait()
}

func TestWarmVerdictAllocatesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows: os.LookupEnv allocates")
	}
	t.Setenv("TENTERHOOK_TOKEN", "x")
	for name, r := range map[string]hook.Requires{
		"nothing":  {},
		"eligible": {AnyBins: []string{absent, "go"}, Envs: []string{"TENTERHOOK_TOKEN"}},
		"missing":  {Bins: []string{absent}, Envs: []string{"TENTERHOOK_NO_TOKEN"}},
		"system":   {OS: []string{"plan9"}},
	} {
		check := eligibility.New(eligibility.Options{TTL: time.Hour}).Prepare(r)
		if n := testing.AllocsPerRun(100, func() { check.Verdict() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
