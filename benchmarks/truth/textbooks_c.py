"""Textbook tables whose facts were written down before any report on them was seen; kept apart as a test.

The tables here and in `textbooks_b` are one list that was halved at random. Each fact is published or plain to see, and
was checked with pandas and SciPy. Rows are counted from 0.
"""

import pandas as pd

from benchmarks.truth.facts import Table, clusters, fact, pair, season, target, trend
from benchmarks.truth.textbooks_a import determines, every_fourth, leakage, missing, outlier


def months(frame):
    """Months that are named "1987 Jan" as their first days."""
    return frame.assign(Month=pd.to_datetime(frame["Month"], format="%Y %b"))


def days_of_2014(frame):
    return frame.assign(date=pd.date_range("2014-01-01", periods=len(frame)))


SERIES = (
    Table(
        "fpp2/elecdaily",
        (
            season("Demand", words="7 days"),
            pair("WorkDay", "Demand"),
            pair("Temperature", "Demand"),  # high when it is cold and when it is hot
            outlier(15),  # a heat wave
        ),
        {"time": "date"},
        days_of_2014,
    ),
    Table(
        "stevedata/commodity_prices",
        (
            pair("oil_brent", "oil_dubai"),
            pair("coffee_arabica", "coffee_robustas"),
            pair("tea_columbo", "tea_mombasa"),
            fact("trend/season/change/states", "oil_brent"),
        ),
        {"time": "date"},
    ),
    Table(
        "stevedata/sealevels",
        (
            trend("adjlev", words="grows"),
            pair("lb", "ub"),
            missing("adjlev_noaa"),  # measured from 1993
        ),
        {"time": "year"},
    ),
    Table(
        "modeldata/Chicago",
        (
            season("ridership", words="7 days"),
            season("ridership", words="Sunday"),
            season("temp"),
            pair("temp", "temp_min"),
        ),
        {"time": "date"},
    ),
    Table(
        "fpp3/souvenirs",
        (season("Sales", words="12 months"), season("Sales", words="December"), trend("Sales", words="grows")),
        {"time": "Month"},
        months,
    ),
)

WITH_TARGET = (
    Table(
        "modeldata/biomass",
        (
            target("HHV", "carbon"),
            target("HHV", "oxygen"),
            pair("hydrogen", "oxygen"),
            outlier(220),  # carbon and oxygen of wood, as no other wood has them
        ),
        {"target": "HHV"},
    ),
    Table(
        "wooldridge/hprice1",
        (
            leakage("price", "lprice"),
            target("price", "assess"),
            target("price", "sqrft"),
            outlier(76),  # a lot that is three times as large as any other
        ),
        {"target": "price"},
    ),
    Table(
        "DAAG/spam7",
        (target("yesno", "bang"), target("yesno", "dollar"), target("yesno", "crl.tot"), fact("duplicates")),
        {"target": "yesno"},
    ),
    Table(
        "openintro/duke_forest",
        (
            target("price", "area"),
            pair("bath", "area"),
            fact("identifier", "address"),
            outlier(64),  # a large house, sold for a tenth of what such houses cost
        ),
        {"target": "price"},
    ),
    Table(
        "carData/BEPS",
        (
            target("vote", "Blair"),
            target("vote", "Hague"),
            target("vote", "Europe"),
            pair("economic.cond.national", "economic.cond.household"),
        ),
        {"target": "vote"},
    ),
    Table(
        "carData/Arrests",
        (
            target("released", "checks"),
            target("released", "employed"),
            target("released", "colour"),
            pair("colour", "citizen"),
        ),
        {"target": "released"},
    ),
    Table(
        "MASS/cpus",
        (target("perf", "mmax"), target("perf", "estperf"), fact("identifier", "name")),
        {"target": "perf"},
    ),
    Table(
        "wooldridge/loanapp",
        (
            leakage("approve", "reject"),
            leakage("approve", "action"),
            target("approve", "gdlin"),
            fact("missing_code/anomaly", "liq"),  # a million, in thousands of dollars
        ),
        {"target": "approve"},
    ),
    Table(
        "AER/ResumeNames",
        (
            target("call", "ethnicity"),
            determines("name", "ethnicity"),
            pair("quality", "email"),
            pair("minimum", "reqexp"),
        ),
        {"target": "call"},
    ),
    Table(
        "DAAG/nassCDS",
        (
            target("dead", "injSeverity"),
            target("dead", "dvcat"),
            pair("airbag", "abcat"),
            pair("airbag", "yearVeh"),
        ),
        {"target": "dead"},
        every_fourth,
    ),
)

