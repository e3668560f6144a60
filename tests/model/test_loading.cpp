// Model files that cannot be run are refused by name of what is wrong, before anything large is allocated.
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/gguf/encoded_value.h"
#include "engine/model/decoder.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;

class TestLoading : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }

  // Loads the tiny model `base` with `edit` applied and expects a refusal that names `field`.
  template <class Edit>
  void expectRefusal(const char* base, const char* field, ErrorCode code, Edit&& edit) {
    auto copy = ModelCopy::of(path(base));
    QVERIFY(copy.ok());
    edit(*copy);
    const Status written = copy->write(path("bad"));
    QVERIFY2(written.ok(), written.ok() ? "" : written.error().describe().c_str());
    QElapsedTimer timer;
    timer.start();
    const auto model = Model::load(path("bad"));
    QVERIFY2(!model.ok(), field);
    QCOMPARE(QString::fromStdString(model.error().field), QString(field));
    QVERIFY2(model.error().code == code, model.error().describe().c_str());
    QVERIFY(timer.elapsed() < 1000);
  }

 private slots:
  void initTestCase() {
    for (const char* name : {"llama", "gemma3", "qwen35moe", "qwen35-nextn"}) {
      QVERIFY(
          writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", path(name)).ok());
    }
  }

  void missingTensors() {
    for (const char* tensor :
         {"blk.1.ffn_down.weight", "blk.0.attn_norm.weight", "output_norm.weight", "blk.2.attn_k.weight"}) {
      expectRefusal("llama", tensor, ErrorCode::kCorruptFile, [&](ModelCopy& c) { c.dropTensor(tensor); });
    }
    expectRefusal("gemma3", "blk.1.attn_q_norm.weight", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) { c.dropTensor("blk.1.attn_q_norm.weight"); });
    expectRefusal("llama", "token_embd.weight", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) { c.dropTensor("token_embd.weight"); });
  }

  void wrongShapes() {
    expectRefusal("llama", "blk.0.attn_q.weight", ErrorCode::kCorruptFile, [](ModelCopy& c) {
      c.setShape("blk.0.attn_q.weight", {256, 255});
    });
    expectRefusal("llama", "blk.0.attn_q.weight", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) { c.setShape("blk.0.attn_q.weight", {65536}); });
    expectRefusal("llama", "rope_freqs.weight", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) { c.setShape("rope_freqs.weight", {31}); });
  }

  void wrongTypes() {
    for (const auto type : {gguf::TensorType::kI32, gguf::TensorType::kIQ2_XXS, gguf::TensorType::kF64}) {
      expectRefusal("llama", "blk.0.attn_q.weight", ErrorCode::kUnsupported,
                    [&](ModelCopy& c) { c.setType("blk.0.attn_q.weight", type); });
    }
  }

  void numbersOutOfRange() {
    const auto number = [&](const char* key, auto value) {
      expectRefusal("llama", key, ErrorCode::kCorruptFile,
                    [&](ModelCopy& c) { c.setValue(key, gguf::encode(value)); });
    };
    number("llama.attention.head_count", std::uint32_t{0});
    number("llama.attention.head_count_kv", std::uint32_t{0});
    number("llama.attention.head_count_kv", std::uint32_t{8});
    number("llama.attention.head_count_kv", std::uint32_t{3});
    number("llama.block_count", std::uint32_t{0xFFFFFFFF});
    number("llama.block_count", std::uint32_t{0});
    number("llama.embedding_length", std::uint32_t{0});
    number("llama.feed_forward_length", std::uint64_t{1} << 62);
    number("llama.context_length", std::uint32_t{1u << 31});
    number("llama.rope.dimension_count", std::uint32_t{66});
    number("llama.rope.dimension_count", std::uint32_t{63});
    number("llama.attention.key_length", std::uint32_t{100000});
    number("llama.vocab_size", std::uint32_t{127});
    number("llama.rope.freq_base", 0.0f);
    number("llama.rope.freq_base", std::numeric_limits<float>::quiet_NaN());
    number("llama.attention.layer_norm_rms_epsilon", std::numeric_limits<float>::infinity());
    number("llama.rope.scaling.factor", -2.0f);
  }

  void missingAndUnknownNumbers() {
    expectRefusal("llama", "llama.block_count", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) { c.dropKey("llama.block_count"); });
    expectRefusal("llama", "general.architecture", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) { c.dropKey("general.architecture"); });
    expectRefusal("llama", "general.architecture", ErrorCode::kUnsupported, [](ModelCopy& c) {
      c.setValue("general.architecture", gguf::encode(std::string_view("mamba")));
    });
    expectRefusal("llama", "llama.rope.scaling.type", ErrorCode::kUnsupported, [](ModelCopy& c) {
      c.setValue("llama.rope.scaling.type", gguf::encode(std::string_view("yarn")));
    });
    expectRefusal("llama", "llama.expert_count", ErrorCode::kUnsupported,
                  [](ModelCopy& c) { c.setValue("llama.expert_count", gguf::encode(std::uint32_t{8})); });
    expectRefusal("gemma3", "gemma3.attention.sliding_window_pattern", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) {
                    const std::uint32_t flags[] = {1, 0};
                    c.setValue("gemma3.attention.sliding_window_pattern",
                               gguf::encodeArray(std::span<const std::uint32_t>(flags)));
                  });
  }

  void hybridsAndMixtures() {
    const auto number = [&](const char* base, const char* key, std::uint32_t value) {
      expectRefusal(base, key, ErrorCode::kCorruptFile,
                    [&](ModelCopy& c) { c.setValue(key, gguf::encode(value)); });
    };
    number("qwen35moe", "qwen35moe.ssm.time_step_rank", 3);  // no multiple of the key heads
    number("qwen35moe", "qwen35moe.ssm.time_step_rank", 0);
    number("qwen35moe", "qwen35moe.ssm.inner_size", 255);
    number("qwen35moe", "qwen35moe.ssm.conv_kernel", 1);
    number("qwen35moe", "qwen35moe.ssm.state_size", 1u << 20);
    number("qwen35moe", "qwen35moe.ssm.group_count", 0);
    number("qwen35moe", "qwen35moe.expert_used_count", 9);
    number("qwen35moe", "qwen35moe.expert_used_count", 0);
    number("qwen35moe", "qwen35moe.expert_count", 1u << 20);
    number("qwen35-nextn", "qwen35.nextn_predict_layers", 3);
    expectRefusal("qwen35moe", "qwen35moe.attention.recurrent_layers", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) {
                    const std::uint32_t flags[] = {1};
                    c.setValue("qwen35moe.attention.recurrent_layers",
                               gguf::encodeArray(std::span<const std::uint32_t>(flags)));
                  });
    for (const char* tensor : {"blk.0.ssm_conv1d.weight", "blk.0.ssm_a", "blk.0.ffn_gate_up_exps.weight",
                               "blk.1.ffn_down_exps.weight", "blk.1.ffn_gate_inp_shexp.weight"}) {
      expectRefusal("qwen35moe", tensor, ErrorCode::kCorruptFile,
                    [&](ModelCopy& c) { c.setShape(tensor, {32}); });
    }
    expectRefusal("qwen35-nextn", "blk.2.nextn.eh_proj.weight", ErrorCode::kCorruptFile,
                  [](ModelCopy& c) { c.dropTensor("blk.2.nextn.eh_proj.weight"); });
  }

  void aVectorThatIsNotFinite() {
    expectRefusal("llama", "output_norm.weight", ErrorCode::kCorruptFile, [](ModelCopy& c) {
      std::vector<float> norm(256, 1.0f);
      norm[100] = std::numeric_limits<float>::quiet_NaN();
      const auto bytes = std::as_bytes(std::span<const float>(norm));
      c.setData("output_norm.weight", {bytes.begin(), bytes.end()});
    });
  }

  // A matrix with NaN loads (its numbers are not all read) but ends the request with a sentence.
  void aMatrixThatIsNotFiniteEndsTheRequest() {
    auto copy = ModelCopy::of(path("llama"));
    QVERIFY(copy.ok());
    std::vector<float> weights(256 * 256, 0.01f);
    weights[5] = std::numeric_limits<float>::infinity();
    const auto bytes = std::as_bytes(std::span<const float>(weights));
    copy->setData("blk.1.attn_q.weight", {bytes.begin(), bytes.end()});
    QVERIFY(copy->write(path("infinite")).ok());
    auto model = Model::load(path("infinite"));
    QVERIFY(model.ok());
    auto decoder = Decoder::create(*model, {.threads = 2});
    QVERIFY(decoder.ok());
    const int zero = 0;
    const std::vector<TokenId> tokens = {1, 2, 3};
    const Status status = (*decoder)->forward((*decoder)->newSequence(), Batch::chain(tokens, 0), {&zero, 1});
    QVERIFY(!status.ok());
    QVERIFY(status.error().code == ErrorCode::kNonFinite);
  }

  void linearScalingAndFactorsChangeTheLogits() {
    const auto logitsOf = [&](auto edit) {
      auto copy = ModelCopy::of(path("llama"));
      edit(*copy);
      const Status written = copy->write(path("variant"));
      if (!written.ok()) qFatal("%s", written.error().describe().c_str());
      auto model = Model::load(path("variant"));
      if (!model.ok()) qFatal("%s", model.error().describe().c_str());
      auto decoder = Decoder::create(*model, {.threads = 1});
      const std::vector<TokenId> tokens = {5, 9, 77, 3};
      const int last = 3;
      if (!(*decoder)->forward((*decoder)->newSequence(), Batch::chain(tokens, 0), {&last, 1}).ok())
        qFatal("forward");
      return std::vector<float>((*decoder)->logits(0).begin(), (*decoder)->logits(0).end());
    };
    const auto plain = logitsOf([](ModelCopy&) {});
    QVERIFY(plain !=
            logitsOf([](ModelCopy& c) { c.setValue("llama.rope.scaling.factor", gguf::encode(4.0f)); }));
    QVERIFY(plain != logitsOf([](ModelCopy& c) { c.dropTensor("rope_freqs.weight"); }));
  }
};

QTEST_APPLESS_MAIN(TestLoading)
#include "test_loading.moc"
