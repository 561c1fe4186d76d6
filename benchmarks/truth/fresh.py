"""Tables that came later: some to learn from, the others held out until the search for findings was finished.

The facts were written down before any report on these tables was seen, from what is published about them or from the
names of their columns, and the split was made at the same time.
"""

from functools import partial

from benchmarks.truth.facts import Table, clusters, fact, pair, season, target, trend
from benchmarks.truth.load import dated

monthly, quarterly = (partial(dated, column="time", per_year=steps) for steps in (12, 4))
leakage = partial(fact, "leakage")

LEARNING = (
    Table(
        "datasets/UKDriverDeaths",
        (season("value", words="12 months"), season("value", words="December"), fact("change", "value", words="1983")),
        {"time": "time"},
        monthly,
    ),
    Table(
        "ggplot2/economics",
        (trend("pce", words="grows"), trend("psavert", words="falls"), pair("uempmed", "unemploy")),
        {"time": "date"},
    ),
    Table(
        "vega/stocks",
        (trend("price", words="5 series"), trend("price", words="AAPL"), trend("price", words="GOOG")),
        {"time": "date"},
    ),
    Table(
        "vega/seattle-weather",
        (season("temp_max", words="365 days"), pair("temp_max", "temp_min"), pair("weather", "precipitation")),
        {"time": "date"},
    ),
    Table("dplyr/starwars", (pair("height", "mass"), fact("anomaly", "mass"), pair("sex", "gender"))),
    Table(
        "survival/pbc",
        (fact("missingness", "trt"), pair("status", "bili"), pair("ascites", "edema")),
    ),
    Table("psych/bfi", (pair("N1", "N2"), pair("C4", "C5"), pair("E1", "E2"), pair("A2", "A3"))),
    Table("datasets/trees", (pair("Girth", "Volume"), pair("Height", "Volume"), pair("Girth", "Height"))),
    Table(
        "ISLR/Hitters",
        (pair("CAtBat", "CHits"), pair("Hits", "Runs"), pair("League", "NewLeague"), pair("Salary", "CHits")),
    ),
    Table(
        "MASS/birthwt",
        (leakage("low", "bwt"), pair("race", "smoke"), target("low", "ptl")),
        {"target": "low"},
    ),
    Table(
        "dslabs/olive",
        (
            fact("determines", "area", "region"),
            clusters,
            pair("oleic", "linoleic"),
            pair("region", "eicosenoic"),
        ),
    ),
    Table(
        "mosaicData/Whickham",
        (pair("outcome", "age"), pair("smoker", "age"), fact("reversal", "outcome", "smoker", "age")),
    ),
)

