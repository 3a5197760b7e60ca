#include "bindings/fields.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/bind.hpp"

namespace ttlg::bindings {
namespace {

using ByteRuns = std::vector<ByteRun>;

bool is_whole(const ByteRuns& runs, std::int64_t bytes) {
  if (bytes == 0) return true;
  return runs.size() == 1 && runs[0].begin == 0 && runs[0].end == bytes;
}

// Sorts runs and unites those that overlap or touch.
ByteRuns merge(ByteRuns runs) {
  std::erase_if(runs, [](const ByteRun& run) { return run.begin == run.end; });
  std::ranges::sort(runs, {}, &ByteRun::begin);
  ByteRuns merged;
  for (const ByteRun& run : runs) {
    if (!merged.empty() && run.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, run.end);
    } else {
      merged.push_back(run);
    }
  }
  return merged;
}

void append(ByteRuns& runs, const ByteRuns& more, std::int64_t offset) {
  for (const ByteRun& run : more) runs.push_back({run.begin + offset, run.end + offset});
}

// Whether every byte of the array's memory was allocated as part of such an element.
bool owns_padding(py::array array) {
  const py::dtype dtype = array.dtype();
  while (true) {
    const py::object base = array.base();
    if (!base || !py::isinstance<py::array>(base)) return array.owndata();
    array = base;
    if (!array.dtype().equal(dtype)) return false;
  }
}

}  // namespace

std::vector<ByteRun> field_runs(const py::dtype& dtype) {
  const std::int64_t bytes = dtype.itemsize();
  ByteRuns runs;
  const py::object subarray = dtype.attr("subdtype");
  if (!subarray.is_none()) {
    const auto base = subarray[py::int_(0)].cast<py::dtype>();
    const ByteRuns of_base = field_runs(base);
    if (is_whole(of_base, base.itemsize())) return merge({{0, bytes}});
    for (std::int64_t offset = 0; offset < bytes; offset += base.itemsize()) {
      append(runs, of_base, offset);
    }
  } else if (dtype.has_fields()) {
    const py::object fields = dtype.attr("fields");  // None where there are no names
    for (const py::handle name : dtype.attr("names")) {
      const py::object field = fields[name];
      append(runs, field_runs(field[py::int_(0)].cast<py::dtype>()),
             field[py::int_(1)].cast<std::int64_t>());
    }
  } else {
    runs.push_back({0, bytes});
  }
  return merge(std::move(runs));
}

std::optional<std::vector<ByteRun>> fields_to_write(const py::array& array) {
  const py::dtype dtype = array.dtype();
  if (!dtype.has_fields() || owns_padding(array)) return std::nullopt;
  ByteRuns runs = field_runs(dtype);
  if (is_whole(runs, dtype.itemsize())) return std::nullopt;
  return runs;
}

TensorView view_run(const TensorView& view, const ByteRun& run) {
  TensorView part = view;
  part.data += run.begin;
  part.itemsize = run.end - run.begin;
  part.array = {};
  part.dlpack_dtype = "void" + std::to_string(8 * part.itemsize);
  part.held = std::make_shared<TensorView>(view);
  return part;
}

void bind_fields(py::module_& module) {
  module.def(
      "fields_to_write",
      [](const TensorView& view) -> py::object {
        if (!view.array) return py::none();
        const auto runs = fields_to_write(view.array);
        if (!runs) return py::none();
        py::list pairs;
        for (const ByteRun& run : *runs) pairs.append(py::make_tuple(run.begin, run.end));
        return pairs;
      },
      py::arg("view"),
      "The runs of bytes, begin and end of each, that alone may be written of the elements of an "
      "array because the others may belong to other arrays; None where whole elements may be.");
  module.def(
      "view_run",
      [](const TensorView& view, std::int64_t begin, std::int64_t end) {
        return view_run(view, {begin, end});
      },
      py::arg("view"), py::arg("begin"), py::arg("end"), "A view of these bytes of every element.");
}

}  // namespace ttlg::bindings
