package supervise

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// process is one that does what the test says.
type process struct {
	done    chan struct{}
	once    sync.Once
	stopped bool // by Stop
	from    string
}

func (p *process) Done() <-chan struct{} { return p.done }
func (p *process) Stop()                 { p.once.Do(func() { p.stopped = true; close(p.done) }) }
func (p *process) die()                  { p.once.Do(func() { close(p.done) }) }

var (
	errBroken = errors.New("broken")
	errDied   = errors.New("it died")
	errSick   = errors.New("it is sick")
)

// bench is a unit of such processes.
type bench struct {
	*Unit[*process, string]
	t      *testing.T
	work   sync.WaitGroup
	closed atomic.Bool
	starts []*process
	took   time.Duration // a start
	broken bool          // a start fails
	sick   bool          // a check fails
	checks int
	want   string
}

// run has f use a bench under a clock of its own. Nothing may be left of it.
func run(t *testing.T, k Kind[*process, string], f func(b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, want: "one"}
		k.Start = func(from string) (*process, error) {
			time.Sleep(b.took)
			if b.broken {
				return nil, errBroken
			}
			p := &process{done: make(chan struct{}), from: from}
			b.starts = append(b.starts, p)
			return p, nil
		}
		k.Same = func(a, b string) bool { return a == b }
		k.Died = func(*process) error { return errDied }
		k.Check = func(*process) error {
			b.checks++
			if b.sick {
				return errSick
			}
			return nil
		}
		k.Spawn = func(f func()) bool {
			if b.closed.Load() {
				return false
			}
			b.work.Go(f)
			return true
		}
		b.Unit = New(k)
		f(b)
		b.Close(ErrClosed)
		b.work.Wait()
	})
}

func (b *bench) acquire(ctx context.Context) (*Held[*process, string], error) {
	return b.Acquire(ctx, b.want, func(string) (string, error) { return b.want, nil })
}

// call is a call that is answered, or why there was none.
func (b *bench) call() (*process, error) {
	b.t.Helper()
	h, err := b.acquire(b.t.Context())
	if err != nil {
		return nil, err
	}
	b.Answered(h)
	b.Release(h, false)
	return h.Process, nil
}

func TestCallsShareOneStartWhichOutlivesThem(t *testing.T) {
	run(t, Kind[*process, string]{}, func(b *bench) {
		b.took = time.Second
		short, cancel := context.WithTimeout(b.t.Context(), time.Millisecond)
		defer cancel()
		if _, err := b.acquire(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call whose time was up: %v", err)
		}
		if now := b.Status(); !now.Starting || now.From != "one" {
			t.Errorf("%+v", now)
		}
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if _, err := b.call(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(b.starts) != 1 || !b.Status().Running {
			t.Errorf("%d starts", len(b.starts))
		}
	})
}

func TestStartsAfterFailuresAreSpaced(t *testing.T) {
	for name, free := range map[string]int{"one end is free": 1, "none is": 0} {
		run(t, Kind[*process, string]{Spacing: Spacing{First: 100 * time.Millisecond, Max: 30 * time.Second, Jitter: 0.2, Free: free}}, func(b *bench) {
			crash := func() {
				h, err := b.acquire(b.t.Context())
				if err != nil {
					t.Fatal(name, err)
				}
				h.Process.die()
				b.Release(h, false)
				synctest.Wait()
			}
			for range free {
				crash()
			}
			for i, most := range []time.Duration{120, 240, 480, 960, 1920, 3840, 7680, 15360, 30720, 36000, 36000} {
				crash()
				most *= time.Millisecond
				_, err := b.call()
				var pause *PauseError
				if !errors.As(err, &pause) || !errors.Is(err, errDied) || pause.Failed != i+1+free || pause.Wait > most || pause.Wait < min(most/2, 24*time.Second) {
					t.Fatalf("%s, crash %d: %+v, want about %s", name, i+1, err, most)
				}
				if now := b.Status(); now.Running || !errors.As(now.Failed, &pause) {
					t.Errorf("%s: %+v", name, now)
				}
				time.Sleep(pause.Wait)
			}
			p, err := b.call() // which forgives all
			if err != nil || b.Status().Failed != nil {
				t.Fatal(name, err)
			}
			p.die()
			synctest.Wait()
			if _, err := b.call(); err != nil {
				t.Errorf("%s: one that answered is not started at once: %v", name, err)
			}
		})
	}
}

func TestStartThatFailsTakesAtMostHalfOfTheTime(t *testing.T) {
	run(t, Kind[*process, string]{Spacing: Spacing{First: time.Second, Max: time.Minute, Rest: true}}, func(b *bench) {
		b.broken, b.took = true, 10*time.Second
		var start *StartError
		if _, err := b.call(); !errors.As(err, &start) || !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		var pause *PauseError
		if _, err := b.call(); !errors.As(err, &pause) || pause.Wait != 10*time.Second || !errors.Is(err, errBroken) {
			t.Errorf("%v", err)
		}
		b.want = "two" // another one begins again
		b.broken = false
		if p, err := b.call(); err != nil || p.from != "two" {
			t.Error(p, err)
		}
	})
}

func TestOneThatIsWantedNoMoreEndsWithItsLastCall(t *testing.T) {
	run(t, Kind[*process, string]{}, func(b *bench) {
		old, err := b.acquire(b.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.want = "two"
		if p, err := b.call(); err != nil || p.from != "two" {
			t.Fatal(p, err)
		}
		synctest.Wait()
		if old.Process.stopped {
			t.Error("it was ended under its call")
		}
		b.Release(old, false)
		synctest.Wait()
		if !old.Process.stopped || b.Status().From != "two" || b.Status().Failed != nil {
			t.Errorf("%+v", b.Status())
		}
		b.Withdraw()
		synctest.Wait()
		if !b.starts[1].stopped || b.Status().Running {
			t.Errorf("%+v", b.Status())
		}
		if _, err := b.call(); err != nil || len(b.starts) != 3 {
			t.Error(err)
		}
	})
}

func TestOneInDoubtOrSilentForLongIsChecked(t *testing.T) {
	run(t, Kind[*process, string]{Idle: 30 * time.Second, Hold: true, Spacing: Spacing{First: time.Second, Max: time.Minute, Free: 1}}, func(b *bench) {
		first, err := b.call()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(29 * time.Second)
		if _, err := b.call(); err != nil || b.checks != 0 {
			t.Errorf("after 29 s: %v, %d checks", err, b.checks)
		}
		time.Sleep(31 * time.Second)
		if p, err := b.call(); err != nil || p != first || b.checks != 1 {
			t.Errorf("after 31 s: %v, %d checks", err, b.checks)
		}
		b.sick = true
		h, err := b.acquire(b.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.Release(h, true)
		synctest.Wait()
		if !first.stopped || b.checks != 2 {
			t.Errorf("it is sick, and was not stopped: %d checks", b.checks)
		}
		b.sick = false
		if p, err := b.call(); err != nil || p == first {
			t.Error("no other one took its place:", err)
		}
	})
}

func TestCloseEndsAllWhateverCallsAreUnderWay(t *testing.T) {
	run(t, Kind[*process, string]{}, func(b *bench) {
		for range 2 {
			if _, err := b.acquire(b.t.Context()); err != nil {
				t.Fatal(err)
			}
			b.want = "two"
		}
		b.Close(ErrClosed)
		for _, p := range b.starts {
			if !p.stopped {
				t.Errorf("%s is left", p.from)
			}
		}
		b.closed.Store(true)
		if _, err := b.call(); !errors.Is(err, ErrClosed) {
			t.Errorf("a call after it: %v", err)
		}
	})
}
