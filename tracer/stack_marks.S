/*
 * The marks of stack_marks.h: jumps, and behind them, on pages that are made writable when the
 * library is loaded, where they go. Both lie in one section, so that their distance is known
 * here: it is that of each jump to its address, and so one rule says all unwinders where the
 * return address is:
 *
 *     DW_CFA_val_expression RIP: *(RIP + DISTANCE) - 1
 *
 * A mark's frame has no size, and so the same end as the one it returns to. Unwinders that
 * compare ends to find a handler's frame again would take one for the other, but they know such
 * frames: those that a signal interrupts. So it is said to be one of a signal, whose way on is no
 * return address but an instruction: that of the call, one byte less.
 */
#define MARKS 4096
#define DISTANCE 32768 /* 8 * MARKS; as SLEB128: 0x80 0x80 0x02 */

    .section .text.stack_marks, "ax", @progbits
    .globl stack_marks_code
    .hidden stack_marks_code
    .globl stack_marks_address
    .hidden stack_marks_address
    .type stack_marks_code, @function
    .p2align 12
    .skip 4088, 0xcc
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa %rsp, 0
    .cfi_escape 0x16, 16, 7, 0x80, 0x80, 0x80, 0x02, 0x06, 0x31, 0x1c
    .skip 8, 0xcc /* unwinders look up the byte before a return address */
stack_marks_code:
    .rept MARKS
0:  jmp *(DISTANCE - 6)(%rip)
    .skip 2, 0xcc
    .endr
    .cfi_endproc
    .size stack_marks_code, . - stack_marks_code
    .type stack_marks_address, @object
stack_marks_address:
    .skip DISTANCE, 0
    .size stack_marks_address, . - stack_marks_address

    .section .note.GNU-stack, "", @progbits
