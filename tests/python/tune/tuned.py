"""The plan that most tests measure."""

import ttlg

SHAPE, AXES = (40, 50, 60), (2, 0, 1)


def tuned(shape=SHAPE, axes=AXES, **options):
    return ttlg.plan(shape, axes, **{"threads": 2, "tune": "measure"} | options)
