// SPDX-License-Identifier: MIT
#include "probe/code/exits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/code/functions.h"

// Functions of this program, nobody calls them. None makes a child: blip would patch that wherever it traces
// this program.
asm(R"(
    .text
    .macro F name
    .type exits_\name, @function
    .p2align 4
exits_\name:
    .endm
    .macro END name
    .size exits_\name, .-exits_\name
    .endm

    F nothing
        ret
    END nothing

    F two_returns
        test %edi, %edi
        je 1f
        ret
1:      xor %eax, %eax
        ret $8
    END two_returns

    F framed
        push %rbp
        mov %rsp, %rbp
        sub %rdi, %rsp
        call exits_nothing
        leave
        ret
    END framed

    F tail
        sub $24, %rsp
        call exits_nothing
        add $24, %rsp
        jmp exits_nothing
    END tail

    F conditional_tail
        test %edi, %edi
        jne exits_nothing
        ret
    END conditional_tail

    F to_itself
        dec %edi
        je 1f
        jmp exits_to_itself
1:      ret
    END to_itself

    F never_returns
        call exits_nothing
        ud2
    END never_returns

    F split
        push %rbx
        test %edi, %edi
        js exits_split.cold
        pop %rbx
exits_split_back:
        ret
    END split
    .type exits_split.cold, @function
exits_split.cold:
        call exits_nothing
        test %eax, %eax
        jne 1f
        pop %rbx
        jmp exits_split_back
1:      pop %rbx
        jmp exits_nothing
    .size exits_split.cold, .-exits_split.cold

    F shares_the_end
        inc %edi
        jmp exits_split_back
    END shares_the_end

    F runs_on
        inc %edi
    END runs_on
exits_run_into:
    .type exits_run_into, @function
        ret
    .size exits_run_into, .-exits_run_into

    F switch
        lea exits_cases(%rip), %rdx
        movslq (%rdx,%rdi,4), %rax
        add %rdx, %rax
        jmp *%rax
exits_case0:
        mov $1, %eax
        ret
exits_case1:
        jmp exits_nothing
    END switch
    .section .rodata
    .p2align 2
exits_cases: .long exits_case0 - exits_cases, exits_case1 - exits_cases
    .text

    F array
        lea exits_functions(%rip), %rdx
        jmp *(%rdx,%rdi,8)
    END array

    F array_and_switch
        lea exits_cases2(%rip), %rdx
        movslq (%rdx,%rdi,4), %rax
        add %rdx, %rax
        jmp *%rax
exits_case2:
        mov $1, %eax
        ret
exits_case3:
        lea exits_functions(%rip), %rdx
        jmp *(%rdx,%rsi,8)
    END array_and_switch
    .section .rodata
    .p2align 2
exits_cases2: .long exits_case2 - exits_cases2, exits_case3 - exits_cases2
    .section .data.rel.ro, "aw"
    .p2align 3
exits_functions: .quad exits_nothing, exits_two_returns
exits_labels: .quad exits_label0, exits_label1
    .text

    F threaded
exits_label0:
        add $8, %rdi
        jmp *(%rdi)
exits_label1:
        ret
    END threaded

    F indexed_goto
        lea exits_labels2(%rip), %rdx
        jmp *(%rdx,%rdi,8)
exits_label2:
        xor %eax, %eax
exits_label3:
        ret
    END indexed_goto
    .section .data.rel.ro, "aw"
exits_labels2: .quad exits_label2, exits_label3
    .text

    F through_the_got
        jmp *exits_functions(%rip)
    END through_the_got

    F through_a_member
        mov (%rdi), %rax
        jmp *24(%rax)
    END through_a_member

    F aligns
        lea 8(%rsp), %r10
        and $-64, %rsp
        push -8(%r10)
        push %rbp
        mov %rsp, %rbp
        push %r10
        sub $100, %rsp
        call exits_nothing
        mov -8(%rbp), %r10
        leave
        lea -8(%r10), %rsp
        jmp exits_nothing
    END aligns

    F another_stack
        mov 8(%rdi), %rsp
        push 16(%rdi)
        ret
    END another_stack

    F returns_twice
        pop %rdi
        mov $39, %eax
        syscall
        push %rdi
        ret
    END returns_twice

    F starts_a_thread
        mov $39, %eax
        syscall
        test %rax, %rax
        je 1f
        ret
1:      pop %rax
        call *%rax
        mov $60, %eax
        syscall
    END starts_a_thread

    F leaves_something
        push %rax
        ret
    END leaves_something

    F calls_inside
        call 1f
        ret
1:      inc %eax
        ret
    END calls_inside

    F jumps_out_of_a_frame
        push %rbx
        jmp *exits_functions(%rip)
    END jumps_out_of_a_frame
)");

namespace blip::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Exits : public testing::Test {
 protected:
  Exits() : module_(Module::of_file("/proc/self/exe").value()), finder_(module_) {}

