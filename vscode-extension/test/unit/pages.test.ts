import assert from 'node:assert/strict';
import { test } from 'node:test';
import { page as anyPage, pageFrame } from '../../src/core/pageFrame';
import { timelinePage } from '../../src/core/timeline/timelinePage';
import { whatIfPage } from '../../src/core/whatIfPage';

void test('a page may run the script and use the styles that it is made with, and nothing else', () => {
  const source = 'https://file.vscode-resource.test/dist/script.js';
  const other = (): string => anyPage({ title: 'A page', styles: 'p { margin: 0; }', body: '<p>text</p>', script: { source } });
  for (const make of [() => timelinePage(source), () => whatIfPage(source), pageFrame, other]) {
    const [page, again] = [make(), make()];
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(page)?.[1] ?? '';
    const nonce = /'nonce-([A-Za-z0-9+/=]{24})'/.exec(policy)?.[1];
    assert.ok(nonce !== undefined);
    assert.equal(policy, `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`);
    assert.ok(!again.includes(nonce), 'a nonce is used once');
    // All that runs or styles has it, and nothing is styled or run from an attribute.
    for (const [tag] of page.matchAll(/<(?:script|style|link)\b[^>]*>/g)) {
      assert.ok(tag.includes(`nonce="${nonce}"`), tag);
    }
    assert.doesNotMatch(page.replace(/<style[^]*?<\/style>|<script[^]*?<\/script>/g, ''), /<[^>]*\s(?:style|on\w+)=/);
    assert.ok(page.indexOf('Content-Security-Policy') < page.search(/<script|<style/), 'the policy comes first');
  }
});
