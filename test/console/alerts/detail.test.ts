import { describe, expect, test } from 'vitest';
import { eventsOf, eventTable, evidenceFacts } from '../../../src/console/pages/alerts/evidence.ts';
import { lineOf } from '../../../src/console/pages/alerts/history-text.ts';
import { logged, mismatch } from '../../../src/console/pages/alerts/logged.ts';
import { attackPage } from '../../../src/console/pages/alerts/mitre.ts';
import type { Alert } from '../../../src/console/pages/alerts/question.ts';
import { alertActions } from '../../../src/contract/vocabulary.ts';
import { someAlert } from './some-alert.ts';

describe('links to ATT&CK', () => {
  test('point to tactics, techniques and subtechniques', () => {
    expect(attackPage('TA0011')).toBe('https://attack.mitre.org/tactics/TA0011/');
    expect(attackPage('T1071')).toBe('https://attack.mitre.org/techniques/T1071/');
    expect(attackPage('T1071.004')).toBe('https://attack.mitre.org/techniques/T1071/004/');
  });

  test.each(['discovery', 'T1', 'T1071/../..', 'javascript:alert(1)', 'TA0011.001', ' T1071'])(
    'are not created for %j',
    (text) => expect(attackPage(text)).toBeUndefined(),
  );
});

describe('the evidence of an alert', () => {
  test('links to events between its endpoints, around its time span', () => {
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

  test('links to DNS events for an alert about a domain', () => {
    const alert = someAlert({ src_ip: '10.0.0.1', domain: 'a.example', dst_port: 53 });
    expect(eventTable(alert)).toBe('dns');
    expect(eventsOf(alert, 'dns')).toMatchObject({ table: 'dns', src_ip: '10.0.0.1', q: 'a.example' });
    expect(eventTable(someAlert({ domain: 'a.example', dst_port: 443 }))).toBe('network');
  });

  const shown = (evidence: NonNullable<Alert['evidence']>) =>
    evidenceFacts(someAlert({ evidence })).map(({ name, parts, more }) => [name, parts, more] as const);
  const text = (text: string) => ({ kind: 'text', text });

  test('formats values by their kind', () => {
    expect(
      shown({
        distinct_ports: 1204.5,
        dst_port: 65535,
        jittered: false,
        names: ['a', 'b'],
        'id.orig_h': 'x',
      }),
    ).toEqual([
      ['Distinct ports', [text('1,205')], 0],
      ['Dst port', [text('65535')], 0],
      ['Jittered', [text('no')], 0],
      ['Names', [text('a'), text('b')], 0],
      ['id.orig_h', [text('x')], 0],
    ]);
    expect(shown({ ports: Array.from({ length: 14 }, (_, n) => 8000 + n) })).toMatchObject([
      ['Ports', { length: 12, 0: text('8000') }, 2],
    ]);
  });

  test('formats the time values of all detectors as times', () => {
    const at = Date.UTC(2026, 10, 20, 10);
    const iso = new Date(at).toISOString();
    const evidence = { began: at, window_from: at, window_to: at, first_seen: at, seen_at: at };
    const written = {
      first_attempt: iso,
      session_begun: iso,
      valid_until: iso,
      'x.time': '2026-11-20T12:00:00+02:00',
    };
    for (const [name, parts] of shown({ ...evidence, ...written }))
      expect([name, parts]).toEqual([name, [{ kind: 'time', at }]]);
    expect(shown({ seen_at: 12, day: '2026-11-20' })).toEqual([
      ['Seen at', [text('12')], 0],
      ['Day', [text('2026-11-20')], 0],
    ]);
  });

  test('shows bytes and durations with units', () => {
    expect(
      shown({
        bytes_out: 1536,
        largest_upload_bytes_in: 1024,
        baseline_most: 2048,
        threshold: 4096,
        duration_hours: 25.5,
        window_hours: 1,
        interval_seconds: 90,
        seconds: 60,
        thresholds_hours: [4, 24],
      }).map(([name, parts]) => [name, parts.map((part) => (part.kind === 'text' ? part.text : part.kind)).join()]),
    ).toEqual([
      ['Bytes out', '1.5 KiB'],
      ['Largest upload bytes in', '1 KiB'],
      ['Baseline most', '2 KiB'],
      ['Threshold', '4 KiB'],
      ['Duration', '1 d 1 h'],
      ['Window', '1 h'],
      ['Interval', '1 min 30 s'],
      ['Time span', '1 min'],
      ['Thresholds', '4 h,1 d'],
    ]);
    expect(shown({ threshold: 4096 })).toEqual([['Threshold', [text('4,096')], 0]]);
  });

  test('links addresses and domains, with their counts', () => {
    const ip = '203.0.113.7';
    expect(
      shown({
        largest_upload_to: ip,
        some_targets: [ip, '2001:db8::1'],
        top_sources: [`${ip}: 1200`, '443: 2'],
        new_connections: [`${ip}:22`, '2001:db8::1:22'],
        destinations: [`${ip} 2048`, `${ip}:443/tcp 2048 out 1024 in`],
        some_names: ['a.example'],
        indicator: 'b.example',
        part: 'domain',
      }),
    ).toEqual([
      ['Largest upload to', [{ kind: 'address', ip }], 0],
      [
        'Some targets',
        [
          { kind: 'address', ip },
          { kind: 'address', ip: '2001:db8::1' },
        ],
        0,
      ],
      ['Top sources', [{ kind: 'address', ip, rest: '1,200 times' }, text('443: 2')], 0],
      [
        'New connections',
        [
          { kind: 'address', ip, port: 22 },
          { kind: 'address', ip: '2001:db8::1', port: 22 },
        ],
        0,
      ],
      [
        'Destinations',
        [
          { kind: 'address', ip, rest: '2 KiB' },
          { kind: 'address', ip, port: 443, rest: 'tcp, 2 KiB out, 1 KiB in' },
        ],
        0,
      ],
      ['Some names', [{ kind: 'domain', name: 'a.example' }], 0],
      ['Indicator', [{ kind: 'domain', name: 'b.example' }], 0],
      ['Part', [text('domain')], 0],
    ]);
    expect(shown({ indicator: ip, part: 'dst' })[0]).toEqual(['Indicator', [{ kind: 'address', ip }], 0]);
  });
});

describe('a history line', () => {
  const entry = { alert_id: 'x', at: '2026-11-20T10:00:00.000Z', actor: { id: 'system' } };

  test.each(alertActions)('exists for the action %s', (action) => {
    expect(lineOf({ ...entry, action }).what).not.toBe('');
  });

  test('shows the old and the new value', () => {
    expect(lineOf({ ...entry, action: 'status_changed', from: 'new', to: 'in_progress' })).toMatchObject({
      from: 'new',
      to: 'in progress',
    });
    expect(lineOf({ ...entry, action: 'assigned', from: 'ana' })).toMatchObject({
      from: 'ana',
      to: 'unassigned',
    });
    expect(lineOf({ ...entry, action: 'tags_changed', added: ['a', 'b'] })).toMatchObject({ to: 'a, b' });
  });
});

describe('a verified log entry', () => {
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

  test('belongs to the alert only if its kind, its subject and its leaf hash match', () => {
    expect(mismatch({ entry, leafHash }, 'a1', hash)).toBeUndefined();
    expect(mismatch({ entry, leafHash }, 'a2', hash)).toMatchObject({ code: 'WRONG_LEAF' });
    expect(mismatch({ entry: { ...entry, kind: 'verdict.overridden' }, leafHash }, 'a1', hash)).toBeDefined();
    expect(mismatch({ entry, leafHash }, 'a1', hash.replace('a', 'b'))).toMatchObject({ code: 'WRONG_LEAF' });
  });

  test('lists the fields of the alert that have changed since the entry', () => {
    const { changed, severity } = logged({ entry }, someAlert({ title: 'Beacon', severity: 'low' }));
    expect({ changed, severity }).toEqual({ changed: ['severity'], severity: 'high' });
    const cut = { ...entry, data: { severity: 'medium', title: `${'x'.repeat(499)}…` } };
    expect(logged({ entry: cut }, someAlert({ title: 'x'.repeat(600) })).changed).toEqual([]);
  });
});
