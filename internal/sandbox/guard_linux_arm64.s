#include "textflag.h"

// func cloneGuard(p *guardPlan) (pid uintptr)
//
// See guard_linux.go. The child shares the memory of the host, so it touches neither stack nor memory of Go beside p.
TEXT ·cloneGuard(SB),NOSPLIT,$0-16
	MOVD	p+0(FP), R19
	MOVD	$0x111, R0	// CLONE_VM | SIGCHLD
	MOVD	$0, R1		// no stack: the child uses none
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$220, R8	// clone
	SVC
	CBZ	R0, child
	MOVD	R0, pid+8(FP)
	RET

child:
	MOVD	$157, R8	// setsid
	SVC
	MOVD	24(R19), R0
	MOVD	$49, R8		// chdir
	SVC
	MOVD	$15, R0		// PR_SET_NAME
	MOVD	32(R19), R1
	MOVD	$167, R8	// prctl
	SVC
	MOVD	40(R19), R0
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$24, R8		// dup3
	SVC
	MOVD	$1, R0
	MOVD	$0xffffffff, R1
	MOVD	$0, R2
	MOVD	$436, R8	// close_range
	SVC

wait:
	MOVD	$0, R0
	ADD	$48, R19, R1
	MOVD	$1, R2
	MOVD	$63, R8		// read
	SVC
	CMP	$-4, R0		// EINTR
	BEQ	wait
	MOVD	$-1, R0
	MOVD	$9, R1
	MOVD	$129, R8	// kill
	SVC
	MOVD	0(R19), R0
	MOVD	8(R19), R1
	MOVD	16(R19), R2
	MOVD	$221, R8	// execve
	SVC
	MOVD	$0, R0
	MOVD	$94, R8		// exit_group
	SVC
	BRK
