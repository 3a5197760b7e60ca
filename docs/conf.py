"""Configuration of the documentation: ``sphinx-build -W -n -b html docs build/docs``."""

import re
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # measured.py

import measured

import ttlg

project = "ttlg"
version = release = ttlg.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]
root_doc = "index"

# Pages are Markdown. Notebooks are shown with the output that they are committed with.
myst_enable_extensions = ["colon_fence", "dollarmath", "substitution"]
myst_heading_anchors = 4
myst_substitutions = measured.substitutions()
nb_execution_mode = "off"
nb_merge_streams = True

# `name` in a docstring is a link where it names something of ttlg, and else emphasized.
default_role = "autolink"
autosummary_generate = False
autodoc_typehints = "none"
# PyTorch is large, and need not be installed.
autodoc_mock_imports = ["torch"]
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Everything that is not ttlg's, as no inventory of another project is downloaded.
nitpick_ignore_regex = [("py:.*", r"(?!ttlg\b).*")]

plot_formats = [("svg", 100)]
plot_html_show_formats = False
plot_html_show_source_link = False
# Transparent, in black: custom.css inverts pictures on dark pages.
plot_rcparams = {
    "font.size": 9,
    "svg.fonttype": "path",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.framealpha": 0,
}
plot_apply_rcparams = True

html_theme = "furo"
html_title = f"ttlg {version}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_copy_source = False
html_show_copyright = False
html_show_sourcelink = False
pygments_style = "friendly"


def copy_notebooks(app: Sphinx) -> None:
    """Copy the notebooks to where Sphinx finds its sources."""
    shutil.rmtree(HERE / "notebooks", ignore_errors=True)
    shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks")


def link_from_the_root(app: Sphinx, docname: str, source: list[str]) -> None:
    """Turn links between docs and notebooks, which are those of the repository, into the site's."""
    text = re.sub(r"\]\((?:\.\./)+notebooks/", "](/notebooks/", source[0])
    source[0] = re.sub(r"\]\((?:\.\./)+docs/", "](/", text)


def setup(app: Sphinx) -> None:
    """Connect what the build needs besides its configuration."""
    app.connect("builder-inited", copy_notebooks)
    app.connect("source-read", link_from_the_root)
