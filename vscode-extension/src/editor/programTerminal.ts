// The terminal that shows what the recorded program prints. It has no input: the daemon runs the program without one.
// Control-C in it, or closing it, stops the program.
import { TextDecoder } from 'node:util';
import * as vscode from 'vscode';
import type { ProgramOutput, ProgramOutput_Stream } from '../protocol/longpole/v1/longpole';

export class ProgramTerminal implements vscode.Disposable {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly stopAsked = new vscode.EventEmitter<void>();
  private readonly closedListener: vscode.Disposable;
  private terminal: vscode.Terminal | undefined;
  /** What came before the terminal was there; undefined once it is. */
  private waiting: string[] | undefined = [];
  // A character may be cut in two by the pipe; each stream has its own.
  private decoders = new Map<ProgramOutput_Stream, TextDecoder>();

  readonly onDidAskToStop = this.stopAsked.event;

  constructor() {
    this.closedListener = vscode.window.onDidCloseTerminal((terminal) => {
      if (terminal === this.terminal) {
        this.terminal = undefined;
        this.waiting = [];
      }
    });
  }

  /** Begins a new program: an empty terminal with its command in it, which takes no focus. */
  begin(command: string): void {
    this.decoders = new Map();
    if (this.terminal === undefined) {
      this.waiting = [];
      this.terminal = vscode.window.createTerminal({
        name: 'Longpole',
        iconPath: new vscode.ThemeIcon('pulse'),
        isTransient: true,
        pty: {
          onDidWrite: this.written.event,
          open: () => {
            const waiting = this.waiting ?? [];
            this.waiting = undefined;
            this.written.fire(waiting.join(''));
          },
          close: () => this.stopAsked.fire(),
          handleInput: (data: string) => {
            if (data.includes('\x03')) {
              this.stopAsked.fire();
            }
          },
        },
      });
    } else {
      this.write('\x1b[2J\x1b[3J\x1b[H');
    }
    this.remark(`> ${command}`);
    this.terminal.show(true);
  }

  output(output: ProgramOutput): void {
    let decoder = this.decoders.get(output.stream);
    if (decoder === undefined) {
      decoder = new TextDecoder();
      this.decoders.set(output.stream, decoder);
    }
    this.write(decoder.decode(output.data, { stream: true }).replace(/\r?\n/g, '\r\n'));
  }

  /** A line of our own, told apart from what the program printed. */
  remark(text: string): void {
    this.write(`\x1b[2m${text}\x1b[0m\r\n`);
  }

  dispose(): void {
    this.closedListener.dispose();
    this.terminal?.dispose();
    this.written.dispose();
    this.stopAsked.dispose();
  }

  private write(text: string): void {
    if (this.waiting === undefined) {
      this.written.fire(text);
    } else {
      this.waiting.push(text);
    }
  }
}
