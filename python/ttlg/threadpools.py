"""ttlg as threadpoolctl sees it.

``import ttlg`` makes ttlg known to threadpoolctl where that has been imported before; otherwise
``import ttlg.threadpools`` does. From then on ``threadpoolctl.threadpool_limits`` and scikit-learn,
joblib and others that use it limit ttlg's threads as well, under the ``user_api`` "ttlg". A limit
holds for calls that are told no number: arguments ``threads=`` and blocks of `ttlg.threads`
override it.

Examples
--------
>>> import threadpoolctl, ttlg, ttlg.threadpools
>>> with threadpoolctl.threadpool_limits(1, user_api="ttlg"):
...     ttlg.get_num_threads()
1
"""

from typing import Any

import threadpoolctl

from ttlg import _core

__all__ = ["Controller"]


class Controller(threadpoolctl.LibController):  # type: ignore[misc]
    """Ask and limit the threads of ttlg's library, for threadpoolctl."""

    user_api = "ttlg"
    internal_api = "ttlg"
    filename_prefixes = ("_core.",)
    # By which it tells the library from others of that name.
    check_symbols = ("ttlg_get_num_threads", "ttlg_set_num_threads")

    dynlib: Any

    def get_num_threads(self) -> int:
        """Return how many threads ttlg may use."""
        return int(self.dynlib.ttlg_get_num_threads())

    def set_num_threads(self, num_threads: int) -> None:
        """Limit the threads; a number that is not below the one in use ends a limit."""
        self.dynlib.ttlg_set_num_threads(num_threads)

    def get_version(self) -> str:
        """Return ttlg's version."""
        version: str = _core.__version__
        return version


threadpoolctl.register(Controller)
