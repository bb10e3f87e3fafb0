// Two of CMake Tools' commands. The first builds, so it must be asked once for each recording: it notes each time in `asked`.
const { appendFileSync } = require('node:fs');
const { join } = require('node:path');
const vscode = require('vscode');

exports.activate = (context) => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '/';
  const command = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(`cmake.${name}`, run));
  command('launchTargetPath', () => {
    appendFileSync(join(folder, 'asked'), 'built\n');
    return join(folder, 'pipeline');
  });
  command('getLaunchTargetDirectory', () => folder);
};
