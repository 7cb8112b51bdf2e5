"""How Sphinx makes the site: Markdown by myst, furo's look, nothing from a network."""

project = "snag"
html_title = "snag"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["_build"]
html_theme = "furo"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_permalinks_icon = "#"
html_show_search_summary = False  # which would be fetched: a browser does not do that from a file
pygments_style = "xcode"  # the one in colours that all are read well
smartquotes = False
myst_heading_anchors = 4
# A heading of a page may be the second level at first, and "text" is no language to be coloured.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
