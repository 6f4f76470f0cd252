// Opens each page of `jobs` in a frame, inspects it in windows of several widths, and posts a list of faults for each job.

const UNIT = /\d (?:%|[kMGTPµmn]?(?:B|s|elem|FLOP|elem\/s|B\/s|FLOP\/s|keys\/s|Hz)|[KMG]iB|px|ulp|ns)(?![\w/])/g;

// Text that is meant for screen readers or that a click opens.
const HIDDEN = ".visually-hidden, .skip-to-content, .sidebar-toggle, [aria-hidden=true], .headerlink, .toctree-checkbox, details:not([open]) > :not(summary)";

const near = (a, b) => Math.abs(a - b) <= 1.5;
const briefly = text => text.trim().replace(/\s+/g, " ").slice(0, 60);

function inspect(frame, width, faults) {
    const document = frame.contentDocument, window = frame.contentWindow, root = document.documentElement, body = document.body;
    const styles = new Map(), style = e => styles.get(e) ?? (styles.set(e, window.getComputedStyle(e)), styles.get(e));
    const report = (kind, what) => {
        if (!faults.some(f => f.kind === kind && f.what === what && f.window === width)) faults.push({kind, what, window: width});
    };
    const frame_of = body.getBoundingClientRect();
    if (root.scrollWidth > window.innerWidth) report("wide page", `${root.scrollWidth} px in ${window.innerWidth}`);
    if (!near(frame_of.left, 0) || !near(frame_of.right, window.innerWidth) || parseFloat(style(body).marginTop) > 0)
        report("frame", `the body is ${frame_of.left} to ${frame_of.right} of ${window.innerWidth} px, its margin ${style(body).margin}`);

    // Drawers that are outside of a narrow window.
    const away = [...document.querySelectorAll(".sidebar-drawer, .toc-drawer, .mobile-header")].filter(e => {
        const box = e.getBoundingClientRect();
        return box.width === 0 || box.right <= 1 || box.left >= window.innerWidth - 1;
    });
    const is_hidden = e => e.closest(HIDDEN) || away.some(drawer => drawer.contains(e)) || !e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});

    const scrolls = e => ["auto", "scroll"].includes(style(e).overflowX);
    const clips = e => ["hidden", "clip"].includes(style(e).overflowX);
    // Lines of text and pictures with their visible boxes.
    const lines = [];
    const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const is_text = node.nodeType === Node.TEXT_NODE;
        if (is_text ? !node.data.trim() : node.tagName !== "IMG") continue;
        const element = is_text ? node.parentElement : node;
        if (["SCRIPT", "STYLE", "TITLE", "DESC", "NOSCRIPT"].includes(element.tagName) || is_hidden(element)) continue;
        if (is_text) range.selectNodeContents(node);
        for (const box of is_text ? range.getClientRects() : [node.getBoundingClientRect()]) {
            if (box.width < 1 || box.height < 1) continue;
            let left = 0, right = window.innerWidth, inside = false, cut = false;
            for (let e = element; e && e !== root; e = e.parentElement) {
                const outer = e.getBoundingClientRect();
                if (e !== element || is_text) {
                    if (scrolls(e)) {
                        inside = true;  // its overflow is reported for the scrolling element
                        if (outer.left < -1.5 || outer.right > window.innerWidth + 1.5) report("outside", briefly(e.textContent));
                        break;
                    }
                    if (clips(e) && (box.right > outer.right + 1.5 || box.left < outer.left - 1.5)) cut = true;
                }
                if (style(e).position === "fixed") break;
            }
            if (cut) report("clipped", briefly(is_text ? node.data : node.src));
            else if (!inside && (box.left < left - 1.5 || box.right > right + 1.5)) report("outside", briefly(is_text ? node.data : node.src));
            lines.push({box, element, text: is_text ? briefly(node.data) : node.src, scrolled: inside});
        }
        if (is_text && node.parentElement.closest("td, th")) {
            for (const match of node.data.matchAll(UNIT)) {
                range.setStart(node, match.index);
                range.setEnd(node, match.index + match[0].length);
                const tops = new Set([...range.getClientRects()].map(r => Math.round(r.top)));
                if (tops.size > 1) report("split number", briefly(node.data.slice(Math.max(0, match.index - 8), match.index + match[0].length)));
            }
        }
    }

    // Lines that overlap by more than the height of accents. Fixed and sticky elements cover others on purpose.
    const is_sticky = e => { for (; e && e !== body; e = e.parentElement) if (["fixed", "sticky"].includes(style(e).position)) return e; return null; };
    const flow = lines.filter(line => !line.scrolled && !is_sticky(line.element)).sort((a, b) => a.box.top - b.box.top);
    for (let i = 0; i < flow.length; ++i) {
        for (let k = i + 1; k < flow.length && flow[k].box.top < flow[i].box.bottom; ++k) {
            const a = flow[i].box, b = flow[k].box;
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && high > 0.5 * Math.min(a.height, b.height)) report("overlap", `${flow[i].text} | ${flow[k].text}`);
        }
    }
    // Columns of the page.
    const columns = [...document.querySelectorAll(".sidebar-drawer, .content, .toc-drawer")].filter(e => !is_hidden(e)).map(e => e.getBoundingClientRect());
    for (let i = 1; i < columns.length; ++i) {
        if (columns[i - 1].right > columns[i].left + 1.5) report("overlap", `columns: ${columns[i - 1].right} > ${columns[i].left}`);
    }

    for (const e of document.querySelectorAll("pre, table, div, section")) {
        if (is_hidden(e) || !scrolls(e) || e.scrollWidth <= e.clientWidth + 1 || e.closest(".sidebar-drawer, .toc-drawer")) continue;
        const table = e.querySelector("table");
        if (e.querySelector("pre, table, p") && e.matches(".content, .main, .page, article, section"))
            report("wide page", `${e.scrollWidth} px in ${e.clientWidth}: ${e.className}`);
        else if (width >= 1280)
            report(table ? "scrolling table" : "scrolling code", `${e.scrollWidth} px in ${e.clientWidth}: ${briefly(e.textContent)}`);
    }
}

