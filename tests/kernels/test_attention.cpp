// Attention: every kernel set against the reference, bit for bit, for rows alone and together, chains and
// trees, windows, whole and in parts; and the reference against a weighted mean in double.
#include <xmmintrin.h>

#include <QtTest>
#include <cmath>

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/half.h"
#include "engine/kernels/kernel_set.h"
#include "tests/kernels/random_weights.h"
#include "tests/kernels/sets_under_test.h"

using namespace tandem;
using namespace tandem::kernels;
using namespace tandem::test;

namespace {

struct Shape {
  CacheType type = CacheType::kF16;
  int headDim = 64, heads = 1;
  int committed = 0;         // positions before the batch
  std::vector<int> parents;  // of the batch's rows; -1: the last committed position
  int window = 0;            // keys that a row sees; 0: all
  float softCap = 0;
};

std::vector<int> chainOf(int rows) {
  std::vector<int> parents(rows);
  for (int r = 0; r < rows; ++r)
    parents[r] = r - 1;
  return parents;
}

// Keys and values of one KV head in pages and a scratch, as a model keeps them; whatever no row may see is
// NaN or a null pointer.
class World {
 public:
  World(const Shape& shape, std::uint32_t seed)
      : shape_(shape),
        rows_(static_cast<int>(shape.parents.size())),
        stride_(roundUp(shape.headDim, kLanes)),
        keyBytes_(rowBytes(keyRows(shape.type), stride_)),
        valueBytes_(rowBytes(valueRows(shape.type), stride_)),
        tailTile_(shape.committed / kTile),
        q(randomRows(rows_, shape.heads * shape.headDim, seed, 1.0f)) {
    for (int r = 0; r < rows_; ++r) {
      const int parent = shape.parents[r];
      position_.push_back(parent < 0 ? shape.committed : position_[parent] + 1);
      end_.push_back(position_[r] + 1);
      begin_.push_back(shape.window > 0 ? std::max(0, end_[r] - shape.window) : 0);
      chain_ &= parent == r - 1;
    }
    const int pages = tailTile_ + 1;
    keyPages_ = poisoned(pages * kTile * keyBytes_), valuePages_ = poisoned(pages * kTile * valueBytes_);
    keyScratch_ = poisoned(rows_ * keyBytes_), valueScratch_ = poisoned(rows_ * valueBytes_);
    const int firstSeen = *std::min_element(begin_.begin(), begin_.end());
    for (int p = firstSeen; p < shape.committed; ++p) {
      putKey(keyPages_, p, seed + 2 * p), putValue(valuePages_, p, seed + 2 * p + 1);
    }
    for (int r = 0; r < rows_; ++r) {
      putKey(keyScratch_, r, seed + 90001 + 2 * r), putValue(valueScratch_, r, seed + 90002 + 2 * r);
    }
    listTails();
  }

  // Rows first … first + count - 1 in one job; parts > 0: in that many parts that are joined.
  std::vector<float> run(const KernelSet& set, int first, int count, int parts) const {
    const int width = shape_.heads * shape_.headDim;
    std::vector<float> out(static_cast<std::size_t>(count) * width, -7.0f);
    const int firstTile = *std::min_element(&begin_[first], &begin_[first] + count) / kTile;
    const int tiles = (*std::max_element(&end_[first], &end_[first] + count) - 1) / kTile + 1 - firstTile;
    std::vector<const void*> keyTiles, valueTiles;
    for (int t = firstTile; t < tailTile_; ++t) {
      keyTiles.push_back(keyRow(t * kTile));
      valueTiles.push_back(valueRow(t * kTile));
    }
    AttentionJob job{.rows = count,
                     .heads = shape_.heads,
                     .headDim = shape_.headDim,
                     .stride = stride_,
                     .q = q.data() + static_cast<std::size_t>(first) * width,
                     .out = out.data(),
                     .qStride = static_cast<std::size_t>(width),
                     .outStride = static_cast<std::size_t>(width),
                     .begin = &begin_[first],
                     .end = &end_[first],
                     .firstTile = firstTile,
                     .tailTile = tailTile_,
                     .keyTiles = keyTiles.data(),
                     .valueTiles = valueTiles.data(),
                     .tailKeys = tailKeys_.data() + first * tailStride_,
                     .tailValues = tailValues_.data() + first * tailStride_,
                     .tailStride = tailStride_,
                     .scale = 0.125f,
                     .softCap = shape_.softCap};
    const auto attend = attentionOf(set, shape_.type);
    if (parts == 0) {
      attend(job);
      return out;
    }
    std::vector<float> partials(tiles * tilePartialFloats(count * shape_.heads, shape_.headDim), NAN);
    job.partials = partials.data();
    for (int part = parts - 1; part >= 0; --part) {
      job.beginTile = firstTile + tiles * part / parts;
      job.endTile = firstTile + tiles * (part + 1) / parts;
      attend(job);
    }
    set.joinTiles(job);
    return out;
  }