GROUPS_AND_OUTLIERS = (
    Table("cluster/pluton", (clusters, pair("Pu238", "Pu241"), pair("Pu239", "Pu240"))),
    Table(
        "gt/metro",
        (
            outlier(102),  # a latitude of 8.856
            outlier(83),  # Gare du Nord
            fact("identifier", "name"),
            missing("connect_rer", "passengers"),
        ),
    ),
    Table(
        "HSAUR/water",
        (
            pair("mortality", "hardness"),
            pair("location", "mortality"),
            pair("location", "hardness"),
            fact("identifier", "town"),
        ),
    ),
    Table("datasets/cars", (pair("speed", "dist"), outlier(48), fact("order", "speed"))),
    Table(
        "MASS/painters",
        (
            pair("Composition", "Expression"),
            pair("Drawing", "Colour"),
            pair("Drawing", "Expression"),
            pair("School", "Colour"),
        ),
    ),
    Table(
        "DAAG/cuckoos",
        (
            pair("species", "length"),
            pair("species", "length", words="wren"),
            pair("length", "breadth"),
            fact("identifier", "id"),
        ),
    ),
    Table(
        "validate/retailers",
        (
            pair("turnover", "total.rev"),
            pair("size", "incl.prob"),
            outlier(13),  # the largest turnover
            outlier(35),  # costs in units instead of thousands
        ),
    ),
)

MIXED = (
    Table(
        "medicaldata/covid_testing",
        (
            pair("result", "ct_result"),
            missing("payor_group", "patient_class"),
            pair("clinic_name", "drive_thru_ind"),
            outlier(6303),  # seven years until a sample was received
        ),
    ),
    Table(
        "plm/EmplUK",
        (pair("emp", "capital"), pair("sector", "wage"), pair("year", "output"), determines("firm", "sector")),
    ),
    Table(
        "mosaicData/HELPrct",
        (pair("i1", "avg_drinks"), pair("sex", "female"), pair("cesd", "mcs"), missing("anysub", "daysanysub")),
    ),
    Table(
        "survival/rotterdam",
        (pair("age", "meno"), pair("rtime", "dtime"), pair("recur", "death"), pair("size", "nodes")),
    ),
    Table(
        "mlmRev/Exam",
        (
            pair("standLRT", "normexam"),
            pair("standLRT", "intake"),
            pair("schgend", "type"),
            determines("school", "schavg"),
        ),
    ),
    Table(
        "mosaicData/Marriage",
        (missing("prevconc", "prevcount"), pair("prevcount", "age"), determines("bookpageID")),
    ),
    Table(
        "ratdat/surveys",
        (
            pair("hindfoot_length", "weight"),
            pair("species_id", "weight"),
            missing("hindfoot_length", "weight"),
            fact("identifier", "record_id"),
        ),
        prepare=every_fourth,
    ),
    Table(
        "survival/colon",
        (pair("nodes", "node4"), pair("status", "time"), pair("status", "nodes"), determines("id")),
    ),
    Table(
        "statsmodels/fair",
        (
            pair("age", "yrs_married"),
            pair("yrs_married", "children"),
            pair("rate_marriage", "affairs"),
            pair("educ", "occupation"),
        ),
    ),
)

TEXTBOOKS_C = SERIES + WITH_TARGET + GROUPS_AND_OUTLIERS + MIXED
