"""A report's contents made by hand: every section filled, and a hostile twin."""

import datetime as dt
from typing import Any

import numpy as np

NAMES = ("wage", "age", "tenure", "sector", "union", "joined", "commute")


def contents(n: int = 600) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "version": 1,
        "latently": "0.1.0",
        "source": {
            "name": "wages.csv",
            "rows": 250_000,
            "columns": len(NAMES),
            "rows_used": 20_000,
            "sampled": ["map", "clusters"],
            "seed": 0,
            "seconds": 8.4,
        },
        "insights": _insights(),
        "columns": _columns(),
        "clusters": _clusters(),
        "selection": _selection(),
        "map": _map(rng, n),
        "anomalies": _anomalies(),
        "missing": _missing(),
        "dependencies": _dependencies(rng),
        "target": _target(),
        "time": _time(rng),
        "table": _table(n),
        "fixes": [],
        "limits": [
            "Dependence is not cause: no arrow is claimed for any pair of columns.",
            "Clusters are those of the chosen family; another family may cut the rows differently.",
        ],
        "warnings": ["Column 'note' is free text and was left out."],
    }


def _insights() -> list[dict[str, Any]]:
    told = [
        ("Rows fall into 3 clusters; what tells them apart most is wage.", "clusters", 0.998, None),
        ("wage goes with tenure: knowing one narrows the other by half.", "dependencies", 0.97, None),
        ("12 rows do not belong; row 4 061 first of all, for its wage of -40.", "anomalies", 0.999, None),
        ("-999 in commute stands for missing, in 214 rows.", "columns", 0.99, None),
        ("Whether age is missing depends on sector.", "missing", 0.93, None),
        ("The mean tenure is known to within half a year.", "columns", None, [6.1, 6.6]),
        ("On 2021-03-01 the level of wage changed.", "time", 0.96, None),
    ]
    kinds = ("clusters", "dependency", "anomaly", "missing_code", "missingness", "drift", "change")
    about = [["wage"], ["wage", "tenure"], ["wage"], ["commute"], ["age", "sector"], ["tenure"], ["wage"]]
    rows = [None, None, [4061, 4078], None, None, None, None]
    return [
        {"finding": f, "text": t, "section": s, "probability": p, "interval": i, "columns": c, "rows": r, "effect": 3.0}
        | {"measure": "rows", "code": f'df[{c!r}].describe()  # "<b>"', "kind": "finding"}
        for (t, s, p, i), f, c, r in zip(told, kinds, about, rows, strict=True)
    ]


def _table(n: int) -> dict[str, Any]:
    points = _map(np.random.default_rng(0), n)
    rng = np.random.default_rng(5)
    listed = [row["row"] for row in _anomalies()["rows"]]
    rows = [*points["points"]["row"], *listed]
    wage = [*points["columns"]["wage"], *([-40.0] * len(listed))]
    sector = [*points["columns"]["sector"], *(["care"] * len(listed))]
    more = {name: rng.normal(20, 5, len(rows)).round(2).tolist() for name in ("age", "tenure", "commute")}
    names = [*NAMES[:5], "commute"]
    values = [wage, more["age"], more["tenure"], sector, ["care"] * len(rows), more["commute"]]
    return {"columns": names, "row": rows, "head": 5, "values": values, "taken": [[0, 0, "-999"]], "name": None}


def _columns() -> list[dict[str, Any]]:
    base = {"used": True, "missing": 0, "missing_share": 0.0, "distinct": 900, "codes": [], "note": None}
    numbers = {
        "mean": 20.41,
        "sd": 6.2,
        "min": -40.0,
        "max": 71.5,
        "quantiles": {"0.05": 11.2, "0.25": 16.0, "0.5": 19.8, "0.75": 24.1, "0.95": 31.5},
        "skew": 0.84,
        "histogram": {
            "edges": np.linspace(0, 60, 21).round(2).tolist(),
            "counts": (1e4 * np.exp(-(((np.arange(20) - 7) / 4) ** 2))).astype(int).tolist(),
        },
    }
    levels = [{"level": s, "count": c, "share": c / 20_000} for s, c in (("trade", 9_000), ("care", 8_000))]
    date = {"min": "2011-01-03", "max": "2023-12-30", "quantiles": {"0.5": "2018-05-05"}}
    date |= {"histogram": {"edges": ["2011-01-03", "2017-07-01", "2023-12-30"], "counts": [8_000, 12_000]}}
    code = {"codes": [{"value": -999, "count": 214, "probability": 0.99}], "note": "-999 was read as missing."}
    return [
        base | {"name": "wage", "kind": "numeric"} | numbers,
        base | {"name": "age", "kind": "numeric", "missing": 1_200, "missing_share": 0.06} | numbers,
        base | {"name": "tenure", "kind": "numeric"} | numbers,
        base | {"name": "sector", "kind": "categorical", "distinct": 14, "levels": levels, "other": 3_000},
        base | {"name": "union", "kind": "ordinal", "distinct": 2, "levels": levels, "other": 0},
        base | {"name": "joined", "kind": "date", "used": False} | date,
        base | {"name": "commute", "kind": "numeric", "missing": 214, "missing_share": 0.0107} | numbers | code,
        base | {"name": "note", "kind": "text", "used": False, "levels": levels, "other": 10, "note": "Free text."},
        base | {"name": "id", "kind": "identifier", "used": False, "note": "Different in every row."},
        base | {"name": "unit", "kind": "constant", "used": False, "distinct": 1, "note": "One value: EUR."},
        base | {"name": "spare", "kind": "empty", "used": False, "missing": 20_000, "missing_share": 1.0},
    ]


