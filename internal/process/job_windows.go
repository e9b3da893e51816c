package process

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// newJob makes a job whose processes end when its last handle is closed: also if this host dies.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if err := setLimits(job, &info); err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// resumeProcess lets all threads of a process run. The handle of its first thread, which ResumeThread would need,
// os/exec does not keep.
var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// assign puts a suspended process into the job and lets it run. A process that cannot be put there or be resumed is ended.
func assign(job windows.Handle, pid int) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE|windows.PROCESS_SUSPEND_RESUME, false, uint32(pid))
	if err != nil {
		return err // it stays suspended, and its caller ends it
	}
	defer windows.CloseHandle(p)
	if err = windows.AssignProcessToJobObject(job, p); err == nil {
		if err = resumeProcess.Find(); err == nil {
			if status, _, _ := resumeProcess.Call(uintptr(p)); status != 0 {
				err = windows.NTStatus(status)
			}
		}
	}
	if err != nil {
		windows.TerminateProcess(p, 1)
	}
	return err
}

// end ends what is left in a job, and waits for it: until then a process holds its files and its directory. It
// returns the processes that are still there when endFor has passed.
func end(job windows.Handle) (survivors []Process) {
	windows.TerminateJobObject(job, 1)
	for giveUp := time.Now().Add(endFor); ; time.Sleep(time.Millisecond) {
		left := members(job)
		if len(left) == 0 || time.Now().After(giveUp) {
			for _, pid := range left {
				survivors = append(survivors, Process{PID: int(pid)})
			}
			return survivors
		}
	}
}

// endFor bounds the wait for processes that were ended. A process that is busy in a driver takes longer.
const endFor = 200 * time.Millisecond

// members are the processes of a job, at most as many as there is room for.
func members(job windows.Handle) []uintptr {
	var list struct {
		Assigned, Listed uint32
		PID              [64]uintptr
	}
	err := windows.QueryInformationJobObject(job, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && err != windows.ERROR_MORE_DATA {
		return nil
	}
	return list.PID[:min(int(list.Listed), len(list.PID))]
}

func setLimits(job windows.Handle, info *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) error {
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(info)), uint32(unsafe.Sizeof(*info)))
	return err
}
