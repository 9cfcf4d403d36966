#include "llm/kernels/primitives.h"

#include <memory>
#include <stdexcept>
#include <vector>

#include <mlx/backend/cpu/encoder.h>
#include <mlx/ops.h>
#include <mlx/primitives.h>

#include "base/check.h"
#include "llm/kernels/affine.h"

namespace weir::llm {

namespace mx = mlx::core;

namespace {

/// A node with one f32 output that only the CPU evaluates.
class CpuPrimitive : public mx::Primitive {
 public:
  using mx::Primitive::Primitive;
  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw std::runtime_error("[weir] this primitive runs on the CPU only");
  }
  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override {
    for (const mx::array& input : inputs)
      WEIR_CHECK(input.flags().row_contiguous);
    mx::array& out = outputs.front();
    out.set_data(mx::allocator::malloc(out.nbytes()));
    run(inputs, out);
  }

 protected:
  /// Dispatches the work; MLX keeps inputs and output alive until the stream has done it.
  virtual void run(const std::vector<mx::array>& inputs, mx::array& out) = 0;
};

AffineView view_of(const mx::array& codes, const mx::array& scales, const mx::array& biases, int bits) {
  return {codes.data<std::uint32_t>(),
          scales.data<float>(),
          biases.data<float>(),
          static_cast<std::size_t>(codes.shape(0)),
          static_cast<std::size_t>(codes.shape(1)) * 32 / static_cast<std::size_t>(bits),
          bits};
}

class Dequantize final : public CpuPrimitive {
 public:
  Dequantize(mx::Stream stream, int bits) : CpuPrimitive(stream), bits_(bits) {}
  const char* name() const override { return "WeirDequantize"; }

 private:
  void run(const std::vector<mx::array>& inputs, mx::array& out) override {
    mx::cpu::get_command_encoder(stream()).dispatch(
        [view = view_of(inputs[0], inputs[1], inputs[2], bits_), to = out.data<float>()] {
          dequantize_affine(view, to);
        });
  }
  int bits_;
};

class RowProduct final : public CpuPrimitive {
 public:
  RowProduct(mx::Stream stream, int bits) : CpuPrimitive(stream), bits_(bits) {}
  const char* name() const override { return "WeirRowProduct"; }

 private:
  void run(const std::vector<mx::array>& inputs, mx::array& out) override {
    mx::cpu::get_command_encoder(stream()).dispatch([view = view_of(inputs[1], inputs[2], inputs[3], bits_),
                                                     x = inputs[0].data<float>(), to = out.data<float>()] {
      std::vector<float> group_sums(view.columns / 32);
      multiply_affine_row(view, x, group_sums.data(), to);
    });
  }
  int bits_;
};

class SwiGlu final : public CpuPrimitive {
 public:
  using CpuPrimitive::CpuPrimitive;
  const char* name() const override { return "WeirSwiGlu"; }

 private:
  void run(const std::vector<mx::array>& inputs, mx::array& out) override {
    mx::cpu::get_command_encoder(stream()).dispatch(
        [gate = inputs[0].data<float>(), up = inputs[1].data<float>(), count = out.size(),
         to = out.data<float>()] { swiglu(gate, up, count, to); });
  }
};

mx::Stream cpu_stream() {
  return mx::default_stream(mx::Device(mx::Device::cpu));
}

}  // namespace

mx::array dequantized(const mx::array& codes, const mx::array& scales, const mx::array& biases, int bits) {
  return mx::array({codes.shape(0), codes.shape(1) * 32 / bits}, mx::float32,
                   std::make_shared<Dequantize>(cpu_stream(), bits), {codes, scales, biases});
}

mx::array row_product(const mx::array& x, const mx::array& codes, const mx::array& scales,
                      const mx::array& biases, int bits) {
  return mx::array({1, codes.shape(0)}, mx::float32, std::make_shared<RowProduct>(cpu_stream(), bits),
                   {mx::contiguous(x), codes, scales, biases});
}

mx::array swiglu(const mx::array& gate, const mx::array& up) {
  WEIR_CHECK(gate.shape() == up.shape());
  return mx::array(gate.shape(), mx::float32, std::make_shared<SwiGlu>(cpu_stream()),
                   {mx::contiguous(gate), mx::contiguous(up)});
}

}  // namespace weir::llm
