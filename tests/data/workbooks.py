"""Workbooks put together by hand, whole ones and broken ones: what no program would write."""

import io
import struct
import zipfile
from collections.abc import Mapping

import openpyxl
import openpyxl.chart

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"

SHEET = (
    f'<worksheet xmlns="{MAIN}"><sheetData>'
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2.5</v></c></row>'
    '<row r="3"><c r="A3"><v>3</v></c></row>'
    "</sheetData></worksheet>"
)
STRINGS = f'<sst xmlns="{MAIN}" count="2" uniqueCount="2"><si><t>a</t></si><si><t>b</t></si></sst>'


def parts(sheet: str = SHEET, strings: str = STRINGS, kind: str = "worksheet") -> dict[str, str]:
    """The parts of a workbook with one sheet, by name."""
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet1.xml" ContentType="{_TYPE}.{kind}+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_TYPE}.sharedStrings+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_OFFICE}/{kind}" Target="sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        "xl/sharedStrings.xml": strings,
        "xl/sheet1.xml": sheet,
    }


def packed(contents: Mapping[str, str | bytes]) -> bytes:
    """The parts as one archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out.getvalue()


def workbook(sheet: str = SHEET, strings: str = STRINGS, **other: str | bytes) -> bytes:
    """A workbook; other parts are given by name, with double underscores for slashes."""
    return packed(parts(sheet, strings) | {name.replace("__", "/") + ".xml": text for name, text in other.items()})


def one_cell(place: str, row: int) -> str:
    """A sheet with a header of one name and a cell at some place."""
    return (
        f'<worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row>'
        f'<row r="{row}"><c r="{place}"><v>1</v></c></row></sheetData></worksheet>'
    )


def entities(inner: str, body: str) -> str:
    """Shared strings with a document type that declares entities."""
    return f'<?xml version="1.0"?><!DOCTYPE sst [{inner}]><sst xmlns="{MAIN}"><si><t>{body}</t></si></sst>'


LAUGHS = "".join(
    [
        '<!ENTITY l0 "lol">',
        *(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10)),
    ]
)


def damaged(data: bytes, part: str) -> bytes:
    """An archive with some bytes of a part's compressed content changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        info = archive.getinfo(part)
    start = info.header_offset + 30 + len(part)
    return data[: start + 20] + bytes(255 - byte for byte in data[start + 20 : start + 40]) + data[start + 40 :]


def declaring(data: bytes, size: int) -> bytes:
    """An archive whose last part declares that it unpacks to so many bytes more."""
    entry = data.rindex(b"PK\x01\x02")
    told = struct.unpack_from("<I", data, entry + 24)[0]
    return data[: entry + 24] + struct.pack("<I", told + size) + data[entry + 28 :]


def chart() -> bytes:
    """A workbook with a chart and no sheet of cells."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    book.create_chartsheet().add_chart(openpyxl.chart.BarChart())
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


BROKEN: dict[str, tuple[bytes, str]] = {
    "entities that multiply": (workbook(strings=entities(LAUGHS, "&l9;")), "declares XML entities"),
    "an entity from outside": (
        workbook(strings=entities('<!ENTITY x SYSTEM "file:///etc/passwd">', "&x;")),
        "declares XML entities",
    ),
    "entities in the sheet": (workbook(sheet=f"<!DOCTYPE w [{LAUGHS}]>{SHEET}"), "declares XML entities"),
    "an unclosed sheet": (workbook(sheet=SHEET[:-30]), "damaged"),
    "an unclosed workbook": (workbook(xl__workbook="<workbook><sheets>"), "damaged"),
    "a sheet that is no XML": (workbook(sheet="a,b\n1,2\n"), "damaged"),
    "strings that are no XML": (workbook(strings="\x00\x01\x02 nonsense"), "damaged"),
    "an empty sheet part": (workbook(sheet=""), "damaged"),
    "strings that are not there": (workbook(strings=f'<sst xmlns="{MAIN}"/>'), "damaged"),
    "a string whose number is no number": (workbook(sheet=SHEET.replace("<v>0</v>", "<v>x</v>")), "damaged"),
    "a number that is none": (workbook(sheet=SHEET.replace("<v>2.5</v>", "<v>2.5.1</v>")), "damaged"),
    "a cell that lies nowhere": (workbook(sheet=SHEET.replace('r="B2"', 'r="2B"')), "damaged"),
    "damaged compression of the sheet": (damaged(workbook(), "xl/sheet1.xml"), "damaged"),
    "damaged compression of the strings": (damaged(workbook(), "xl/sharedStrings.xml"), "damaged"),
    "only a chart": (chart(), "only charts"),
    "no sheets": (workbook(xl__workbook=f'<workbook xmlns="{MAIN}"><sheets/></workbook>'), "only charts"),
    "no workbook": (
        packed({name: text for name, text in parts().items() if name != "xl/workbook.xml"}),
        "damaged",
    ),
    "no sheet part": (packed({name: text for name, text in parts().items() if name != "xl/sheet1.xml"}), "no sheet of"),
    "an archive of something else": (packed({"readme.txt": "hello"}), "damaged"),
    "a cell in the far corner": (workbook(sheet=one_cell("XFD1048576", 1048576)), "17,179,869,184 cells"),
    "a cell beyond the last row": (workbook(sheet=one_cell("A99999999", 99999999)), "beyond the end of any sheet"),
    "a cell beyond the last column": (workbook(sheet=one_cell("ZZZZ2", 2)), "beyond the end of any sheet"),
    "too many styles": (
        workbook(xl__styles=f'<styleSheet xmlns="{MAIN}">' + "<xf/>" * 1_100_000 + "</styleSheet>"),
        "too much in its part 'xl/styles.xml'",
    ),
    "a tag without an end": (
        workbook(sheet=SHEET.replace("<sheetData>", f"<sheetData x='{'x' * 6_000_000}'>")),
        "too much",
    ),
    "a padded archive": (declaring(workbook(), 2**30), "unpacks to 1"),
}
