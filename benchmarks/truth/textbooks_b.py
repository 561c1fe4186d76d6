"""Textbook tables whose facts were written down before any report on them was seen; kept apart as a test.

The tables here and in `textbooks_c` are one list that was halved at random. Each fact is published or plain to see, and
was checked with pandas and SciPy. Rows are counted from 0.
"""

import pandas as pd

from benchmarks.truth.facts import Table, clusters, fact, pair, season, target, trend
from benchmarks.truth.fresh import monthly
from benchmarks.truth.textbooks_a import change, determines, every_fourth, leakage, missing, outlier, quarterly


def quarters(frame):
    """Quarters that are named "1998 Q1" as their first days."""
    return frame.assign(Date=pd.PeriodIndex(frame["Date"].str.replace(" ", ""), freq="Q").to_timestamp())


SERIES = (
    Table(
        "fpp3/aus_accommodation",
        (
            trend("Takings", words="8 series"),
            season("Takings"),
            trend("CPI"),
            pair("State", "Takings"),
        ),
        {"time": "Date"},
        quarters,
    ),
    Table(
        "AER/UKNonDurables",
        (season("value", words="4 quarters"), season("value", words="fourth quarter"), trend("value", words="grows")),
        {"time": "time"},
        quarterly,
    ),
    Table(
        "vega/driving",
        (
            trend("miles", words="grows"),
            change("gas"),
            change("gas", words="198"),  # dear from 1979 to 1985
        ),
        {"time": "year"},
    ),
    Table(
        "forecast/gas",
        (
            season("value", words="12 months"),
            season("value", words="July"),
            trend("value", words="grows"),
            change("value"),  # level until 1969
        ),
        {"time": "time"},
        monthly,
    ),
    Table(
        "fpp2/austourists",
        (season("value", words="4 quarters"), season("value", words="first quarter"), trend("value", words="grows")),
        {"time": "time"},
        quarterly,
    ),
)

WITH_TARGET = (
    Table(
        "mosaicData/Gestation",
        (target("wt", "gestation"), target("wt", "smoke"), pair("age", "dage"), missing("dht", "dwt")),
        {"target": "wt"},
    ),
    Table(
        "AER/Journals",
        (
            target("subs", "citations"),
            target("subs", "foundingyear"),
            pair("pages", "citations"),
            fact("identifier", "title"),
        ),
        {"target": "subs"},
    ),
    Table(
        "wooldridge/ceosal1",
        (
            leakage("salary", "lsalary"),
            target("salary", "utility"),
            pair("sales", "lsales"),
            outlier(173),  # 14.8 millions
        ),
        {"target": "salary"},
    ),
    Table(
        "modeldata/scat",
        (target("Species", "CN"), target("Species", "Mass"), pair("Taper", "TI"), missing("Taper", "TI")),
        {"target": "Species"},
    ),
    Table(
        "modeldata/hotel_rates",
        (
            target("avg_price_per_room", "historical_adr"),
            target("avg_price_per_room", "reserved_room_type"),
            pair("reserved_room_type", "assigned_room_type"),
            pair("market_segment", "distribution_channel"),
        ),
        {"target": "avg_price_per_room"},
    ),
    Table(
        "openintro/evals",
        (
            target("score", "bty_avg"),
            pair("cls_did_eval", "cls_students"),
            determines("prof_id"),
            fact("identifier", "course_id"),
        ),
        {"target": "score"},
    ),
    Table(
        "AER/HousePrices",
        (
            target("price", "lotsize"),
            target("price", "aircon"),
            target("price", "bathrooms"),
            pair("bedrooms", "stories"),
        ),
        {"target": "price"},
    ),
    Table(
        "MASS/UScrime",
        (target("y", "Po1"), target("y", "Prob"), pair("Po1", "Po2"), pair("GDP", "Ineq")),
        {"target": "y"},
    ),
    Table(
        "carData/Rossi",
        (
            target("arrest", "week"),
            target("arrest", "age"),
            target("arrest", "prio"),
            missing(),  # no work is recorded after an arrest
        ),
        {"target": "arrest"},
    ),
    Table(
        "modeldata/wa_churn",
        (
            target("churn", "contract"),
            target("churn", "tenure"),
            pair("tenure", "total_charges"),
            pair("internet_service", "monthly_charges"),
        ),
        {"target": "churn"},
    ),
    Table(
        "modeldata/credit_data",
        (
            target("Status", "Records"),
            target("Status", "Seniority"),
            pair("Amount", "Price"),
            missing("Income", "Job"),
        ),
        {"target": "Status"},
    ),
)

GROUPS_AND_OUTLIERS = (
    Table("MASS/road", (pair("deaths", "drivers"), pair("drivers", "fuel"), outlier(8))),  # the District of Columbia
    Table(
        "gt/towny",
        (
            pair("population_2016", "population_2021"),
            pair("status", "census_div"),
            outlier(380),  # Toronto
        ),
    ),
    Table(
        "robustbase/education",
        (
            outlier(49),  # the state that spends far more than its income tells
            pair("X2", "Y"),
            pair("X1", "X2"),
            fact("identifier", "State"),
        ),
    ),
    Table("MASS/mammals", (pair("body", "brain"), outlier(32), outlier(18))),  # two elephants
    Table(
        "HistData/Guerry",
        (
            pair("Literacy", "Instruction"),
            pair("Region", "Literacy"),
            pair("Prostitutes", "Distance"),
            outlier(70),  # Paris
        ),
    ),
    Table("MASS/synth.tr", (clusters, pair("yc", "ys"), pair("yc", "xs"))),
)

MIXED = (
    Table("MatchIt/lalonde", (pair("treat", "race"), pair("educ", "nodegree"), pair("re74", "re75"))),
    Table(
        "HLMdiag/autism",
        (
            pair("age2", "vsae"),
            pair("sicdegp", "vsae"),
            pair("sicdegp", "bestest2"),
            determines("childid"),
        ),
    ),
    Table(
        "openintro/hsb2",
        (pair("read", "math"), pair("read", "write"), pair("prog", "math"), fact("identifier", "id")),
    ),
    Table(
        "dslabs/gapminder",
        (
            pair("infant_mortality", "life_expectancy"),
            pair("infant_mortality", "fertility"),
            determines("continent"),
            missing("gdp", "year"),
        ),
    ),
    Table(
        "plyr/baseball",
        (
            pair("ab", "h"),
            determines("team", "lg"),
            missing("year"),  # what was not counted in early years
        ),
        prepare=every_fourth,
    ),
    Table(
        "dslabs/us_contagious_diseases",
        (
            pair("disease", "year"),
            pair("state", "population"),
            pair("weeks_reporting", "count"),
            missing("population", "state"),  # Alaska and Hawaii before 1960
        ),
    ),
    Table(
        "geepack/dietox",
        (pair("Time", "Weight"), pair("Feed", "Weight"), determines("Pig"), missing("Feed", "Time")),
    ),
    Table(
        "carData/Soils",
        (pair("Group", "Gp"), determines("Contour"), pair("Na", "Conduc"), pair("Depth", "Conduc")),
    ),
    Table(
        "openintro/acs12",
        (
            missing("income", "age"),  # not asked below 15
            missing("hrs_work", "employment"),
            pair("income", "hrs_work"),
            pair("married", "age"),
        ),
    ),
)

TEXTBOOKS_B = SERIES + WITH_TARGET + GROUPS_AND_OUTLIERS + MIXED
