/*
 * The marks of stack_marks.h: calls of one piece of code, and behind them, on pages that are made
 * writable when the library is loaded, where they go. Both lie in one section, so that their
 * distance is known here: it is that of each call to its address, and so one rule says all
 * unwinders where the return address is:
 *
 *     DW_CFA_val_expression RIP: *(RIP + DISTANCE) - 1
 *
 * A mark's frame has no size, and so the same end as the one it returns to. Unwinders that
 * compare ends to find a handler's frame again would take one for the other, but they know such
 * frames: those that a signal interrupts. So it is said to be one of a signal, whose way on is no
 * return address but an instruction: that of the call, one byte less.
 *
 * What is called changes no register, nor a flag: compilers that know a function know what it
 * leaves alone, and the function was not ours. It goes on by a return, as there was a call.
 */
#define MARKS 4096
#define DISTANCE 32768 /* 8 * MARKS; as SLEB128: 0x80 0x80 0x02 */
#define BEHIND_CALL 5  /* bytes of a call; DISTANCE less that as ULEB128: 0xfb 0xff 0x01 */

    .section .text.stack_marks, "ax", @progbits
    .globl stack_marks_code
    .hidden stack_marks_code
    .globl stack_marks_address
    .hidden stack_marks_address
    .type stack_marks_code, @function
    .p2align 12
    .type returned, @function
/* Above our stack: what the call has put there. stack_returns gets the stack pointer as the
 * function left it, and the time. */
returned:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa %rsp, 8
    /* RIP: *(*(end - 8) + DISTANCE - BEHIND_CALL) - 1 */
    .cfi_escape 0x16, 16, 10, 0x38, 0x1c, 0x06, 0x23, 0xfb, 0xff, 0x01, 0x06, 0x31, 0x1c
    push %rax
    .cfi_adjust_cfa_offset 8
    push %rcx
    .cfi_adjust_cfa_offset 8
    push %rdx
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    mov stack_returns@gottpoff(%rip), %rcx
    movzbl %fs:(%rcx), %esi /* modulo STACK_RETURNS */
    lea (%rsi,%rsi), %rsi
    rdtsc
    mov %eax, %fs:16(%rcx,%rsi,8)
    mov %edx, %fs:20(%rcx,%rsi,8)
    lea 40(%rsp), %rax
    mov %rax, %fs:8(%rcx,%rsi,8)
    mov %fs:(%rcx), %rax
    lea 1(%rax), %rax
    mov %rax, %fs:(%rcx)
    mov 32(%rsp), %rax
    mov DISTANCE-BEHIND_CALL(%rax), %rax
    mov %rax, 32(%rsp)
    .cfi_escape 0x16, 16, 5, 0x38, 0x1c, 0x06, 0x31, 0x1c /* RIP: *(end - 8) - 1 */
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdx
    .cfi_adjust_cfa_offset -8
    pop %rcx
    .cfi_adjust_cfa_offset -8
    pop %rax
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size returned, . - returned

    .globl stack_marks_try
    .hidden stack_marks_try
    .globl stack_marks_tried
    .hidden stack_marks_tried
    .type stack_marks_try, @function
stack_marks_try:
    .cfi_startproc
    call 1f
stack_marks_tried:
    ret
1:  .cfi_adjust_cfa_offset 8
    test %rdi, %rdi
    jz 2f
    mov %rdi, (%rsp)
2:  ret
    .cfi_endproc
    .size stack_marks_try, . - stack_marks_try

    .skip 4088 - (. - returned), 0xcc
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa %rsp, 0
    .cfi_escape 0x16, 16, 7, 0x80, 0x80, 0x80, 0x02, 0x06, 0x31, 0x1c
    .skip 8, 0xcc /* unwinders look up the byte before a return address */
stack_marks_code:
    .rept MARKS
    call returned
    .skip 3, 0xcc
    .endr
    .cfi_endproc
    .size stack_marks_code, . - stack_marks_code
    .type stack_marks_address, @object
stack_marks_address:
    .skip DISTANCE, 0
    .size stack_marks_address, . - stack_marks_address

    .section .note.GNU-stack, "", @progbits
