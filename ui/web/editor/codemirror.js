// What ui/web/editor.js takes from CodeMirror.
export { indentWithTab } from "@codemirror/commands";
export { cpp } from "@codemirror/lang-cpp";
export { indentUnit, syntaxHighlighting } from "@codemirror/language";
export { lintGutter, setDiagnostics } from "@codemirror/lint";
export { EditorState } from "@codemirror/state";
export { Decoration, EditorView, keymap, MatchDecorator, ViewPlugin } from "@codemirror/view";
export { tagHighlighter, tags } from "@lezer/highlight";
export { basicSetup } from "codemirror";
