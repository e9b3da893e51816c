// Stands in for what Wine 8 lacks and Go programs need. Every Go program loads this DLL at its start.
//   x86_64-w64-mingw32-gcc -shared -O2 -o bcryptprimitives.dll bcryptprimitives.c -ladvapi32
#include <windows.h>
#include <string.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) { return SystemFunction036(p, (ULONG)n); }

// Wine answers "not implemented" to POSIX deletes and renames (classes 64 and 65). Windows versions without them
// answer "invalid class", on which Go falls back to older classes: os.RemoveAll needs that.
typedef LONG(NTAPI *setInformationFile)(HANDLE, PVOID, PVOID, ULONG, ULONG);
static setInformationFile original;

static LONG NTAPI withoutPosix(HANDLE h, PVOID status, PVOID info, ULONG size, ULONG class) {
  if (class == 64 || class == 65) return 0xC0000003; // STATUS_INVALID_INFO_CLASS
  return original(h, status, info, size, class);
}

// The system call's stub is position-independent: a copy of it still works where a jump takes its place.
BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID unused) {
  enum { stub = 64, jump = 12 };
  BYTE *at, *copy;
  DWORD old;
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
  at = (BYTE *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtSetInformationFile");
  copy = VirtualAlloc(NULL, stub, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
  if (!at || !copy || !VirtualProtect(at, stub, PAGE_EXECUTE_READWRITE, &old)) return TRUE;
  memcpy(copy, at, stub);
  original = (setInformationFile)copy;
  void *to = (void *)withoutPosix;
  BYTE code[jump] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; // mov rax, to; jmp rax
  memcpy(code + 2, &to, sizeof to);
  memcpy(at, code, jump);
  VirtualProtect(at, stub, old, &old);
  return TRUE;
}
