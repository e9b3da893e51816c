package process
import ("testing";"time";"os";"context";"fmt";"os/exec";"io")
func TestZ(t *testing.T) {
	argv := []string{os.Getenv("STATIC")}
	var h, hr [8]int
	for i := range 2000 {
		_ = i
		t0 := time.Now()
		rawz(argv)
		k0 := 0; for d := time.Since(t0); d > 2*time.Millisecond && k0 < 7; d /= 2 { k0++ }
		hr[k0]++
		ctx, cancel := context.WithCancel(context.Background())
		r, err := Run(ctx, Spec{Argv: argv, Env: os.Environ(), Stdin: []byte("xx"), Timeout: time.Minute})
		cancel()
		if err != nil || len(r.Warnings)>0 { fmt.Println(r, err) }
		k := 0; for d := r.Elapsed; d > 2*time.Millisecond && k < 7; d /= 2 { k++ }
		h[k]++
		if r.Elapsed > 50*time.Millisecond { fmt.Println("slow", i, r.Elapsed) }
	}
	fmt.Println(h, "raw", hr)
}

func rawz(argv []string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	a,_ := cmd.StdinPipe(); b,_ := cmd.StdoutPipe(); c,_ := cmd.StderrPipe()
	cmd.Start(); a.Write([]byte("xx")); a.Close(); io.ReadAll(b); io.ReadAll(c); cmd.Wait()
}