HELD_OUT = (
    Table(
        "datasets/JohnsonJohnson",
        (
            season("value", words="4 quarters"),
            trend("value", words="grows"),
            season("value", words="lowest in the fourth quarter"),
        ),
        {"time": "time"},
        quarterly,
    ),
    Table(
        "datasets/USAccDeaths",
        (
            season("value", words="12 months"),
            season("value", words="highest in July"),
            season("value", words="lowest in February"),
        ),
        {"time": "time"},
        monthly,
    ),
    Table(
        "ISLR/Smarket",
        (leakage("Direction", "Today"), pair("Year", "Volume"), fact("order/dependency", "Volume")),
        {"target": "Direction"},
    ),
    Table(
        "ISLR/Carseats",
        (
            target("Sales", "ShelveLoc"),
            target("Sales", "Price"),
            pair("CompPrice", "Price"),
            pair("Advertising", "US"),
        ),
        {"target": "Sales"},
    ),
    Table(
        "MASS/Cars93",
        (
            pair("MPG.city", "Weight"),
            pair("Price", "Horsepower"),
            pair("MPG.city", "MPG.highway"),
            fact("determines", "Manufacturer", "Origin"),
        ),
    ),
    Table("DAAG/ais", (pair("hc", "hg"), pair("ssf", "pcBfat"), pair("sex", "hg"), pair("wt", "lbm"))),
    Table("carData/Duncan", (pair("education", "prestige"), pair("income", "prestige"), pair("type", "education"))),
    Table(
        "gt/gtcars",
        (
            pair("hp", "trq"),
            fact("determines", "mfr", "ctry_origin"),
            pair("hp", "msrp"),
            pair("mpg_c", "mpg_h"),
        ),
    ),
    Table(
        "gt/pizzaplace",
        (fact("determines", "name", "type"), pair("size", "price"), fact("identifier/duplicates", "id")),
    ),
    Table(
        "gt/sp500",
        (trend("close", words="grows"), trend("volume", words="grows"), pair("close", "adj_close")),
        {"time": "date"},
    ),
    Table(
        "openintro/mariokart",
        (
            fact("anomaly", "total_pr"),
            pair("cond", "total_pr"),
            pair("wheels", "total_pr"),
            pair("cond", "duration"),
        ),
    ),
    Table(
        "openintro/births14",
        (pair("weight", "lowbirthweight"), pair("weeks", "premie"), pair("fage", "mage"), pair("weeks", "weight")),
    ),
    Table(
        "mosaicData/SaratogaHouses",
        (
            pair("price", "livingArea"),
            pair("livingArea", "bathrooms"),
            pair("rooms", "bedrooms"),
            pair("fuel", "heating"),
        ),
    ),
    Table(
        "AER/CPS1985",
        (pair("experience", "age"), pair("education", "occupation"), pair("wage", "education")),
    ),
    Table(
        "modeldata/mlc_churn",
        (
            target("churn", "number_customer_service_calls"),
            target("churn", "international_plan"),
            fact("redundant", "total_day_minutes", "total_day_charge"),
            pair("voice_mail_plan", "number_vmail_messages"),
        ),
        {"target": "churn"},
    ),
    Table(
        "MASS/survey",
        (pair("Wr.Hnd", "NW.Hnd"), pair("Sex", "Height"), pair("Sex", "Wr.Hnd"), pair("W.Hnd", "Clap")),
    ),
    Table(
        "survival/cancer",
        (pair("ph.ecog", "ph.karno"), pair("ph.karno", "pat.karno"), pair("ph.ecog", "pat.karno")),
    ),
    Table(
        "ggplot2/txhousing",
        (trend(words="46 series"), season("sales", words="12"), pair("sales", "volume")),
        {"time": "date"},
    ),
    Table(
        "mosaicData/SAT",
        (pair("verbal", "math"), pair("sat", "frac"), pair("expend", "salary"), fact("determines", "sat", "math")),
    ),
    Table(
        "HSAUR/Forbes2000",
        (pair("rank", "assets"), pair("category", "assets"), pair("marketvalue", "profits")),
    ),
    Table(
        "wooldridge/wage1",
        (pair("wage", "lwage"), pair("exper", "expersq"), pair("educ", "wage"), pair("female", "wage")),
    ),
    Table(
        "lattice/barley",
        (pair("yield", "site"), pair("yield", "year"), fact("reversal/anomaly", "site", "year")),
    ),
    Table(
        "sklearn/breast_cancer",
        (
            pair("mean radius", "mean perimeter"),
            pair("mean compactness", "mean concavity"),
            pair("target", "worst concave points"),
            pair("radius error", "area error"),
        ),
    ),
    Table(
        "vega/us-employment",
        (
            trend("education_and_health_services", words="grows"),
            pair("manufacturing", "durable_goods"),
            fact("change/states", words="200"),
        ),
        {"time": "month"},
    ),
    Table(
        "openintro/loans_full_schema",
        (
            fact("determines", "sub_grade", "grade"),
            pair("grade", "interest_rate"),
            pair("loan_amount", "installment"),
            pair("total_credit_lines", "open_credit_lines"),
        ),
    ),
    Table(
        "AER/Affairs",
        (pair("age", "yearsmarried"), pair("children", "yearsmarried"), pair("education", "occupation")),
    ),
    Table(
        "openintro/mlbbat10",
        (pair("at_bat", "game"), pair("hit", "run"), pair("home_run", "rbi"), pair("position", "at_bat")),
    ),
)
