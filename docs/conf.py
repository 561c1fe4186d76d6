"""The documentation site: `python -m sphinx -W --keep-going -j auto docs build/docs`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from latently import __version__

project = "latently"
author = "The latently authors"
copyright = author
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "site_pages"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext", "_build"]
default_role = "code"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
html_theme = "furo"
html_title = f"latently {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses for local files
