// The component of the Write page: an editor that tells Python of its text, and shows what is wrong.
import { addressAtServer, updateMounted } from "./component.js";

const PAUSE_MS = 120; // after the last key, before Python hears of the text
const STORED = "tilewise_text"; // in the tab's own storage: a reload loses nothing
const CUDA = new RegExp(
  "\\b(?:__(?:global|device|shared|constant|host|restrict|forceinline|noinline|launch_bounds)__|" +
    "__sync(?:threads|warp)(?:_\\w+)?|(?:thread|block)Idx|(?:block|grid)Dim|warpSize)\\b",
  "g",
);

const isReloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
let isFirst = true; // editor since the page was loaded

function mount(parent) {
  const root = parent.querySelector(".editor");
  const list = parent.querySelector(".problems");
  const app = {
    component: null, view: null, number: null, opened: "", version: 0, heard: -1, reporting: null,
  };

  function report() {
    clearTimeout(app.reporting);
    app.reporting = null;
    if (app.heard === app.version) return;
    app.heard = app.version;
    const text = app.view.state.doc.toString();
    const { number, opened } = app;
    try {
      sessionStorage.setItem(STORED, JSON.stringify({ number, opened, text }));
    } catch (error) {
      console.warn(error); // a browser that keeps nothing, or whose room is full
    }
    app.component.setStateValue("text", { number, version: app.version, text });
  }

  function ask() {
    report();
    app.component.setTriggerValue("asked", true);
    return true;
  }

  function changed() {
    app.version += 1;
    list.classList.add("stale");
    clearTimeout(app.reporting);
    app.reporting = setTimeout(report, PAUSE_MS);
  }

  function open(code, { text, name }) {
    const colours = code.tagHighlighter([
      { tag: [code.tags.keyword, code.tags.typeName, code.tags.modifier], class: "word" },
      { tag: [code.tags.number, code.tags.string, code.tags.character], class: "number" },
      { tag: [code.tags.comment], class: "comment" },
      { tag: [code.tags.processingInstruction, code.tags.macroName], class: "macro" },
    ]);
    const words = new code.MatchDecorator({
      regexp: CUDA,
      decoration: code.Decoration.mark({ class: "cuda" }),
    });
    const cuda = code.ViewPlugin.define(
      (view) => ({
        found: words.createDeco(view),
        update(change) {
          this.found = words.updateDeco(change, this.found);
        },
      }),
      { decorations: (plugin) => plugin.found },
    );
    return new code.EditorView({
      parent: root,
      state: code.EditorState.create({
        doc: text,
        extensions: [
          code.keymap.of([{ key: "Mod-Enter", run: ask }]),
          code.basicSetup,
          code.keymap.of([code.indentWithTab]),
          code.indentUnit.of("    "),
          code.EditorState.tabSize.of(4),
          code.cpp(),
          code.syntaxHighlighting(colours),
          cuda,
          code.lintGutter(),
          code.EditorView.contentAttributes.of({
            "aria-label": name,
            tabindex: "0",
            "aria-description": "Escape, then Tab, leaves the editor.",
          }),
          code.EditorView.updateListener.of((update) => {
            if (update.docChanged) changed();
            if (update.focusChanged && !update.view.hasFocus && app.reporting) report();
          }),
        ],
      }),
    });
  }

  // Another text takes the place of the whole one; Undo brings that back.
  function replace(text) {
    const { view } = app;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }

  function mark(code, problems) {
    const { view } = app;
    const end = view.state.doc.length;
    const marks = problems.map(({ start, end: stop, severity, message }) => ({
      from: Math.min(start, end), to: Math.min(stop, end), severity, message,
    }));
    view.dispatch(code.setDiagnostics(view.state, marks));
    list.replaceChildren(...problems.filter(({ severity, fix }) => severity === "error" || fix).map(item));
    list.classList.remove("stale");
    const [first] = problems;
    if (first) {
      const place = Math.min(first.start, end);
      view.dispatch({ effects: code.EditorView.scrollIntoView(place, { y: "nearest", yMargin: 40 }) });
    }
  }

  function item({ start, severity, line, place: written, message, hint, fix }) {
    const entry = document.createElement("li");
    entry.className = severity;
    const place = entry.appendChild(document.createElement("button"));
    place.textContent = written || `line ${line}`;
    place.onclick = () => go(start);
    entry.append(` ${message} ${hint}`);
    if (fix) {
      const mend = entry.appendChild(document.createElement("button"));
      mend.className = "fix";
      mend.textContent = fix.label;
      mend.onclick = () => {
        const changes = fix.changes.map(({ start, end, text }) => ({ from: start, to: end, insert: text }));
        app.view.dispatch({ changes });
        app.view.focus();
      };
    }
    return entry;
  }

  function go(place) {
    app.view.dispatch({ selection: { anchor: place }, scrollIntoView: true });
    app.view.focus();
  }

  // The visitor's text: after a reload whatever was there, else that of the same document. Another
  // address in the same tab is another visit: its documents are numbered from the start again.
  function stored({ number, text }) {
    const isAny = isReloaded && isFirst;
    isFirst = false;
    try {
      const found = JSON.parse(sessionStorage.getItem(STORED));
      const isSame = found && found.number === number && found.opened === text;
      return typeof found?.text === "string" && (isAny || isSame) ? found.text : null;
    } catch {
      return null;
    }
  }

  app.update = (component) => {
    app.component = component;
    app.code ??= import(addressAtServer(component.data.module));
    app.code.then((code) => show(code, component.data), () => {
      root.textContent = "The editor's script did not come from the server. Reload the page.";
    });
  };

  function show(code, { document: text, checked }) {
    if (app.view === null) {
      const kept = stored(text);
      root.replaceChildren();
      app.view = open(code, { ...text, text: kept ?? text.text });
      [app.number, app.opened] = [text.number, text.text];
      if (kept !== null && kept !== text.text) changed();
    } else if (app.number !== text.number) {
      [app.number, app.opened] = [text.number, text.text];
      replace(text.text);
    }
    if (checked && checked.number === app.number && checked.version === app.version) {
      const asked = JSON.stringify(checked);
      if (app.marked !== asked) mark(code, checked.problems);
      app.marked = asked;
    }
  }

  app.close = () => {
    clearTimeout(app.reporting);
    app.view?.destroy();
  };
  return app;
}

export default (component) => updateMounted(component, mount);
