"""`latently models`, and finding a model by its name."""

from typing import Any

from latently.cli.words import Json, print_json


def models(*, json: Json = False) -> None:
    """List the models that `latently fit` knows.

    Parameters
    ----------
    json
        Print the list as JSON.
    """
    listed = [_described(name, cls) for name, cls in known().items()]
    if json:
        print_json(listed)
        return
    width = max(len(model["model"]) for model in listed)
    for model in listed:
        print(f"{model['model']:<{width}}  {model['text']} ({model['package']})")


def known() -> dict[str, Any]:
    """Give the classes of all models by name."""
    from latently.checks.discover import all_estimators

    return dict(all_estimators())


def find(name: str) -> Any:
    """Give the class of a model; an error names those that sound alike."""
    import difflib

    classes = known()
    by_lower = {known_name.lower(): cls for known_name, cls in classes.items()}
    if name.lower() in by_lower:
        return by_lower[name.lower()]
    near = difflib.get_close_matches(name, classes, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "see latently models"
    raise ValueError(f"there is no model {name!r}: {hint}")


def _described(name: str, cls: Any) -> dict[str, Any]:
    first = (cls.__doc__ or "").strip().split("\n\n")[0]
    settings = [key for key in cls().get_params(deep=False) if not key.startswith("_")]
    text = " ".join(first.split())
    text = text if text.endswith("...") else text.removesuffix(".")
    package = ".".join(cls.__module__.split(".")[:2])
    return {
        "model": name,
        "package": package,
        "text": text,
        "settings": settings,
    }
