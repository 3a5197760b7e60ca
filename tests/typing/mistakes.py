"""Mistakes that mypy must find: an ignored error that is none is an error itself."""

import numpy as np
import torch

import ttlg

x = np.zeros((2, 3))

ttlg.transpose([[1, 2], [3, 4]])  # type: ignore[call-overload]
ttlg.transpose(x, "10")  # type: ignore[arg-type]
ttlg.transpose(x, (1.0, 0.0))  # type: ignore[arg-type]
ttlg.transpose(x, 1)  # type: ignore[call-overload]
ttlg.transpose(x, (1, 0), np.empty((3, 2)))  # type: ignore[call-overload]
ttlg.transpose(x, out="y")  # type: ignore[call-overload]
ttlg.transpose(x, threads="2")  # type: ignore[call-overload]
ttlg.permute_dims(x)  # type: ignore[call-overload]
ttlg.moveaxis(x, "0", 1)  # type: ignore[arg-type]
ttlg.moveaxis(x, 0)  # type: ignore[call-overload]
ttlg.swapaxes(x, (0,), 1)  # type: ignore[call-overload]
ttlg.permute(x, "1", "0")  # type: ignore[arg-type]
ttlg.movedim(x, "0", 1)  # type: ignore[arg-type]
ttlg.flip(x, "0")  # type: ignore[arg-type]
ttlg.rot90(x, 1.0)  # type: ignore[call-overload]
ttlg.einsum("ij->ji", x, order="C")  # type: ignore[call-overload]
contracted: torch.Tensor = ttlg.einsum("ij,jk->ik", x, x)  # type: ignore[assignment]
contracted = ttlg.tensordot(x, x)  # type: ignore[assignment]
ttlg.sparse.transpose(x, "10")  # type: ignore[arg-type]
moved: torch.Tensor = ttlg.sparse.transpose((x, x, (1,)))  # type: ignore[assignment]
y: torch.Tensor = ttlg.transpose(x)  # type: ignore[assignment]
z: torch.Tensor = ttlg.transpose(torch.zeros(2, 3), out=x)  # type: ignore[assignment]

ttlg.plan((2, 3), tune="fast")  # type: ignore[call-overload]
ttlg.plan((2, 3), kernel="tiles")  # type: ignore[call-overload]
ttlg.plan(("2", "3"))  # type: ignore[arg-type]
plan = ttlg.plan((2, 3))
plan([1, 2])  # type: ignore[call-overload]
plan.kernel = "tile"  # type: ignore[misc]
print(plan.candidates()[0].features)  # type: ignore[attr-defined]

ttlg.predict_time((2, 3), output="cold")  # type: ignore[call-overload]
print(ttlg.predict_time((2, 3)).kernel)  # type: ignore[attr-defined]
ttlg.predict_times([(2, 3)])  # type: ignore[list-item]

ttlg.transpose_file("in.npy", "out.npy", memory=1.5)  # type: ignore[arg-type]
ttlg.set_result_pool(1.5)  # type: ignore[arg-type]
with ttlg.threads("2"):  # type: ignore[arg-type]
    pass
print(ttlg.cache_info().hit)  # type: ignore[attr-defined]
