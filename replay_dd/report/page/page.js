// Steps through the runs of a page. It reads the data of the page, and makes text of them, never markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const byId = (name) => document.getElementById(name);

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// -- light and dark --

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;
}

function showTheme() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
}

function switchTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
}

root.classList.add("with-script");
byId("theme").addEventListener("click", switchTheme);
prefersDark.addEventListener("change", showTheme);
showTheme();

// -- commands to copy --

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const said = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(button.parentElement.querySelector("code"));
      window.getSelection().removeAllRanges();
      window.getSelection().addRange(range);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = said; }, 1500);
  });
}

// -- the runs --

const NO_LINE = { file: "", line: 0 };
const AROUND = 4; // lines above and below the current one
const PACE_MS = 1100;

// The lines around one, as far as they belong to the same function or class.
function linesAround(lines, line) {
  const inside = (number) => /^\s/.test(lines[number]) || !lines[number].trim();
  const there = (number) => Object.hasOwn(lines, number);
  if (!there(line)) return [];
  const found = [line];
  const nested = inside(line);
  for (let above = line - 1; above >= line - AROUND && there(above); above -= 1) {
    found.unshift(above);
    if (nested && !inside(above)) break;
  }
  for (let below = line + 1; below <= line + AROUND && there(below); below += 1) {
    if (nested && !inside(below)) break;
    found.push(below);
  }
  while (found.length && !lines[found[found.length - 1]].trim()) found.pop();
  return found;
}

class Run {
  constructor(told, panel) {
    this.told = told;
    this.panel = panel;
    this.box = panel.querySelector(".scroll");
    this.rows = [...panel.querySelectorAll("[data-step]")];
    this.rowOf = new Map(this.rows.map((row) => [Number(row.dataset.step), row]));
    this.values = [...panel.querySelectorAll("[data-thing]")];
    this.places = this.everyPlace();
    this.panes = this.makePanes();
  }

  // Where each thread stands after each step.
  everyPlace() {
    const now = {};
    return this.told.steps.map((step) => {
      if (step.file) now[step.thread] = { file: step.file, line: step.line, function: step.function };
      return { ...now };
    });
  }

  makePanes() {
    const parent = this.panel.querySelector(".panes");
    const last = this.places[this.places.length - 1] || {};
    return this.told.lanes.filter((lane) => last[lane]).map((lane) => {
      const pane = element("section", undefined, `pane c${this.told.lanes.indexOf(lane) % 6}`);
      const head = element("h4");
      const name = element("b", lane === "0" ? "main thread" : `thread ${lane}`);
      const where = element("span", "", "where");
      const code = element("div", undefined, "code");
      code.tabIndex = 0;
      code.setAttribute("role", "region");
      code.setAttribute("aria-label", `Source of thread ${lane}`);
      head.append(name, " ", where);
      pane.append(head, code);
      parent.append(pane);
      return { lane, pane, where, code, shown: NO_LINE };
    });
  }

  get count() {
    return this.told.steps.length;
  }

  show(number) {
    const at = Math.min(number, this.count - 1);
    const step = this.told.steps[at];
    for (const row of this.rows) {
      const own = Number(row.dataset.step);
      row.classList.toggle("current", own === at);
      row.classList.toggle("later", own > at);
      if (own === at) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    }
    this.scrollTo(this.rowOf.get(at));
    this.showValues(step);
    for (const pane of this.panes) this.showPane(pane, at, step);
  }

