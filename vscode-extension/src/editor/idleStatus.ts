// The status bar item while no recording is shown: where C or C++ is looked at it offers to record.
import * as vscode from 'vscode';

const cLanguages: vscode.DocumentSelector = ['c', 'cpp'];

export function drawIdle(item: vscode.StatusBarItem, icon = '$(pulse)', problem = ''): void {
  if (!vscode.window.visibleTextEditors.some((editor) => vscode.languages.match(cLanguages, editor.document) > 0)) {
    item.hide();
    return;
  }
  item.text = `${icon} Longpole`;
  const failed = problem !== '';
  item.tooltip = failed
    ? `Longpole's daemon does not run. ${problem}\nSelect to start it again.`
    : 'Record a program and see what holds it back.';
  item.command = failed ? 'longpole.restartDaemon' : 'longpole.record';
  item.accessibilityInformation = { label: failed ? 'Longpole: start the daemon again' : 'Longpole: record a program' };
  item.show();
}
