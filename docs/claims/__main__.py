"""``python -m claims``: see the package."""

from claims.pages import PAGES, write

for page in PAGES:
    write(page)
