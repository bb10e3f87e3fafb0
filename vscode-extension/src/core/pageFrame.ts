// The frame of Longpole's pages: head, policy, and styles in the theme's colours. A page runs the one script that it is made with, which
// a nonce tells from all others, and loads nothing else, from nowhere; what it shows comes by message.
import { randomBytes } from 'node:crypto';

export interface Page {
  readonly title: string;
  /** Besides those that all pages share. */
  readonly styles: string;
  readonly body: string;
  /** Its text; or where it is, as the webview names it. */
  readonly script: string | { readonly source: string };
}

const commonStyles = `a { color: var(--vscode-textLink-foreground); text-decoration: none; cursor: pointer; }
a:hover { text-decoration: underline; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet { color: var(--vscode-descriptionForeground); font-weight: normal; }
.problem { color: var(--vscode-errorForeground); white-space: pre-wrap; overflow-wrap: anywhere; }
:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 1px; }`;

export function page({ title, styles, body, script }: Page): string {
  const nonce = randomBytes(16).toString('base64');
  const tag = typeof script === 'string' ? `<script nonce="${nonce}">\n${script}\n</script>` : `<script nonce="${nonce}" src="${script.source}"></script>`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'">
<title>${title}</title>
<style nonce="${nonce}">
${commonStyles}
${styles}
</style>
</head>
<body>
${body}
${tag}
</body>
</html>`;
}

/** Of pages that are read from top to bottom. */
export const textStyles = `body { padding: 8px 28px 40px; max-width: 900px; }
h1 { font-size: 1.5em; font-weight: 600; margin: 0.7em 0 0.2em; }
h2 { font-size: 1.05em; font-weight: 600; margin: 2em 0 0.6em; }
p { margin: 0.3em 0; }
.headline { color: var(--vscode-longpole-heat8); font-weight: 400; margin-left: 0.5em; }
svg { display: block; width: 100%; font-family: var(--vscode-font-family); font-size: 12px; }
.grid { stroke: var(--vscode-foreground); stroke-opacity: 0.18; stroke-width: 1; }
.axis { fill: var(--vscode-descriptionForeground); }
.axis.chosen { fill: var(--vscode-foreground); font-weight: 600; }
.ideal { stroke: var(--vscode-descriptionForeground); stroke-width: 1.2; stroke-dasharray: 5 4; }
.curve { fill: none; stroke: var(--vscode-longpole-heat8); stroke-width: 2.2; stroke-linejoin: round; }
.dot { fill: var(--vscode-longpole-heat8); }
.dot.chosen { stroke: var(--vscode-editor-background); stroke-width: 2; }
.strip { fill: var(--vscode-longpole-heat8); fill-opacity: 0.22; }
.strip.odd { fill: var(--vscode-descriptionForeground); fill-opacity: 0.22; }
.leader { fill: var(--vscode-foreground); font-size: 11px; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 3px 8px; text-align: right; font-variant-numeric: tabular-nums; font-weight: normal; }
th[scope=row], thead th:first-child { text-align: left; }
tbody tr:hover { background: var(--vscode-list-hoverBackground); }
.speedups td, .speedups th { color: var(--vscode-descriptionForeground); border-bottom: 1px solid var(--vscode-panel-border, #8884); }
td.chosen, .speedups td.chosen { color: var(--vscode-foreground); font-weight: 600; background: var(--vscode-longpole-barBackground); }
.barcell { width: 24%; }
.bar { height: 8px; }
.bar rect { fill: var(--vscode-longpole-heat8); }
button { font: inherit; color: var(--vscode-textLink-foreground); background: none; border: 0; padding: 2px 4px; cursor: pointer; border-radius: 3px; }
.ways { margin-left: -4px; }
button[aria-pressed=true] { color: var(--vscode-foreground); font-weight: 600; }
.curve.before { stroke: var(--vscode-descriptionForeground); stroke-width: 1.6; }
.remark { border-left: 3px solid var(--vscode-longpole-heat8); padding: 2px 10px; margin: 10px 0; }`;

/** The page of a recording or of a comparison: without its content, which is replaced at every change. */
export function pageFrame(): string {
  return page({
    title: 'Longpole',
    styles: textStyles,
    body: '<p id="told" class="visually-hidden" role="status"></p><main><p class="quiet">Reading the recording …</p></main>',
    script: frameScript,
  });
}

const frameScript = `const editor = acquireVsCodeApi();
const main = document.querySelector('main');
const told = document.getElementById('told');
const targets = '[data-file],[data-cpus]';
// Of what had the focus, and how many there are like it before.
const isLike = ({ dataset: a }) => ({ dataset: b }) => a.cpus === b.cpus && a.file === b.file && a.line === b.line;
const all = (like) => [...main.querySelectorAll(targets)].filter(like);
// To a screen reader the heading alone: all of the page would be read anew at each number of CPUs.
const tell = (text) => {
  if (told.textContent !== text) {
    told.textContent = text;
  }
};
addEventListener('message', ({ data }) => {
  if (data.problem !== undefined) {
    const text = document.createElement('p');
    text.className = 'problem';
    text.textContent = data.problem;
    const ways = document.createElement('p');
    ways.className = 'ways';
    for (const [action, words] of [['again', 'Try Again'], ['log', 'Show Log']]) {
      const button = document.createElement('button');
      button.dataset.action = action;
      button.textContent = words;
      ways.append(button);
    }
    const pressed = document.activeElement?.dataset.action;
    main.replaceChildren(text, ways);
    if (pressed !== undefined) {
      ways.querySelector('[data-action=' + pressed + ']').focus();
    }
    tell(data.problem);
    return;
  }
  const focused = document.activeElement?.closest(targets);
  const like = focused && isLike(focused);
  const place = focused ? all(like).indexOf(focused) : -1;
  main.innerHTML = data.body;
  if (place >= 0) {
    (all(like)[place] ?? all(like)[0])?.focus();
  }
  tell(main.querySelector('h1')?.textContent ?? '');
});
document.addEventListener('click', (event) => {
  const action = event.target.closest('[data-action]')?.dataset.action;
  if (action !== undefined) {
    editor.postMessage({ action });
    return;
  }
  const target = event.target.closest(targets);
  if (target !== null) {
    event.preventDefault();
    const { file, line, cpus } = target.dataset;
    editor.postMessage(cpus === undefined ? { file, line: Number(line) } : { cpus: Number(cpus) });
  }
});
editor.postMessage({ ready: true });`;
