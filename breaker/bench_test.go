package breaker_test

import (
	"sync"
	"testing"

	"github.com/tenterhook/tenterhook/breaker"
)

// BenchmarkClosed is what a healthy call pays.
func BenchmarkClosed(b *testing.B) {
	br := breaker.New(breaker.Settings{})
	b.ReportAllocs()
	for b.Loop() {
		permit, ok := br.Allow()
		if !ok {
			b.Fatal("a closed breaker refused")
		}
		permit.Done(breaker.Success)
	}
}

// BenchmarkClosedDeferred adds the deferred Release that callers ought to have.
func BenchmarkClosedDeferred(b *testing.B) {
	br := breaker.New(breaker.Settings{})
	b.ReportAllocs()
	for b.Loop() {
		succeed(br)
	}
}

// BenchmarkClosedParallel has every processor on the same breaker.
func BenchmarkClosedParallel(b *testing.B) {
	br := breaker.New(breaker.Settings{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			succeed(br)
		}
	})
}

// BenchmarkOpen is what a refused call pays; it has to read the clock.
func BenchmarkOpen(b *testing.B) {
	br := breaker.New(breaker.Settings{Failures: 1})
	report(b, br, breaker.Failure)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := br.Allow(); ok {
			b.Fatal("an open breaker allowed a call")
		}
	}
}

// BenchmarkFloor is the least that Allow and Done could cost with a mutex.
func BenchmarkFloor(b *testing.B) {
	var mu sync.Mutex
	n := 0
	for b.Loop() {
		mu.Lock()
		n++
		mu.Unlock()
		mu.Lock()
		n++
		mu.Unlock()
	}
}

func TestClosedBreakerDoesNotAllocate(t *testing.T) {
	br := breaker.New(breaker.Settings{})
	if n := testing.AllocsPerRun(1000, func() { succeed(br) }); n != 0 {
		t.Errorf("a successful call allocates %v times, want 0", n)
	}
}

func succeed(br *breaker.Breaker) {
	permit, ok := br.Allow()
	if !ok {
		panic("a closed breaker refused")
	}
	defer permit.Release()
	permit.Done(breaker.Success)
}
