"""Plans as values: what they hold, what they say about themselves and how they are written."""

from ttlg._plan.plan import Plan as Plan  # pickles of ttlg 0.2 name it here
