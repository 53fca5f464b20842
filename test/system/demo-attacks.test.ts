/**
 * The demo's office: Candor's own detection finds each attack of a campaign without the sensors' alerts, and
 * names the attacker; a day without attacks is quiet.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import { signatures } from '../../scripts/traffic/attacks.ts';
import { type TrafficLine, type Truth, traffic } from '../../scripts/traffic/index.ts';
import { alertsAfter, type FoundAlert, inBodies } from './counted.ts';

/** Timeout that suffices on a busy machine. */
const patienceMs = 180_000;
const hourMs = 3_600_000;
/** Midnight before a Wednesday. */
const midnight = Date.UTC(2025, 2, 12);

/** Returns the lines that the office's sensors write. */
function written(seed: number, fromHour: number, hours: number, isKept: (line: TrafficLine) => boolean) {
  const start = midnight + fromHour * hourMs;
  const kept: TrafficLine[] = [];
  // The rate at which the demo plays its history.
  for (const line of traffic({ seed, start, linesPerSecond: 1 })) {
    if (line.time >= start + hours * hourMs) break;
    if (isKept(line)) kept.push(line);
  }
  return kept;
}

function found(kept: readonly TrafficLine[]) {
  const state: { alerts: FoundAlert[]; service?: Service } = { alerts: [] };
  beforeAll(async () => {
    state.service = await startService();
    const bodies = inBodies(kept.map(({ line }) => line));
    state.alerts = await alertsAfter(state.service, await login(state.service), bodies);
  }, patienceMs);
  afterAll(async () => {
    expect(await state.service!.stop()).toBe(0);
  });
  return state;
}

/** Returns the endpoints of an attack; for a beacon, without the DNS server that it queries. */
function endsOf(lines: readonly TrafficLine[], attack: Truth): { src_ip: string; dst_ip: string } {
  const its = lines.filter(({ truth }) => truth === attack);
  const { line } = (attack === 'beacon' ? its.find((one) => !one.line.includes('"id.resp_p":53')) : its[0])!;
  const record = JSON.parse(line) as Record<string, string>;
  return {
    src_ip: (record['id.orig_h'] ?? record.src_ip)!,
    dst_ip: (record['id.resp_h'] ?? record.dest_ip)!,
  };
}

const shipped = {
  portsTried: 'f219ae89-090c-4730-8880-535921baf97a',
  longNames: '09b2ca94-c476-401c-b87d-66226f32ea26',
  freeData: '794e7aa3-d2d1-47a9-9c71-e00a2632cf09',
};
const rulesOf: Partial<Record<Truth, readonly string[]>> = {
  'port-scan': ['behaviour.port-scan', shipped.portsTried],
  'ssh-brute-force': ['behaviour.brute-force'],
  beacon: ['behaviour.beaconing'],
  'dns-tunnel': ['behaviour.dns-tunnel', shipped.longNames, shipped.freeData],
};
const attacks = Object.keys(rulesOf) as Truth[];
const rulesFor = (alerts: readonly FoundAlert[], src: string) =>
  alerts.filter(({ attributes }) => attributes.src_ip === src).map(({ attributes }) => attributes.rule_id);

describe('a campaign', () => {
  const all = written(1, 8, 4, () => true);

  describe('without the alerts of the sensors', () => {
    const bare = all.filter(({ truth }) => truth !== 'sensor-alert');
    const state = found(bare);

    test.each(attacks)('the %s is found with its attacker', (attack) => {
      const { src_ip, dst_ip } = endsOf(bare, attack);
      expect(new Set(rulesFor(state.alerts, src_ip))).toEqual(new Set(rulesOf[attack]));
      for (const { attributes } of state.alerts) {
        if (attributes.src_ip !== src_ip) continue;
        expect(attributes).toMatchObject({ dst_ip });
        expect(attributes.event_ids.length, attributes.rule_id).toBeGreaterThan(0);
      }
    });

    test('the alerts have the domain of the tunnel, the score of the beacon and the port of the brute force', () => {
      const of = (rule: string) => state.alerts.find(({ attributes }) => attributes.rule_id === rule)?.attributes;
      expect(of('behaviour.dns-tunnel')).toMatchObject({ domain: 'cdn-sync.example', severity: 'high' });
      expect(of('behaviour.port-scan')).toMatchObject({ severity: 'high' });
      expect(of('behaviour.brute-force')).toMatchObject({ dst_port: 22, severity: 'medium' });
      const { evidence = {} } = of('behaviour.beaconing')!;
      expect(Number(evidence.score)).toBeGreaterThan(0.9);
    });

    test('other hosts have only informational alerts, about background traffic from the Internet', () => {
      const named = new Set(attacks.map((attack) => endsOf(bare, attack).src_ip));
      for (const { attributes } of state.alerts)
        if (!named.has(attributes.src_ip ?? ''))
          expect(attributes).toMatchObject({
            rule_id: 'behaviour.internet-background',
            severity: 'informational',
          });
      expect(state.alerts.length).toBeLessThanOrEqual(12);
    });
  });

  describe('with the alerts of the sensors', () => {
    const state = found(all);

    test('each attack has at most two more alerts, and cleartext passwords have separate alerts', () => {
      const own = state.alerts.filter(({ attributes }) => ['behaviour', 'sigma'].includes(attributes.rule_source));
      expect(own.length).toBeLessThanOrEqual(12);
      for (const attack of attacks) {
        const rules = rulesFor(state.alerts, endsOf(all, attack).src_ip);
        expect(rules).toEqual(expect.arrayContaining([...rulesOf[attack]!]));
        // The attack may raise alerts of its rules, of a signature and of a notice: each rule once.
        const those = rules.filter((rule) => !alarms.has(rule));
        expect(new Set(those).size).toBe(those.length);
        expect(those.length).toBeLessThanOrEqual(rulesOf[attack]!.length + 2);
      }
      const cleartext = `1:${signatures.cleartext.sid}`;
      expect(state.alerts.some(({ attributes }) => attributes.rule_id === cleartext)).toBe(true);
    });
  });
});

/** Rules that alert all day, for any host. */
const alarms = new Set([
  'SSL::Invalid_Server_Cert',
  ...[signatures.agent, signatures.cleartext, signatures.decode, signatures.probe].map(({ sid }) => `1:${sid}`),
]);

describe('days without attacks, in offices of two seeds', () => {
  const days = [1, 2].map((seed, day) => written(seed, 24 * day, 24, ({ truth }) => truth === 'benign'));
  const state = found(days.flat());

  test.each([0, 1])('do not raise alerts above low: day %i', (day) => {
    expect(days[day]!.length).toBeGreaterThan(25_000);
    const start = midnight + 24 * day * hourMs;
    const its = state.alerts.filter(({ attributes }) => {
      const at = Date.parse(attributes.first_seen);
      return at >= start && at < start + 24 * hourMs;
    });
    expect(its.length).toBeLessThanOrEqual(3);
    for (const { attributes } of its) expect(['informational', 'low'], attributes.title).toContain(attributes.severity);
  });
});
