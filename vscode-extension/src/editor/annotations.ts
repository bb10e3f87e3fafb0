// Draws the weights into the editors: at the end of a line its share, behind it a bar of that length, in the overview
// ruler and the gutter its heat.
//
// Decorations, not inlay hints: they move no code and the cursor does not stop in them. Decoration types are made once for
// each step of heat and used again. Each that is set is a message to the window and a layout there, so an editor is set those that
// differ from what it was set last; all of them once its text is another, for the editor moves them with the text as it sees fit.
import * as vscode from 'vscode';
import { annotateLines, closingLine, functionHeat, type AnnotationOptions, type LineAnnotation } from '../core/annotate';
import { gutterMark, heatSteps, palettes, type PaletteName, type ThemeKind } from '../core/palette';
import type { DocumentState, Documents } from './documents';
import type { Session } from './session';

/** The bar of a line that is the whole critical path, in characters. */
const fullBarCharacters = 80;

/** Far enough from the code not to be taken for it. */
const textMargin = '0 0 0 4ch';

const enabledKey = 'longpole.annotationsEnabled';

interface DecorationTypes {
  readonly heat: readonly vscode.TextEditorDecorationType[];
  /** Of a file that was edited since it was recorded. */
  readonly edited: vscode.TextEditorDecorationType;
  readonly remark: vscode.TextEditorDecorationType;
  readonly gutter: readonly vscode.TextEditorDecorationType[];
}

interface Options extends AnnotationOptions {
  readonly lines: 'all' | 'activeLine';
  readonly whenEdited: 'dim' | 'hide' | 'keep';
  readonly bar: boolean;
  readonly gutter: boolean;
}

