// How a Problem will be carried out on a CUDA device. Pure host code: no device is asked and no
// CUDA header is read, so plans for any GPU are made anywhere.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/cuda/layout/choose_layout.hpp"
#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/model/predict.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"
#include "plan/plan_base.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cuda {

// What element (0, ..., 0) of the problem is aligned to on both sides, where both pointers are
// multiples of `pointer_alignment`: a power of two, up to 16.
std::int64_t first_element_alignment(const Problem& problem, std::int64_t pointer_alignment);

// The problem in elements of 1, 2, 4, 8 or 16 bytes: a run of 2, 4, 8 or 16 bytes that is
// contiguous on both sides becomes one element; an element of any other size, or one that strides
// and pointers leave misaligned, becomes a mode of machine words in front, as does a longer run of
// bytes or pairs that words of 4 bytes can carry. `pointer_alignment` is a power of two that
// divides both pointers.
Problem recast_problem(const Problem& problem, std::int64_t pointer_alignment);

// Whether two models are the same, which they mostly are as objects already.
inline bool is_same_model(const std::shared_ptr<const DeviceModel>& x,
                          const std::shared_ptr<const DeviceModel>& y) {
  return x == y || *x == *y;
}

using Timed = ttlg::Timed<Parameters>;

struct Plan : PlanBase {
  // `normal_form` is make_problem(request) and `of_recast` its recast_problem. Throws
  // std::invalid_argument where the parameters do not fit. A layout of the slice is chosen where
  // none is given.
  Plan(const Request& of_request, std::int64_t of_pointer_alignment, Problem normal_form,
       Problem of_recast, const Parameters& chosen, std::shared_ptr<const DeviceModel> of_model,
       const std::optional<ChosenLayout>& of_slice);

  std::int64_t pointer_alignment;  // of both pointers, as far as planned for
  Problem recast;                  // the same problem in elements of 1, 2, 4, 8 or 16 bytes
  Parameters parameters;
  std::shared_ptr<const DeviceModel> model;
  // These follow from the others.
  SharedLayout layout{};  // of Orthogonal-Arbitrary
  LayoutCost layout_cost{};
  double predicted_seconds = 0;
  TimeSource time_source = TimeSource::terms;
  // Where calls have chosen the plan, all that took part in it, the planner's own choice first;
  // then predicted_seconds is what was predicted for that.
  std::vector<Timed> measured{};

  void keep_predictions_of(const Plan& other) {
    predicted_seconds = other.predicted_seconds;
    time_source = other.time_source;
  }

  // The plan must outlive it.
  SlicedProblem sliced() const;

  bool operator==(const Plan& other) const {
    return request == other.request && pointer_alignment == other.pointer_alignment &&
           parameters == other.parameters && is_same_model(model, other.model);
  }
};

// The plan with exactly these parameters; throws as Plan's constructor does.
Plan build_plan(const Request& request, std::int64_t pointer_alignment,
                const Parameters& parameters, std::shared_ptr<const DeviceModel> model);

}  // namespace ttlg::cuda
