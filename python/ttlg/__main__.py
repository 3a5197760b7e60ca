"""``python -m ttlg``: the command line."""

import sys

from ttlg._cli import main

if __name__ == "__main__":
    sys.exit(main())