def _typical(column: str, here: str, overall: str, probability: float) -> dict[str, Any]:
    text = f"{column} is {here}, against {overall} overall"
    return {"column": column, "text": text, "here": here, "overall": overall, "probability": probability}


def _clusters() -> dict[str, Any]:
    cards = [
        {
            "cluster": k + 1,
            "share": share,
            "interval": [share - 0.01, share + 0.01],
            "rows": int(share * 20_000),
            "doubt": 0.03 + 0.04 * k,
            "typical": [
                _typical("wage", ("high", "low", "middling")[k], "20.4", 0.97),
                _typical("sector", ("trade", "care", "trade")[k], "trade 45 %", 0.91),
            ],
        }
        for k, share in enumerate((0.52, 0.31, 0.17))
    ]
    return {
        "n": 3,
        "probability_more_than_one": 0.998,
        "doubtful_share": 0.08,
        "mean_doubt": 0.06,
        "columns": list(NAMES[:5]),
        "text": "Three clusters; 8 % of the rows lie between two of them.",
        "cards": cards,
    }


def _selection() -> dict[str, Any]:
    table = [
        {
            "model": model,
            "components": k,
            "criterion": 90_000 + 3_000 * abs(k - 3) + 900 * (model == "independent columns"),
            "log_likelihood": -44_000.0 + 500 * k,
            "parameters": 12 * k - 1,
            "chosen": k == 3 and model == "full covariance",
        }
        for model in ("full covariance", "independent columns")
        for k in range(1, 7)
    ]
    text = "BIC prefers three components with full covariance, by 900 over the next."
    return {"criterion": "bic", "chosen": "full covariance, 3 components", "text": text, "table": table}


def _map(rng: np.random.Generator, n: int) -> dict[str, Any]:
    cluster = rng.choice(3, n, p=[0.52, 0.31, 0.17])
    centres = np.array([[-2.5, 0.5], [2.2, 1.6], [1.0, -2.4]])
    spots = (centres[cluster] + rng.normal(size=(n, 2))).round(3)
    wage: list[Any] = (20 + 3 * spots[:, 0]).round(2).tolist()
    wage[0] = None
    rows = sorted(rng.choice(20_000, n, replace=False).tolist())
    return {
        "x_title": "First axis: wage, tenure",
        "y_title": "Second axis: age",
        "explained": [0.46, 0.21],
        "text": "Near each other is alike; the two axes keep 67 % of what the model sees.",
        "points": {
            "row": rows,
            "x": spots[:, 0].tolist(),
            "y": spots[:, 1].tolist(),
            "cluster": (cluster + 1).tolist(),
            "doubt": rng.beta(0.4, 4, n).round(3).tolist(),
            "anomaly": rng.beta(0.3, 6, n).round(3).tolist(),
        },
        "columns": {"wage": wage, "sector": np.array(["trade", "care", "state"])[cluster].tolist()},
        "tsne": {
            "rows": rows[::2][:1500],
            "x": (3 * spots[::2, 1])[:1500].round(3).tolist(),
            "y": (3 * spots[::2, 0])[:1500].round(3).tolist(),
            "trust": np.linspace(0.2, 1.0, n)[::2][:1500].round(4).tolist(),
            "faint": 0.6,
            "neighbours": 10,
            "kept": 0.94,
            "trustworthiness": 0.98,
            "text": "94 % of the neighbours on this map are neighbours in the table; do not trust faint points.",
        },
    }


def _anomalies() -> dict[str, Any]:
    reasons = [
        {"column": "wage", "value": "-40", "expected": "11 to 32", "share": 0.8, "text": "wage of -40 is too low"},
        {"column": "age", "value": "19", "expected": "40 to 61", "share": 0.2, "text": "age of 19 beside tenure 22"},
    ]
    rows = [
        {"row": 4061 + 17 * i, "surprise": 48.2 - 2.5 * i, "probability": 0.999 - 0.02 * i, "reasons": reasons}
        for i in range(12)
    ]
    return {"text": "Twelve rows do not belong.", "threshold": 18.5, "count": 12, "rows": rows}


