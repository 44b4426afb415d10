// Keys, live counts and forms without a reload. Every screen works without this file.
(() => {
  const $ = (s, p = document) => [...p.querySelectorAll(s)];
  const says = document.body.dataset;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const isNew = zone && !document.cookie.includes("tidings-zone=" + zone);
  if (isNew) document.cookie = "tidings-zone=" + zone + ";path=/;max-age=31536000;samesite=strict";

  // On a phone the menu, and a row of views, are wider than the screen: show the present entry
  const reveal = () => {
    const nav = document.querySelector(".top nav"), entry = nav.querySelector("[aria-current]");
    if (entry) nav.scrollLeft = entry.offsetLeft + entry.offsetWidth / 2 - nav.clientWidth / 2;
    $(".seg").forEach(seg => {
      const one = seg.querySelector("[aria-current]");
      if (one) seg.scrollLeft = one.offsetLeft + one.offsetWidth / 2 - seg.offsetLeft - seg.clientWidth / 2;
    });
  };
  reveal();

  // Unread changes, as they come: in the title, in the menu, and as a line above the inbox
  let shown = Number(document.body.dataset.unread);
  const tell = unread => {
    document.title = (unread ? `(${unread}) ` : "") + document.body.dataset.title + " · Tidings";
    const entry = document.querySelector(".top nav a");
    let badge = entry.querySelector("b");
    if (!badge) { badge = document.createElement("b"); badge.className = "sea"; entry.append(" ", badge); }
    badge.textContent = unread ? unread.toLocaleString("en") : "";
    if (unread) { const said = document.createElement("span"); said.className = "sr"; said.textContent = " " + says.sayUnread; badge.append(said); }
    const fresh = unread - shown;
    let line = document.querySelector("[data-fresh]");
    if (fresh > 0 && location.pathname === "/") {
      if (!line) { line = document.createElement("p"); line.dataset.fresh = ""; line.className = "note"; line.setAttribute("role", "status"); document.querySelector("main").prepend(line); }
      const link = document.createElement("a");
      link.href = "/"; link.textContent = fresh === 1 ? says.sayNew : says.sayMore.replace("%", fresh);
      line.replaceChildren(link);
    }
  };
  const foot = document.querySelector("[data-live]");
  let said = foot.textContent;
  const source = new EventSource("/live");
  source.addEventListener("unread", e => { foot.textContent = said; tell(Number(e.data)); });
  source.onerror = () => { foot.textContent = says.sayLost; };

  // Two screenshots over one another; without this file they stand side by side
  const slide = () => $("[data-slider]").forEach(both => {
    const edge = both.querySelector("input");
    edge.hidden = false;
    both.classList.add("on");
    const draw = () => both.style.setProperty("--at", edge.value + "%");
    edge.addEventListener("input", draw);
    draw();
  });
  slide();

  // A check is made soon: show its result, but never under the fingers of somebody who writes
  const seek = (wait = 1500) => {
    if (document.querySelector("[data-soon]")) setTimeout(() => {
      const writes = document.activeElement.matches("main :is(textarea, input, select)") || document.querySelector("main .pop[open]")
        || $("main :is(textarea, input)").some(one => one.value !== one.defaultValue);
      (writes || document.hidden ? Promise.resolve() : put(location.href)).then(() => seek(Math.min(1.15 * wait, 20_000)));
    }, wait);
  };

  // Forms of lists are sent in the background, and the screen is put in place where it was
  const put = async (address, options) => {
    const answer = await fetch(address, options);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const at = document.querySelector(".current")?.id;
    document.querySelector("main").replaceWith(page.querySelector("main"));
    document.querySelector(".top").replaceWith(page.querySelector(".top"));
    document.body.dataset.unread = page.body.dataset.unread;
    shown = Number(page.body.dataset.unread);
    tell(shown);
    reveal();
    slide();
    if (at) document.getElementById(at)?.classList.add("current");
  };
  if (isNew && !foot.dataset.live && location.pathname !== "/new") put(location.href).then(() => { foot.textContent = said = says.sayZone.replace("%", zone); });

  seek();

  // A picture to share: SVG as it comes, PNG where a script can draw it
  addEventListener("click", e => {
    const link = e.target.closest?.("[data-png]");
    if (!link) return;
    e.preventDefault();
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * image.width; canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      const made = document.createElement("a");
      made.href = canvas.toDataURL("image/png"); made.download = "change.png"; made.click();
    };
    image.src = link.href;
  });

  // What is opened is read: a form is sent, since to ask for a page alone changes nothing
  const reads = document.querySelector("[data-reads]");
  if (reads) fetch(location.pathname, { method: "POST", body: new URLSearchParams({ act: "read" }), redirect: "manual", keepalive: true }).then(answer => {
    if (answer.type !== "opaqueredirect") return;
    shown = Math.max(0, shown - 1);
    tell(shown);
    reads.value = "unread"; reads.textContent = says.sayMark;
  });
  addEventListener("submit", e => {
    const form = e.target;
    if (!form.matches("[data-items]") || form.method !== "post") return;
    e.preventDefault();
    const body = new URLSearchParams(new FormData(form, e.submitter));
    put(form.action, { method: "POST", body }).catch(() => form.submit());
  });
  addEventListener("change", e => {
    if (e.target.matches("[data-all]")) $("tbody [type=checkbox]", e.target.closest("table")).forEach(b => { b.checked = e.target.checked; });
    else if (e.target.matches("form [name=monitor]") && e.target.form.elements.url.value) e.target.form.requestSubmit();
  });

  // Keys
  const list = () => $(".item[id], .list tbody tr").filter(e => e.offsetParent);
  const current = () => document.querySelector(".current");
  const move = by => {
    const all = list(), now = all.indexOf(current()), next = all[Math.max(0, Math.min(all.length - 1, now + by))];
    if (!next) return false;
    all.forEach(e => e.classList.remove("current"));
    next.classList.add("current");
    next.scrollIntoView({ block: "nearest" });
    next.querySelector("h4 a, a.n")?.focus({ preventScroll: true });
    return true;
  };
  const keyed = key => [...(current() ? $(`[data-key="${key}"]`, current()) : []), ...$(`[data-key="${key}"]`)][0];
  const go = { i: "/", s: "/sentinels", p: "/plan", h: "/health", e: "/settings" };
  let g = false;
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|TEXTAREA|SELECT/.test(e.target.tagName) && e.target.type !== "checkbox") return;
    const k = e.key;
    if (g && go[k]) { location.href = go[k]; return; }
    g = k === "g";
    if (k === "j" || k === "n") { if (!move(1)) keyed("j")?.click(); }
    else if (k === "k" || k === "p") { if (!move(-1)) keyed("k")?.click(); }
    else if (k === "o") current()?.querySelector("h4 a, a.n")?.click();
    else if (k === "x") current()?.querySelector("[type=checkbox]")?.click();
    else if (k === "/") { e.preventDefault(); document.querySelector("[type=search]")?.focus(); }
    else if (k === "+") location.href = "/new";
    else if (k === "?") { const d = document.querySelector("footer details"); d.open = !d.open; d.querySelector("summary").focus(); }
    else if (["m", "f", "v", "A", "R", "h", "l"].includes(k)) keyed(k)?.click();
  });
  addEventListener("click", e => $("details.pop[open]").forEach(d => { if (!d.contains(e.target)) d.open = false; }));
})();
