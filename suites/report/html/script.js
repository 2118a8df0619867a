"use strict";
(() => {
  const form = document.getElementById("filter");
  const query = document.getElementById("query");
  const area = document.getElementById("area");
  const shown = document.getElementById("shown");
  const boxes = [...form.querySelectorAll("input[name=outcome]")];
  const cases = [...document.querySelectorAll("details.case")];
  const text = new Map(cases.map((c) => [c, c.textContent.toLowerCase()]));

  const apply = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const picked = new Set(boxes.filter((b) => b.checked).map((b) => b.value));
    let n = 0;
    for (const c of cases) {
      const show = words.every((w) => text.get(c).includes(w)) &&
        (area.value === "" || c.dataset.area === area.value) &&
        (picked.size === 0 || picked.has(c.dataset.outcome));
      c.hidden = !show;
      if (show) n++;
    }
    for (const s of document.querySelectorAll("section.area")) {
      s.hidden = !s.querySelector("details.case:not([hidden])");
    }
    shown.textContent = `${n} of ${cases.length} checks shown`;
  };

  const all = (open) => { for (const c of cases) if (!c.hidden) c.open = open; };
  const jump = () => {
    const c = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (c && c.matches("details.case")) { c.hidden = false; c.open = true; c.scrollIntoView(); }
  };

  form.addEventListener("input", apply);
  form.addEventListener("submit", (e) => e.preventDefault());
  document.getElementById("open").addEventListener("click", () => all(true));
  document.getElementById("close").addEventListener("click", () => all(false));
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && !e.ctrlKey && !e.metaKey && !/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) {
      e.preventDefault();
      query.focus();
    }
  });
  let before = [];
  addEventListener("beforeprint", () => { before = cases.map((c) => c.open); all(true); });
  addEventListener("afterprint", () => cases.forEach((c, i) => { c.open = before[i]; }));
  addEventListener("hashchange", jump);
  form.hidden = false;
  apply();
  jump();
})();
