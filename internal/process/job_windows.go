package process

import (
	"syscall"
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

// suspended are the attributes of a child that runs no instruction before it is in its job. Untested on Windows.
func suspended() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_SUSPENDED}
}

// resumeProcess lets all threads of a process run. The handle of its first thread, which ResumeThread would need,
// os/exec does not keep.
var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// assign puts a suspended process into the job and lets it run. One that cannot be put there or be resumed is ended.
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

func setLimits(job windows.Handle, info *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) error {
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(info)), uint32(unsafe.Sizeof(*info)))
	return err
}
