import { describe, expect, test } from 'vitest';
import { eventsOf, eventTable, evidenceFacts } from '../../../src/console/pages/alerts/evidence.ts';
import { lineOf } from '../../../src/console/pages/alerts/history-text.ts';
import { logged, mismatch } from '../../../src/console/pages/alerts/logged.ts';
import { attackPage } from '../../../src/console/pages/alerts/mitre.ts';
import { alertActions } from '../../../src/contract/vocabulary.ts';
import { someAlert } from './some-alert.ts';

describe('links to ATT&CK', () => {
  test('lead to tactics, techniques and their parts', () => {
    expect(attackPage('TA0011')).toBe('https://attack.mitre.org/tactics/TA0011/');
    expect(attackPage('T1071')).toBe('https://attack.mitre.org/techniques/T1071/');
    expect(attackPage('T1071.004')).toBe('https://attack.mitre.org/techniques/T1071/004/');
  });

  test.each(['discovery', 'T1', 'T1071/../..', 'javascript:alert(1)', 'TA0011.001', ' T1071'])(
    'are not made of %j',
    (text) => expect(attackPage(text)).toBeUndefined(),
  );
});

describe('the events of an alert', () => {
  test('are looked for between its ends, around its time', () => {
    const alert = someAlert({ src_ip: '10.0.0.1', dst_ip: '192.0.2.7', dst_port: 443 });
    expect(eventTable(alert)).toBe('network');
    expect(eventsOf(alert, 'network')).toEqual({
      from: '2026-11-20T09:59:00.000Z',
      to: '2026-11-20T10:06:00.000Z',
      src_ip: '10.0.0.1',
      dst_ip: '192.0.2.7',
      dst_port: 443,
    });
  });

  test('are those of DNS where it is about a name', () => {
    const alert = someAlert({ src_ip: '10.0.0.1', domain: 'a.example', dst_port: 53 });
    expect(eventTable(alert)).toBe('dns');
    expect(eventsOf(alert, 'dns')).toMatchObject({ table: 'dns', src_ip: '10.0.0.1', q: 'a.example' });
    expect(eventTable(someAlert({ domain: 'a.example', dst_port: 443 }))).toBe('network');
  });

  test('figures are written as what they are', () => {
    const evidence = {
      distinct_ports: 1204.5,
      dst_port: 65535,
      jittered: false,
      names: ['a', 'b'],
      http_url: '/',
      'id.orig_h': 'x',
    };
    expect(evidenceFacts(someAlert({ evidence }))).toEqual([
      ['Distinct ports', '1,205'],
      ['Dst port', '65535'],
      ['Jittered', 'no'],
      ['Names', 'a, b'],
      ['HTTP URL', '/'],
      ['id.orig_h', 'x'],
    ]);
  });
});

describe('a line of its history', () => {
  const entry = { alert_id: 'x', at: '2026-11-20T10:00:00.000Z', actor: { id: 'system' } };

  test.each(alertActions)('is there for %s', (action) => {
    expect(lineOf({ ...entry, action }).what).not.toBe('');
  });

  test('tells what became of what', () => {
    expect(lineOf({ ...entry, action: 'status_changed', from: 'new', to: 'in_progress' })).toMatchObject({
      from: 'new',
      to: 'in progress',
    });
    expect(lineOf({ ...entry, action: 'assigned', from: 'ana' })).toMatchObject({
      from: 'ana',
      to: 'nobody',
    });
    expect(lineOf({ ...entry, action: 'tags_changed', added: ['a', 'b'] })).toMatchObject({ to: 'a, b' });
  });
});

describe('an entry of the log that verified', () => {
  const leafHash = new Uint8Array(32).fill(0xab);
  const hash = 'ab'.repeat(32);
  const entry = {
    id: 'e',
    kind: 'alert.raised',
    key_id: 'k',
    signature: 's',
    subject: { type: 'alert', id: 'a1' },
    occurred_at: '2026-11-20T10:00:00.000Z',
    data: { severity: 'high', title: 'Beacon' },
  };

  test('is the alert’s only where it names it, and has the hash that the alert tells', () => {
    expect(mismatch({ entry, leafHash }, 'a1', hash)).toBeUndefined();
    expect(mismatch({ entry, leafHash }, 'a2', hash)).toMatchObject({ code: 'WRONG_LEAF' });
    expect(mismatch({ entry: { ...entry, kind: 'verdict.overridden' }, leafHash }, 'a1', hash)).toBeDefined();
    expect(mismatch({ entry, leafHash }, 'a1', hash.replace('a', 'b'))).toMatchObject({ code: 'WRONG_LEAF' });
  });

  test('tells what changed since', () => {
    const { changed, severity } = logged({ entry }, someAlert({ title: 'Beacon', severity: 'low' }));
    expect({ changed, severity }).toEqual({ changed: ['severity'], severity: 'high' });
    const cut = { ...entry, data: { severity: 'medium', title: `${'x'.repeat(499)}…` } };
    expect(logged({ entry: cut }, someAlert({ title: 'x'.repeat(600) })).changed).toEqual([]);
  });
});
