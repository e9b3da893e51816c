package dialect

// claudeWire reads Claude Code's answers, the default: exit code 2 blocks
// whatever stdout says, then the object decides, then the exit code.
var claudeWire = wire{
	blockCode:         2,
	objectOverFailure: true,
}

// legacyWire reads answers as older hosts did: a valid object that decides
// counts even on exit code 2.
var legacyWire = wire{
	blockCode:         2,
	objectOverBlock:   true,
	objectOverFailure: true,
}