export class Annotations implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[] = [];
  /** The line of the cursor that each editor was painted for. */
  private readonly activeLines = new WeakMap<vscode.TextEditor, number>();
  /** What each editor was set last, by type: none of those that are not in it. */
  private painted = new WeakMap<vscode.TextEditor, { readonly version: number; readonly content: ReadonlyMap<vscode.TextEditorDecorationType, string> }>();
  private types: DecorationTypes = makeTypes();

  constructor(
    private readonly session: Session,
    private readonly documents: Documents,
    private readonly memory: vscode.Memento,
  ) {
    this.subscriptions.push(
      session.onDidChange(() => this.paintAll()),
      documents.onDidChange((document) => this.paintAll(document)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.paintAll()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.selectionChanged(textEditor)),
      vscode.debug.onDidChangeBreakpoints(() => this.paintAll()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('longpole.annotations')) {
          this.remakeTypes();
        }
      }),
    );
  }

  get enabled(): boolean {
    return this.memory.get<boolean>(enabledKey) ?? setting('enabled', true);
  }

  async toggle(): Promise<void> {
    await this.memory.update(enabledKey, !this.enabled);
    this.paintAll();
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => void subscription.dispose());
    disposeTypes(this.types);
  }

  private remakeTypes(): void {
    disposeTypes(this.types);
    this.types = makeTypes();
    this.painted = new WeakMap();
    this.paintAll();
  }

  private paintAll(only?: vscode.TextDocument): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (only === undefined || editor.document === only) {
        this.paint(editor);
      }
    }
  }

  /** Only where what is painted depends on it, and then only when it is another line. */
  private selectionChanged(editor: vscode.TextEditor): void {
    const follows = setting<Options['lines']>('lines', 'all') === 'activeLine';
    if (follows && this.activeLines.get(editor) !== editor.selection.active.line) {
      this.paint(editor);
    }
  }

  private paint(editor: vscode.TextEditor): void {
    const state = this.documents.stateOf(editor.document);
    const options = readOptions();
    const drawn = new Map<vscode.TextEditorDecorationType, vscode.DecorationOptions[]>(
      allTypes(this.types).map((type) => [type, []]),
    );
    this.activeLines.set(editor, editor.selection.active.line);
    // The two sides of a comparison have no column: there, changes are to be seen, and nothing else.
    const hidden = editor.viewColumn === undefined;
    const edited = state?.kind === 'followed' && !state.lines.unchanged;
    if (state?.kind === 'followed' && this.enabled && !hidden && !(edited && options.whenEdited === 'hide')) {
      this.drawLines(editor, state, options, drawn);
      if (options.gutter) {
        this.drawGutter(editor.document, state, options, drawn);
      }
    }
    this.set(editor, drawn);
  }

  private set(editor: vscode.TextEditor, drawn: ReadonlyMap<vscode.TextEditorDecorationType, vscode.DecorationOptions[]>): void {
    const { version } = editor.document;
    const before = this.painted.get(editor);
    const content = new Map<vscode.TextEditorDecorationType, string>();
    for (const [type, decorations] of drawn) {
      const now = decorations.length === 0 ? undefined : JSON.stringify(decorations);
      const last = before?.content.get(type);
      if (now !== undefined) {
        content.set(type, now);
      }
      if (now !== last || (now !== undefined && before?.version !== version)) {
        editor.setDecorations(type, decorations);
      }
    }
    this.painted.set(editor, { version, content });
  }

  private drawLines(
    editor: vscode.TextEditor,
    state: DocumentState & { kind: 'followed' },
    options: Options,
    drawn: Map<vscode.TextEditorDecorationType, vscode.DecorationOptions[]>,
  ): void {
    const weights = this.session.recording?.weights;
    if (weights === undefined) {
      return;
    }
    const { document } = editor;
    const current = state.lines.currentLines();
    const edited = !state.lines.unchanged && options.whenEdited === 'dim';
    const textAt = (line: number): boolean => options.lines === 'all' || line === editor.selection.active.line;
    for (const annotation of annotateLines(weights, state.file, this.session.cpus, options)) {
      const at = current.get(annotation.line - 1);
      if (at === undefined) {
        continue;
      }
      const type = edited ? this.types.edited : annotation.share === 0 ? this.types.remark : this.types.heat[annotation.step];
      if (type !== undefined) {
        const shown = textAt(at) ? annotation : { ...annotation, text: '' };
        drawn.get(type)?.push(decorate(document.lineAt(at), shown, options.bar));
      }
    }
  }

  private drawGutter(
    document: vscode.TextDocument,
    state: DocumentState & { kind: 'followed' },
    options: Options,
    drawn: Map<vscode.TextEditorDecorationType, vscode.DecorationOptions[]>,
  ): void {
    const weights = this.session.recording?.weights;
    if (weights === undefined) {
      return;
    }
    const current = state.lines.currentLines();
    const taken = breakpointLines(document);
    for (const heat of functionHeat(weights, state.file, this.session.cpus, options.threshold)) {
      const type = this.types.gutter[heat.step];
      const mark = (at: number | undefined): void => {
        if (at !== undefined && !taken.has(at) && type !== undefined) {
          drawn.get(type)?.push({ range: new vscode.Range(at, 0, at, 0) });
        }
      };
      for (let line = heat.firstLine; line <= heat.lastLine; line++) {
        mark(current.get(line - 1));
      }
      const [first, last] = [current.get(heat.firstLine - 1), current.get(heat.lastLine - 1)];
      if (first !== undefined && last !== undefined) {
        const end = closingLine((at) => (at < document.lineCount ? document.lineAt(at).text : undefined), first, last);
        for (let at = last + 1; at <= end; at++) {
          mark(at);
        }
      }
    }
  }
}

function decorate(line: vscode.TextLine, annotation: LineAnnotation, bar: boolean): vscode.DecorationOptions {
  const width = Math.min(1, annotation.share) * fullBarCharacters;
  return {
    range: new vscode.Range(line.lineNumber, line.firstNonWhitespaceCharacterIndex, line.lineNumber, line.text.length),
    renderOptions: {
      // Half characters are fine enough for the eye, and few enough for the editor's style sheet.
      before: bar && width > 0 ? { contentText: '', width: `${Math.max(0.5, Math.round(width * 2) / 2)}ch` } : undefined,
      after: annotation.text === '' ? undefined : { contentText: annotation.text },
    },
  };
}

/** The editor has no place for a bar behind text; an empty box that takes no room in the line is one. */
function barStyle(opacity: number): vscode.ThemableDecorationAttachmentRenderOptions {
  return {
    backgroundColor: new vscode.ThemeColor('longpole.barBackground'),
    border: '1px solid',
    borderColor: new vscode.ThemeColor('longpole.barBorder'),
    textDecoration: `none; position: absolute; top: 0; bottom: 0; box-sizing: border-box; border-radius: 2px; z-index: -1; pointer-events: none; opacity: ${opacity}`,
  };
}

