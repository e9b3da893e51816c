package process_test
import ("testing";"time";"sync";"syscall";"fmt";"runtime")
func usage() (cpu time.Duration, sw int64) {
	var a, b syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &a); syscall.Getrusage(syscall.RUSAGE_CHILDREN, &b)
	return time.Duration(a.Utime.Nano()+a.Stime.Nano()+b.Utime.Nano()+b.Stime.Nano()), a.Nvcsw+a.Nivcsw+b.Nvcsw+b.Nivcsw
}
func TestCPU(t *testing.T) {
	b := &testing.B{}
	_ = runtime.NumCPU
	for _, k := range []int{1,8,16,64,200} {
		argv := []string{"/bin/sh","-c","true"}
		many := func(f func(*testing.B, []string)) { if k == 1 { f(b, argv); return }; var wg sync.WaitGroup; for range k { wg.Go(func(){ f(b, argv) }) }; wg.Wait() }
		var cpu [2]time.Duration; var sw [2]int64; var wall [2][]time.Duration
		n := 1200/k+3
		for range n { for i, f := range []func(*testing.B, []string){spawn, runPlain} {
			c0, s0 := usage(); t0 := time.Now(); many(f); wall[i] = append(wall[i], time.Since(t0)); c1, s1 := usage(); cpu[i] += c1-c0; sw[i] += s1-s0 } }
		fmt.Printf("k=%d cpu/op raw %v run %v ratio %.3f  switches raw %.1f run %.1f  wall raw %v run %v %.3f\n", k, cpu[0]/time.Duration(n*k), cpu[1]/time.Duration(n*k), float64(cpu[1])/float64(cpu[0]), float64(sw[0])/float64(n*k), float64(sw[1])/float64(n*k), median(wall[0]), median(wall[1]), float64(median(wall[1]))/float64(median(wall[0])))
	}
}
