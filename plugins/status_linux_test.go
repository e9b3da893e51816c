package plugins

import (
	"os"
	"testing"
	"time"
)

func TestPackageTellsHowPluginsStandWithOtherHosts(t *testing.T) {
	b := newBench(t).good()
	c, pid, _ := b.otherHost()
	plugin := func() Plugin {
		pkg, notes := b.host.Package(b.dir)
		if len(pkg.Plugins) != 1 || len(notes) > 1 {
			t.Fatal(pkg, notes)
		}
		return pkg.Plugins[0]
	}
	p := plugin()
	if len(p.Processes) != 1 || p.State != StateRunning {
		t.Fatalf("of a plugin that runs: %+v", p)
	}
	if got, want := p.Processes[0], (Process{PID: pid, Host: c.Process.Pid, Digest: p.Digest, State: StateRunning}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}

	b.mustCall(do{Do: "version"})
	if p = plugin(); len(p.Processes) != 2 || p.Processes[0].PID == p.Processes[1].PID {
		t.Errorf("of two processes: %+v", p.Processes)
	}
	b.call(do{Do: "kill"})
	eventually(t, 15*time.Second, "the news of a crash", func() bool {
		p = plugin()
		return len(p.Processes) == 2 && p.Processes[1].State == StateFailing
	})
	if p.State != StateRunning || p.Processes[1].Host != os.Getpid() || p.Processes[1].Why == "" {
		t.Errorf("of one that crashed: %+v", p.Processes)
	}

	b.host.Close()
	c.Process.Kill()
	c.Wait()
	b.host = b.open()
	if p = plugin(); len(p.Processes) != 0 || p.State != StateStopped {
		t.Errorf("of hosts that are gone: %+v", p)
	}
}

func TestAnotherHostHearsOfACrash(t *testing.T) {
	b := newBench(t)
	b.pin(b.install("fault", "exit"))
	if _, _, err := b.call(do{Do: "version"}); err == nil {
		t.Fatal("it answered")
	}
	other := b.open()
	pkg, _ := other.Package(b.dir)
	if len(pkg.Plugins) != 1 {
		t.Fatal(pkg)
	}
	p := pkg.Plugins[0]
	// Both hosts are this process: what the other one wrote is read all the same.
	if p.State != StateFailing || len(p.Processes) != 1 || p.Processes[0].PID != 0 || p.Why == "" {
		t.Errorf("got %+v", p)
	}
}
