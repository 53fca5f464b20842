import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { plan, signatures } from '../../scripts/traffic/attacks.ts';
import { connLines, type TrafficLine, type TrafficOptions, traffic } from '../../scripts/traffic/index.ts';
import { busyness } from '../../scripts/traffic/office.ts';

const hourMs = 3_600_000;
/** A Monday, midnight. */
const monday = Date.UTC(2026, 10, 16);
const morning: TrafficOptions = { seed: 7, start: monday + 8 * hourMs, campaignMs: 2 * hourMs };

function run(options: TrafficOptions, lengthMs: number): TrafficLine[] {
  const lines: TrafficLine[] = [];
  for (const line of traffic(options)) {
    if (line.time >= options.start + lengthMs) break;
    lines.push(line);
  }
  return lines;
}

type Json = Record<string, unknown> & { dns?: Record<string, unknown>; alert?: Record<string, unknown> };
const parse = (line: TrafficLine) => JSON.parse(line.line) as Json;
const kindOf = (record: Json) => String(record._path ?? record.event_type);

describe('traffic', () => {
  const lines = run(morning, 2 * hourMs);

  test('a seed always gives the same stream, and another seed a different stream', () => {
    const digest = (seed: number) => {
      const hash = createHash('sha256');
      for (const { time, line } of run({ ...morning, seed }, hourMs / 4)) hash.update(`${time} ${line}\n`);
      return hash.digest('hex');
    };
    expect(digest(7)).toBe(digest(7));
    expect(digest(7)).not.toBe(digest(8));
  });

  test('lines are in the order in which sensors write them', () => {
    for (let i = 1; i < lines.length; i++) expect(lines[i]!.time).toBeGreaterThanOrEqual(lines[i - 1]!.time);
  });

  test('every line is a valid JSON record of its sensor', () => {
    for (const line of lines) {
      expect(line.line).not.toContain('\n');
      const record = parse(line);
      if (line.format === 'zeek') {
        expect(typeof record.ts).toBe('number');
        expect(['conn', 'dns', 'notice']).toContain(record._path);
        if (record._path !== 'notice')
          expect(record).toMatchObject({ uid: expect.stringMatching(/^C[0-9A-Za-z]{17}$/) });
      } else {
        expect(record.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+0000$/);
        expect(['flow', 'dns', 'alert']).toContain(record.event_type);
        expect(Number.isSafeInteger(record.flow_id)).toBe(true);
      }
    }
  });

  test('DNS is written in formats 2 and 3, and a format 3 response comes from the resolver', () => {
    const records = lines.filter((l) => l.format === 'suricata').map(parse);
    const dns = records.filter((r) => r.event_type === 'dns');
    const responses = dns.filter((r) => r.dns?.type === 'response');
    expect(responses.length).toBeGreaterThan(0);
    for (const r of responses) expect([r.src_port, r.dns?.version]).toEqual([53, 3]);
    expect(dns.some((r) => r.dns?.type === 'query')).toBe(true);
    expect(dns.some((r) => r.dns?.type === 'answer' && r.dns.version === 2)).toBe(true);
  });

  test('the port scan tries each port once', () => {
    const ports = lines.filter((l) => l.truth === 'port-scan').map((l) => parse(l)['id.resp_p']);
    expect(ports.length).toBe(plan.portScan.ports);
    expect(new Set(ports).size).toBe(plan.portScan.ports);
  });

  test('the brute-force attack makes exactly the planned attempts, from one source to one service', () => {
    const attempts = lines.filter((l) => l.truth === 'ssh-brute-force').map(parse);
    expect(attempts.length).toBe(plan.bruteForce.attempts);
    expect(new Set(attempts.map((r) => `${r.src_ip} ${r.dest_ip} ${r.dest_port}`)).size).toBe(1);
  });

  test('the beacon keeps its period except for the jitter', () => {
    const checkIns = lines
      .filter((l) => l.truth === 'beacon')
      .map(parse)
      .filter((r) => r.service === 'http');
    expect(checkIns.length).toBe(plan.beacon.checkIns);
    const times = checkIns.map((r) => Number(r.ts)).sort((a, b) => a - b);
    const period = (plan.beacon.lasts * 2 * 3600) / plan.beacon.checkIns;
    for (let i = 1; i < times.length; i++) {
      expect(Math.abs(times[i]! - times[i - 1]! - period)).toBeLessThanOrEqual(plan.beacon.jitter * period + 1e-3);
    }
  });

  test('the tunnel sends long TXT queries, all different', () => {
    const asked = lines
      .filter((l) => l.truth === 'dns-tunnel')
      .map(parse)
      .filter((r) => r._path === 'dns');
    expect(asked.length).toBe(plan.tunnel.queries);
    expect(new Set(asked.map((r) => r.query)).size).toBe(plan.tunnel.queries);
    for (const r of asked) {
      const query = String(r.query);
      expect(query.length).toBeGreaterThan(140);
      expect(query.length).toBeLessThanOrEqual(253);
      for (const label of query.split('.')) expect(label.length).toBeLessThanOrEqual(63);
      expect(r.qtype_name).toBe('TXT');
    }
  });

  test('alerts recur, and have every severity', () => {
    const bySid = new Map<unknown, number>();
    for (const line of lines) {
      const { alert } = parse(line);
      if (alert !== undefined) bySid.set(alert.signature_id, (bySid.get(alert.signature_id) ?? 0) + 1);
    }
    expect(bySid.get(signatures.beacon.sid)).toBe(plan.beacon.checkIns / plan.alertEvery.beacon);
    expect(bySid.get(signatures.bruteForce.sid)).toBe(plan.bruteForce.attempts / plan.alertEvery.bruteForce);
    expect(bySid.get(signatures.tunnel.sid)).toBe(plan.tunnel.queries / plan.alertEvery.tunnel);
    expect(bySid.get(signatures.scan.sid)).toBe(1);
    expect(new Set(Object.values(signatures).map((s) => s.severity))).toEqual(new Set([1, 2, 3, 4]));
    const notes = lines
      .map(parse)
      .filter((r) => r._path === 'notice')
      .map((r) => r.note);
    expect(notes).toEqual(expect.arrayContaining(['Scan::Port_Scan', 'SSH::Password_Guessing']));
  });

  test('a campaign starts where the previous campaign ends', () => {
    const both = run({ ...morning, campaignMs: hourMs }, 2 * hourMs);
    expect(both.filter((l) => l.truth === 'port-scan').length).toBe(2 * plan.portScan.ports);
  });

  test('has the mix of an office: look-ups before connections, both address families, all transports', () => {
    const records = lines.filter((l) => l.truth === 'benign').map(parse);
    const share = (wanted: (r: Json) => boolean) => records.filter(wanted).length / records.length;
    expect(share((r) => kindOf(r) === 'dns')).toBeGreaterThan(0.12);
    expect(share((r) => kindOf(r) === 'dns')).toBeLessThan(0.5);
    expect(share((r) => r['id.resp_p'] === 443 || r.dest_port === 443)).toBeGreaterThan(0.2);
    expect(share((r) => r['id.resp_p'] === 445)).toBeGreaterThan(0.005);
    expect(share((r) => String(r['id.resp_h']).includes(':'))).toBeGreaterThan(0.01);
    expect(new Set(records.map((r) => String(r.proto).toLowerCase()))).toEqual(new Set(['tcp', 'udp', 'icmp']));
    expect(new Set(records.map((r) => r['id.orig_h'] ?? r.src_ip)).size).toBeGreaterThan(80);
  });

  test('a working day is busy, a night is not, and backups run at night', () => {
    const clock = { shiftMs: 0 };
    expect(busyness(monday + 10 * hourMs, clock)).toBe(1);
    expect(busyness(monday + 3 * hourMs, clock)).toBeLessThan(0.05);
    expect(busyness(monday + 10 * hourMs - 48 * hourMs, clock)).toBeLessThan(0.15);
    expect(busyness(monday, { shiftMs: 10 * hourMs })).toBe(1);
    const night = run({ seed: 3, start: monday, linesPerSecond: 0.2 }, 4 * hourMs).map(parse);
    expect(night.filter((r) => r['id.resp_p'] === 873).length).toBeGreaterThanOrEqual(3);
  });

  test('the rate in the busiest hour is about the requested rate', () => {
    const busy = run({ seed: 5, start: monday + 10 * hourMs, linesPerSecond: 6 }, hourMs);
    const benign = busy.filter((l) => l.truth === 'benign').length / 3600;
    expect(benign).toBeGreaterThan(4.5);
    expect(benign).toBeLessThan(7.5);
  });
});

describe('connLines', () => {
  test('resemble the lines of a real sensor in size and variety', () => {
    const count = 20_000;
    const lines = [...connLines(1, count)];
    const bytes = lines.reduce((sum, line) => sum + line.length, 0) / count;
    expect(bytes).toBeGreaterThan(350);
    expect(bytes).toBeLessThan(410);
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(new Set(records.map((r) => r.uid)).size).toBe(count);
    expect(new Set(records.flatMap((r) => [r['id.orig_h'], r['id.resp_h']])).size).toBeGreaterThan(2000);
    expect(new Set(records.map((r) => r['id.resp_p'])).size).toBeGreaterThan(1000);
    expect([...connLines(1, 50)]).toEqual(lines.slice(0, 50));
    expect([...connLines(2, 50)]).not.toEqual(lines.slice(0, 50));
  });
});
