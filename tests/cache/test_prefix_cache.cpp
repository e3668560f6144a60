// The cache by itself, with sequences that no model made: what is found, what goes first, what is counted.
#include <QtTest>
#include <numeric>

#include "engine/cache/prefix_cache.h"

using namespace tandem;
using kernels::kTile;

namespace {

// SmolLM2-135M's shape, whose pages have 1,474,560 bytes; nothing is written to them here, so they take no
// memory.
constexpr KvLayout kShape{30, 3, 64, kernels::CacheType::kF16};
constexpr std::size_t kMiB = std::size_t{1} << 20;

Sequence sequenceOf(const KvLayout& layout, int length) {
  std::vector<KvSequence::Page> pages;
  for (int position = 0; position < length; position += kTile)
    pages.emplace_back(new std::byte[layout.pageBytes()]);
  return {KvSequence(layout, std::move(pages), length), {}, {}};
}

// A text of `length` tokens that are all different from another text's.
std::vector<TokenId> textOf(int number, int length) {
  std::vector<TokenId> text(static_cast<std::size_t>(length));
  std::iota(text.begin(), text.end(), number * 100000);
  return text;
}

void put(PrefixCache& cache, std::span<const TokenId> text, int conversation,
         std::span<const CacheMark> marks = {}) {
  cache.insert(text, sequenceOf(kShape, static_cast<int>(text.size())), marks, conversation);
}

std::size_t pageBytes(int tokens) {
  return kShape.pageBytes() + tokens * sizeof(TokenId);
}

}  // namespace

class TestPrefixCache : public QObject {
  Q_OBJECT

  static Sequence empty() { return {KvSequence(kShape), {}, {}}; }

 private slots:
  void theFirstDifferingTokenEndsWhatIsFound() {
    PrefixCache cache(empty(), {.budget = 64 * kMiB});
    const std::vector<TokenId> text = textOf(1, 150);
    put(cache, text, 1);
    for (const int same : {1, 63, 64, 65, 127, 128, 149, 150}) {
      std::vector<TokenId> other(text.begin(), text.begin() + same);
      other.push_back(7);
      QCOMPARE(cache.find(other).sequence.length(), same);
    }
    QCOMPARE(cache.find(text).sequence.length(), 149);  // one token is read, for its logits
    QCOMPARE(cache.find(textOf(2, 10)).sequence.length(), 0);
    // A page below another first page is another page.
    std::vector<TokenId> moved = textOf(2, 64);
    moved.insert(moved.end(), text.begin() + 64, text.end());
    QCOMPARE(cache.find(moved).sequence.length(), 0);
  }

  void equalHashesAreToldApart() {
    PrefixCache cache(empty(), {.budget = 64 * kMiB, .faults = {.oneHash = true}});
    put(cache, textOf(1, 128), 1);
    put(cache, textOf(2, 128), 2);
    std::vector<TokenId> mixed = textOf(1, 64);
    const std::vector<TokenId> second = textOf(2, 128);
    mixed.insert(mixed.end(), second.begin() + 64, second.end());
    QCOMPARE(cache.find(mixed).sequence.length(), 64);
    QCOMPARE(cache.find(textOf(3, 128)).sequence.length(), 0);
    PrefixCache faulty(empty(), {.budget = 64 * kMiB, .faults = {.oneHash = true, .trustHash = true}});
    put(faulty, textOf(1, 128), 1);
    QCOMPARE(faulty.find(textOf(3, 128)).sequence.length(), 127);
  }

  void sharedPagesAreCountedOnce() {
    PrefixCache cache(empty(), {.budget = 64 * kMiB});
    const std::vector<TokenId> text = textOf(1, 130);
    put(cache, text, 1);
    const std::size_t once = 2 * pageBytes(64) + pageBytes(2);
    QCOMPARE(cache.bytes(), once);
    put(cache, text, 1);
    put(cache, std::span(text).first(70), 1);  // the beginning of what is there
    QCOMPARE(cache.bytes(), once);
    std::vector<TokenId> branch(text.begin(), text.begin() + 128);
    branch.push_back(7);
    put(cache, branch, 2);
    QCOMPARE(cache.bytes(), once + pageBytes(1));
    std::vector<TokenId> longer = text;
    longer.resize(192, 9);  // grows the partly filled page
    put(cache, longer, 1);
    QCOMPARE(cache.bytes(), 3 * pageBytes(64) + pageBytes(1));
    const std::vector<CacheEntry> rows = cache.entries();
    QCOMPARE(rows.size(), std::size_t(2));
    QCOMPARE(rows[0].bytes + rows[1].bytes, cache.bytes());
    QCOMPARE(rows[0].tokens, 192);
    QCOMPARE(rows[1].tokens, 129);
    QCOMPARE(rows[1].conversation, std::int64_t(2));
    QVERIFY(rows[0].first == std::vector<TokenId>(text.begin(), text.begin() + 64));
    cache.clear();
    QCOMPARE(cache.bytes(), std::size_t(0));
    QVERIFY(cache.entries().empty());
  }

