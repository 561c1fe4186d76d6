"""Textbook tables: half to learn from, half that were run only once the work on the search was finished.

The facts were written down, and the split was made, before any report on these tables was seen. They come from what
textbooks and help pages say of each table: its clusters, outliers, breaks, periods, strongest relations and faults.
"""

from functools import partial

from benchmarks.truth.facts import Table, clusters, fact, pair, season, target, trend
from benchmarks.truth.load import dated, expanded

monthly, quarterly = (partial(dated, column="time", per_year=steps) for steps in (12, 4))
counts = partial(expanded, count="Freq")
determines, leakage, change = partial(fact, "determines"), partial(fact, "leakage"), partial(fact, "change")
three = partial(fact, "dependency/reversal")


def outlier(*rows):
    """That a report lists the rows, counted from 0, among those that do not belong."""
    return fact("anomaly/change/states", rows=rows)


CLASSICS = (
    Table("datasets/ToothGrowth", (pair("len", "dose"), pair("len", "supp"), three("len", "supp", "dose"))),
    Table(
        "datasets/Nile",
        (change("value", words="1899"), change("value", words="falls"), outlier(42)),
        {"time": "time"},
    ),
    Table("datasets/sunspot.year", (season("value"), season("value", words="11 ")), {"time": "time"}),
    Table(
        "datasets/co2",
        (pair("conc", "uptake"), pair("Type", "uptake"), pair("Treatment", "uptake"), determines("Plant", "Type")),
    ),
    Table("MASS/Animals", (pair("body", "brain"), outlier(5), outlier(15), outlier(25))),
    Table("MASS/hills", (pair("dist", "time"), pair("climb", "time"), outlier(17))),
    Table("MASS/phones", (trend("calls", words="grows"), outlier(14)), {"time": "year"}),
    Table("MASS/galaxies", (fact("clusters", "dat"),)),
    Table("MASS/newcomb", (outlier(1), outlier(53))),
    Table("MASS/geyser", (clusters, pair("waiting", "duration"), fact("order", "waiting"))),
    Table("MASS/cats", (pair("Bwt", "Hwt"), pair("Sex", "Bwt"), pair("Sex", "Hwt"))),
    Table("MASS/whiteside", (pair("Temp", "Gas"), pair("Insul", "Gas"))),
    Table("MASS/quine", (pair("Age", "Lrn"), pair("Eth", "Days"))),
    Table("MASS/shuttle", (target("use", "vis"), target("use", "stability")), {"target": "use"}),
    Table("datasets/warpbreaks", (pair("breaks", "tension"), three("breaks", "wool", "tension"))),
    Table("datasets/esoph", (pair("agegp", "ncases"), pair("alcgp", "ncontrols"), pair("tobgp", "ncontrols"))),
    Table(
        "datasets/HairEyeColor",
        (pair("Hair", "Eye"), pair("Hair", "Eye", words="Blue"), pair("Sex", "Hair")),
        prepare=counts,
    ),
    Table(
        "datasets/Titanic",
        (target("Survived", "Sex"), target("Survived", "Class"), pair("Class", "Sex"), pair("Class", "Age")),
        {"target": "Survived"},
        counts,
    ),
    Table(
        "datasets/infert",
        (target("case", "spontaneous"), determines("stratum", "education"), determines("stratum", "age")),
        {"target": "case"},
    ),
    Table("datasets/chickwts", (pair("weight", "feed"), pair("weight", "feed", words="horsebean"))),
    Table("datasets/Orange", (pair("age", "circumference"), pair("Tree", "circumference"))),
    Table("datasets/rock", (pair("area", "peri"), pair("peri", "perm"), fact("order/duplicates", "perm"))),
    Table(
        "datasets/LifeCycleSavings",
        (pair("pop15", "pop75"), pair("pop75", "dpi"), pair("sr", "pop15"), outlier(48)),
    ),
    Table("datasets/morley", (pair("Expt", "Speed"),)),
    Table("MASS/UScereal", (pair("fibre", "potassium"), pair("calories", "carbo"), pair("shelf", "sugars"))),
    Table(
        "ISLR/OJ",
        (target("Purchase", "LoyalCH"), target("Purchase", "PriceDiff"), determines("StoreID", "STORE")),
        {"target": "Purchase"},
    ),
    Table("cluster/ruspini", (fact("clusters", words="4 clusters"), fact("clusters", "y"))),
    Table("lme4/sleepstudy", (pair("Days", "Reaction"), pair("Subject", "Reaction"))),
    Table(
        "nlme/MathAchieve",
        (pair("SES", "MathAch"), determines("School", "MEANSES"), pair("Minority", "MathAch")),
    ),
    Table("dslabs/heights", (pair("sex", "height"), fact("anomaly", "height"))),
    Table("dslabs/greenhouse_gases", (trend("concentration", words="3 series"), pair("gas")), {"time": "year"}),
    Table("plm/Grunfeld", (pair("inv", "value"), pair("inv", "capital"), pair("firm", "value"))),
    Table(
        "AER/HMDA",
        (target("deny", "insurance"), target("deny", "pirat"), pair("pirat", "hirat")),
        {"target": "deny"},
    ),
    Table("HSAUR/plasma", (target("ESR", "fibrinogen"),), {"target": "ESR"}),
    Table(
        "carData/UN",
        (pair("fertility", "infantMortality"), pair("ppgdp", "infantMortality"), pair("region", "group")),
    ),
    Table("carData/Pottery", (pair("Site", "Al"), pair("Al", "Mg"), clusters)),
    Table(
        "ggplot2/midwest",
        (
            pair("poptotal", "popwhite"),
            pair("percollege", "percprof"),
            pair("percbelowpoverty", "percchildbelowpovert"),
            determines("category", "inmetro"),
        ),
    ),
    Table("datasets/airmiles", (trend("value", words="grows"), change("value")), {"time": "time"}),
    Table(
        "datasets/Seatbelts",
        (pair("law", "front"), pair("drivers", "DriversKilled"), pair("law", "PetrolPrice")),
    ),
    Table("psych/sat.act", (pair("SATV", "SATQ"), pair("ACT", "SATV"), pair("age", "education"))),
    Table("vega/sf-temps", (season("temp"), season("temp", words="24 hours")), {"time": "date"}),
    Table(
        "vega/iowa-electricity",
        (trend("net_generation", words="3 series"), trend("net_generation", words="Renewables")),
        {"time": "year"},
    ),
    Table("vcd/Arthritis", (pair("Treatment", "Improved"), fact("identifier", "ID"))),
)

