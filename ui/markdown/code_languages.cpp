#include "ui/markdown/code_languages.h"

namespace tandem::markdown {

namespace {

constexpr CodeQuote kDouble{u"\"", u"\"", false, true};
constexpr CodeQuote kSingle{u"'", u"'", false, true};
constexpr CodeQuote kSlashStar{u"/*", u"*/", true, false};

constexpr CodeQuote kCppStrings[] = {{u"R\"(", u")\"", true, false}, kDouble, kSingle};
constexpr CodeQuote kPythonStrings[] = {
    {u"\"\"\"", u"\"\"\"", true, true}, {u"'''", u"'''", true, true}, kDouble, kSingle};
constexpr CodeQuote kScriptStrings[] = {{u"`", u"`", true, true}, kDouble, kSingle};
constexpr CodeQuote kRustStrings[] = {{u"r#\"", u"\"#", true, false}, {u"\"", u"\"", true, true}};
constexpr CodeQuote kGoStrings[] = {{u"`", u"`", true, false}, kDouble, kSingle};
constexpr CodeQuote kJavaStrings[] = {{u"\"\"\"", u"\"\"\"", true, true}, kDouble, kSingle};
constexpr CodeQuote kShellStrings[] = {{u"\"", u"\"", true, true}, {u"'", u"'", true, false}};
constexpr CodeQuote kPlainStrings[] = {kDouble, kSingle};
constexpr CodeQuote kJsonStrings[] = {kDouble};
constexpr CodeQuote kSqlStrings[] = {{u"'", u"'", true, false}, {u"\"", u"\"", false, false}};

constexpr CodeLanguage kLanguages[] = {
    {u"cpp c c++ cc cxx h hpp hxx cuda cu ino objc",
     u"alignas alignof asm auto break case catch class co_await co_return co_yield concept const const_cast "
     u"consteval constexpr constinit continue decltype default delete do dynamic_cast else enum explicit "
     u"export "
     u"extern false final for friend goto if inline mutable namespace new noexcept nullptr operator override "
     u"private protected public register reinterpret_cast requires restrict return sizeof static "
     u"static_assert "
     u"static_cast struct switch template this thread_local throw true try typedef typeid typename union "
     u"using "
     u"virtual volatile while NULL include define ifdef ifndef endif pragma undef elif import module",
     u"bool char char8_t char16_t char32_t double float int long short signed unsigned void wchar_t size_t "
     u"ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t string "
     u"string_view vector map set pair tuple optional variant unique_ptr shared_ptr array span deque list "
     u"unordered_map unordered_set function FILE",
     u"//", u"", kSlashStar, kCppStrings, u""},
    {u"python py python3 py3 ipython pyi",
     u"and as assert async await break case class continue def del elif else except finally for from global "
     u"if "
     u"import in is lambda match nonlocal not or pass raise return try while with yield True False None self",
     u"int float str bool list dict set tuple bytes object complex frozenset bytearray type Exception "
     u"ValueError TypeError KeyError IndexError RuntimeError",
     u"#",
     u"",
     {},
     kPythonStrings,
     u""},
    {u"javascript js jsx mjs node typescript ts tsx",
     u"abstract as async await break case catch class const continue debugger declare default delete do else "
     u"enum export extends false finally for from function get if implements import in instanceof interface "
     u"keyof let namespace new null of private protected public readonly return satisfies set static super "
     u"switch this throw true try type typeof undefined var void while with yield",
     u"any bigint boolean never number object string symbol unknown Array Date Error Map Object Promise "
     u"Record "
     u"RegExp Set String Number Boolean",
     u"//", u"", kSlashStar, kScriptStrings, u"$"},
    {u"rust rs",
     u"as async await break const continue crate dyn else enum extern false fn for if impl in let loop match "
     u"mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
     u"bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec Option Result "
     u"Box "
     u"Rc Arc HashMap HashSet Some None Ok Err",
     u"//", u"", kSlashStar, kRustStrings, u""},
    {u"go golang",
     u"break case chan const continue default defer else fallthrough false for func go goto if import "
     u"interface "
     u"iota map nil package range return select struct switch true type var",
     u"any bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint "
     u"uint8 uint16 uint32 uint64 uintptr",
     u"//", u"", kSlashStar, kGoStrings, u""},
    {u"java kotlin kt csharp cs c# scala swift dart",
     u"abstract as assert async await break case catch class const continue data default defer delegate do "
     u"else "
     u"enum extends extension false final finally for foreach fun func get goto guard if implements import "
     u"in "
     u"init instanceof interface internal is let lock match namespace native new null nil object operator "
     u"out "
     u"override package params private protected public readonly record ref return sealed set static "
     u"strictfp "
     u"struct super switch synchronized this throw throws trait transient true try typealias using val var "
     u"virtual volatile when where while yield",
     u"boolean bool byte char decimal double float int long short string void Any Array Boolean Char Double "
     u"Exception Float Int Integer List Long Map Object Set String Unit",
     u"//", u"", kSlashStar, kJavaStrings, u""},
    {u"bash sh shell zsh console shellsession terminal dockerfile makefile make",
     u"case do done elif else esac export fi for function if in local read return select set shift source "
     u"then "
     u"time trap unset until while alias declare readonly exit FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR ARG "
     u"EXPOSE",
     u"awk cat cd chmod chown cp curl cut docker echo find git grep head kill ls mkdir mv pip npm printf ps "
     u"pwd "
     u"python python3 rm sed sort ssh sudo tail tar touch tr uniq wc wget xargs apt apt-get make cmake",
     u"#",
     u"",
     {},
     kShellStrings,
     u"$-"},
    {u"json jsonc json5 jsonl", u"true false null", u"", u"//", u"", {}, kJsonStrings, u"", false, true},
    {u"html xml svg xhtml vue htm qrc plist",
     u"",
     u"",
     u"",
     u"",
     {u"<!--", u"-->", true, false},
     kPlainStrings,
     u"-:",
     false,
     false,
     CodeGrammar::kMarkup},
    {u"css scss less", u"important media import from to and not only screen keyframes", u"", u"", u"",
     kSlashStar, kPlainStrings, u"-", false, true},
    {u"sql sqlite postgresql postgres mysql plsql",
     u"add all alter and as asc begin between by case check column commit constraint create cross database "
     u"default delete desc distinct drop else end exists foreign from full group having if in index inner "
     u"insert into is join key left like limit not null offset on or order outer over partition primary "
     u"references replace returning right rollback row select set table then transaction trigger union "
     u"unique "
     u"update using values view when where with",
     u"bigint blob boolean char date datetime decimal double float int integer interval json numeric real "
     u"serial "
     u"smallint text time timestamp uuid varchar",
     u"--", u"#", kSlashStar, kSqlStrings, u"", true},
    {u"yaml yml toml ini conf properties",
     u"true false null yes no on off True False",
     u"",
     u"#",
     u"",
     {},
     kPlainStrings,
     u"-.",
     false,
     true},
};

}  // namespace

std::span<const CodeLanguage> codeLanguages() {
  return kLanguages;
}

}  // namespace tandem::markdown
