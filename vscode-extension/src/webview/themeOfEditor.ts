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
    grid: colour('longpole-timelineGrid', base.grid),
    running: colour('longpole-timelineRunning', base.running),
    runnable: colour('longpole-timelineRunnable', base.runnable),
    blocked: colour('longpole-timelineBlocked', base.blocked),
    io: colour('longpole-timelineIo', base.io),
    path: colour('longpole-timelinePath', base.path),
    selection: colour('longpole-timelineSelection', base.selection),
    found: colour('longpole-timelineFound', base.found),
  };
}