FROZEN = (
    Table("datasets/PlantGrowth", (pair("weight", "group"), pair("weight", "group", words="trt2"))),
    Table("datasets/LakeHuron", (trend("value", words="falls"), fact("change/trend", "value")), {"time": "time"}),
    Table("datasets/lynx", (season("value"), season("value", words="10 ")), {"time": "time"}),
    Table("datasets/EuStockMarkets", (pair("DAX", "SMI"), pair("CAC", "FTSE"), fact("order", "DAX"))),
    Table("datasets/nhtemp", (trend("value", words="grows"),), {"time": "time"}),
    Table(
        "datasets/ldeaths",
        (season("value", words="12 months"), season("value", words="January")),
        {"time": "time"},
        monthly,
    ),
    Table("datasets/InsectSprays", (pair("count", "spray"), pair("count", "spray", words="C"))),
    Table("datasets/Loblolly", (pair("age", "height"),)),
    Table(
        "datasets/stackloss",
        (pair("Air.Flow", "stack.loss"), pair("Water.Temp", "stack.loss"), outlier(20)),
    ),
    Table("datasets/longley", (pair("GNP", "GNP.deflator"), pair("GNP", "Year"), pair("Employed", "GNP"))),
    Table("datasets/USJudgeRatings", (pair("ORAL", "WRIT"), pair("INTG", "DMNR"), pair("DILG", "PREP"))),
    Table(
        "datasets/state.x77",
        (pair("Illiteracy", "Murder"), pair("Life Exp", "Murder"), pair("Income", "HS Grad"), outlier(1)),
    ),
    Table("robustbase/starsCYG", (outlier(10), outlier(19), outlier(29), outlier(33))),
    Table("robustbase/wood", (outlier(3), outlier(5), outlier(7), outlier(18))),
    Table("robustbase/hbk", (pair("X1", "X2"), fact("anomaly/clusters"), pair("X1", "Y"))),
    Table("robustbase/telef", (trend("Calls", words="grows"), outlier(14)), {"time": "Year"}),
    Table("MASS/mcycle", (pair("times", "accel"), fact("order", "times"))),
    Table("MASS/fgl", (pair("Mg", "type"), pair("RI", "Ca"), pair("Ba", "type"))),
    Table("MASS/snails", (pair("Exposure", "Deaths"), pair("Species", "Deaths"))),
    Table("MASS/anorexia", (pair("Prewt", "Postwt"), pair("Treat", "Postwt"))),
    Table(
        "ISLR/Caravan",
        (target("Purchase", "PPERSAUT"), fact("duplicates"), pair("PPERSAUT", "APERSAUT")),
        {"target": "Purchase"},
    ),
    Table("ISLR/Weekly", (leakage("Direction", "Today"), pair("Year", "Volume")), {"target": "Direction"}),
    Table("cluster/xclara", (fact("clusters", words="3 clusters"), fact("clusters", "V1"))),
    Table("cluster/votes.repub", (pair("X1932", "X1936"), fact("missingness"), pair("X1904", "X1908"))),
    Table("nlme/Orthodont", (pair("age", "distance"), pair("Sex", "distance"), determines("Subject", "Sex"))),
    Table("dslabs/reported_heights", (pair("sex", "height"), fact("anomaly/missing_code", "height"))),
    Table("dslabs/stars", (pair("magnitude", "temp"), pair("type", "temp"), clusters)),
    Table("dslabs/murders", (pair("population", "total"), fact("identifier", "state"), outlier(8))),
    Table("dslabs/temp_carbon", (trend("temp_anomaly", words="grows"), trend("carbon_emissions")), {"time": "year"}),
    Table("openintro/bdims", (pair("wgt", "wai_gi"), pair("sex", "sho_gi"), pair("sex", "hgt"))),
    Table("DAAG/possum", (determines("site", "Pop"), pair("Pop", "footlgth"), pair("hdlngth", "skullw"), clusters)),
    Table("survival/veteran", (pair("karno", "time"), pair("celltype", "time"))),
    Table("AER/Guns", (pair("violent", "robbery"), pair("murder", "violent"), pair("afam", "cauc"))),
    Table("HSAUR/heptathlon", (pair("score", "hurdles"), pair("score", "longjump"), outlier(24))),
    Table("HSAUR/pottery", (clusters, pair("Al2O3", "MgO"), pair("Fe2O3", "K2O"))),
    Table("heplots/Diabetes", (pair("glufast", "glutest"), pair("group", "glutest"), clusters)),
    Table("carData/Mroz", (target("lfp", "k5"), pair("wc", "hc"), pair("age", "k618")), {"target": "lfp"}),
    Table("carData/SLID", (pair("wages", "education"), pair("wages", "sex"), pair("wages", "age"))),
    Table("carData/Leinhardt", (pair("income", "infant"), pair("region", "infant"), pair("region", "income"))),
    Table("rpart/kyphosis", (target("Kyphosis", "Start"), target("Kyphosis", "Number")), {"target": "Kyphosis"}),
    Table("mosaicData/KidsFeet", (pair("length", "width"), pair("sex", "width"))),
    Table(
        "nycflights13/weather", (season("temp"), pair("temp", "dewp"), trend(words="3 series")), {"time": "time_hour"}
    ),
    Table(
        "fpp2/a10",
        (season("value", words="12 months"), trend("value", words="grows"), season("value", words="January")),
        {"time": "time"},
        monthly,
    ),
    Table("modeldata/oils", (pair("class", "linoleic"), pair("oleic", "linoleic"), clusters)),
    Table("modeldata/car_prices", (pair("Price", "Cylinder"), pair("Cadillac", "Price"))),
    Table(
        "gt/countrypops",
        (fact("redundant/determines", "country_name", "country_code_3"), trend("population")),
        {"time": "year"},
    ),
)
