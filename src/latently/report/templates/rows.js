  // the rows that the page carries, and the window that shows them

  const store = JSON.parse(document.getElementById("carried").textContent);
  const sheet = document.getElementById("rows");
  const MOST_ROWS = 50, MOST_COLUMNS = 40, PARTS = 8; // colours that are told apart
  const places = new Map(store.row.map((row, at) => [row, at]));
  const taken = new Map(store.taken.map(([column, at, text]) => [column + " " + at, text]));

  const valueAt = (column, at) => column < 0 ? store.row[at] : store.values[column][at];
  function shownAt(column, at) {
    const value = store.values[column][at];
    if (value !== null) return round(value);
    const was = taken.get(column + " " + at);
    return was === undefined ? "missing" : was + " (taken as missing)";
  }
  function lineOf(tag, cells) {
    const line = document.createElement("tr");
    line.append(...cells.map((text) => cell(tag, text)));
    return line;
  }
  function inOrder(first) {
    const rest = store.columns.map((_, place) => place).filter((place) => !first.includes(place));
    return [...first, ...rest].slice(0, MOST_COLUMNS);
  }
  function tableOf(found, columns) {
    const made = document.createElement("table");
    const head = document.createElement("thead"), body = document.createElement("tbody");
    head.append(lineOf("th", ["row", ...columns.map((place) => store.columns[place])]));
    for (const at of found.slice(0, MOST_ROWS)) {
      body.append(lineOf("td", [round(store.row[at]), ...columns.map((place) => shownAt(place, at))]));
    }
    made.append(head, body);
    return made;
  }
  function listOf(pairs) {
    const list = document.createElement("dl");
    list.className = "one-row";
    for (const [name, value] of pairs) list.append(cell("dt", name), cell("dd", value));
    return list;
  }
  function amount(found) {
    const all = store.row.length === store.total ? "" : ` among the ${round(store.row.length)} rows that this page carries`;
    const shown = found.length > MOST_ROWS ? `; the first ${MOST_ROWS} are shown` : "";
    return `${round(found.length)} ${found.length === 1 ? "row" : "rows"}${all}${shown}.`;
  }
  function openSheet(title, words, parts) {
    sheet.querySelector("h2").textContent = title;
    sheet.querySelector("p").textContent = words;
    const place = sheet.querySelector(".inside");
    place.replaceChildren(...parts);
    tip.hidden = true;
    if (!sheet.open) sheet.showModal();
    place.scrollTop = 0;
  }
  function showRows(title, found, first = [], words = "", above = []) {
    const columns = inOrder(first);
    const one = found.length === 1 && !above.length;
    const inside = one ? listOf(columns.map((place) => [store.columns[place], shownAt(place, found[0])])) : tableOf(found, columns);
    openSheet(title, words || amount(found), [...above, ...(found.length ? [inside] : [])]);
  }
  function pairsOf(tips, datum, apart) {
    const told = (tips || []).filter(([field]) => field in datum && field !== apart);
    return told.map(([field, label, kind]) => [label, datum[field] === null ? "missing" : shown[kind](datum[field])]);
  }
  function showRow(row, tips, datum) {
    const title = `Row ${round(row)}`;
    if (places.has(row)) return showRows(title, [places.get(row)], [], "As it stood in the table.");
    return openSheet(title, "The page does not carry all of this row; this is what the map knows.", [listOf(pairsOf(tips, datum, "row"))]);
  }
  function showTold(finding) {
    const found = store.findings[finding];
    const first = found.columns.map((name) => store.columns.indexOf(name)).filter((at) => at >= 0);
    showRows(found.text, found.rows.filter((row) => places.has(row)).map((row) => places.get(row)), first);
  }
  const where = (test) => store.row.map((_, at) => at).filter(test);

  // two columns of these rows, as a chart

  const axisOf = (column) => column < 0 ? "number" : store.kinds[column];
  const titleOf = (column) => column < 0 ? "row" : store.columns[column];
  // of a column with very many levels the most common ones, which an axis has room for; null if all are shown
  function common(column) {
    if (axisOf(column) !== "level") return null;
    const counts = new Map();
    for (const at of store.row.keys()) counts.set(valueAt(column, at), (counts.get(valueAt(column, at)) || 0) + 1);
    return counts.size <= 15 ? null : new Set([...counts].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([level]) => level));
  }
  function pairChart(chart) {
    let [x, y, third] = chart.pair;
    const gone = chart.absent === true;
    if (!gone && axisOf(x) === "level" && axisOf(y) !== "level") [x, y] = [y, x];
    const count = (column) => column === y && gone ? 2 : new Set(store.values[column]).size;
    const classes = gone || axisOf(y) === "level";
    const kind = !classes ? "points" : axisOf(x) !== "level" ? "ticks" : count(gone ? y : x) <= PARTS ? "shares" : "cells";
    const spec = structuredClone(store.pairs[kind]);
    const told = new Set(chart.told || []);
    const strange = new Set(told.size ? [] : store.strange); // one row far out would hide how the others lie
    spec.width = "container";
    const side = (column, at) => gone && column === y ? (valueAt(column, at) === null ? "missing" : "there") : valueAt(column, at);
    const usual = [x, y].map((column) => gone && column === y ? null : common(column));
    const both = (at) => [x, y].every((column, end) => side(column, at) !== null && (!usual[end] || usual[end].has(valueAt(column, at))));
    const data = where((at) => !strange.has(store.row[at]) && both(at) && (third === undefined || valueAt(third, at) !== null))
      .map((at) => ({ row: store.row[at], x: side(x, at), y: side(y, at), told: told.has(store.row[at]) ? "yes" : "no",
                      ...(third === undefined ? {} : { third: String(valueAt(third, at)) }) }));
    if (kind === "shares") parts(spec, data, titleOf(x), titleOf(y), gone);
    else for (const [name, column] of [["x", x], ["y", y]]) {
      spec.encoding[name].title = gone && column === y ? titleOf(column) + " is" : titleOf(column);
      if (axisOf(column) === "date" && spec.encoding[name].type === "quantitative") {
        spec.encoding[name].type = "temporal";
        delete spec.encoding[name].scale;
      }
      const values = data.map((datum) => Math.abs(datum[name]));
      const top = values.reduce((a, b) => Math.max(a, b), 0);
      if (spec.encoding[name].type === "quantitative" && top >= 1000 && top < 10000) spec.encoding[name].axis.format = "~f";
    }
    if (kind !== "points") spec.height = 26 * new Set(data.map((datum) => datum[kind === "shares" && gone ? "x" : "y"])).size;
    if (third !== undefined && kind !== "shares" && kind !== "cells") byThird(spec, data, third);
    const tips = [["row", "row", "number"], ["x", titleOf(x), "value"], ["y", gone ? titleOf(y) + " is" : titleOf(y), "value"],
                  ["third", third === undefined ? "" : titleOf(third), "value"], ["__count", "rows", "number"]];
    return { spec, tips, values: data, pick: kind === "cells" || kind === "shares" ? { kind: "both", x, y, gone } : { kind: "row" } };
  }
  const inTurn = (values) => [...new Set(values)].sort((a, b) => String(a).localeCompare(String(b), undefined, { numeric: true }));
  // bars of the rows with each value, cut by what they are in the other column
  function parts(spec, data, x, y, gone) {
    const [bar, part] = gone ? ["x", "y"] : ["y", "x"];
    const titles = { x, y: gone ? y + " is" : y };
    const domain = gone ? ["missing", "there"] : inTurn(data.map((datum) => datum[part]));
    const range = gone ? ["var(--c2)", "var(--s1)"] : domain.map((_, place) => `var(--c${place + 1})`);
    Object.assign(spec.encoding.y, { field: bar, title: titles[bar] });
    Object.assign(spec.encoding.color, { field: part, title: titles[part], scale: { domain, range } });
  }
  function byThird(spec, data, third) {
    const title = titleOf(third), legend = { orient: "top" };
    if (axisOf(third) === "number") {
      for (const datum of data) datum.third = Number(datum.third);
      const scale = { type: "quantize", range: [1, 2, 3, 4, 5].map((place) => `var(--s${place})`) };
      spec.encoding.color = { field: "third", type: "quantitative", title, scale, legend };
      return;
    }
    const names = inTurn(data.map((datum) => datum.third)).slice(0, PARTS);
    const range = names.map((_, place) => `var(--c${place + 1})`);
    spec.encoding.color = { field: "third", type: "nominal", title, scale: { domain: names, range }, legend };
  }

  // what a click on a mark, or Enter, shows

  const asNumber = (value) => typeof value === "number" ? value : Date.parse(value);
  const between = (value, from, to, last) => value !== null && asNumber(value) >= asNumber(from) && (asNumber(value) < asNumber(to) || (last && value === to));
  // rows carry numbers of seven digits, charts of ten
  const sameMoment = (value, name) => typeof value === "number" ? value.toPrecision(7) === Number(name).toPrecision(7) : value === name;
  const picks = {
    row: (pick, datum, tips) => showRow(datum.row, tips, datum),
    both: ({ x, y, gone }, datum) => {
      const same = (column, at, value) => gone && column === y ? (valueAt(column, at) === null) === (value === "missing") : String(valueAt(column, at)) === String(value);
      showRows(`${titleOf(x)} is ${datum.x}, ${titleOf(y)} is ${datum.y}`, where((at) => same(x, at, datum.x) && same(y, at, datum.y)), [x, y]);
    },
    range: ({ column, last }, datum) => showRows(`${titleOf(column)} from ${round(datum.from)} to ${round(datum.to)}`, where((at) => between(valueAt(column, at), datum.from, datum.to, datum.to === last)), [column]),
    level: ({ column, known }, datum) => {
      const other = datum.level === "all others" && !known.includes(datum.level);
      showRows(`${titleOf(column)} is ${datum.level}`, where((at) => other ? valueAt(column, at) !== null && !known.includes(String(valueAt(column, at))) : String(valueAt(column, at)) === datum.level), [column]);
    },
    pattern: ({ patterns }, datum) => {
      const gone = patterns[datum.pattern] || [];
      showRows(gone.length ? `Rows in which ${gone.map(titleOf).join(", ")} is missing` : "Rows in which nothing is missing", where((at) => store.columns.every((_, place) => (valueAt(place, at) === null) === gone.includes(place))), gone);
    },
    pair: ({ with: other, fields, texts }, datum) => {
      const pair = fields.map((field) => store.columns.indexOf(datum[field])).concat(other ?? []).filter((place) => place >= 0);
      const names = pair.map(titleOf);
      const box = document.createElement("div");
      box.className = "chart";
      const drawn = new Set(pair).size === 2 && pair.every((place) => axisOf(place));
      const told = (texts || []).find(([a, b]) => names.includes(a) && names.includes(b));
      showRows(names.join(" and "), where((at) => pair.every((place) => valueAt(place, at) !== null)), pair, told ? told[2] + "." : "", drawn ? [box] : []);
      if (drawn) { const made = pairChart({ pair }); draw(box, { ...made.spec, data: { values: made.values } }, made.tips, made.pick); }
    },
    code: ({ column }, datum) => {
      if (datum.code === undefined) return; // a bar of the others
      showRows(`${titleOf(column)} is ${round(datum.code)}`, where((at) => taken.has(column + " " + at) && Number(taken.get(column + " " + at)) === datum.code), [column]);
    },
    told: ({ finding }, datum) => { if (datum.what === "these rows") showTold(finding); },
    at: ({ column }, datum, tips) => {
      const title = `${titleOf(column)} is ${datum.name}`, found = where((at) => sameMoment(valueAt(column, at), datum.name));
      if (found.length) return showRows(title, found, [column]);
      openSheet(title, "The page does not carry the rows of this moment; this is what the chart knows.", [listOf(pairsOf(tips, datum, "name"))]);
    },
  };
  // the moment of a series that is nearest to the pointer, wherever in the chart that is
  function nearest(view, element, values, event) {
    const x = event.clientX - element.querySelector("svg").getBoundingClientRect().left - view.origin()[0];
    const gap = (datum) => Math.abs(view.scale("x")(asNumber(datum.at)) - x);
    return values.reduce((best, datum) => gap(datum) < gap(best) ? datum : best, values[0]);
  }
  function choose(pick, datum, tips) {
    if (pick && datum) picks[pick.kind](pick, datum, tips);
  }

  // the keyboard: arrows go from mark to mark, Enter shows its rows

  const isMark = (node) => node.__data__ && node.__data__.datum && node.__data__.mark && node.__data__.mark.role === "mark";
  function toward(marks, from, key) {
    const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
    const middle = (node) => { const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
    const [x, y] = middle(from);
    let best = from, least = Infinity;
    for (const node of marks) {
      const [u, v] = middle(node);
      const along = (u - x) * dx + (v - y) * dy, aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
      if (node !== from && along > 0.5 && along + 2 * aside < least) [best, least] = [node, along + 2 * aside];
    }
    return best;
  }
  // in a series: to the moment before or after
  const along = (marks, from, key) => marks[marks.indexOf(from) + ({ ArrowRight: 1, ArrowLeft: -1 }[key] || 0)] || from;
  function byKeys(element, tips, pick) {
    element.tabIndex = 0;
    element.setAttribute("role", "application");
    if (!element.dataset.said) element.dataset.said = element.getAttribute("aria-label") || "Chart.";
    element.setAttribute("aria-label", element.dataset.said + " Arrow keys go from mark to mark, Enter shows the rows.");
    let current = null;
    const leave = () => { if (current) current.classList.remove("at"); current = null; tip.hidden = true; };
    element.onblur = leave;
    element.onkeydown = (event) => {
      const marks = [...element.querySelectorAll("path, line, rect")].filter((node) => isMark(node) && (pick.kind !== "at" || node.__data__.mark.marktype === "symbol"));
      if (!marks.length || !(event.key.startsWith("Arrow") || ["Home", "End", "Enter", " "].includes(event.key))) return;
      event.preventDefault();
      const datum = current && current.__data__.datum;
      if (event.key === "Enter" || event.key === " ") return choose(pick, datum, tips);
      const next = event.key === "End" ? marks.at(-1) : event.key === "Home" || !current || !current.isConnected ? marks[0] : (pick.kind === "at" ? along : toward)(marks, current, event.key);
      leave();
      current = next;
      current.classList.add("at");
      current.scrollIntoView({ block: "nearest" });
      const box = current.getBoundingClientRect();
      tip.hidden = !tell(tips, current.__data__.datum);
      place({ clientX: box.right, clientY: box.bottom });
    };
  }

  // buttons: rows of a finding, one row, code to the clipboard

  for (const button of document.querySelectorAll("[data-row]")) {
    button.addEventListener("click", () => showRow(Number(button.dataset.row), [], {}));
  }
  for (const button of document.querySelectorAll("[data-rows]")) {
    button.addEventListener("click", () => showTold(Number(button.dataset.rows)));
  }
  async function copied(text, from) {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* no clipboard in a frame: as one did before */ }
    getSelection().selectAllChildren(from);
    return document.execCommand("copy");
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    const from = document.getElementById(button.dataset.copy), words = button.textContent;
    button.addEventListener("click", async () => {
      const done = await copied(from.textContent, from);
      button.textContent = done ? "Copied" : "Select and copy it";
      if (!done) from.closest("details").open = true;
      setTimeout(() => { button.textContent = words; }, 2000);
    });
  }
  sheet.querySelector("button").addEventListener("click", () => sheet.close());
  sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
