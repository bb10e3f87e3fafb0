// The timeline's page: everything that is there before the script runs.
import { page } from '../pageFrame';

interface Button {
  readonly action: string;
  readonly label: string;
  readonly key: string;
  /** Paths of a 16 by 16 picture, drawn as lines. */
  readonly picture: string;
}

const buttons: readonly Button[] = [
  { action: 'back', label: 'Back to the view before', key: 'Backspace', picture: 'M10 3.5 5.5 8 10 12.5' },
  { action: 'forward', label: 'Forward', key: 'Shift+Backspace', picture: 'M6 3.5 10.5 8 6 12.5' },
  { action: 'fit', label: 'Show the whole run', key: '0', picture: 'M2.5 4v8M13.5 4v8M4.5 8h7M6.5 6 4.5 8l2 2M9.5 6l2 2-2 2' },
  { action: 'out3', label: 'Zoom out by 3', key: 'Shift+-', picture: 'M2 8h4.5M9.5 8H14' },
  { action: 'out', label: 'Zoom out by 1.5', key: '-', picture: 'M4 8h8' },
  { action: 'in', label: 'Zoom in by 1.5', key: '+', picture: 'M4 8h8M8 4v8' },
  { action: 'in3', label: 'Zoom in by 3', key: 'Shift++', picture: 'M1.5 8h6M4.5 5v6M8.5 8h6M11.5 5v6' },
];

const laterButtons: readonly Button[] = [
  { action: 'pick', label: 'Choose threads…', key: 'p', picture: 'M2.5 4h1M2.5 8h1M2.5 12h1M6 4h7.5M6 8h7.5M6 12h7.5' },
  { action: 'compare', label: 'Compare with another simulation…', key: 'v', picture: 'M2.5 2.5h11v4h-11zM2.5 9.5h11v4h-11z' },
  { action: 'table', label: 'Show as a table', key: 't', picture: 'M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.6h11M6.5 3v10' },
  { action: 'svg', label: 'Save the picture as SVG', key: '', picture: 'M8 2.5v7M5 7l3 3 3-3M3 13.5h10' },
  { action: 'png', label: 'Save the picture as PNG', key: '', picture: 'M2.5 3h11v10h-11zM2.5 11l3.5-4 3 3.5 2-2 2.5 2.5' },
  { action: 'help', label: 'Keys and signs', key: '?', picture: 'M5.8 6a2.2 2.2 0 1 1 3.2 2c-.8.4-1 .8-1 1.6M8 12v.4' },
];

function buttonHtml({ action, label, key, picture }: Button): string {
  const title = key === '' ? label : `${label} (${key})`;
  return (
    `<button type="button" data-action="${action}" aria-label="${label}" title="${title}">` +
    `<svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path d="${picture}"/></svg></button>`
  );
}

function selectHtml(id: string, label: string, options: readonly (readonly [string, string])[]): string {
  const rows = options.map(([value, text]) => `<option value="${value}">${text}</option>`).join('');
  return `<label>${label} <select id="${id}">${rows}</select></label>`;
}

/** `source`: where the script is, as the webview names it. */
export function timelinePage(source: string): string {
  return page({ title: 'Longpole timeline', styles, body, script: { source } });
}

