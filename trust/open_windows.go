package trust

// nonblock is nothing here: the file system holds no pipes.
const nonblock = 0

// modes says that no file has a mode that lets it be executed.
const modes = false