// The contrast of text with its background, in one theme. Transparent backgrounds show those below.
function inspect_colours(frame, theme, faults) {
    const document = frame.contentDocument, window = frame.contentWindow;
    document.body.dataset.theme = theme;
    const parts = text => text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const seen = new Set();
    for (const e of document.querySelectorAll("h1, h2, h3, p, li, td, th, a, code, pre, pre span, dt, dd, button, label, summary")) {
        const text = [...e.childNodes].find(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
        if (!text || e.closest(HIDDEN) || !e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})) continue;
        let back = null;
        for (let b = e; b && !back; b = b.parentElement) {
            const colour = parts(window.getComputedStyle(b).backgroundColor);
            if (colour.length === 3 || colour[3] > 0.5) back = colour;
        }
        const front = window.getComputedStyle(e).color, key = front + back;
        if (seen.has(key)) continue;
        seen.add(key);
        const [a, b] = [light(parts(front)), light(back ?? [255, 255, 255])];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 3) faults.push({kind: "low contrast", window: theme, what: `${ratio.toFixed(1)}: ${front} on ${back}: ${briefly(text.data)}`});
    }
}

// Letters of drawings, as small as the narrowest window shows them.
async function inspect_drawings(frame, width, faults) {
    for (const image of frame.contentDocument.querySelectorAll(".content img, body > img")) {
        if (!/\.svg|image\/svg/.test(image.src)) continue;
        const box = image.getBoundingClientRect();
        const inner = document.createElement("iframe");  // shows the drawing with its style sheet at this size
        inner.style.cssText = `width: ${box.width}px; height: ${box.height}px; border: 0`;
        inner.srcdoc = `<style>body { margin: 0 } svg { width: 100%; height: auto }</style>` + await (await fetch(image.src)).text();
        const loaded = new Promise(done => inner.onload = done);
        document.body.append(inner);
        await loaded;
        for (const text of inner.contentDocument.querySelectorAll("text")) {
            if (!text.checkVisibility() || !text.textContent.trim()) continue;
            const size = parseFloat(inner.contentWindow.getComputedStyle(text).fontSize) * text.getScreenCTM().a;
            if (size < 7) {
                faults.push({kind: "small letters", window: width, what: `${size.toFixed(1)} px in ${image.src.split("/").pop().slice(0, 30)}`});
                break;
            }
        }
        inner.remove();
    }
}

async function run() {
    const result = [];
    for (const job of jobs) {
        const faults = [], frame = document.createElement("iframe");
        frame.style.cssText = `width: ${job.widths[0]}px; height: 900px; border: 0`;
        const failed = what => faults.push({kind: "error", what, window: job.widths[0]});
        document.body.replaceChildren(frame);
        frame.src = job.page;
        await new Promise(done => frame.onload = done);
        await frame.contentDocument.fonts.ready;
        for (const width of job.widths) {
            frame.style.width = width + "px";
            await new Promise(done => frame.contentWindow.requestAnimationFrame(() => setTimeout(done)));
            try {
                inspect(frame, width, faults);
                await inspect_drawings(frame, width, faults);
            } catch (error) {
                failed(error.stack);
            }
        }
        frame.contentWindow.errors.forEach(failed);
        for (const theme of ["light", "dark"]) inspect_colours(frame, theme, faults);
        result.push(faults);
    }
    await fetch("/layout-test/", {method: "POST", body: JSON.stringify(result)});
}
addEventListener("load", run);