const styles = `html, body { height: 100%; }
body { margin: 0; padding: 0; display: flex; flex-direction: column; overflow: hidden; font-size: 12px; }
.bar { display: flex; flex-wrap: wrap; gap: 2px 4px; align-items: center; padding: 2px 12px; border-bottom: 1px solid var(--vscode-panel-border, #8883); }
.bar .gap { flex: 1; }
.bar h1 { font-size: 12px; font-weight: 400; margin: 0 8px 0 0; color: var(--vscode-descriptionForeground); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 44ch; }
.bar h1 b { font-weight: 600; color: var(--vscode-foreground); }
button, select { font: inherit; }
.bar button { display: inline-flex; align-items: center; padding: 2px; border: 0; border-radius: 4px; color: var(--vscode-icon-foreground, inherit); background: none; cursor: pointer; }
.bar button:hover:not(:disabled) { background: var(--vscode-toolbar-hoverBackground, #8883); }
.bar button:disabled { opacity: 0.35; cursor: default; }
.bar button[aria-pressed=true] { background: var(--vscode-toolbar-activeBackground, #8885); }
.bar svg path { fill: none; stroke: currentColor; stroke-width: 1.3; stroke-linecap: round; stroke-linejoin: round; }
.bar label { color: var(--vscode-descriptionForeground); display: inline-flex; gap: 4px; align-items: center; white-space: nowrap; }
.bar select { color: var(--vscode-dropdown-foreground); background: var(--vscode-dropdown-background); border: 1px solid var(--vscode-dropdown-border, transparent); border-radius: 3px; padding: 0 2px; max-width: 15ch; }
.bar label:has(:disabled) { opacity: 0.45; }
.bar button.text { color: var(--vscode-textLink-foreground); padding: 2px 4px; }
main { flex: 1; min-height: 0; display: flex; position: relative; }
#stage { flex: 1; min-width: 0; position: relative; }
#canvas { display: block; position: absolute; inset: 0; width: 100%; height: 100%; outline: none; cursor: crosshair; }
#canvas.moving { cursor: grabbing; }
#canvas:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
/* What is beyond the last line would show in a padding, and does not in a border. */
#tip { position: absolute; pointer-events: none; max-width: 46ch; padding: 0 4px; border: 3px solid transparent; border-radius: 4px; color: var(--vscode-editorHoverWidget-foreground); background: var(--vscode-editorHoverWidget-background); outline: 1px solid var(--vscode-editorHoverWidget-border, #8884); overflow: hidden; overflow-wrap: anywhere; display: -webkit-box; -webkit-line-clamp: 4; -webkit-box-orient: vertical; }
#tip[hidden] { display: none; }
aside { flex: 0 0 290px; overflow: auto; padding: 4px 14px 12px; box-sizing: border-box; border-left: 1px solid var(--vscode-panel-border, #8883); }
body.narrow main { flex-direction: column; }
body.narrow aside { flex: 0 0 38%; border-left: 0; border-top: 1px solid var(--vscode-panel-border, #8883); }
aside h2 { font-size: 12.5px; font-weight: 600; margin: 6px 0 4px; overflow-wrap: anywhere; display: -webkit-box; -webkit-line-clamp: 4; -webkit-box-orient: vertical; overflow: hidden; }
aside dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 10px; margin: 0 0 8px; }
aside dt { color: var(--vscode-descriptionForeground); }
aside dd { margin: 0; min-width: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; max-height: 6.5em; overflow: hidden; }
aside .row { display: flex; gap: 8px; align-items: baseline; line-height: 16px; }
aside .row > canvas { flex: none; width: 26px; height: 14px; align-self: center; }
aside .row > span { min-width: 0; overflow-wrap: anywhere; }
aside .row:last-of-type { margin-bottom: 8px; }
aside nav { display: flex; gap: 2px 12px; flex-wrap: wrap; margin-bottom: 8px; }
.problem { padding: 10px 16px; }
#table { flex: 1; overflow: auto; padding: 6px 16px; }
#table[hidden], #stage[hidden] { display: none; }
#table table { border-collapse: separate; border-spacing: 0; margin-bottom: 16px; }
#table caption { text-align: left; font-weight: 600; padding: 4px 8px; }
#table th, #table td { text-align: right; padding: 2px 10px; font-weight: 400; font-variant-numeric: tabular-nums; max-width: 50ch; overflow-wrap: break-word; }
#table td:not(.words), #table tbody th:not(.words) { white-space: nowrap; }
#table thead th { overflow-wrap: normal; }
#table th.words, #table td.words { text-align: left; max-width: 36ch; }
#table thead th { position: sticky; top: -6px; vertical-align: bottom; color: var(--vscode-descriptionForeground); background: var(--vscode-panel-background, var(--vscode-editor-background)); }
#table th, #table td { border-bottom: 1px solid var(--vscode-panel-border, #8883); }
body.vscode-high-contrast #table td, body.vscode-high-contrast #table tbody th { border-bottom-style: dotted; }
#table th:first-child { text-align: left; }
#table tbody tr[tabindex] { cursor: pointer; }
#table tbody tr:hover { background: var(--vscode-list-hoverBackground); outline: 1px dashed var(--vscode-contrastActiveBorder, transparent); outline-offset: -1px; }
#table tbody tr[aria-selected=true] { color: var(--vscode-list-inactiveSelectionForeground, inherit); background: var(--vscode-list-inactiveSelectionBackground); outline: 1px solid var(--vscode-contrastActiveBorder, transparent); outline-offset: -1px; }
#table:focus-visible, #table tbody tr:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
dialog { color: var(--vscode-foreground); background: var(--vscode-editorWidget-background); border: 1px solid var(--vscode-editorWidget-border, var(--vscode-contrastBorder, #8886)); border-radius: 6px; box-sizing: border-box; width: min(1120px, 100% - 16px); max-width: none; max-height: calc(100% - 8px); padding: 8px 16px; }
dialog::backdrop { background: #0005; }
dialog .sheet { columns: 240px; column-gap: 24px; }
dialog h2 { font-size: 12.5px; margin: 0 0 4px; break-after: avoid; }
dialog .row + h2 { margin-top: 8px; }
dialog .row { display: flex; gap: 8px; align-items: baseline; line-height: 16px; break-inside: avoid; }
dialog .row > :first-child { flex: none; }
dialog .row > kbd { min-width: 38px; text-align: center; line-height: 13px; }
dialog .row > span { min-width: 0; }
dialog .row > canvas { width: 26px; height: 14px; align-self: center; }
dialog .close { position: absolute; top: 8px; right: 16px; background: inherit; padding-left: 8px; }
kbd { font: inherit; border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, #8886)); border-radius: 3px; padding: 0 4px; }`;

const body = `<header class="bar" role="toolbar" aria-label="Timeline">
<h1 id="title"></h1>
${buttons.map(buttonHtml).join('\n')}
<span class="gap"></span>
${selectHtml('rows', 'rows', [
  ['threads', 'threads'],
  ['cpus', 'CPUs'],
])}
${selectHtml('sort', 'by', [
  ['start', 'start'],
  ['number', 'number'],
  ['critical', 'critical time'],
  ['creator', 'creator'],
])}
${selectHtml('colour', 'colour', [
  ['state', 'state'],
  ['function', 'function'],
  ['weight', 'critical weight'],
  ['lock', 'lock'],
])}
<label title="Leave out threads that do nothing in the interval (h)"><input type="checkbox" id="idle"> hide idle</label>
<button type="button" class="text" data-action="scheduler" id="scheduler" title="Simulate with another scheduler"></button>
${laterButtons.map(buttonHtml).join('\n')}
</header>
<main>
<div id="stage"><canvas id="canvas" tabindex="0" role="application" aria-label="Timeline. Press question mark for its keys, and t for a table."></canvas><div id="tip" hidden></div></div>
<div id="table" tabindex="0" hidden></div>
<aside id="details" aria-label="Selection"></aside>
</main>
<div id="live" class="visually-hidden" aria-live="polite"></div>
<dialog id="help" aria-label="Keys and signs"></dialog>`;
