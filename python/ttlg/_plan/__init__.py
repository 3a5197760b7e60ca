"""Plans as values: what they hold, what they say about themselves and how they are written.

`Plan` has a class for each type of plan that the core makes; importing this package makes all of
them known to it.
"""

from ttlg._plan import cpu as cpu
from ttlg._plan import cuda as cuda
from ttlg._plan import inplace as inplace
from ttlg._plan.plan import Plan as Plan  # pickles of ttlg 0.2 name it here