  int rows() const { return rows_; }

 private:
  static std::vector<std::byte> poisoned(std::size_t bytes) {
    return std::vector<std::byte>(bytes, std::byte{0xFF});  // NaN, and NaN as an int8 block's scale
  }
  void put(std::byte* row, std::size_t bytes, RowType type, std::uint32_t seed) const {
    std::memset(row, 0, bytes);
    const auto values = randomRows(1, shape_.headDim, seed, 1.0f);
    referenceKernels().toCache(values.data(), shape_.headDim, type, row);
  }
  void putKey(std::vector<std::byte>& memory, int row, std::uint32_t seed) const {
    put(memory.data() + row * keyBytes_, keyBytes_, keyRows(shape_.type), seed);
  }
  void putValue(std::vector<std::byte>& memory, int row, std::uint32_t seed) const {
    put(memory.data() + row * valueBytes_, valueBytes_, valueRows(shape_.type), seed);
  }
  void listTails() {
    const int tailBegin = tailTile_ * kTile;
    const int positions = *std::max_element(end_.begin(), end_.end()) - tailBegin;
    tailStride_ = chain_ ? 0 : positions;
    tailKeys_.assign(static_cast<std::size_t>(positions) * (chain_ ? 1 : rows_), nullptr);
    tailValues_ = tailKeys_;
    for (int leaf = chain_ ? rows_ - 1 : 0; leaf < rows_; ++leaf) {
      const std::size_t at = leaf * tailStride_;
      for (int r = leaf; r >= 0; r = shape_.parents[r]) {
        tailKeys_[at + position_[r] - tailBegin] = scratchKey(r);
        tailValues_[at + position_[r] - tailBegin] = scratchValue(r);
      }
      const int firstSeen = chain_ ? *std::min_element(begin_.begin(), begin_.end()) : begin_[leaf];
      for (int p = std::max(tailBegin, firstSeen); p < shape_.committed; ++p) {
        tailKeys_[at + p - tailBegin] = keyRow(p);
        tailValues_[at + p - tailBegin] = valueRow(p);
      }
    }
  }

  Shape shape_;
  int rows_, stride_;
  std::size_t keyBytes_, valueBytes_;
  int tailTile_;
  bool chain_ = true;
  std::vector<int> position_, begin_, end_;
  std::vector<std::byte> keyPages_, valuePages_, keyScratch_, valueScratch_;
  std::vector<const void*> tailKeys_, tailValues_;
  std::size_t tailStride_ = 0;

