// Matrix products: every kernel set against the scalar reference, bit for bit, and the reference against the
// written meaning of the blocks.
#include <QtTest>
#include <set>

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/kernel_set.h"
#include "engine/kernels/quant/dispatch.h"
#include "tests/kernels/random_weights.h"
#include "tests/kernels/sets_under_test.h"

using namespace tandem;
using namespace tandem::kernels;
using namespace tandem::test;

namespace {

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// (rows, n + kPadding): what lies behind a row's columns is returned too, since no set may write it.
constexpr int kPadding = 16;
std::vector<float> multiply(const KernelSet& set, const PackedMatrix& w, const std::vector<float>& x,
                            int rows) {
  const std::size_t stride = w.n() + kPadding;
  std::vector<float> out(rows * stride, -1.0f);
  if (isFloatFormat(w.format())) {
    set.matmulFloat(w, x.data(), rows, 0, w.groups(), out.data(), stride);
    return out;
  }
  Quantized quantized(rows, w.k());
  for (int r = 0; r < rows; ++r) {
    if (!set.quantizeRow(x.data() + static_cast<std::size_t>(r) * w.k(), w.k(), r, quantized.rowsOf))
      return {};
  }
  set.matmulQuantized(w, quantized.rowsOf, rows, 0, w.groups(), out.data(), stride);
  return out;
}

// Activations whose int8 values are all +127 or -127, by a pattern per block.
std::vector<float> extremeRows(int rows, int k, int pattern) {
  std::vector<float> x(static_cast<std::size_t>(rows) * k);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool negative = pattern == 1 || (pattern == 2 && i % 2) || (pattern == 3 && (i / 2) % 2);
    x[i] = negative ? -1.0f : 1.0f;
  }
  return x;
}

}  // namespace

