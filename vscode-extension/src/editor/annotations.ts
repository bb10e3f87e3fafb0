// Draws the weights into the editors: at the end of a line its share, behind it a bar of that length, in the overview
// ruler and the gutter its heat.
//
// Decorations, not inlay hints: they move no code and the cursor does not stop in them. Decoration types are made once for
// each step of heat and used again; an editor is always set all of them, so that nothing of an earlier state stays behind.
import * as vscode from 'vscode';
import { annotateLines, functionHeat, type AnnotationOptions, type LineAnnotation } from '../core/annotate';
import { gutterMark, heatSteps, type ThemeKind } from '../core/palette';
import type { DocumentState, Documents } from './documents';
import type { Session } from './session';

/** The bar of a line that is the whole critical path, in characters. */
const fullBarCharacters = 80;

const enabledKey = 'longpole.annotationsEnabled';

interface DecorationTypes {
  readonly heat: readonly vscode.TextEditorDecorationType[];
  /** Of a file that was edited since it was recorded. */
  readonly edited: vscode.TextEditorDecorationType;
  readonly remark: vscode.TextEditorDecorationType;
  readonly gutter: readonly vscode.TextEditorDecorationType[];
}

interface Options extends AnnotationOptions {
  readonly bar: boolean;
  readonly gutter: boolean;
}

export class Annotations implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[] = [];
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
    this.paintAll();
  }

  private paintAll(only?: vscode.TextDocument): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (only === undefined || editor.document === only) {
        this.paint(editor);
      }
    }
  }

  private paint(editor: vscode.TextEditor): void {
    const state = this.documents.stateOf(editor.document);
    const options = readOptions();
    const drawn = new Map<vscode.TextEditorDecorationType, vscode.DecorationOptions[]>(
      allTypes(this.types).map((type) => [type, []]),
    );
    if (state?.kind === 'followed' && this.enabled) {
      this.drawLines(editor.document, state, options, drawn);
      if (options.gutter) {
        this.drawGutter(editor.document, state, options, drawn);
      }
    }
    for (const [type, decorations] of drawn) {
      editor.setDecorations(type, decorations);
    }
  }

  private drawLines(
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
    const edited = !state.lines.unchanged;
    for (const annotation of annotateLines(weights, state.file, this.session.cpus, options)) {
      const at = current.get(annotation.line - 1);
      if (at === undefined) {
        continue;
      }
      const type = edited ? this.types.edited : annotation.share === 0 ? this.types.remark : this.types.heat[annotation.step];
      if (type !== undefined) {
        drawn.get(type)?.push(decorate(document.lineAt(at), annotation, options.bar));
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
      for (let line = heat.firstLine; line <= heat.lastLine; line++) {
        const at = current.get(line - 1);
        if (at !== undefined && !taken.has(at) && type !== undefined) {
          drawn.get(type)?.push({ range: new vscode.Range(at, 0, at, 0) });
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

function textStyle(colour: string): vscode.ThemableDecorationAttachmentRenderOptions {
  return { color: new vscode.ThemeColor(colour), margin: '0 0 0 4ch', fontStyle: 'normal' };
}

function makeTypes(): DecorationTypes {
  const ruler = setting('overviewRuler', true);
  const steps = Array.from({ length: heatSteps }, (_unused, step) => step);
  const closed = vscode.DecorationRangeBehavior.ClosedClosed;
  return {
    heat: steps.map((step) =>
      vscode.window.createTextEditorDecorationType({
        rangeBehavior: closed,
        before: barStyle(1),
        after: textStyle(`longpole.heat${step + 1}`),
        ...(ruler && {
          overviewRulerColor: new vscode.ThemeColor(`longpole.heat${step + 1}`),
          overviewRulerLane: vscode.OverviewRulerLane.Right,
        }),
      }),
    ),
    edited: vscode.window.createTextEditorDecorationType({
      rangeBehavior: closed,
      before: barStyle(0.4),
      after: textStyle('longpole.quietForeground'),
    }),
    remark: vscode.window.createTextEditorDecorationType({
      rangeBehavior: closed,
      after: textStyle('longpole.quietForeground'),
    }),
    gutter: steps.map((step) =>
      vscode.window.createTextEditorDecorationType({
        gutterIconSize: '100% 100%',
        dark: { gutterIconPath: markUri(step, 'dark') },
        light: { gutterIconPath: markUri(step, 'light') },
      }),
    ),
  };
}

function markUri(step: number, theme: ThemeKind): vscode.Uri {
  const image = Buffer.from(gutterMark(step, theme)).toString('base64');
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
    bar: setting('bar', true),
    gutter: setting('gutter', false),
  };
}

function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('longpole.annotations').get<T>(name) ?? fallback;
}