 public:
  std::vector<float> q;
  const std::byte* keyRow(int p) const { return keyPages_.data() + p * keyBytes_; }
  const std::byte* valueRow(int p) const { return valuePages_.data() + p * valueBytes_; }
  const std::byte* scratchKey(int row) const { return keyScratch_.data() + row * keyBytes_; }
  const std::byte* scratchValue(int row) const { return valueScratch_.data() + row * valueBytes_; }
};

// The 64 numbers of a row, block by block.
std::vector<double> numbersOf(const std::byte* row, RowType type) {
  std::vector<double> numbers(64);
  for (int i = 0; i < 64; ++i) {
    std::uint16_t half;
    std::memcpy(&half, row + (type == RowType::kInt8 ? 64 + i / 32 * 2 : i * 2), 2);
    numbers[i] = halfToFloat(half);
    if (type == RowType::kInt8) numbers[i] *= static_cast<double>(static_cast<std::int8_t>(row[i]));
    if (type == RowType::kF32) numbers[i] = double(reinterpret_cast<const float*>(row)[i]);
  }
  return numbers;
}

// A row alone, in one piece, by the reference: what all else must equal.
std::vector<float> rowByRow(const World& world) {
  std::vector<float> all;
  for (int r = 0; r < world.rows(); ++r) {
    const auto row = world.run(referenceKernels(), r, 1, 0);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

// Of a tile of 64 keys the first scores 0 and has the value 0, the second `below` less and the value 1e38:
// what comes out is 1e38 e^-below, whose second factor need not be a normal number.
float smallWeight(const KernelSet& set, float below) {
  constexpr int kDim = 8;
  std::vector<float> keys(kTile * kDim, 0.0f), values(kTile * kDim, 0.0f);
  std::vector<const void*> keyRows, valueRows;
  for (int p = 0; p < kTile; ++p) {
    keys[p * kDim] = p == 0 ? 0.0f : p == 1 ? -below : -300.0f;
    keyRows.push_back(keys.data() + p * kDim);
    valueRows.push_back(values.data() + p * kDim);
  }
  values[kDim] = 1e38f;
  std::vector<float> q(kDim, 0.0f), out(kDim);
  q[0] = 1.0f;
  const int begin = 0, end = kTile;
  attentionOf(set, CacheType::kF32)({.rows = 1,
                                     .heads = 1,
                                     .headDim = kDim,
                                     .stride = kDim,
                                     .q = q.data(),
                                     .out = out.data(),
                                     .qStride = kDim,
                                     .outStride = kDim,
                                     .begin = &begin,
                                     .end = &end,
                                     .firstTile = 0,
                                     .tailTile = 0,
                                     .keyTiles = nullptr,
                                     .valueTiles = nullptr,
                                     .tailKeys = keyRows.data(),
                                     .tailValues = valueRows.data(),
                                     .tailStride = 0,
                                     .scale = 1.0f,
                                     .softCap = 0});
  return out[0];
}

}  // namespace

class TestAttention : public QObject {
  Q_OBJECT

  int shapes_ = 0;  // of the running test

  // A step of 5 is prime to the inner lists, so every type, length and number of heads stays in.
  void compare(const Shape& shape, std::uint32_t seed) {
    if (shapes_++ % stepOfShapes() != 0) return;
    const World world(shape, seed);
    const std::vector<float> expected = rowByRow(world);
    std::vector<const KernelSet*> sets = kernelSetsUnderTest();
    sets.push_back(&referenceKernels());
    for (const KernelSet* set : sets) {
      for (const int parts : {0, 1, 3}) {
        const auto got = world.run(*set, 0, world.rows(), parts);
        const QString what = QString("%1: head %2, %3 heads, %4 committed, %5 rows, window %6, %7 parts")
                                 .arg(set->name)
                                 .arg(shape.headDim)
                                 .arg(shape.heads)
                                 .arg(shape.committed)
                                 .arg(world.rows())
                                 .arg(shape.window)
                                 .arg(parts);
        QVERIFY2(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0, qPrintable(what));
      }
    }
  }

 private slots:
  void initTestCase() {
    if (kernelSetsUnderTest().empty()) QSKIP("This CPU can run none of the sets.");
  }

  void init() { shapes_ = 0; }

  void oneRow() {
    std::uint32_t seed = 1;
    for (const CacheType type : kCacheTypes) {
      for (const int dim : {8, 64, 80, 100, 256, 512}) {
        for (const int heads : {1, 2, 3, 4, 7}) {
          for (const int committed : {0, 1, 63, 64, 65, 150}) {
            for (const int window : {0, 2, 70})
              compare({type, dim, heads, committed, {-1}, window, committed == 65 ? 20.0f : 0.0f}, ++seed);
          }
        }
      }
    }
  }

  void chains() {
    std::uint32_t seed = 1000;
    for (const CacheType type : {CacheType::kF16, CacheType::kVq8, CacheType::kQ8}) {
      for (const int dim : {64, 72, 256}) {
        for (const int heads : {1, 3, 4}) {
          for (const int committed : {0, 30, 64, 131}) {
            for (const int window : {0, 40})
              compare({type, dim, heads, committed, chainOf(committed == 30 ? 140 : 9), window}, ++seed);
          }
        }
      }
    }
  }

  void trees() {
    std::uint32_t seed = 2000;
    std::mt19937 random(5);
    for (int i = 0; i < 40; ++i) {
      Shape shape{kCacheTypes[i * 3 / 2 % 4], i % 2 ? 64 : 40, 1 + i % 4, 0, {-1}};
      shape.committed = static_cast<int>(random() % 140);
      shape.window = i % 4 == 1 ? 50 : 0;
      shape.parents = {-1};
      for (int r = 1; r < 20; ++r)
        shape.parents.push_back(static_cast<int>(random() % r));
      compare(shape, ++seed);
    }
  }

  // More queries than a block holds, heads of one row in two blocks.
  void manyHeads() {
    for (const CacheType type : kCacheTypes)
      compare({type, 64, 71, 70, chainOf(3)}, 31);
  }

  // With the planted fault of numbers that are flushed to zero.
  void weightsThatAreNoNormalNumbers() {
    QVERIFY(smallWeight(referenceKernels(), 103.0f) > 0);
    QCOMPARE(smallWeight(referenceKernels(), 110.0f), 0.0f);
    for (const KernelSet* set : kernelSetsUnderTest()) {
      for (float below = 80; below < 106; below += 1.0f / 64) {
        const float got = smallWeight(*set, below), expected = smallWeight(referenceKernels(), below);
        QVERIFY2(std::memcmp(&got, &expected, sizeof(got)) == 0,
                 qPrintable(QString("%1: e^-%2").arg(set->name).arg(below)));
      }
      _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
      const float flushed = smallWeight(*set, 100.0f);
      _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF);
      QVERIFY2(flushed != smallWeight(referenceKernels(), 100.0f), set->name);
    }
  }

  void referenceIsAWeightedMean() {
    for (const CacheType type : kCacheTypes) {
      const World world({type, 64, 1, 140, {-1}}, 77);
      const auto out = world.run(referenceKernels(), 0, 1, 0);
      std::vector<double> exact(64);
      double sum = 0;
      const auto take = [&](const std::byte* keyRow, const std::byte* valueRow) {
        const auto key = numbersOf(keyRow, keyRows(type)), value = numbersOf(valueRow, valueRows(type));
        double dot = 0;
        for (int i = 0; i < 64; ++i)
          dot += double(world.q[i]) * key[i];
        const double weight = std::exp(dot * 0.125);
        sum += weight;
        for (int i = 0; i < 64; ++i)
          exact[i] += weight * value[i];
      };
      for (int p = 0; p < 140; ++p)
        take(world.keyRow(p), world.valueRow(p));
      take(world.scratchKey(0), world.scratchValue(0));
      for (int i = 0; i < 64; ++i)
        QVERIFY2(std::fabs(out[i] - exact[i] / sum) < 4e-6,
                 qPrintable(QString("%1: %2").arg(cacheTypeName(type)).arg(out[i] - exact[i] / sum)));
    }
  }
};

QTEST_APPLESS_MAIN(TestAttention)
#include "test_attention.moc"
