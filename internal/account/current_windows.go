package account

import "os/user"

// current asks for the account that the process's token names.
func current() (*user.User, error) { return user.Current() }
