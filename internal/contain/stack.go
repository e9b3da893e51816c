package contain

// Roomy grows the stack of a new goroutine at once to what its work takes: 12 KiB to start a process, 24 KiB for a
// call. It would be copied three times on the way, which takes a twentieth of a call. Call it with 0.
//
//go:noinline
func Roomy[Room [12 << 10]byte | [24 << 10]byte](at int) byte {
	var room Room
	return room[at]
}
