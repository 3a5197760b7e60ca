#include "bindings/bind_inplace.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bind_plan.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/layout.hpp"
#include "bindings/run.hpp"
#include "cpu/inplace/execute.hpp"
#include "plan/cpu/memory_units.hpp"

namespace ttlg::bindings {
namespace {

using cpu::InplacePlan;
using cpu::InplaceStep;

py::dict to_dict(const InplaceStep& step) {
  py::dict result;
  result["kernel"] = kernel_name(step.kernel);
  result["batch"] = step.batch;
  result["rows"] = step.rows;
  result["columns"] = step.columns;
  result["element_bytes"] = step.element_bytes;
  result["width"] = step.width;
  result["passes"] = passes(step);
  return result;
}

py::list steps_of(const InplacePlan& plan) {
  py::list steps;
  for (const InplaceStep& step : plan.steps) steps.append(to_dict(step));
  return steps;
}

// Strides of the same order of axes in memory as in C, or as in Fortran.
Integers fortran_byte_strides(const Integers& shape, std::int64_t itemsize) {
  Integers strides = contiguous_byte_strides(Integers(shape.rbegin(), shape.rend()), itemsize);
  return {strides.rbegin(), strides.rend()};
}

[[noreturn]] void refuse_layout(const TensorView& x) {
  throw py::value_error("x of shape " + text_of(x.shape) + " and byte strides " +
                        text_of(x.byte_strides) +
                        " does not fill its memory in C or Fortran order, so it has no place for "
                        "the result; pass a contiguous copy, or call ttlg.transpose(x, axes), "
                        "which returns a new array");
}

std::shared_ptr<InplacePlan> plan_for(const TensorView& x, const py::object& axes,
                                      const py::object& threads, std::int64_t workspace) {
  const std::vector<int> order = read_axes(axes, x.shape);
  if (workspace < 0) throw py::value_error("workspace must not be negative");
  Integers out_shape;
  for (const int axis : order) out_shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  LayoutKey key = key_of(x, order, nullptr);
  key.inplace = true;
  Integers out_strides;
  if (!has_byte_strides(x.layout(), contiguous_byte_strides(x.shape, x.itemsize))) {
    if (!has_byte_strides(x.layout(), fortran_byte_strides(x.shape, x.itemsize))) refuse_layout(x);
    out_strides = fortran_byte_strides(out_shape, x.itemsize);
    key.out_byte_strides = out_strides;
  }
  return std::const_pointer_cast<InplacePlan>(
      inplace_plan_cache().get(key, {.threads = read_threads(threads), .workspace = workspace}));
}

// Everything that can fail happens before the first element moves.
void run_inplace(const InplacePlan& plan, const TensorView& x) {
  check_planned_input(plan, x);
  if (x.readonly) {
    throw py::value_error(
        "x is read-only; pass a writable array, or call ttlg.transpose(x, axes), which returns a "
        "new one");
  }
  const std::int64_t bytes = cpu::whole_lines(plan.workspace_bytes);
  const std::unique_ptr<std::byte, decltype(&std::free)> workspace(
      static_cast<std::byte*>(std::aligned_alloc(cpu::kLineBytes, static_cast<std::size_t>(bytes))),
      &std::free);
  if (bytes > 0 && !workspace) {
    PyErr_SetString(PyExc_MemoryError,
                    ("transposing in place needs a workspace of " + std::to_string(bytes) +
                     " bytes, which this machine does not give; pass a smaller workspace=")
                        .c_str());
    throw py::error_already_set();
  }
  const GilRelease release;
  execute_inplace(plan, x.data, workspace.get());
}

}  // namespace

void bind_inplace(py::module_& module) {
  py::class_<InplacePlan, PlanBase, std::shared_ptr<InplacePlan>>(
      module, "InplacePlan", "How an array is transposed on the CPU where it lies.")
      .def_property_readonly("steps", &steps_of)
      .def_readonly("threads", &InplacePlan::threads)
      .def_readonly("workspace_bytes", &InplacePlan::workspace_bytes)
      .def_readonly("predicted_seconds", &InplacePlan::seconds)
      .def("run", &run_inplace, py::arg("x"));
  module.def("inplace_plan_for", &plan_for, py::arg("x"), py::arg("axes"), py::arg("threads"),
             py::arg("workspace"),
             "The plan for a view where it lies; of all bytes besides, at most so many (0: as the "
             "planner likes).");
}

}  // namespace ttlg::bindings
