// The editor's theme, as it stands in the page's style.
import { darkTheme, lightTheme, type Theme } from '../core/timeline/theme';

export function themeOfEditor(): Theme {
  const isLight = document.body.classList.contains('vscode-light') || document.body.classList.contains('vscode-high-contrast-light');
  const base = isLight ? lightTheme : darkTheme;
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string, otherwise: string): string => style.getPropertyValue(`--vscode-${name}`).trim() || otherwise;
  return {
    ...base,
    background: colour('panel-background', colour('editor-background', base.background)),
    foreground: colour('foreground', base.foreground),
    quiet: colour('descriptionForeground', base.quiet),
    grid: colour('longpole-timeline-grid', base.grid),
    running: colour('longpole-timeline-running', base.running),
    runnable: colour('longpole-timeline-runnable', base.runnable),
    blocked: colour('longpole-timeline-blocked', base.blocked),
    io: colour('longpole-timeline-io', base.io),
    path: colour('longpole-timeline-path', base.path),
    selection: colour('longpole-timeline-selection', base.selection),
    found: colour('longpole-timeline-found', base.found),
  };
}
