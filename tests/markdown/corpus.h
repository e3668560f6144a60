// Texts the Markdown tests share: what models write, the corners of the dialect, and what somebody hostile
// could send.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::markdown::test {

inline std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i)
    text += part;
  return text;
}

// Sanitizers make everything slower: bounds of time are multiplied by this.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSlowdown = 12;
#else
inline constexpr int kSlowdown = 1;
#endif

// Nanoseconds of processor time of this thread: unlike a clock it does not count what others use.
inline std::int64_t threadNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// About 40 kB as a model would answer: prose, lists, code, a table, headings.
inline std::string typicalAnswer() {
  const std::string prose =
      "The **index** of the largest element is found by walking the vector once and remembering where the "
      "largest "
      "value so far stands; see `std::max_element` or [the reference](https://example.org/w/cpp) for more. "
      "Equal "
      "values keep the *first* index, because the comparison is strict, and an empty vector has none, so "
      "that the "
      "function gives -1 there. Nothing is copied and nothing is allocated on the way.\n\n";
  const std::string list =
      "1. Check that the vector is **not empty**.\n2. Walk it from the second element on:\n   - one "
      "comparison per "
      "element,\n   - no copies.\n3. Return the index.\n\n";
  const std::string code =
      "```cpp\n" + repeated("    if (values[i] > values[best]) best = i;  // larger\n", 16) + "```\n\n";
  const std::string table = "| Case | Result |\n|------|-------:|\n| empty | `-1` |\n| one | 0 |\n\n";
  return repeated("## How it works\n\n" + prose + prose + list + code + prose + table + "> " + prose, 15);
}

inline std::vector<std::string> corpus() {
  return {
      "",
      "One line",
      "Two\nlines and a `code` word\n\nnext paragraph **bold** *italic* ~~gone~~ ***both***\n",
      "# Title\n\ntext\n\n## Sub ##\n### not#closed\n####### seven\n#nospace\nSet\n===\ntwo\nlines\n---\nx\n",
      "```cpp\nint a;\n\n  b();\n```\nafter\n~~~\ntilde ``` inside\n~~~\n```\nnever closed\n  x\n\n",
      "text\n```\ncode right behind text\n```\n> quote\nlazy\n\n> > nested\n> back\n\nout\n",
      "- a\n- b\n  - c\n    more c\n  - d\n\n- loose\n\n  second paragraph\n\n      code in item\n1. one\n2. "
      "two\n7) seven\n",
      "1. Install:\n```bash\nnpm i\n```\n2. Run:\n   ```\n   npm start\nunder-indented\n   ```\n3. Done\n",
      "- [ ] open\n- [x] done\n- [X] Done\n- [y] no box\n-\n- \n* * *\n- - nested\n+ plus\n",
      "| a | b |\n|---|:-:|\n| 1 | 2 |\n| `x \\| y` | **z** |\nno row\n\na | b\n-|-\n1 | 2 | "
      "3\n|only|\n\n|-|-|\n",
      "para\nhead | two\n--- | ---\ncell | cell\n",
      "    indented code\n\n    more\n  \n\n    third\nnot code\n",
      "Use std::vector<int> and <b>bold</b> <img src=\"http://127.0.0.1/x\"> <!-- c --> &amp; &lt; &#65; "
      "&bogus;\n",
      "[a](http://a.b/c) [r][1] [1]: http://x.y/z <http://auto.link> <me@mail.org> www.x.org "
      "https://e.org/a_b(c).\n",
      "![alt](http://127.0.0.1:1/i.png) [js](javascript:alert(1)) [rel](file.md \"t\")\n\n[1]: http://x.y "
      "\"t\"\n",
      "\\(x_1 + y_2\\) and \\[ a*b*c \\] $a_1$ costs $5 and $10, $$\\sum_i x_i$$ a\\*b \\_c\\_ \\# 1\\. "
      "end\\\nbreak\n",
      "中文**粗体**和*斜体*。「引用」**“强调”**的\nالعربية من اليمين `code`\nעברית\n😀 emoji "
      "👩‍👩‍👧 "
      "and "
      "e\xCC\x81\n",
      "a\r\nb\r\n\r\n```\r\ncode\r\nmore\r\n```\r\n- item\r\n",
      "\xFF\xFE broken \xE4\xB8 utf-8 \xF0\x9F\x98 \xC0\x80 end\n\x01\x02 controls\n",
      "***\n---\n___\n- - -\ntext\n***\n* a\n***\n",
      "> ```py\n> x = 1\n> ```\n> - a\n>   - b\nlazy b\n\n> # head\n> ```\n> open\nout of quote\n",
      "word _snake_case_name_ __init__ *a*b* **a*b** * a * _a_b_ ** bold ** `` a ` b `` ``` `x\n",
      "Term\n: def\n\n\ttabbed\n\t\tmore\n-\ttab item\n\n\t- child\n1.\tone\n",
      repeated("All work and no play makes Jack a dull boy. ", 400) + "\n\nend\n",
      "```\n" + repeated("a long line of code that repeats ", 900) + "\nnext\n```\n",
      "```js\n" + repeated("let x = 1; // line\n", 1200) + "```\nafter\n",
  };
}

}  // namespace tandem::markdown::test
