"""The text edits that give a launch's setting another value, in the launch's own words."""

from __future__ import annotations

from gdnlint.fixes import keys, proof, tables, words
from gdnlint.knowledge.schema import FixText
from gdnlint.resolve.evaluate import Names, Setting
from gdnlint.resolve.outcome import Outcome, Resolved
from gdnlint.results import Edit


def edits(resolved: Resolved, outcome: Outcome, setting: str, value: object) -> tuple[str, tuple[Edit, ...]]:
    """The words that give a setting a value in a launch, and the edits that write them; neither if none are known."""
    place, known = outcome.variant.insertion, resolved.setting
    # The text of a notebook's cell is a JSON string: an edit of it has to be made in the notebook.
    if place is None or known is None or place.span.source.cells is not None:
        return "", ()
    names = Names(outcome.variant, known, outcome.shown.release)
    for fix in known.framework.fixes:
        if fix.launches and known.named.name not in fix.launches:
            continue
        if fix.setting == setting and fix.value == value and fix.form == place.form and fix.when.evaluate(names.lookup):
            fix = _located(fix, known)
            made = _written(fix, resolved, outcome)
            return (fix.text, made) if made else ("", ())
    return "", ()


def _located(fix: FixText, known: Setting) -> FixText:
    """A fix whose keys are told from the launch's own path (``$at``), with that path."""
    path = ".".join(part for part in (known.named.at, *known.member) if part)
    return fix._replace(
        text=fix.text.replace("$at", path), replaces=tuple(name.replace("$at", path) for name in fix.replaces)
    )


def _written(fix: FixText, resolved: Resolved, outcome: Outcome) -> tuple[Edit, ...]:
    place = outcome.variant.insertion
    assert place is not None
    slot = outcome.shown.state.settings.get(fix.setting)
    now = slot.value if slot is not None else None
    # A name with dots in it is no path of keys: only what stands there already can be changed.
    plain = resolved.setting is not None and not any("." in part for part in resolved.setting.member)
    own = outcome.variant.own if plain else None
    if place.style == "toml":
        return tables.edit(fix, own, now, resolved.launch.span.source)
    if place.style == "yaml":
        return proof.only(keys.edit(fix, own, now, resolved.launch.span.source))
    if place.style == "python":
        return words.keyword(fix, now, place.span, outcome.variant.tree)
    return words.command(fix, now, place, resolved.launch.span)