def _missing() -> dict[str, Any]:
    return {
        "text": "1.4 % of the cells are missing.",
        "cells": 1_414,
        "share": 0.0141,
        "complete_rows": 18_600,
        "patterns": [
            {"columns": [], "rows": 18_600, "share": 0.93},
            {"columns": ["age"], "rows": 1_186, "share": 0.0593},
            {"columns": ["commute"], "rows": 200, "share": 0.01},
            {"columns": ["age", "commute"], "rows": 14, "share": 0.0007},
        ],
        "depends": [{"column": "age", "on": "sector", "probability": 0.93, "text": "age is missing more in care."}],
        "imputed": [
            {"row": 3, "column": "age", "value": 41.2, "interval": [28.0, 57.5], "probability": None},
            {"row": 9, "column": "sector", "value": "care", "interval": None, "probability": 0.71},
        ],
    }


def _dependencies(rng: np.random.Generator) -> dict[str, Any]:
    columns = list(NAMES[:5])
    half = np.triu(rng.uniform(size=(5, 5)).round(2), 1)
    values = half + half.T + np.eye(5)
    pairs = [
        {"a": "wage", "b": "tenure", "strength": 0.62, "probability": 0.999, "text": "higher wage, longer tenure"},
        {"a": "age", "b": "tenure", "strength": 0.41, "probability": 0.98, "text": "older, longer tenure"},
    ]
    text = "Two pairs of columns clearly depend on each other."
    return {"text": text, "pairs": pairs, "matrix": {"columns": columns, "values": values.tolist()}}


def _target() -> dict[str, Any]:
    return {
        "name": "union",
        "kind": "class",
        "model": "naive Bayes, recalibrated",
        "metric": "accuracy",
        "score": 0.83,
        "interval": [0.81, 0.85],
        "baseline": 0.61,
        "text": "union can be told from the other columns in 83 of 100 rows, against 61 by guessing.",
        "importance": [
            {"column": "wage", "gain": 0.14, "interval": [0.12, 0.16]},
            {"column": "sector", "gain": 0.05, "interval": [0.03, 0.07]},
            {"column": "age", "gain": 0.0, "interval": [-0.01, 0.01]},
        ],
        "calibration": {
            "predicted": [0.05, 0.2, 0.4, 0.6, 0.8, 0.95],
            "observed": [0.04, 0.22, 0.38, 0.63, 0.79, 0.97],
            "count": [900, 700, 400, 420, 800, 1100],
        },
    }


def _time(rng: np.random.Generator) -> dict[str, Any]:
    days = [(dt.date(2020, 1, 1) + dt.timedelta(days=i)).isoformat() for i in range(400)]
    state = np.where(np.arange(400) < 240, 1, 2)
    level = (20 + 4 * (state == 2) + rng.normal(size=400)).round(2)
    return {
        "column": "joined",
        "states": 2,
        "text": "Two states; one change.",
        "segments": [
            {"state": 1, "start": 0, "stop": 240, "from": days[0], "to": days[239]},
            {"state": 2, "start": 240, "stop": 400, "from": days[240], "to": days[399]},
        ],
        "changes": [{"row": 240, "at": days[240], "probability": 0.96}],
        "cards": [
            {"state": 1, "share": 0.6, "mean_duration": 240.0, "typical": [_typical("wage", "20", "21.6", 0.99)]},
            {"state": 2, "share": 0.4, "mean_duration": 160.0, "typical": [_typical("wage", "24", "21.6", 0.99)]},
        ],
        "series": {
            "at": days,
            "state": state.tolist(),
            "doubt": rng.beta(0.3, 9, 400).round(3).tolist(),
            "columns": {"wage": level.tolist(), "age": (level + 20).tolist()},
        },
    }


HOSTILE = (
    "<script>window.pwned = 1</script>",
    '<img src=x onerror="window.pwned = 1">',
    "</script><script>window.pwned = 1</script>",
    '"><svg onload=alert(1)>',
    "javascript:alert(1)",
    "=cmd|' /C calc'!A0",
    "{{ 7 * 7 }}{% raw %}",
    "image\u2028\u2029\x00\u202e",
    "a.b[c]['d']",
    "__proto__",
)


def hostile(n: int = 60) -> dict[str, Any]:
    """The same report with every string from the data replaced by something evil."""
    counter = iter(range(10**9))

    def evil(node: Any, key: str = "") -> Any:
        if isinstance(node, dict):
            return {_name(k, evil_names): evil(v, k) for k, v in node.items()}
        if isinstance(node, list):
            return [evil(v, key) for v in node]
        kept = key in ("section", "kind", "criterion", "edges", "version") or not isinstance(node, str)
        return node if kept else HOSTILE[next(counter) % len(HOSTILE)]

    evil_names = dict(zip(("wage", "sector", "age"), HOSTILE[1:4], strict=True))
    made = evil(contents(n))
    made["columns"][0]["name"] = "image"
    names = made["table"]["columns"] = ["constructor", *(f"{HOSTILE[i]} {i}" for i in range(1, 6))]
    made["columns"][1]["name"], made["columns"][2]["name"] = names[1:3]
    made["insights"][1] |= {"finding": "dependency", "columns": names[1:3]}
    made["map"]["columns"]["image"] = ["https://evil.example/x.png"] * n
    made["map"]["columns"]["__proto__"] = [HOSTILE[1]] * n
    return made


def _name(key: str, evil_names: dict[str, str]) -> str:
    return evil_names.get(key, key)
