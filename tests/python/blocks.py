"""Plans with other parameters than the planner's."""

import json

import ttlg

# No extent of a shuffle's smallest tile is larger.
LARGEST_TILE = 16


def edited(plan, *, kernel=None, out_byte_strides=None, **parameters):
    """Rebuild a plan with another kernel or with some parameters changed."""
    data = json.loads(plan.to_json())
    data["parameters"].update(parameters)
    data["kernel"] = kernel or plan.kernel
    data["out_byte_strides"] = out_byte_strides
    return ttlg.Plan.from_json(json.dumps(data))


def blocks_of(plan, limits, order):
    """Return a plan's parameters with blocks of at most `limits` and the loops in this order.

    `order` begins with the outermost mode; both may be longer than the plan has modes.
    """
    count = len(plan.parameters["block"])
    if plan.kernel in ("copy", "reference"):
        return {"block": limits[:count], "loop_order": []}
    extents = plan.extents[len(plan.extents) - count :]
    least = LARGEST_TILE if plan.kernel == "shuffle" else 1
    block = [min(extent, max(limits[m], least)) for m, extent in enumerate(extents)]
    cut = [m for m in order if m < count and block[m] < extents[m]]
    return {"block": block, "loop_order": cut}
