"""Names that other libraries do not document, so that a release without one is refused clearly."""

import importlib
import sys
from typing import Any


def find(owner: Any, name: str) -> Any:
    """Return what `owner`, a class or a module by name, calls `name`; ImportError if nothing."""
    where = owner if isinstance(owner, str) else f"{owner.__module__}.{owner.__qualname__}"
    try:
        return getattr(importlib.import_module(owner) if owner is where else owner, name)
    except (ImportError, AttributeError) as error:
        library = where.partition(".")[0]
        version = getattr(sys.modules.get(library), "__version__", "")
        raise ImportError(
            f"ttlg uses {where}.{name}, which {library} {version} lacks: install a release of "
            f"{library} that has it, or a newer ttlg"
        ) from error