  // Only the box of the diagram scrolls, never the page.
  scrollTo(row) {
    if (!row) return;
    const head = this.panel.querySelector("thead").offsetHeight;
    const top = row.offsetTop - head - 40;
    const bottom = row.offsetTop + row.offsetHeight + 60;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (bottom > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = bottom - this.box.clientHeight;
    const cell = row.querySelector(".runs");
    if (cell && this.box.scrollWidth > this.box.clientWidth) this.box.scrollLeft = cell.offsetLeft - 60;
  }

  showValues(step) {
    for (const row of this.values) {
      const [now, seen] = step.values[row.dataset.thing] || ["–", {}];
      row.querySelector(".now").textContent = now;
      for (const cell of row.querySelectorAll("[data-thread]")) {
        const text = seen[cell.dataset.thread] || "";
        const stale = text !== "" && text !== now;
        cell.textContent = text;
        cell.classList.toggle("stale", stale);
        if (stale) cell.append(element("small", " out of date"));
      }
    }
  }

  showPane(pane, at, step) {
    const place = this.places[at][pane.lane];
    const runs = (step.kind === "switch" ? step.to : step.thread) === pane.lane;
    pane.pane.classList.toggle("runs", runs);
    pane.pane.classList.toggle("asleep", !place);
    const shown = place || NO_LINE;
    pane.where.textContent = place ? `${place.file.split("/").pop()}:${place.line} in ${place.function}` : "not there yet";
    if (shown.file === pane.shown.file && shown.line === pane.shown.line) return;
    pane.shown = shown;
    pane.code.replaceChildren();
    const lines = data.sources[shown.file] || {};
    const near = linesAround(lines, shown.line);
    const indents = near.map((line) => lines[line].search(/\S/)).filter((indent) => indent >= 0);
    const indentation = Math.min(...indents);
    for (const line of near) {
      const row = element("div", undefined, line === shown.line ? "line here" : "line");
      row.append(element("span", line, "number"), element("code", lines[line].slice(indentation) || " "));
      pane.code.append(row);
    }
    if (place && !pane.code.childElementCount) {
      pane.code.append(element("p", "The source is not here, or has changed since.", "remark"));
    }
  }
}

class Player {
  constructor() {
    this.runs = data.runs.map((told) => new Run(told, document.querySelector(`[data-run="${told.kind}"]`)));
    this.count = Math.max(...this.runs.map((run) => run.count));
    this.at = 0;
    this.timer = null;
    const on = (name, act) => byId(name)?.addEventListener("click", act);
    on("first", () => this.go(0));
    on("back", () => this.go(this.at - 1));
    on("next", () => this.go(this.at + 1));
    on("last", () => this.go(this.count - 1));
    on("difference", () => this.go(data.lit));
    on("play", () => this.play());
    byId("slider").addEventListener("input", (event) => this.go(Number(event.target.value) - 1));
    for (const button of document.querySelectorAll("[data-show]")) {
      button.addEventListener("click", () => this.showRun(button.dataset.show));
    }
    for (const run of this.runs) {
      for (const row of run.rows) row.addEventListener("click", () => this.go(Number(row.dataset.step)));
    }
    this.showRun(this.runs[0].told.kind);
    this.go(data.lit);
  }

  go(number) {
    this.at = Math.max(0, Math.min(this.count - 1, number));
    for (const run of this.runs) run.show(this.at);
    this.compareValues();
    byId("slider").value = this.at + 1;
    byId("count").textContent = `${this.at + 1} of ${this.count}`;
    byId("back").disabled = byId("first").disabled = this.at === 0;
    byId("next").disabled = byId("last").disabled = this.at === this.count - 1;
    byId("says").textContent = this.runs.map((run) => this.says(run)).join(" · ");
    if (this.timer !== null && this.at === this.count - 1) this.play();
  }

  says(run) {
    const step = run.told.steps[Math.min(this.at, run.count - 1)];
    const who = step.thread ? `thread ${step.thread} ` : "";
    const name = { fails: "Fails: ", passes: "Passes: " }[run.told.kind] || "";
    return step.kind === "end" ? `${name}${step.words}` : `${name}${who}${step.words}`;
  }

  // Lights the values that are not the same in both runs.
  compareValues() {
    if (this.runs.length < 2) return;
    const [one, other] = this.runs.map((run) => new Map(run.values.map((row) => [row.dataset.thing, row])));
    for (const [thing, row] of one) {
      const twin = other.get(thing);
      if (!twin) continue;
      const cells = [row, twin].map((each) => each.querySelector(".now"));
      const differ = cells[0].textContent !== cells[1].textContent;
      for (const cell of cells) cell.classList.toggle("differs", differ);
    }
  }

  play() {
    if (this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
    } else {
      if (this.at === this.count - 1) this.go(0);
      this.timer = setInterval(() => this.go(this.at + 1), PACE_MS);
    }
    byId("play").textContent = this.timer === null ? "Play" : "Pause";
  }

  showRun(kind) {
    root.dataset.shows = kind;
    for (const button of document.querySelectorAll("[data-show]")) {
      button.setAttribute("aria-pressed", String(button.dataset.show === kind));
    }
  }

  otherRun() {
    const kinds = this.runs.map((run) => run.told.kind);
    this.showRun(kinds[(kinds.indexOf(root.dataset.shows) + 1) % kinds.length]);
  }
}

if (data.runs) {
  const player = new Player();
  const keys = byId("keys");
  const showKeys = () => (keys.open ? keys.close() : keys.showModal());
  byId("show-keys").addEventListener("click", showKeys);
  byId("close-keys").addEventListener("click", () => keys.close());
  const acts = {
    ArrowRight: () => player.go(player.at + 1),
    ArrowLeft: () => player.go(player.at - 1),
    l: () => player.go(player.at + 1),
    h: () => player.go(player.at - 1),
    Home: () => player.go(0),
    End: () => player.go(player.count - 1),
    d: () => player.go(data.lit),
    p: () => player.play(),
    r: () => player.otherRun(),
    t: switchTheme,
    "?": showKeys,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(acts, event.key)) return;
    if (keys.open && event.key !== "?") return;
    event.preventDefault();
    acts[event.key]();
  });
} else {
  document.addEventListener("keydown", (event) => {
    if (event.key === "t" && !event.ctrlKey && !event.altKey && !event.metaKey) switchTheme();
  });
}
