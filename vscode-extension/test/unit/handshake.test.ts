import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseReadyLine, protocolProblem, protocolVersion } from '../../src/core/handshake';

void test('the READY line says where the daemon listens', () => {
  const line = 'READY {"protocol":1,"version":"0.1.0","commit":"","socket":"/run/x/longpole.sock"}';
  assert.deepEqual(parseReadyLine(line), { socket: '/run/x/longpole.sock', protocol: 1, version: '0.1.0' });
});

void test('other lines are none', () => {
  assert.equal(parseReadyLine(''), undefined);
  assert.equal(parseReadyLine('not READY {}'), undefined);
});

void test('a damaged READY line is an error', () => {
  assert.throws(() => parseReadyLine('READY {"protocol":1'));
  assert.throws(() => parseReadyLine('READY {"protocol":1,"version":"1"}'), /lacks its socket/);
  assert.throws(() => parseReadyLine('READY null'), /lacks/);
});

void test('another protocol is refused with both versions and what to do', () => {
  assert.equal(protocolProblem({ protocol: protocolVersion, version: '9' }, '0.1.0'), undefined);
  const newer = protocolProblem({ protocol: protocolVersion + 1, version: '0.9.0' }, '0.1.0') ?? '';
  assert.match(newer, /0\.9\.0 speaks protocol 2 and the extension 0\.1\.0 speaks protocol 1/);
  assert.match(newer, /update the extension/);
  assert.match(protocolProblem({ protocol: 0, version: '0.0.1' }, '0.1.0') ?? '', /update the daemon/);
});
