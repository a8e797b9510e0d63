// SPDX-License-Identifier: MIT
// Scripts with words left out, doubled and exchanged at random: each is refused with a message, or gives programs that keep their rules.
#include <gtest/gtest.h>

#include <random>

#include "bt/probes.h"
#include "bt/script.h"
#include "script/blocks/verify.h"
#include "script/test_scope.h"

namespace blip::bt {
namespace {

constexpr const char* kScripts[] = {
    "BEGIN { @x[1, \"a\"] = count ( ) ; for ( $kv : @x ) { printf ( \"%d %s\\n\" , $kv . 1 , $kv . 0 . 1 ) ; "
    "} }",
    "BEGIN { $t = ( 1 , ( \"x\" , 2 ) ) ; while ( $t . 0 < 3 ) { break ; } print ( $t ) ; @s = lhist ( 3 , 0 "
    ", 10 , 2 ) ; }",
    "uprobe:./t:f /args.n > 1/ { $p = ( struct request * ) arg0 ; if ( $p -> id ) { @ = hist ( arg1 ) ; } "
    "else { exit ( ) ; } }",
    "uprobe:./t:f { @a [ str ( args.req -> path ) ] = sum ( args.n ) ; @b = * ( int32 * ) arg0 ; print ( "
    "args ) ; }",
    "BEGIN { let $a : uint8 = 5 ; $a ++ ; $b = $a > 3 ? ( a = 1 , b = 2 ) : ( a = 3 , b = 4 ) ; print ( $b . "
    "a ) ; delete ( @c , 1 ) ; @c [ 1 ] = $b ; }",
    "macro f ( x , $y , @z ) { $y = x ; @z = $y ; $y } BEGIN { $q = 1 ; print ( f ( 2 , $q , @m ) ) ; unroll "
    "( 3 ) { @n += $q ; } }",
    "BEGIN { $s = \"abc\" ; print ( strlen ( $s ) ) ; print ( buf ( $s , 2 ) ) ; if ( strncmp ( $s , \"ab\" "
    ", 2 ) == 0 ) { @u = avg ( 3 ) ; } "
    "print ( @u ) ; print ( sizeof ( $s ) ) ; $r = { let $z = 1 ; $z + 1 } ; print ( ( $r , comm , nsecs ) ) "
    "; }",
};

std::vector<std::string> words_of(const std::string& script) {
  std::vector<std::string> words(1);
  for (const char c : script) {
    if (c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

class Site : public script::HitSite {
 public:
  explicit Site(script::TestProgram& program) : scopes_{.scope = &program.scope} {}
  const script::HitScopes& scopes() override { return scopes_; }

 private:
  script::HitScopes scopes_;
};

// False: it is no script.
bool check(const std::string& text, script::TestProgram& target) {
  const script::ParsedScript parsed = parse_script({.name = "changed", .text = text});
  if (!parsed.script) {
    EXPECT_FALSE(parsed.script.error().message().empty()) << text;
    return false;
  }
  script::Script& made = **parsed.script;
  script::Program program;
  for (const bool has_hit : {false, true})
    for (size_t i = 0; i < made.probes().size(); ++i) {
      if (runs_without_hit(made.probes()[i]) == has_hit) continue;
      Site site(target);
      auto lowered = made.lower(i, has_hit ? &site : nullptr, program);
      if (!lowered) return false;
      program.functions.push_back(lowered->function);
    }
  const Status valid = script::verify(program);
  EXPECT_TRUE(valid) << valid.error().message() << "\n" << text;
  return true;
}

TEST(ChangedScripts, are_refused_or_valid) {
  std::mt19937_64 random(1);
  script::TestProgram target;
  std::vector<std::string> all;
  for (const char* script : kScripts) {
    ASSERT_TRUE(check(script, target)) << script;
    for (const std::string& word : words_of(script)) all.push_back(word);
  }
  size_t accepted = 0;
  for (int round = 0; round < 40000; ++round) {
    std::vector<std::string> words = words_of(kScripts[random() % std::size(kScripts)]);
    for (size_t changes = 1 + random() % 3; changes > 0 && words.size() > 2; --changes) {
      const size_t at = random() % words.size();
      switch (random() % 4) {
        case 0:
          words.erase(words.begin() + static_cast<ptrdiff_t>(at));
          break;
        case 1:
          words.insert(words.begin() + static_cast<ptrdiff_t>(at), words[at]);
          break;
        default:
          words[at] = all[random() % all.size()];
      }
    }
    std::string text;
    for (const std::string& word : words) text += word + ' ';
    accepted += check(text, target) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, 100U);
}

}  // namespace
}  // namespace blip::bt
