// Command attacker does what a hostile hook would try, for the tests of internal/sandbox. It prints a line for
// each attack: its name, and "ok" if the attack worked, else the error.
package main
