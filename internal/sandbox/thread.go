package sandbox

import "runtime"

// OnOwnThread calls fn on a thread that ends when fn returns: nothing of the host ever runs on it again. The
// main thread never ends, so it is not used. It must be called in a goroutine that ends with it.
func OnOwnThread(fn func()) {
	runtime.LockOSThread()
	if !onMainThread() {
		fn()
		return
	}
	elsewhere := make(chan struct{})
	go func() {
		runtime.LockOSThread() // the main thread is taken
		close(elsewhere)
		fn()
	}()
	<-elsewhere
	runtime.UnlockOSThread()
}
