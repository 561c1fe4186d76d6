"""What an expert says of each table: the kind of finding, the columns that must be named, words of the sentence, and
rows that must be listed.

A fact "pair" is that two columns go together, by whatever kind of finding tells that. Tables for tuning were looked at
while the search for findings was written; those for checking afterwards, and three general changes followed from them
(the level of tests of pairs, which of two copies is kept, sorted files), so that they are no longer unseen.
"""

from dataclasses import dataclass, field
from functools import partial

from benchmarks.truth.load import dated, expanded


@dataclass(frozen=True)
class Table:
    """A table: where it is, what the report is asked for, and the facts."""

    place: str
    facts: tuple
    options: dict = field(default_factory=dict)
    prepare: object = None


def fact(kind, *columns, words="", rows=()):
    return kind, columns, words, rows


pair = partial(fact, "pair")
target = partial(fact, "target/leakage")
season, trend = partial(fact, "season"), partial(fact, "trend/season")
clusters = fact("clusters")

TUNING = (
    Table(
        "palmerpenguins/penguins",
        (
            fact("reversal", "bill_length_mm", "bill_depth_mm", "species"),
            pair("flipper_length_mm", "body_mass_g"),
            pair("species", "flipper_length_mm"),
            pair("species", "island"),
            clusters,
        ),
    ),
    Table("datasets/mtcars", (pair("mpg", "wt"), pair("mpg", "hp"), pair("cyl", "disp"))),
    Table("datasets/airquality", (pair("Ozone", "Temp"), pair("Ozone", "Wind"), pair("Temp", "Month"))),
    Table("datasets/quakes", (pair("mag", "stations"), pair("depth", "long"), clusters)),
    Table("datasets/faithful", (clusters, pair("eruptions", "waiting"), fact("order", "waiting"))),
    Table(
        "datasets/iris",
        (clusters, pair("Petal.Length", "Petal.Width"), pair("Species", "Petal.Length"), fact("duplicates")),
    ),
    Table(
        "ggplot2/diamonds",
        (pair("price", "carat"), pair("carat", "x"), fact("duplicates"), fact("missing_code/anomaly", "z")),
    ),
    Table(
        "datasets/UCBAdmissions",
        (fact("reversal", "Admit", "Gender", "Dept"), pair("Gender", "Dept"), pair("Admit", "Dept")),
        prepare=partial(expanded, count="Freq"),
    ),
    Table(
        "gapminder/gapminder",
        (
            fact("determines", "country", "continent"),
            pair("lifeExp", "gdpPercap"),
            pair("lifeExp", "continent"),
            pair("lifeExp", "year"),
        ),
    ),
    Table(
        "carData/TitanicSurvival",
        (
            target("survived", "sex"),
            target("survived", "passengerClass"),
            pair("age", "passengerClass"),
            fact("missingness", "age", "passengerClass"),
        ),
        {"target": "survived"},
    ),
    Table(
        "datasets/AirPassengers",
        (season("value", words="12 months"), trend("value", words="grows"), season("value", words="July")),
        {"time": "time"},
        partial(dated, column="time", per_year=12),
    ),
    Table("reshape2/tips", (pair("total_bill", "tip"), pair("total_bill", "size"), pair("day", "time"))),
    Table(
        "datasets/swiss",
        (pair("Fertility", "Education"), pair("Examination", "Education"), pair("Agriculture", "Examination")),
    ),
    Table(
        "ISLR/Auto",
        (pair("mpg", "weight"), pair("displacement", "cylinders"), pair("mpg", "year"), pair("origin", "weight")),
    ),
    Table(
        "sklearn/wine",
        (pair("flavanoids", "total_phenols"), pair("proline", "target"), pair("flavanoids", "target"), clusters),
    ),
    Table(
        "sklearn/diabetes",
        (target("target", "bmi"), target("target", "s5"), pair("s1", "s2"), pair("s3", "s4")),
        {"target": "target"},
    ),
    Table(
        "datasets/ChickWeight",
        (pair("weight", "Time"), fact("determines", "Chick", "Diet"), pair("weight", "Diet")),
    ),
)

