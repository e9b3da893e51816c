package agent

import (
	"testing"
	"time"
)

func TestTheHubHearsOfAChangeSoonAndNotOfAllMachinesAtOnce(t *testing.T) {
	now := time.Now()
	early, late := 0, 0
	for range 10_000 {
		at := sooner(now.Add(time.Hour), now)
		if at.Before(now) || at.Sub(now) >= soon {
			t.Fatalf("a machine speaks %s after a change, want within %s", at.Sub(now), soon)
		}
		if at.Sub(now) < soon/2 {
			early++
		} else {
			late++
		}
	}
	if early < 4000 || late < 4000 { // 20 standard deviations
		t.Errorf("%d machines speak in the first half of %s and %d in the second, want as many", early, soon, late)
	}
	if planned := now.Add(-time.Second); sooner(planned, now) != planned {
		t.Error("a change delays what is due")
	}
}