class TestMatmul : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    if (kernelSetsUnderTest().empty()) QSKIP("This CPU can run none of the sets.");
  }

  // A report must not take one set for another, such as an emulated one for the CPU's own.
  void everySetHasItsOwnName() {
    std::set<const KernelSet*> sets;
    std::set<std::string> names;
    for (const auto& list : {kernelSetsUnderTest(), availableKernels()})
      sets.insert(list.begin(), list.end());
    for (const KernelSet* set : sets)
      names.insert(set->name);
    QCOMPARE(names.size(), sets.size());
  }

  // The packed unit holds what the file's block says.
  void packingKeepsEveryWeight() {
    for (const WeightFormat format : kQuantizedFormats) {
      const int n = 11, k = 512;
      const auto blocks = randomBlocks(format, n, k, 5);
      const PackedMatrix w = packed(format, n, k, blocks);
      const std::size_t rowBytes = blocks.size() / n;
      for (int column = 0; column < n; ++column) {
        std::vector<float> row(k);
        dequantizeRow(format, blocks.data() + column * rowBytes, k, row.data());
        withFormat(format, [&]<class F>(F) {
          if constexpr (F::kElements > 1) {
            constexpr int perUnit = F::kElements / kBlock;
            for (int b = 0; b < k / kBlock; ++b) {
              const std::uint8_t* unit = w.group(column / kGroup) + (b / perUnit) * F::kPackedBytes;
              const BlockView v = F::view(unit, b % perUnit, column % kGroup);
              for (int i = 0; i < kBlock; ++i) {
                const bool second = F::kKind == BlockKind::kTwoScales && i >= 16;
                const float scale = (second ? v.secondScale : v.scale) * static_cast<float>(v.sub[i / 16]);
                const float minimum = v.minimum * static_cast<float>(v.subMinimum[i / 16]);
                QCOMPARE(row[b * kBlock + i], scale * static_cast<float>(v.q[i]) + minimum);
              }
            }
          }
        });
      }
    }
  }

  // Blocks that another program wrote, and what it reads in them (tests/data/blocks: NAME.bin, NAME.f32).
  void blocksMeanWhatOthersRead() {
    for (const auto& [format, name] :
         {std::pair(WeightFormat::kBF16, "BF16"), std::pair(WeightFormat::kQ4_0, "Q4_0"),
          std::pair(WeightFormat::kQ4_1, "Q4_1"), std::pair(WeightFormat::kQ5_0, "Q5_0"),
          std::pair(WeightFormat::kQ5_1, "Q5_1"), std::pair(WeightFormat::kQ8_0, "Q8_0"),
          std::pair(WeightFormat::kQ2_K, "Q2_K"), std::pair(WeightFormat::kQ3_K, "Q3_K"),
          std::pair(WeightFormat::kQ4_K, "Q4_K"), std::pair(WeightFormat::kQ5_K, "Q5_K"),
          std::pair(WeightFormat::kQ6_K, "Q6_K"), std::pair(WeightFormat::kIQ4_NL, "IQ4_NL"),
          std::pair(WeightFormat::kIQ4_XS, "IQ4_XS"), std::pair(WeightFormat::kMXFP4, "MXFP4"),
          std::pair(WeightFormat::kNVFP4, "NVFP4")}) {
      const QString path = QString(TANDEM_TEST_DATA "/blocks/%1.").arg(name);
      QFile blocks(path + "bin"), numbers(path + "f32");
      QVERIFY2(blocks.open(QIODevice::ReadOnly) && numbers.open(QIODevice::ReadOnly), name);
      const QByteArray bytes = blocks.readAll(), expected = numbers.readAll();
      std::vector<float> got(expected.size() / 4), want(got.size());
      std::memcpy(want.data(), expected.constData(), expected.size());
      const auto traits = formatTraits(format);
      QCOMPARE(int(bytes.size()) / traits.fileBytes * traits.unitElements, int(got.size()));
      dequantizeRow(format, reinterpret_cast<const std::byte*>(bytes.constData()), int(got.size()),
                    got.data());
      for (std::size_t i = 0; i < got.size(); ++i)
        QVERIFY2(std::fabs(got[i] - want[i]) <= 1e-6f * std::fabs(want[i]), name);
    }
  }

  void referenceIsTheProduct() {
    for (const WeightFormat format : kQuantizedFormats) {
      const int n = 9, k = 768;
      const auto blocks = randomBlocks(format, n, k, 6);
      const auto x = randomRows(1, k, 7);
      const auto out = multiply(referenceKernels(), packed(format, n, k, blocks), x, 1);
      for (int column = 0; column < n; ++column) {
        std::vector<float> row(k);
        dequantizeRow(format, blocks.data() + column * (blocks.size() / n), k, row.data());
        double exact = 0, size = 0;
        for (int i = 0; i < k; ++i)
          exact += double(row[i]) * x[i], size += std::fabs(double(row[i]) * x[i]);
        // int8 activations err by at most half a step, 1/254 of a block's largest.
        QVERIFY2(std::fabs(out[column] - exact) < size * 0.02,
                 qPrintable(QString::number(out[column] - exact)));
      }
    }
  }

  void setsAgreeOnRandomWeights() {
    std::vector<WeightFormat> formats(std::begin(kFloatFormats), std::end(kFloatFormats));
    formats.insert(formats.end(), std::begin(kQuantizedFormats), std::end(kQuantizedFormats));
    QCOMPARE(int(formats.size()), kWeightFormatCount);
    for (const WeightFormat format : formats) {
      // A step of 5 leaves every number of rows in, with few columns and with four groups of them.
      int shapes = 0;
      for (const int n : {2, 3, 8, 13, 27, 56}) {
        for (const int k : {256, 512, 1280}) {
          const PackedMatrix w = packed(format, n, k, randomBlocks(format, n, k, 100 + n + k));
          for (const int rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 32, 41}) {
            if (shapes++ % stepOfShapes() != 0) continue;
            const auto x = randomRows(rows, k, 200 + rows);
            const auto expected = multiply(referenceKernels(), w, x, rows);
            for (const KernelSet* set : kernelSetsUnderTest()) {
              QVERIFY2(sameBits(expected, multiply(*set, w, x, rows)), set->name);
            }
          }
        }
      }
    }
  }

  void setsAgreeOnOddFloatLengths() {
    for (const WeightFormat format : kFloatFormats) {
      for (const int k : {1, 7, 33, 513, 1030}) {
        const PackedMatrix w = packed(format, 21, k, randomBlocks(format, 21, k, k));
        const auto x = randomRows(3, k, k);
        const auto expected = multiply(referenceKernels(), w, x, 3);
        for (const KernelSet* set : kernelSetsUnderTest())
          QVERIFY2(sameBits(expected, multiply(*set, w, x, 3)), set->name);
      }
    }
  }

  // Weights at both ends against activations at +-127: where an int16 stage would wrap, if it could.
  void setsAgreeAtTheExtremes() {
    for (const WeightFormat format : kQuantizedFormats) {
      for (const int fill : {0x00, 0xFF, 0x7F, 0x80, 0x0F, 0xF0}) {
        const PackedMatrix w = packed(format, 8, 512, randomBlocks(format, 8, 512, 1, fill));
        for (int pattern = 0; pattern < 4; ++pattern) {
          const auto x = extremeRows(2, 512, pattern);
          const auto expected = multiply(referenceKernels(), w, x, 2);
          for (const KernelSet* set : kernelSetsUnderTest())
            QVERIFY2(sameBits(expected, multiply(*set, w, x, 2)), set->name);
        }
      }
    }
  }

  // The planted fault of the extremes: a 5-bit block summed in one int16, as is right for 4 bits, wraps and
  // shows.
  void anInt16StageThatWrapsIsSeen() {
    const auto blocks = randomBlocks(WeightFormat::kQ5_0, 8, 32, 1, 0xFF);
    const PackedMatrix w = packed(WeightFormat::kQ5_0, 8, 32, blocks);
    const auto x = extremeRows(1, 32, 0);
    const auto expected = multiply(referenceKernels(), w, x, 1);
    Quantized quantized(1, 32);
    QVERIFY(referenceKernels().quantizeRow(x.data(), 32, 0, quantized.rowsOf));
    const BlockView v = Q5_0::view(w.group(0), 0, 0);
    std::int16_t even = 0, odd = 0;
    for (int i = 0; i < 32; ++i) {
      auto& lane = i % 2 ? odd : even;
      lane = static_cast<std::int16_t>(lane + (v.q[i] + 16) * quantized.q[i]);
    }
    const auto wrapped = static_cast<std::int16_t>(even + odd);
    const float faulty = static_cast<float>(wrapped - 16 * 32 * 127) * (v.scale * quantized.d[0]);
    QVERIFY(faulty != expected[0]);
  }

  void numbersThatAreNotFiniteAreRefused() {
    for (const KernelSet* set : kernelSetsUnderTest()) {
      for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()}) {
        for (const int at : {0, 17, 63}) {
          auto x = randomRows(1, 64, 3);
          x[at] = bad;
          Quantized quantized(1, 64);
          QVERIFY(!set->quantizeRow(x.data(), 64, 0, quantized.rowsOf));
        }
      }
    }
  }

  // Blocks of zeros and of numbers so small that 1 / d is not finite are zero; halves round to even.
  void quantizationFollowsItsRule() {
    for (const KernelSet* set : kernelSetsUnderTest()) {
      std::vector<float> x(96, 0.0f);
      for (int i = 32; i < 64; ++i)
        x[i] = 1e-40f;
      x[64] = 127.0f;
      x[65] = 2.5f;
      x[66] = 3.5f;
      x[67] = -2.5f;
      Quantized quantized(1, 96);
      QVERIFY(set->quantizeRow(x.data(), 96, 0, quantized.rowsOf));
      for (int i = 0; i < 64; ++i)
        QCOMPARE(int(quantized.q[i]), 0);
      QCOMPARE(quantized.d[0], 0.0f);
      QCOMPARE(quantized.d[1], 0.0f);
      QCOMPARE(quantized.d[2], 1.0f);
      QCOMPARE(int(quantized.q[65]), 2);
      QCOMPARE(int(quantized.q[66]), 4);
      QCOMPARE(int(quantized.q[67]), -2);
      QCOMPARE(int(quantized.sums[4]), 127 + 2 + 4 - 2);
    }
  }
};

QTEST_APPLESS_MAIN(TestMatmul)
#include "test_matmul.moc"
