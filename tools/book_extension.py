"""What the book needs from Sphinx beyond its stock extensions.

* the directive ``{chapter-header}`` (see CONTRIBUTING.md): a box with the question, the prerequisites and the aims of
  a chapter, to which a line with reading time, measured CPU time, time on a GPU (as the header estimates it, or as
  ``make gpu`` measured it), Colab badge and notebook download is added;
* addresses derived from ``repository.url``, so that they stand once in the repository;
* re-reading of a page when its notebook was executed again;
* a download button that offers the exported notebook instead of the page's source;
* punctuation that stays with the formula before it, and an opening bracket with the formula after it.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from docutils.parsers.rst import directives
from gpu_times import FILE as MEASURED
from gpu_times import gpu_time
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

EXECUTED = "_build/notebooks"
BADGE = "/book/_static/colab.svg"
OPENING, CLOSING = re.compile(r"[(\[“‘]+$"), re.compile(r"[.,;:!?)\]’”–-]+")
GPU_TIME = re.compile(r"(?:under )?\d+(?:\.\d+)? \((?:measured|estimated)\)")


class chapter_facts(nodes.paragraph):
    """The last line of the box; its CPU time is known only when the whole book has been read."""


def reading_minutes(argument: str) -> int:
    """Validate ``:reading:``, whole minutes from 1 to 120."""
    minutes = directives.positive_int(argument)
    if not 1 <= minutes <= 120:
        raise ValueError(f"reading must be between 1 and 120 minutes, got {minutes}")
    return minutes


def gpu_minutes(argument: str) -> str:
    """Validate ``:gpu:``, minutes on a T4 and how they are known, as in ``2 (estimated)``."""
    text = directives.unchanged_required(argument).strip()
    if not GPU_TIME.fullmatch(text):
        raise ValueError(f"gpu must read like '2 (measured)' or '2 (estimated)', got {text!r}")
    return text


def colab_address(repository: str, branch: str, docname: str) -> str:
    """Address on Colab of the notebook exported beside chapter ``docname``; ``repository`` is on GitHub."""
    match = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?", repository)
    if not match:
        raise ValueError(f"repository.url must be https://github.com/<owner>/<name>, got {repository!r} (_config.yml)")
    owner, name = match.groups()
    return f"https://colab.research.google.com/github/{owner}/{name}/blob/{quote(branch)}/{docname}.ipynb"


def pages_address(repository: str) -> str:
    """Where GitHub Pages serves ``repository``: the base address for link previews."""
    owner, name = repository.removesuffix("/").removesuffix(".git").split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"


def cpu_time(seconds: float) -> str:
    """Human wording of a measured duration."""
    if seconds < 1:
        return "under 1 s"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


class ChapterHeader(SphinxDirective):
    """``{chapter-header}`` with options ``reading`` (required) and ``gpu``; the body is MyST."""

    has_content = True
    option_spec = {"reading": reading_minutes, "gpu": gpu_minutes}

    def run(self) -> list[nodes.Node]:
        if "reading" not in self.options:
            raise self.error("chapter-header needs the option :reading: (minutes)")
        self.assert_has_content()
        box = nodes.container(classes=["chapter-header"])
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        facts = chapter_facts(classes=["chapter-facts"])
        facts["reading"], facts["gpu"] = self.options["reading"], self.options.get("gpu")
        if facts["gpu"] and (measured := Path(self.env.srcdir, MEASURED)).exists():
            self.env.note_dependency(str(measured))
        theme = self.config.html_theme_options
        if theme.get("launch_buttons", {}).get("colab_url", "there"):  # an edition may turn it off
            address = colab_address(theme["repository_url"], theme["repository_branch"], self.env.docname)
            # The image must be there before Sphinx collects images, so it is added now and the text later.
            badge = nodes.image(uri=BADGE, alt="Open this chapter as a notebook in Google Colab", classes=["badge"])
            facts += nodes.reference("", "", badge, refuri=address, classes=["colab-badge"])
            facts += nodes.raw("", " · ", format="html")
        notebook = f"{self.env.docname.rsplit('/', 1)[-1]}.ipynb"
        facts += nodes.reference("", "download the notebook", refuri=notebook, internal=True)
        box += facts
        return [box]


class FillChapterFacts(SphinxPostTransform):
    """Write times into the boxes, from the execution record of this very build."""

    default_priority = 8

    def run(self, **kwargs: object) -> None:
        record = NbMetadataCollector.get_exec_data(self.env, self.env.docname)
        for facts in list(self.document.findall(chapter_facts)):
            parts = [f"Reading {facts['reading']} min"]
            if record and record["runtime"] is not None:
                parts.append(f"runs in {cpu_time(record['runtime'])} of CPU (measured in this build)")
            if facts["gpu"]:
                parts.append(": ".join(gpu_time(Path(self.app.srcdir), self.env.docname, facts["gpu"])))
            paragraph = nodes.paragraph("", " · ".join(parts) + " · ", classes=facts["classes"])
            paragraph += facts.children
            facts.replace_self(paragraph)


class KeepPunctuation(SphinxPostTransform):
    """Wrap an inline formula and the punctuation at it in a span of the class ``unbroken`` (see book.css).

    A browser may otherwise break the line on either side of a formula, even before a full stop.
    """

    default_priority = 9
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for formula in list(self.document.findall(nodes.math)):
            parent = formula.parent
            place = parent.index(formula)
            left = parent[place - 1] if place else None
            right = parent[place + 1] if place + 1 < len(parent) else None
            kept: list[nodes.Node] = [formula]
            if isinstance(right, nodes.Text) and (closing := CLOSING.match(right)):
                parent[place + 1] = nodes.Text(right[closing.end() :])
                kept.append(nodes.Text(closing[0]))
            if isinstance(left, nodes.Text) and (opening := OPENING.search(left)):
                parent[place - 1] = nodes.Text(left[: opening.start()])
                kept.insert(0, nodes.Text(opening[0]))
            if len(kept) > 1:
                parent[place] = nodes.inline("", "", *kept, classes=["unbroken"])


def derive_addresses(app: Sphinx, config: Config) -> None:
    """Fill what would otherwise repeat ``repository.url``."""
    address = pages_address(config.html_theme_options["repository_url"])
    config.ogp_site_url = address
    config.html_baseurl = address


def depend_on_outputs(app: Sphinx, docname: str, source: list[str]) -> None:
    """Have Sphinx read a page again when its executed notebook is newer, though its source is not."""
    executed = Path(app.srcdir, EXECUTED, f"{docname}.ipynb")
    if executed.exists():
        app.env.note_dependency(str(executed))


def offer_notebook(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Let the download button of the theme lead to the exported notebook; page sources are not published."""
    for group in context.get("header_buttons", []):
        if group.get("label") == "download-buttons":
            group["buttons"] = [b for b in group["buttons"] if b["label"] == "download-pdf-button"]
            if Path(app.srcdir, f"{pagename}.ipynb").exists():
                notebook = {
                    "type": "link",
                    "url": f"{pagename.rsplit('/', 1)[-1]}.ipynb",
                    "text": ".ipynb",
                    "icon": "fas fa-code",
                    "tooltip": "Download the notebook",
                    "label": "download-notebook-button",
                }
                group["buttons"].insert(0, notebook)


def copy_notebooks(app: Sphinx, error: Exception | None) -> None:
    """Put each exported notebook beside its page, for the download link."""
    if error or app.builder.format != "html":
        return
    for docname in sorted(app.env.found_docs):
        notebook = Path(app.srcdir, f"{docname}.ipynb")
        if notebook.exists():
            target = Path(app.outdir, f"{docname}.ipynb")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(notebook, target)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("chapter-header", ChapterHeader)
    app.add_node(chapter_facts)
    app.add_post_transform(FillChapterFacts)
    app.add_post_transform(KeepPunctuation)
    app.connect("config-inited", derive_addresses)
    app.connect("source-read", depend_on_outputs)
    app.connect("html-page-context", offer_notebook, priority=900)  # after the theme's own handler
    app.connect("build-finished", copy_notebooks)
    # A change of this file makes Sphinx read every page again.
    own_hash = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    app.add_config_value("book_extension_hash", own_hash, "env")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