  elf::Function function(std::string_view name) const {
    for (const elf::Function& f : (*module_.symbols())->functions())
      if (f.name == name) return f;
    ADD_FAILURE() << "no function " << name;
    return {};
  }

  FunctionExits of(const std::string& name) { return finder_.exits_of(function("exits_" + name)); }

  // "ret", "tail"; what is special about one follows.
  std::vector<std::string> kinds(const std::string& name) {
    const FunctionExits found = of(name);
    EXPECT_EQ(found.incomplete, "");
    std::vector<std::string> words;
    for (const Exit& exit : found.exits)
      words.push_back(std::string(exit.kind == ExitKind::kReturn ? "ret" : "tail") +
                      (exit.conditional ? " conditional" : "") + (exit.to_itself ? " to itself" : ""));
    return words;
  }

  Module module_;
  ExitFinder finder_;
};

TEST_F(Exits, are_returns) {
  EXPECT_THAT(kinds("nothing"), ElementsAre("ret"));
  EXPECT_THAT(kinds("two_returns"), ElementsAre("ret", "ret"));
  EXPECT_THAT(kinds("framed"), ElementsAre("ret"));
  EXPECT_THAT(kinds("starts_a_thread"), ElementsAre("ret"));
}

TEST_F(Exits, are_tail_jumps) {
  EXPECT_THAT(kinds("tail"), ElementsAre("tail"));
  EXPECT_THAT(kinds("conditional_tail"), ElementsAre("tail conditional", "ret"));
  EXPECT_THAT(kinds("to_itself"), ElementsAre("tail to itself", "ret"));
  EXPECT_THAT(kinds("through_the_got"), ElementsAre("tail"));
  EXPECT_THAT(kinds("through_a_member"), ElementsAre("tail"));
  EXPECT_THAT(kinds("aligns"), ElementsAre("tail"));
}

TEST_F(Exits, a_function_may_have_none) {
  EXPECT_TRUE(of("never_returns").never_returns());
  EXPECT_FALSE(of("nothing").never_returns());
  EXPECT_FALSE(of("another_stack").never_returns());
}

TEST_F(Exits, of_a_cold_part_are_the_functions) {
  const FunctionExits found = of("split");
  EXPECT_THAT(kinds("split"), ElementsAre("ret", "tail"));
  EXPECT_EQ(found.exits.at(0).holder.name, "exits_split");
  EXPECT_EQ(found.exits.at(1).holder.name, "exits_split.cold");
  EXPECT_TRUE(finder_.is_no_function(function("exits_split.cold")));
}

TEST_F(Exits, may_be_those_of_another_function) {
  const FunctionExits shared = of("shares_the_end"), run_into = of("runs_on");
  EXPECT_THAT(kinds("shares_the_end"), ElementsAre("ret"));
  EXPECT_EQ(shared.exits.at(0).holder.name, "exits_split");
  EXPECT_THAT(kinds("runs_on"), ElementsAre("ret"));
  EXPECT_EQ(run_into.exits.at(0).holder.name, "exits_run_into");
}

TEST_F(Exits, a_switch_is_none) { EXPECT_THAT(kinds("switch"), ElementsAre("ret", "tail")); }

TEST_F(Exits, an_arrays_element_is_one) {
  EXPECT_THAT(kinds("array"), ElementsAre("tail"));
  EXPECT_THAT(kinds("array_and_switch"), ElementsAre("ret", "tail"));
}

TEST_F(Exits, a_computed_goto_is_none) { EXPECT_THAT(kinds("indexed_goto"), ElementsAre("ret")); }

TEST_F(Exits, what_cannot_be_told_is_said) {
  EXPECT_THAT(of("threaded").incomplete, HasSubstr("jumps to an address that is not known"));
  EXPECT_THAT(of("another_stack").incomplete, HasSubstr("returns on a stack that is not known"));
  EXPECT_THAT(of("returns_twice").incomplete, HasSubstr("takes its return address off the stack"));
  EXPECT_THAT(of("leaves_something").incomplete, HasSubstr("returns with something left on the stack"));
  EXPECT_THAT(of("calls_inside").incomplete, HasSubstr("calls code inside itself"));
  EXPECT_THAT(of("jumps_out_of_a_frame").incomplete, HasSubstr("jumps to an address that is not known"));
}

// This whole program, and the libraries it runs on.
TEST_F(Exits, of_nearly_all_functions_are_known) {
  size_t known = 0, all = 0;
  const std::vector<elf::Function> functions = all_functions(module_).value();
  for (const elf::Function& f : functions) {
    if (f.is_ifunc || finder_.is_no_function(f) || f.name.starts_with("exits_")) continue;
    ++all;
    known += finder_.exits_of(f).complete();
  }
  EXPECT_GT(all, 500u);
  EXPECT_GE(static_cast<double>(known), 0.995 * static_cast<double>(all));
}

}  // namespace
}  // namespace blip::probe
