// Draws the scene on canvases, one for each lane, which share one zoom: event time across, the clock or the order of
// arrival up. Everything is worked out once in the coordinates of the whole view; zooming moves and stretches those.
"use strict";
(() => {
  const scene = JSON.parse(document.getElementById("scene").textContent);
  const FATES = ["taken", "taken, behind the watermark", "filtered", "rejected", "rejected", "waiting"];
  const TIMINGS = ["early", "on_time", "late"];
  const LEFT = 62, RIGHT = 12, BOTTOM = 34, TOP = 26, LANES = 8, KEYS_SHOWN = 300, SERIES = 6;
  const r = scene.records, count = r.n.length;
  const notes = new Map(scene.records.notes);
  const state = {
    lanes: scene.lanes || (scene.keys.length > 1 && scene.keys.length <= LANES ? "key" : "none"),
    keys: new Set(), // none: all
    show: { records: true, windows: true, panes: true, watermark: true, rejected: true },
    transform: d3.zoomIdentity,
  };
  let lanes = [], colour = {}, pending = false, width = 0;

  // ---- numbers as people read them

  const PER_US = { s: 1e-6, ms: 1e-3, us: 1, ns: 1e3, tick: 1, rfc3339: 1e-3 };
  const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7,
    1.5e7, 3e7, 6e7, 12e7, 3e8, 6e8, 9e8, 18e8, 36e8, 72e8, 108e8, 216e8, 432e8, 864e8, 1728e8, 6048e8, 2592e9,
    31536e9];
  const YEAR_US = 31536e9;

  const plain = (x) => String(Math.round(x * 1e6) / 1e6);

  function moment(x, unit) {
    const us = x / PER_US[unit];
    if (unit === "tick" || us < YEAR_US || us > 2.5e17) return null;
    return new Date(us / 1e3).toISOString().replace(/\.?0*Z$/, "Z");
  }

  const unit_behind = (x) => (moment(x, scene.unit) ? "" : ` (${scene.unit})`);

  const bound = (x) => (x === null ? "\u221e" : moment(x, scene.unit) || plain(x));

  function ticks(least, most, n, unit) {
    const span = (most - least) / n;
    let step = d3.tickStep(least, most, n);
    if (unit === "tick") step = Math.max(1, step);
    else if (span / PER_US[unit] >= 1) {
      const fit = STEPS.find((s) => s >= span / PER_US[unit]);
      if (fit) step = fit * PER_US[unit];
    }
    const list = [];
    for (let i = Math.ceil(least / step); i * step <= most && list.length < 200; i++) {
      const date = moment(i * step, unit), us = step / PER_US[unit];
      const label = !date ? plain(i * step) : us >= 864e8 ? date.slice(0, 10) : us >= 6e7 ? date.slice(11, 16)
        : date.slice(11).replace("Z", "");
      list.push([i * step, label]);
    }
    return list;
  }

  // ---- lanes

  const isShown = (key) => !state.keys.size || state.keys.has(key);

  function series(i, together) {
    const n = scene.sources.length > 1 ? r.source[i] : together ? r.key[i] : 0;
    return Math.max(n, 0) % SERIES;
  }

  function choices() {
    const shown = scene.keys.map((text, n) => n).filter(isShown);
    if (state.lanes === "key" && shown.length > 1 && shown.length <= LANES)
      return shown.map((n) => ({ name: scene.keys[n], key: n }));
    if (state.lanes === "source" && scene.sources.length > 1 && scene.sources.length <= LANES)
      return scene.sources.map((text, n) => ({ name: `source ${text}`, source: n }));
    return [{ name: shown.length === 1 && scene.keys.length > 1 ? scene.keys[shown[0]] : "" }];
  }

  function isOf(lane, i) {
    if (!isShown(r.key[i])) return false;
    if (lane.key !== undefined) return r.key[i] === lane.key;
    return lane.source === undefined || r.source[i] === lane.source;
  }

  const holds = (lane, key) => isShown(key) && (lane.key === undefined || lane.key === key);

  // Windows of several keys with the same bounds are one box, from the first record of any to when the last is gone.
  function gather(windows) {
    const by_bounds = new Map();
    for (const w of windows) {
      const id = `${w[0]} ${w[1]}`, box = by_bounds.get(id);
      if (!box) {
        by_bounds.set(id, [...w, 1]);
        continue;
      }
      box[2] = Math.min(box[2], w[2]);
      box[3] = Math.max(box[3], w[3]);
      box[5] += w[5];
      box[6] = Math.min(box[6], w[6]);
      box[7]++;
    }
    return [...by_bounds.values()];
  }

  // What stands at each pane: its value, and before that what is taken back with it.
  function label(panes) {
    const list = [];
    let back = "";
    panes.forEach((p, i) => {
      const next = panes[i + 1], text = `${back}${p[7] ? "\u2212" : ""}${p[8]}`;
      const goes_on = p[7] && next && next[0] === p[0] && next[1] === p[1] && next[2] === p[2] && next[3] === p[3];
      back = goes_on ? `${text}  ` : "";
      if (!goes_on) list.push([p, text]);
    });
    return list;
  }

  // The lane's own part of the scene, in pixels of the whole view.
  function fill(lane) {
    const together = lane.key === undefined;
    const own = [];
    for (let i = 0; i < count; i++) if (isOf(lane, i)) own.push(i);
    lane.own = own;
    lane.px = Float64Array.from(own, (i) => (r.time[i] === null ? LEFT + 7 : lane.x(r.time[i])));
    lane.py = Float64Array.from(own, (i) => lane.y(r.up[i]));
    lane.series = Uint8Array.from(own, (i) => series(i, together));
    lane.tree = d3.quadtree().x((at) => lane.px[at]).y((at) => lane.py[at]).addAll(d3.range(own.length));
    lane.windows = scene.windows.filter((w) => holds(lane, w[4]));
    if (together && scene.keys.length > 1) lane.windows = gather(lane.windows);
    lane.panes = scene.panes.filter((p) => holds(lane, p[3]));
    lane.labels = label(lane.panes);
  }

  function lay_out() {
    const main = document.querySelector("main");
    const list = choices();
    width = Math.max(main.clientWidth - 18, 320);
    const height = Math.max(list.length > 1 ? 170 : 300, Math.floor((main.clientHeight - 14) / list.length));
    main.replaceChildren();
    lanes = list.map((lane) => {
      const box = document.createElement("div"), canvas = document.createElement("canvas");
      const name = document.createElement("b"), scale = window.devicePixelRatio || 1;
      box.className = "lane";
      name.textContent = lane.name;
      canvas.width = width * scale;
      canvas.height = height * scale;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      box.append(canvas, name);
      main.append(box);
      Object.assign(lane, { canvas, height, scale,
        x: d3.scaleLinear(scene.x, [LEFT, width - RIGHT]), y: d3.scaleLinear(scene.y, [height - BOTTOM, TOP]) });
      fill(lane);
      d3.select(canvas).call(d3.zoom().scaleExtent([1, 4000])
        .translateExtent([[LEFT, TOP], [width - RIGHT, height - BOTTOM]])
        .extent([[LEFT, TOP], [width - RIGHT, height - BOTTOM]])
        .on("zoom", function (event) { zoom_to((event && event.transform ? event : d3.event).transform); }));
      canvas.addEventListener("mousemove", (event) => hover(lane, event));
      canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
      canvas.addEventListener("click", (event) => choose(lane, event));
      return lane;
    });
    zoom_to(d3.zoomIdentity);
  }

  function zoom_to(transform) {
    state.transform = transform;
    for (const lane of lanes) lane.canvas.__zoom = transform;
    draw_soon();
  }

  // ---- drawing

  function read_colours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["lane", "ink", "dim", "rule", "window", "early", "on_time", "late", "water", "bad", "s0", "s1",
      "s2", "s3", "s4", "s5"]) colour[name] = style.getPropertyValue(`--${name}`).trim();
  }

  function draw_soon() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      for (const lane of lanes) draw(lane);
    });
  }

  // Where things stand after the zoom.
  const across = (lane, x) => state.transform.applyX(lane.x(x));
  const up = (lane, y) => state.transform.applyY(lane.y(y));
  const left_of = (lane, x) => (x === null ? LEFT : across(lane, x));
  const right_of = (lane, x) => (x === null ? width - RIGHT : across(lane, x));

  function draw_frame(c, lane) {
    const x = state.transform.rescaleX(lane.x), y = state.transform.rescaleY(lane.y), foot = lane.height - BOTTOM;
    c.fillStyle = colour.lane;
    c.fillRect(LEFT, TOP, width - LEFT - RIGHT, foot - TOP);
    c.strokeStyle = colour.rule;
    c.fillStyle = colour.dim;
    c.lineWidth = 1;
    c.textAlign = "center";
    c.beginPath();
    for (const [value, label] of ticks(...x.domain(), width / 110, scene.unit)) {
      const at = Math.round(x(value)) + 0.5;
      c.moveTo(at, TOP);
      c.lineTo(at, foot);
      c.fillText(label, at, foot + 15);
    }
    c.textAlign = "right";
    const unit = scene.up === "clock" ? scene.unit : "tick";
    for (const [value, label] of ticks(...y.domain(), lane.height / 48, unit)) {
      const at = Math.round(y(value)) + 0.5;
      c.moveTo(LEFT, at);
      c.lineTo(width - RIGHT, at);
      c.fillText(label, LEFT - 7, at + 4);
    }
    c.stroke();
    c.textAlign = "center";
    c.fillText(`event time${unit_behind(scene.x[0])}`, (LEFT + width) / 2, lane.height - 4);
    c.save();
    c.translate(11, (TOP + foot) / 2);
    c.rotate(-Math.PI / 2);
    c.fillText(scene.up === "clock" ? `processing time${unit_behind(scene.y[0])}` : "order of arrival", 0, 0);
    c.restore();
  }

  // Event time that is as far as the clock.
  function draw_ideal(c, lane) {
    const from = Math.max(scene.x[0], scene.y[0]), to = Math.min(scene.x[1], scene.y[1]);
    if (scene.up !== "clock" || to - from < (scene.x[1] - scene.x[0]) / 4) return;
    c.strokeStyle = colour.dim;
    c.setLineDash([1, 5]);
    c.beginPath();
    c.moveTo(across(lane, from), up(lane, from));
    c.lineTo(across(lane, to), up(lane, to));
    c.stroke();
    c.setLineDash([]);
  }

  function draw_windows(c, lane) {
    const many = lane.windows.length > 4000;
    c.lineWidth = 1;
    for (const w of lane.windows) {
      const left = left_of(lane, w[0]) + 1, right = right_of(lane, w[1]) - 1;
      const top = up(lane, w[3]), bottom = up(lane, w[2]);
      if (right < LEFT || left > width || bottom < TOP || top > lane.height) continue;
      const wide = Math.max(right - left, 1), high = Math.max(bottom - top, 1.5);
      c.globalAlpha = w[6] === 2 ? 0.03 : many ? 0.05 : 0.09;
      c.fillStyle = colour.window;
      c.fillRect(left, top, wide, high);
      if (wide < 3 || high < 3) continue;
      c.globalAlpha = many ? 0.3 : 0.55;
      c.strokeStyle = colour.window;
      c.setLineDash(w[6] === 2 ? [3, 3] : []);
      c.strokeRect(left, top, wide, high);
    }
    c.globalAlpha = 1;
    c.setLineDash([]);
  }

  function draw_watermark(c, lane) {
    const steps = scene.watermark;
    if (!steps.length) return;
    c.strokeStyle = colour.water;
    c.lineWidth = 2.25;
    c.lineJoin = "round";
    c.beginPath();
    c.moveTo(across(lane, scene.x[0]), up(lane, scene.y[0]));
    c.lineTo(across(lane, scene.x[0]), up(lane, steps[0][0]));
    steps.forEach((step, i) => {
      if (i) c.lineTo(across(lane, steps[i - 1][1]), up(lane, step[0]));
      c.lineTo(across(lane, step[1]), up(lane, step[0]));
    });
    const last = steps[steps.length - 1][1];
    if (scene.finish === undefined) {
      c.lineTo(across(lane, last), up(lane, scene.y[1]));
    } else {
      c.lineTo(across(lane, last), up(lane, scene.finish));
      c.lineTo(across(lane, scene.x[1]), up(lane, scene.finish));
    }
    c.stroke();
  }

  // The end of the input, and sources that no longer hold the watermark.
  function draw_silences(c, lane) {
    const say = (at, text) => {
      const y = Math.round(up(lane, at)) + 0.5;
      c.beginPath();
      c.moveTo(LEFT, y);
      c.lineTo(width - RIGHT, y);
      c.stroke();
      c.fillText(text, LEFT + 8, y - 5);
    };
    c.strokeStyle = c.fillStyle = colour.dim;
    c.lineWidth = 1;
    c.textAlign = "left";
    c.setLineDash([4, 4]);
    if (scene.finish !== undefined) say(scene.finish, "end of the input");
    for (const [at, source, kind] of scene.silences)
      if (lane.source === undefined || lane.source === source) say(at, `source ${scene.sources[source]} is ${kind}`);
    c.setLineDash([]);
  }

  function draw_panes(c, lane) {
    c.lineWidth = 2.5;
    TIMINGS.forEach((name, timing) => {
      c.strokeStyle = colour[name];
      c.beginPath();
      for (const p of lane.panes) {
        if (p[5] !== timing) continue;
        const y = up(lane, p[2]);
        if (y < TOP - 2 || y > lane.height) continue;
        c.moveTo(left_of(lane, p[0]) + 3, y);
        c.lineTo(Math.max(right_of(lane, p[1]) - 3, left_of(lane, p[0]) + 4), y);
      }
      c.stroke();
    });
  }

  // Values where there is room for them: none covers another.
  function draw_values(c, lane) {
    const taken = new Set();
    c.font = "650 12px system-ui, sans-serif";
    c.textAlign = "center";
    c.lineWidth = 4;
    c.lineJoin = "round";
    c.strokeStyle = colour.lane;
    for (let i = lane.labels.length - 1; i >= 0; i--) {
      const [p, text] = lane.labels[i], y = up(lane, p[2]) - 5;
      const left = left_of(lane, p[0]), right = right_of(lane, p[1]);
      if (right - left < 14 || y < TOP || y > lane.height || right < LEFT || left > width) continue;
      const x = (Math.max(left, LEFT) + Math.min(right, width)) / 2, room = c.measureText(text).width;
      const from = Math.floor((x - room / 2) / 12), to = Math.floor((x + room / 2) / 12);
      const lines = [Math.floor((y - 10) / 7), Math.floor((y - 3) / 7)];
      let free = true;
      for (let cell = from; cell <= to && free; cell++)
        free = !lines.some((line) => taken.has(line * 4096 + cell));
      if (!free) continue;
      for (let cell = from; cell <= to; cell++) for (const line of lines) taken.add(line * 4096 + cell);
      c.strokeText(text, x, y);
      c.fillStyle = colour[TIMINGS[p[5]]];
      c.fillText(text, x, y);
    }
    c.font = "12px system-ui, sans-serif";
  }

  // Dots of one colour are one path; where there are very many they are squares.
  function draw_records(c, lane) {
    const t = state.transform, size = Math.max(1.2, Math.min(4, 4 * Math.sqrt(2500 * t.k / (lane.own.length + 1))));
    const dots = Array.from({ length: SERIES + 1 }, () => []), crosses = [], rings = [], hollow = [];
    for (let at = 0; at < lane.own.length; at++) {
      const x = t.applyX(lane.px[at]), y = t.applyY(lane.py[at]);
      if (x < LEFT - 5 || x > width + 5 || y < TOP - 5 || y > lane.height) continue;
      const fate = r.fate[lane.own[at]];
      if (fate === 3 || fate === 4) crosses.push(x, y);
      else if (fate === 2) hollow.push(x, y);
      else if (fate === 1 && size < 2) dots[SERIES].push(x, y);
      else dots[lane.series[at]].push(x, y);
      if (fate === 1) rings.push(x, y);
    }
    dots.forEach((list, n) => {
      c.fillStyle = n === SERIES ? colour.late : colour[`s${n}`];
      c.beginPath();
      for (let i = 0; i < list.length; i += 2) {
        if (size < 2) {
          c.rect(list[i] - size, list[i + 1] - size, 2 * size, 2 * size);
        } else {
          c.moveTo(list[i] + size, list[i + 1]);
          c.arc(list[i], list[i + 1], size, 0, 2 * Math.PI);
        }
      }
      c.fill();
    });
    const circles = (list, name, wide) => {
      c.strokeStyle = colour[name];
      c.lineWidth = wide;
      c.beginPath();
      for (let i = 0; i < list.length; i += 2) {
        c.moveTo(list[i] + size + 0.5, list[i + 1]);
        c.arc(list[i], list[i + 1], size + 0.5, 0, 2 * Math.PI);
      }
      c.stroke();
    };
    circles(hollow, "dim", 1.25);
    if (size >= 2) circles(rings, "late", 2);
    if (!state.show.rejected) return;
    c.strokeStyle = colour.bad;
    c.lineWidth = size < 2 ? 1.25 : 2;
    c.beginPath();
    for (let i = 0; i < crosses.length; i += 2) {
      const x = crosses[i], y = crosses[i + 1];
      c.moveTo(x - size, y - size);
      c.lineTo(x + size, y + size);
      c.moveTo(x - size, y + size);
      c.lineTo(x + size, y - size);
    }
    c.stroke();
  }

  function draw(lane) {
    const c = lane.canvas.getContext("2d");
    c.setTransform(lane.scale, 0, 0, lane.scale, 0, 0);
    c.clearRect(0, 0, width, lane.height);
    c.font = "12px system-ui, sans-serif";
    draw_frame(c, lane);
    c.save();
    c.beginPath();
    c.rect(LEFT, TOP, width - LEFT - RIGHT, lane.height - BOTTOM - TOP);
    c.clip();
    draw_ideal(c, lane);
    if (state.show.windows) draw_windows(c, lane);
    if (state.show.watermark) {
      draw_silences(c, lane);
      draw_watermark(c, lane);
    }
    if (state.show.panes) draw_panes(c, lane);
    if (state.show.records) draw_records(c, lane);
    if (state.show.panes) draw_values(c, lane);
    c.restore();
  }

  window.lunette = { scene, state, notes, FATES, TIMINGS, LEFT, KEYS_SHOWN, isShown, lay_out, zoom_to, draw_soon, bound,
    read_colours, across, up, left_of, right_of, lanes: () => lanes, width: () => width };
  const { tip, hover, choose } = window.lunette_panel(window.lunette);
  read_colours();
  lay_out();
  window.addEventListener("resize", lay_out);
})();