  // 256 MiB hold 182 pages; a conversation of 4,000 tokens takes 63.
  void eightConversationsGoByTheirLastUse() {
    PrefixCache cache(empty(), {.budget = 256 * kMiB});
    const auto held = [&](int number) {  // tokens, without using them
      const std::vector<CacheEntry> rows = cache.entries();
      const auto row = std::ranges::find(rows, number, &CacheEntry::conversation);
      return row == rows.end() ? 0 : row->tokens;
    };
    for (int number = 1; number <= 8; ++number) {
      put(cache, textOf(number, 4000), number);
      QVERIFY(cache.bytes() <= 256 * kMiB);
    }
    QCOMPARE(held(8), 4000);
    QCOMPARE(held(7), 4000);
    QCOMPARE(held(6), 56 * 64);  // its beginning: 182 pages less twice 63
    for (int number = 1; number <= 5; ++number)
      QCOMPARE(held(number), 0);
    // What is used stays, what was used longest ago goes.
    std::vector<TokenId> next = textOf(6, 4000);
    QCOMPARE(cache.find(next).sequence.length(), 56 * 64);
    put(cache, next, 6);
    QCOMPARE(held(6), 4000);
    QCOMPARE(held(8), 4000);
    QCOMPARE(held(7), 56 * 64);
  }

  void aPinnedEntryStays() {
    PrefixCache cache(empty(), {.budget = 8 * kMiB});  // 5 pages
    put(cache, textOf(1, 128), 1);
    const std::uint64_t id = cache.entries().front().id;
    QVERIFY(cache.pin(id, true));
    QVERIFY(!cache.pin(id + 1000, true));
    for (int number = 2; number <= 6; ++number)
      put(cache, textOf(number, 256), number);
    QCOMPARE(cache.find(textOf(1, 128)).sequence.length(), 127);
    QVERIFY(cache.bytes() <= 8 * kMiB);
    put(cache, textOf(1, 300), 1);  // the entry goes on, and its pin with it
    put(cache, textOf(7, 256), 7);
    QCOMPARE(cache.find(textOf(1, 300)).sequence.length(), 299);
    const std::vector<CacheEntry> rows = cache.entries();
    const auto pinned = std::ranges::find(rows, true, &CacheEntry::pinned);
    QVERIFY(pinned != rows.end());
    QVERIFY(cache.drop(pinned->id));
    QCOMPARE(cache.find(textOf(1, 300)).sequence.length(), 0);
  }

  void logitsOfAPromptAnswerItWhole() {
    PrefixCache cache(empty(), {.budget = 64 * kMiB});
    const std::vector<TokenId> text = textOf(1, 100);
    const auto logits = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3});
    const CacheMark mark{CacheTier::kPromptEnd, 90, {}, {}, logits};
    put(cache, text, 1, {&mark, 1});
    const CacheHit whole = cache.find(std::span(text).first(90));
    QCOMPARE(whole.sequence.length(), 90);
    QCOMPARE(whole.logits, logits);
    const CacheHit longer = cache.find(std::span(text).first(91));
    QCOMPARE(longer.sequence.length(), 90);
    QVERIFY(!longer.logits);
    QCOMPARE(cache.bytes(), pageBytes(64) + pageBytes(36) + 3 * sizeof(float));
  }

  // Where a state is needed, what lies behind the last one is not kept, and a text goes on from states only.
  void statesDecideWhereATextGoesOn() {
    const RecurrentLayout layout{1, 8, 3, 2, 16};
    auto state = RecurrentState::initial(layout);
    QVERIFY(state.ok());
    PrefixCache cache({KvSequence(kShape), *state, {}}, {.budget = 64 * kMiB});
    const std::vector<TokenId> text = textOf(1, 200);
    const std::vector<CacheMark> marks = {{CacheTier::kGrid, 16, *state},
                                          {CacheTier::kPromptEnd, 100, *state}};
    put(cache, text, 1, marks);
    QCOMPARE(cache.bytes(), 2 * pageBytes(64) + 2 * layout.bytes());
    QCOMPARE(cache.find(text).sequence.length(), 100);
    QCOMPARE(cache.find(std::span(text).first(100)).sequence.length(), 16);  // its logits are not known
    QCOMPARE(cache.find(std::span(text).first(16)).sequence.length(), 0);
    std::vector<CacheEntry> rows = cache.entries();
    const auto end = std::ranges::find(rows, CacheTier::kPromptEnd, &CacheEntry::tier);
    QVERIFY(cache.drop(end->id));
    QCOMPARE(cache.bytes(), pageBytes(64) + layout.bytes());
    cache.setBudget(0);
    QCOMPARE(cache.bytes(), std::size_t(0));
  }
};

QTEST_APPLESS_MAIN(TestPrefixCache)
#include "test_prefix_cache.moc"
