"""Plans that differ from the planner's."""

import json
from typing import Any

import ttlg


def changed(plan: ttlg.Plan, **entries: Any) -> ttlg.Plan:
    """Return a plan with other entries in its record, as `ttlg.Plan.to_json` has them."""
    return ttlg.Plan.from_json(json.dumps(json.loads(plan.to_json()) | entries))
