package main

import (
	"fmt"
	"os"
	"time"
)

// Modes in which the child has children of its own.
func init() {
	modes["hold"] = mode{"DURATION", "prints a decision and exits; a child holds stdout that long", hold}
	modes["nest"] = mode{"DURATION", "sleeps that long, as does a child that holds stdout", nest}
	modes["background"] = mode{"DURATION", "prints a decision and exits; a child without stdout goes on that long", background}
	modes["tee"] = mode{"DURATION", "exits at once; a child prints a decision after that time", tee}
}

func hold(a []string) {
	again(nil, os.Stdout, "sleep", arg(a, 0, "60s"))
	fmt.Println(decision)
}

func nest(a []string) {
	again(nil, os.Stdout, "sleep", arg(a, 0, "60s"))
	time.Sleep(duration(a, 0))
}

func background(a []string) {
	again(nil, nil, "sleep", arg(a, 0, "60s"))
	fmt.Println(decision)
}

func tee(a []string) {
	again(nil, os.Stdout, "late", arg(a, 0, "20ms"))
}