function textStyle(colour: string | vscode.ThemeColor): vscode.ThemableDecorationAttachmentRenderOptions {
  return { color: colour, margin: textMargin, fontStyle: 'normal' };
}

function makeTypes(): DecorationTypes {
  const ruler = setting('overviewRuler', true);
  const palette = setting<PaletteName>('palette', 'auto');
  const steps = Array.from({ length: heatSteps }, (_unused, step) => step);
  const closed = vscode.DecorationRangeBehavior.ClosedClosed;
  return {
    heat: steps.map((step) =>
      vscode.window.createTextEditorDecorationType({
        rangeBehavior: closed,
        before: barStyle(1),
        ...(ruler && { overviewRulerLane: vscode.OverviewRulerLane.Right }),
        ...heatColours(step, palette, ruler),
      }),
    ),
    edited: vscode.window.createTextEditorDecorationType({
      rangeBehavior: closed,
      before: barStyle(0.4),
      after: textStyle(new vscode.ThemeColor('longpole.quietForeground')),
    }),
    remark: vscode.window.createTextEditorDecorationType({
      rangeBehavior: closed,
      after: textStyle(new vscode.ThemeColor('longpole.quietForeground')),
    }),
    gutter: steps.map((step) =>
      vscode.window.createTextEditorDecorationType({
        dark: { gutterIconPath: markUri(step, 'dark', palette), gutterIconSize: markStyle(step, palette) },
        light: { gutterIconPath: markUri(step, 'light', palette), gutterIconSize: markStyle(step, palette) },
      }),
    ),
  };
}

/** Text, bar and ruler of one step of heat. */
function heatColours(step: number, palette: PaletteName, ruler: boolean): Partial<vscode.DecorationRenderOptions> {
  if (palette === 'auto') {
    const colour = new vscode.ThemeColor(`longpole.heat${step + 1}`);
    return { after: textStyle(colour), ...(ruler && { overviewRulerColor: colour }) };
  }
  const themed = (theme: ThemeKind): vscode.ThemableDecorationRenderOptions => {
    const colour = palettes[palette][theme][step] ?? '';
    return { before: { backgroundColor: `${colour}38` }, after: { color: colour }, ...(ruler && { overviewRulerColor: colour }) };
  };
  return { after: { margin: textMargin, fontStyle: 'normal' }, dark: themed('dark'), light: themed('light') };
}

/**
 * The editor gives the gutter nothing but an image, and an image knows no theme colours. What is said of the image's size goes into the
 * style sheet as it is: there the theme's colour takes the image's place. Should an editor refuse that, the image is still there, in
 * the colours of a dark or a light theme.
 */
function markStyle(step: number, palette: PaletteName): string {
  const colour = `var(--vscode-longpole-gutter${step + 1})`;
  return palette === 'auto' ? `25% 100%; background-position: 92% 0; background-image: linear-gradient(${colour}, ${colour})` : '100% 100%';
}

function markUri(step: number, theme: ThemeKind, palette: PaletteName): vscode.Uri {
  const image = Buffer.from(gutterMark(step, theme, palette)).toString('base64');
  return vscode.Uri.parse(`data:image/svg+xml;base64,${image}`);
}

function allTypes(types: DecorationTypes): vscode.TextEditorDecorationType[] {
  return [...types.heat, types.edited, types.remark, ...types.gutter];
}

function disposeTypes(types: DecorationTypes): void {
  allTypes(types).forEach((type) => type.dispose());
}

/** Lines whose glyph belongs to a breakpoint, which a mark would hide. */
function breakpointLines(document: vscode.TextDocument): Set<number> {
  const lines = new Set<number>();
  for (const breakpoint of vscode.debug.breakpoints) {
    if (
      breakpoint instanceof vscode.SourceBreakpoint &&
      breakpoint.location.uri.toString() === document.uri.toString()
    ) {
      lines.add(breakpoint.location.range.start.line);
    }
  }
  return lines;
}

function readOptions(): Options {
  return {
    inline: setting('inline', 'percentAndEffect'),
    threshold: setting('threshold', 1),
    maxLines: setting('maxLines', 200),
    lines: setting('lines', 'all'),
    whenEdited: setting('whenEdited', 'dim'),
    bar: setting('bar', true),
    gutter: setting('gutter', true),
  };
}

function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('longpole.annotations').get<T>(name) ?? fallback;
}
