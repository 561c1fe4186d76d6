"use strict";
(() => {
  const root = document.documentElement;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const tip = document.getElementById("tip");
  const font = getComputedStyle(document.body).fontFamily;

  // light and dark: what the reader's system says until the reader says otherwise

  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = { get: () => { try { return localStorage.getItem("latently-theme"); } catch { return null; } },
                 set: (name) => { try { localStorage.setItem("latently-theme", name); } catch { /* no storage in a frame */ } } };

  function dress(name) {
    root.dataset.theme = name;
    theme.setAttribute("aria-pressed", String(name === "dark"));
  }
  dress(kept.get() || (system.matches ? "dark" : "light"));
  system.addEventListener("change", () => { if (!kept.get()) dress(system.matches ? "dark" : "light"); });
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const name = root.dataset.theme === "dark" ? "light" : "dark";
    kept.set(name);
    dress(name);
  });

  // what the pointer shows: text, never markup

  // four digits stand together: 1950 may be a year
  const grouped = (value) => Math.abs(value) < 10000 ? String(value) : value.toLocaleString("en-US").replaceAll(",", "\u202f");
  const round = (value) => typeof value === "number" ? grouped(Number.isInteger(value) ? value : Number(value.toPrecision(5))) : value;
  const shown = { percent: (v) => (100 * v).toFixed(1) + " %", number: round, value: round, text: String };

  function cell(tag, text) {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }
  function tell(tips, datum) {
    const list = document.createElement("dl");
    for (const [field, label, kind] of tips) {
      if (!(field in datum)) continue;
      const value = datum[field];
      list.append(cell("dt", label), cell("dd", value === null ? "missing" : shown[kind](value)));
    }
    tip.replaceChildren(list);
    return list.childElementCount > 0;
  }
  function place(event) {
    const box = tip.getBoundingClientRect();
    const right = event.clientX + 16 + box.width < innerWidth;
    tip.style.left = Math.max(4, right ? event.clientX + 16 : event.clientX - 16 - box.width) + "px";
    tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 8)) + "px";
  }
  const pointer = (tips) => (handler, event, item, value) => {
    const told = value && item && item.datum ? (item.datum.datum || item.datum) : null;
    tip.hidden = !(told && tell(tips, told));
    if (!tip.hidden) place(event);
  };
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  // charts

  const text = { labelColor: "var(--soft)", titleColor: "var(--soft)", labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  // thousands are set off as in the tables
  const formatLocale = { decimal: ".", thousands: "\u202f", grouping: [3], currency: ["", ""] };
  const config = {
    aria: false, background: "transparent", font, view: { stroke: null },
    axis: { ...text, gridColor: "var(--line)", domainColor: "var(--faint)", tickColor: "var(--faint)", titlePadding: 10 },
    legend: { ...text, symbolStrokeWidth: 0, labelLimit: 220, titleLimit: 220, columns: innerWidth < 640 ? 2 : 6, orient: "top" },
    mark: { tooltip: { content: "data" } },
  };

  function table(data) {
    const names = Object.keys(data);
    const length = names.length ? data[names[0]].length : 0;
    return Array.from({ length }, (_, i) => Object.fromEntries(names.map((name) => [name, data[name][i]])));
  }
  // a chart that joins another has the place of each of its rows there
  function rows(chart) {
    const own = table(chart.data);
    if (!chart.joins) return own;
    const other = table(charts[chart.joins].data);
    return own.map((row) => ({ ...other[row.at], ...row }));
  }
  function label(mode, value) {
    if (value === null) return "missing";
    if (mode.edges) return mode.domain[mode.edges.filter((edge) => value >= edge).length];
    const name = String(value);
    return mode.domain.includes(name) ? name : mode.domain.includes("other") ? "other" : "missing";
  }
  function coloured(chart, mode, width) {
    const spec = structuredClone(chart.spec);
    const legend = { title: mode.label, columns: width < 450 ? 2 : width < 640 ? 3 : 6 };
    spec.encoding.color = { field: "colour", type: "nominal", scale: { domain: mode.domain, range: mode.range }, legend };
    spec.encoding.shape = { field: "colour", type: "nominal", scale: { domain: mode.domain, range: mode.shapes }, legend };
    const values = rows(chart).map((row) => ({ ...row, colour: label(mode, row[mode.field]) }));
    if (innerWidth < 640) spec.height = 340;
    fitted(spec, width);
    return { ...spec, data: { values } };
  }
  // titles of axes in lines that fit, broken between words; of a long word, after an underscore
  function lines(title, pixels) {
    const most = Math.max(Math.floor(pixels / 6.5), 12), made = [];
    const words = title.split(" ").flatMap((word) => word.length > most ? word.split(/(?<=_)/) : [word]);
    for (const word of words) {
      const gap = made.length && made.at(-1).endsWith("_") ? "" : " ";
      if (made.length && made.at(-1).length + gap.length + word.length <= most) made.push(made.pop() + gap + word);
      else made.push(word);
    }
    return made;
  }
  function fitted(spec, width) {
    for (const [name, pixels] of [["x", Math.max(width - 60, 80)], ["y", spec.height - 20]]) {
      const axis = spec.encoding[name];
      axis.title = axis.title && lines([axis.title].flat().join(" "), pixels);
      axis.axis.titleLimit = pixels;
    }
  }
  async function draw(element, spec, tips, pick) {
    if (element.view) element.view.finalize();
    const inner = cell("div", "");
    inner.ariaHidden = "true"; // the figure's label and the tables say it
    element.replaceChildren(inner);
    const done = await window.vegaEmbed(inner, { autosize: { type: "fit-x", contains: "padding" }, ...spec }, {
      actions: false, ast: true, config, defaultStyle: false, mode: "vega-lite", renderer: "svg", tooltip: pointer(tips), formatLocale,
    });
    element.view = done;
    element.dataset.drawn = "yes";
    if (!pick) return;
    element.classList.add("picks");
    const meant = (event, item) => pick.kind === "at" ? nearest(done.view, element, spec.data.values, event) : item && item.datum && (item.datum.datum || item.datum);
    done.view.addEventListener("click", (event, item) => choose(pick, meant(event, item), tips));
    byKeys(element, tips, pick);
  }
  // a chart as it is drawn: one that is the same as another but smaller, two columns of the rows, or its own
  function ready(name, width) {
    const given = charts[name];
    if (given.pair) return pairChart(given);
    const chart = given.same ? { ...charts[given.same], spec: { ...charts[given.same].spec, height: given.height } } : given;
    if (!chart.colours) return { ...chart, values: rows(chart) };
    const mode = chart.colours[given.same ? 0 : Number(document.getElementById("colour").value)];
    const { data, ...spec } = coloured(chart, mode, width);
    if (given.same) {
      spec.height = given.height;
      fitted(spec, width);
    }
    return { ...chart, spec, values: data.values };
  }
  async function show(element) {
    if (!charts[element.dataset.chart] || element.dataset.drawn) return;
    try {
      const chart = ready(element.dataset.chart, element.clientWidth);
      await draw(element, { ...chart.spec, data: { values: chart.values } }, chart.tips, chart.pick);
    } catch (problem) {
      element.textContent = "This chart could not be drawn; the tables have its figures.";
      console.error(problem);
    }
  }
  const choice = document.getElementById("colour");
  if (choice && charts.map) {
    charts.map.colours.forEach((mode, place) => {
      const option = cell("option", mode.label);
      option.value = String(place);
      choice.append(option);
    });
    choice.addEventListener("change", () => {
      for (const element of document.querySelectorAll('[data-chart="map"], [data-chart="tsne"], [data-chart="apart"]')) {
        delete element.dataset.drawn;
        show(element);
      }
    });
  }
  async function showAll() {
    for (const element of document.querySelectorAll("[data-chart]")) {
      if (element.closest("details:not([open])")) continue;
      await show(element);
      await new Promise((next) => setTimeout(next, 0));
    }
    root.dataset.ready = "yes";
  }
  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", () => { if (details.open) details.querySelectorAll("[data-chart]").forEach(show); });
  }

  // drawn here, since the event that a fold has opened comes after the page was printed
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll(".columns details")) {
      details.open = true;
      details.querySelectorAll("[data-chart]").forEach(show);
    }
  });

/* rows */

  // a link to a folded part unfolds it

  function unfold() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();

  // tables

  const worth = (row, column) => {
    const found = row.children[column];
    return found.dataset.value ?? found.textContent.trim();
  };
  function compare(kind) {
    if (kind === "text") return (a, b) => a.localeCompare(b, undefined, { numeric: true });
    return (a, b) => (a === "" ? Infinity : Number(a)) - (b === "" ? Infinity : Number(b));
  }
  for (const button of document.querySelectorAll("table.sortable [data-sort]")) {
    button.addEventListener("click", () => {
      const head = button.parentElement;
      const body = head.closest("table").tBodies[0];
      const down = head.getAttribute("aria-sort") === "ascending";
      const column = [...head.parentElement.children].indexOf(head);
      const order = compare(button.dataset.sort);
      const sorted = [...body.rows].sort((a, b) => order(worth(a, column), worth(b, column)));
      for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...(down ? sorted.reverse() : sorted));
    });
  }

  // which section is being read

  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const reading = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  document.querySelectorAll("main > section").forEach((section) => reading.observe(section));

  showAll();
})();
