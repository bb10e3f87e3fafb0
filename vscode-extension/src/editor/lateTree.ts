// A list that is made when it is first looked at.
import * as vscode from 'vscode';

export class LateTree<Node> implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly list: () => Promise<vscode.TreeDataProvider<Node>>) {}

  /** Says from now on when the list changes. */
  follow(list: vscode.TreeDataProvider<Node>): void {
    list.onDidChangeTreeData?.(() => this.changed.fire());
  }

  async getChildren(node?: Node): Promise<Node[]> {
    return (await (await this.list()).getChildren(node)) ?? [];
  }

  async getTreeItem(node: Node): Promise<vscode.TreeItem> {
    return (await this.list()).getTreeItem(node);
  }

  dispose(): void {
    this.changed.dispose();
  }
}
