package dialect

// starpodWire reads starpod's answers: the object decides and no exit code
// blocks. starpod itself takes a crash for consent; here an exit code other
// than 0 without an object is a failure.
var starpodWire = wire{
	objectOverFailure: true,
}
