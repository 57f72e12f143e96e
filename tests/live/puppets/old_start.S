// Where a program begins that shall run under glibcs before 2.34, too: the linker takes the start of
// its own glibc, which wants GLIBC_2.34. The System V ABI of x86-64 has argc on top of the stack,
// and rdx is a function for atexit(3).
        .globl  _start
        .type   _start, @function
        .symver start_of_libc, __libc_start_main@GLIBC_2.2.5
_start:
        xorl    %ebp, %ebp
        movq    %rdx, %r9               // rtld_fini
        popq    %rsi                    // argc
        movq    %rsp, %rdx              // argv
        andq    $-16, %rsp
        pushq   %rax
        pushq   %rsp                    // stack_end
        xorl    %r8d, %r8d              // fini
        xorl    %ecx, %ecx              // init
        leaq    main(%rip), %rdi
        call    *start_of_libc@GOTPCREL(%rip)
        hlt
        .section .note.GNU-stack, "", @progbits
