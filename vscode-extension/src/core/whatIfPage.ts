// The page of the what-if panel, before its script runs.
import { page, textStyles } from './pageFrame';

/** `source`: where the script is, as the webview names it. */
export function whatIfPage(source: string): string {
  return page({ title: 'What if', styles: `${textStyles}\n${styles}`, body, script: { source } });
}

const styles = `#headline { font-size: 1.25em; margin: 0.4em 0 1em; min-height: 1.4em; color: var(--vscode-longpole-heat8); }
#changes { list-style: none; margin: 0; padding: 0; }
#changes li { display: grid; grid-template-columns: minmax(6em, 1fr) minmax(9em, 2fr) 15.5em 1.6em; gap: 4px 12px; align-items: center; padding: 6px 8px; border-radius: 4px; }
#changes li:hover { background: var(--vscode-list-hoverBackground); }
#changes .wide { grid-column: 2 / 4; }
#changes .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-family: var(--vscode-editor-font-family); }
#changes .amount { font-variant-numeric: tabular-nums; white-space: nowrap; }
#changes .amount label { margin-left: 0.8em; display: inline-flex; align-items: center; gap: 4px; }
#changes .amount input { margin: 0; }
#changes .amount b { display: inline-block; min-width: 3.2em; font-weight: 600; }
input[type=range] { width: 100%; accent-color: var(--vscode-longpole-heat8); margin: 0; }
input[type=number] { width: 5em; font: inherit; color: var(--vscode-input-foreground); background: var(--vscode-input-background); border: 1px solid var(--vscode-input-border, var(--vscode-panel-border, #8886)); border-radius: 3px; padding: 2px 4px; }
#changes label { color: var(--vscode-descriptionForeground); white-space: nowrap; }
#changes .remove { color: var(--vscode-icon-foreground, inherit); }
.actions { display: flex; gap: 10px; align-items: center; margin: 14px 0 4px; flex-wrap: wrap; }
.actions button { padding: 4px 12px; border-radius: 3px; border: 1px solid var(--vscode-button-border, transparent); color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
.actions button:hover { background: var(--vscode-button-secondaryHoverBackground); }
.actions button.first { color: var(--vscode-button-foreground); background: var(--vscode-button-background); }
.actions button.first:hover { background: var(--vscode-button-hoverBackground); }
.actions button:disabled { opacity: 0.45; cursor: default; }
.actions button[hidden] { display: none; }
.kept { border-left: 3px solid var(--vscode-longpole-heat8); padding: 2px 10px; margin: 12px 0; }
.kept[hidden] { display: none; }
.results { margin-top: 22px; }
.results caption { text-align: left; font-weight: 600; padding: 0 0 6px; }
.results th, .results td { white-space: nowrap; }
.results thead { color: var(--vscode-descriptionForeground); }
.results thead tr + tr th:first-child { text-align: right; }
.results th[scope=colgroup] { text-align: center; padding-bottom: 0; }
.results td:nth-child(6), .results thead tr:first-child th:last-child, .results thead tr + tr th:nth-child(4) { padding-left: 20px; }
.results .barcell { width: 34%; }
.results tr.chosen { background: var(--vscode-longpole-barBackground); }
.results tr.chosen td, .results tr.chosen th { font-weight: 600; }
.pair { height: 14px; }
.pair .before { fill: var(--vscode-descriptionForeground); fill-opacity: 0.28; }
.pair .after { fill: var(--vscode-longpole-heat8); }
.pair .after.worse { fill: var(--vscode-longpole-timelineRunnable); }
#empty[hidden], #result[hidden] { display: none; }`;

const body = `<main>
<header><h1>What if …? <span class="quiet" id="title"></span></h1></header>
<p id="headline" role="status" aria-live="polite"></p>
<ul id="changes" aria-label="Changes"></ul>
<p id="empty" class="quiet">Choose a function, a line, a lock or a thread, and say how much faster it were. The program is simulated again at once.</p>
<div class="actions">
<button type="button" id="add">Add a Change…</button>
<button type="button" id="keep" class="first" title="Annotations, views and the timeline show the changed program, until you take it back">Show in the Editor</button>
<button type="button" id="takeBack">Take Back</button>
</div>
<p id="kept" class="kept" hidden></p>
<section id="result" hidden></section>
<p id="note" class="quiet"></p>
</main>`;