CHECKING = (
    Table(
        "ggplot2/msleep",
        (pair("bodywt", "brainwt"), pair("sleep_total", "sleep_rem"), pair("sleep_total", "awake")),
    ),
    Table(
        "ggplot2/mpg",
        (pair("displ", "hwy"), pair("cty", "hwy"), fact("determines", "model", "manufacturer"), pair("class", "drv")),
    ),
    Table("ISLR/Credit", (pair("Limit", "Rating"), pair("Balance", "Limit"), pair("Income", "Limit"))),
    Table(
        "ISLR/Default",
        (target("default", "balance"), pair("student", "income"), pair("student", "balance")),
        {"target": "default"},
    ),
    Table(
        "ISLR/College",
        (
            pair("Apps", "Accept"),
            pair("Accept", "Enroll"),
            pair("Top10perc", "Top25perc"),
            pair("Private", "F.Undergrad"),
        ),
    ),
    Table(
        "ISLR/Wage",
        (pair("wage", "education"), pair("wage", "logwage"), pair("maritl", "age"), pair("jobclass", "education")),
    ),
    Table("MASS/Boston", (pair("medv", "lstat"), pair("medv", "rm"), pair("rad", "tax"), pair("nox", "dis"))),
    Table(
        "dplyr/storms",
        (pair("wind", "pressure"), pair("category", "wind"), pair("lat", "long"), fact("missingness", "category")),
    ),
    Table("datasets/USArrests", (pair("Murder", "Assault"), pair("Assault", "Rape"), pair("Murder", "Rape"))),
    Table(
        "datasets/attitude",
        (pair("rating", "complaints"), pair("complaints", "learning"), pair("learning", "raises")),
    ),
    Table(
        "MASS/crabs",
        (pair("CL", "CW"), pair("FL", "BD"), pair("RW", "CL"), pair("sp", "FL")),
    ),
    Table(
        "MASS/biopsy",
        (target("class", "V2"), target("class", "V6"), pair("V2", "V3"), fact("duplicates")),
        {"target": "class"},
    ),
    Table(
        "MASS/Pima.tr2",
        (target("type", "glu"), pair("npreg", "age"), pair("skin", "bmi")),
        {"target": "type"},
    ),
    Table(
        "carData/Salaries",
        (pair("rank", "yrs.since.phd"), pair("yrs.since.phd", "yrs.service"), pair("rank", "salary")),
    ),
    Table(
        "carData/Davis",
        (fact("anomaly", "height"), pair("weight", "repwt"), pair("height", "repht"), pair("sex", "height")),
    ),
    Table(
        "carData/Prestige",
        (pair("education", "prestige"), pair("income", "prestige"), pair("type", "education")),
    ),
    Table(
        "datasets/nottem",
        (season("value", words="12 months"), season("value", words="July"), season("value", words="February")),
        {"time": "time"},
        partial(dated, column="time", per_year=12),
    ),
    Table(
        "datasets/UKgas",
        (season("value", words="4 quarters"), trend("value", words="grows"), season("value", words="first quarter")),
        {"time": "time"},
        partial(dated, column="time", per_year=4),
    ),
    Table(
        "HistData/GaltonFamilies",
        (
            pair("gender", "childHeight"),
            pair("midparentHeight", "father"),
            fact("determines", "family", "father"),
            pair("childHeight", "midparentHeight"),
        ),
    ),
    Table(
        "modeldata/Sacramento",
        (pair("price", "sqft"), pair("beds", "baths"), fact("determines", "zip", "city"), pair("type", "sqft")),
    ),
    Table(
        "carData/Chile",
        (pair("vote", "statusquo"), pair("education", "income"), pair("region", "population")),
    ),
    Table(
        "AER/CASchools",
        (pair("read", "math"), pair("lunch", "read"), pair("students", "teachers"), pair("income", "math")),
    ),
)
