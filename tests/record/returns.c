/*
 * What a function's return must not notice that goes through a mark: registers and flags are as
 * the function left them, and after each single instruction the stack can be unwound to main.
 * Linux, x86-64. Prints "returns" if all is well.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define TRAP_FLAG 0x100
#define N_KEPT 11
#define NOT_INLINED __attribute__((noinline, noclone))

int main(void);

/* ------------------------------------------------------------------------------- registers */

uint64_t kept[N_KEPT]; /* rax rdx rcx rsi rdi r8 r9 r10 r11, flags, xmm0 */

void talk(void);
NOT_INLINED void talk(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    __asm__ volatile("");
}

/* returns_filled talks, which marks it, and fills all registers that a call may change; then
 * save_kept is what it returns to. */
__asm__(".text\n"
        ".type returns_filled, @function\n"
        "returns_filled:\n"
        "    .cfi_startproc\n"
        "    sub $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call talk\n"
        "    add $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    mov $101, %eax\n    mov $102, %edx\n    mov $103, %ecx\n    mov $104, %esi\n"
        "    mov $105, %edi\n    mov $106, %r8d\n    mov $107, %r9d\n    mov $108, %r10d\n"
        "    mov $109, %r11d\n    movq %r11, %xmm0\n    stc\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size returns_filled, . - returns_filled\n"
        ".globl save_kept\n"
        ".type save_kept, @function\n"
        "save_kept:\n"
        "    .cfi_startproc\n"
        "    push %rbx\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    mov kept@GOTPCREL(%rip), %rbx\n"
        "    call returns_filled\n"
        "    mov %rax, (%rbx)\n    mov %rdx, 8(%rbx)\n    mov %rcx, 16(%rbx)\n"
        "    mov %rsi, 24(%rbx)\n    mov %rdi, 32(%rbx)\n    mov %r8, 40(%rbx)\n"
        "    mov %r9, 48(%rbx)\n    mov %r10, 56(%rbx)\n    mov %r11, 64(%rbx)\n"
        "    setc 72(%rbx)\n    movq %xmm0, 80(%rbx)\n"
        "    pop %rbx\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size save_kept, . - save_kept\n");
void save_kept(void);

static int check_registers(void)
{
    memset(kept, 0, sizeof kept);
    save_kept();
    for (uint64_t i = 0; i < 9; i++)
        if (kept[i] != 101 + i)
            return printf("register %d is %d\n", (int)i, (int)kept[i]);
    if (kept[9] != 1 || kept[10] != 109)
        return printf("the flags or xmm0 have changed\n");
    return 0;
}

/* -------------------------------------------------------------------------------- unwinding */

static volatile int n_steps, n_lost, n_wrong, is_over, n_early;
static volatile uintptr_t first_lost;

struct seen {
    int n, has_main, has_caller;
};

static NOT_INLINED void calls_stepped(void);

static _Unwind_Reason_Code see(struct _Unwind_Context *context, void *ctx)
{
    struct seen *seen = ctx;
    void *function = _Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context));

    seen->has_main = seen->has_main || function == (void *)main;
    seen->has_caller = seen->has_caller || function == (void *)calls_stepped;
    return seen->n++ < 100 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void step(int number, siginfo_t *info, void *ctx)
{
    ucontext_t *at = ctx;
    struct seen seen = {0};

    (void)number;
    (void)info;
    if (is_over) {
        at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    n_steps++;
    _Unwind_Backtrace(see, &seen);
    n_wrong += seen.has_main && !seen.has_caller;
    if (!seen.has_main && n_lost++ == 0)
        first_lost = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
}

static NOT_INLINED void stepped(void)
{
    talk();
    __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" ::"i"(TRAP_FLAG) : "cc", "memory");
}

static NOT_INLINED void calls_stepped(void)
{
    stepped();
    is_over = 1;
}

/* What follows its return, until MPI is called again, is not its time. */
static NOT_INLINED void leaves_early(void)
{
    talk();
    n_early++;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    int is_bad;

    MPI_Init(NULL, NULL);
    is_bad = check_registers();
    sigaction(SIGTRAP, &action, NULL);
    calls_stepped();
    leaves_early();
    usleep(300000);
    talk();
    if (n_lost > 0 || n_wrong > 0)
        is_bad =
            printf("of %d instructions the stack is lost at %d, first at %p, and wrong at %d\n",
                   n_steps, n_lost, (void *)first_lost, n_wrong);
    MPI_Finalize();
    if (!is_bad)
        printf("returns\n");
    fprintf(stderr, "%d instructions\n", n_steps);
    return is_bad != 0;
}
