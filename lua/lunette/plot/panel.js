// What stands around the lanes: what is under the mouse, the keys, the legend, the buttons.
"use strict";
window.lunette_panel = (view) => {
  const { scene, state, notes, FATES, TIMINGS } = view;
  const r = scene.records;
  const tip = document.getElementById("tip");
  const by_id = (id) => document.getElementById(id);

  // ---- under the mouse

  function nearest_record(lane, x, y) {
    if (!state.show.records) return -1;
    const t = state.transform;
    const at = lane.tree.find(t.invertX(x), t.invertY(y), 9 / t.k);
    if (at === undefined) return -1;
    const i = lane.own[at], fate = r.fate[i];
    return (fate === 3 || fate === 4) && !state.show.rejected ? -1 : i;
  }

  function nearest_pane(lane, x, y) {
    let best = null, least = 6;
    if (!state.show.panes) return null;
    for (const p of lane.panes) {
      const far = Math.abs(view.up(lane, p[2]) - y);
      if (far > least || x < view.left_of(lane, p[0]) || x > view.right_of(lane, p[1])) continue;
      least = far;
      best = p;
    }
    return best;
  }

  function smallest_window(lane, x, y) {
    let best = null, least = Infinity;
    if (!state.show.windows) return null;
    for (const w of lane.windows) {
      const left = view.left_of(lane, w[0]), right = view.right_of(lane, w[1]);
      if (x < left || x > right || y < view.up(lane, w[3]) || y > view.up(lane, w[2])) continue;
      if (right - left >= least) continue;
      least = right - left;
      best = w;
    }
    return best;
  }

  function find(lane, event) {
    const i = nearest_record(lane, event.offsetX, event.offsetY);
    if (i >= 0) return { key: r.key[i], title: `record ${r.n[i]}`, rows: rows_of_record(i) };
    const p = nearest_pane(lane, event.offsetX, event.offsetY);
    if (p) return { key: p[3], title: `${TIMINGS[p[5]].replace("_", "-")} pane ${p[4]}`, rows: rows_of_pane(p) };
    const w = smallest_window(lane, event.offsetX, event.offsetY);
    return w && { key: w[7] > 1 ? undefined : w[4], title: `window [${view.bound(w[0])}, ${view.bound(w[1])})`,
      rows: rows_of_window(w) };
  }

  const up_name = scene.up === "clock" ? "clock" : "arrived";

  function rows_of_record(i) {
    const rows = [["key", scene.keys[r.key[i]]]];
    rows.push(["event time", r.time[i] === null ? "none" : view.bound(r.time[i])]);
    if (scene.up === "clock") rows.push([up_name, view.bound(r.up[i])]);
    if (r.source[i] >= 0) rows.push(["source", scene.sources[r.source[i]]]);
    rows.push(["fate", notes.get(i) || FATES[r.fate[i]]]);
    return rows;
  }

  function rows_of_pane(p) {
    const rows = [["value", p[9]], ["key", scene.keys[p[3]]], ["window", `[${view.bound(p[0])}, ${view.bound(p[1])})`],
      [up_name, scene.up === "clock" ? view.bound(p[2]) : `after record ${p[2]}`]];
    if (p[6]) rows.push(["final", "nothing can follow"]);
    if (p[7]) rows.push(["withdrawn", "a pane that no longer holds"]);
    return rows;
  }

  function rows_of_window(w) {
    if (w[7] > 1) return [["keys", String(w[7])], ["records", String(w[5])]];
    return [["key", scene.keys[w[4]]], ["records", String(w[5])],
      ["state", ["open", "gone", "part of another window"][w[6]]]];
  }

  function hover(lane, event) {
    const found = find(lane, event);
    tip.hidden = !found;
    lane.canvas.style.cursor = found ? "pointer" : "crosshair";
    if (!found) return;
    const title = document.createElement("b"), list = document.createElement("dl");
    title.textContent = found.title;
    for (const [name, text] of found.rows) {
      const term = document.createElement("dt"), value = document.createElement("dd");
      term.textContent = name;
      value.textContent = text;
      list.append(term, value);
    }
    tip.replaceChildren(title, list);
    const x = event.clientX + 14, y = event.clientY + 14;
    tip.style.left = `${Math.max(4, Math.min(x, window.innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 10 : y}px`;
  }

  // A click narrows the page to what was clicked at, and shows all again.
  function choose(lane, event) {
    const found = find(lane, event);
    if (!found || found.key === undefined) return;
    if (state.keys.size === 1 && state.keys.has(found.key)) state.keys.clear();
    else state.keys = new Set([found.key]);
    tip.hidden = true;
    list_keys();
    view.lay_out();
  }

  // ---- keys

  const totals = new Uint32Array(scene.keys.length);
  for (const key of r.key) totals[key]++;
  const by_size = [...scene.keys.keys()].sort((a, b) => totals[b] - totals[a] || a - b);

  function toggle(key, on) {
    if (!state.keys.size) state.keys = new Set(scene.keys.keys());
    if (on) state.keys.add(key);
    else state.keys.delete(key);
    if (state.keys.size === scene.keys.length) state.keys.clear();
    view.lay_out();
  }

  function list_keys() {
    const part = by_id("search").value.toLowerCase(), list = by_id("keys");
    const found = by_size.filter((n) => scene.keys[n].toLowerCase().includes(part));
    list.replaceChildren(...found.slice(0, view.KEYS_SHOWN).map((n) => {
      const label = document.createElement("label"), box = document.createElement("input");
      const name = document.createElement("span"), total = document.createElement("small");
      box.type = "checkbox";
      box.checked = view.isShown(n);
      box.addEventListener("change", () => toggle(n, box.checked));
      name.textContent = name.title = scene.keys[n];
      total.textContent = totals[n].toLocaleString("en");
      label.append(box, name, total);
      return label;
    }));
    if (found.length > view.KEYS_SHOWN) list.append(`and ${found.length - view.KEYS_SHOWN} more: search for them`);
  }

  function only_found() {
    const part = by_id("search").value.toLowerCase();
    state.keys = new Set([...scene.keys.keys()].filter((n) => scene.keys[n].toLowerCase().includes(part)));
    if (state.keys.size === scene.keys.length) state.keys.clear();
    list_keys();
    view.lay_out();
  }

  // ---- legend and switches

  const MARKS = {
    records: "record", rejected: "rejected, late or not good", windows: "window", panes: "panes: early, on time, late",
    watermark: "watermark",
  };
  const PICTURES = {
    records: '<circle cx="9" cy="5" r="4" fill="var(--s0)"/>',
    rejected: '<path d="M5 1l8 8m0-8l-8 8" stroke="var(--bad)" stroke-width="2" fill="none"/>',
    windows: '<rect x="1" y="1" width="16" height="8" fill="var(--window)" fill-opacity=".15" stroke="var(--window)"/>',
    panes: '<path d="M0 2h5" stroke="var(--early)" stroke-width="2.5"/><path d="M7 5h5" stroke="var(--on_time)" ' +
      'stroke-width="2.5"/><path d="M13 8h5" stroke="var(--late)" stroke-width="2.5"/>',
    watermark: '<path d="M0 9h6v-4h6v-4h6" stroke="var(--water)" stroke-width="2" fill="none"/>',
  };

  function list_marks() {
    for (const [name, text] of Object.entries(MARKS)) {
      const label = document.createElement("label"), box = document.createElement("input");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => {
        state.show[name] = box.checked;
        view.draw_soon();
      });
      label.append(box);
      label.insertAdjacentHTML("beforeend", `<svg class="swatch" viewBox="0 0 18 10">${PICTURES[name]}</svg>`);
      label.append(text);
      by_id("marks").append(label);
    }
    if (scene.sources.length < 2) return;
    scene.sources.slice(0, 6).forEach((source, n) => {
      const dot = `<circle cx="9" cy="5" r="4" fill="var(--s${n})"/>`;
      by_id("sources").insertAdjacentHTML("beforeend",
        `<label><svg class="swatch" viewBox="0 0 18 10">${dot}</svg></label>`);
      by_id("sources").lastChild.append(`source ${source}`);
    });
  }

  function set_theme() {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
      (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    view.read_colours();
    view.draw_soon();
  }

  by_id("facts").append(...scene.facts.map((text) => {
    const span = document.createElement("span");
    span.textContent = text;
    return span;
  }));
  if (scene.left_out)
    by_id("note").textContent = `${scene.left_out} events are missing: the trace had reached its limit`;
  by_id("lanes").value = state.lanes;
  by_id("lanes").addEventListener("change", (event) => {
    state.lanes = event.target.value;
    view.lay_out();
  });
  by_id("whole").addEventListener("click", () => view.zoom_to(d3.zoomIdentity));
  by_id("theme").addEventListener("click", set_theme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    view.read_colours();
    view.draw_soon();
  });
  by_id("search").addEventListener("input", list_keys);
  by_id("only").addEventListener("click", only_found);
  by_id("all").addEventListener("click", () => {
    by_id("search").value = "";
    only_found();
  });
  list_keys();
  list_marks();
  return { tip, hover, choose };
};
