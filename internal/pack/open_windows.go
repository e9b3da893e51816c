package pack

// Windows has neither pipes among its files nor modes.
const (
	nonblock = 0
	hasModes = false
)
