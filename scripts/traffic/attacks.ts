import type { Activity, Answer, Scheduled, Sensor, Signature, Truth } from './activity.ts';
import type { Office } from './hosts.ts';
import { flow, lookup } from './packets.ts';
import { base32, type Random } from './random.ts';

/**
 * One campaign, which repeats. Sizes are exact, so that a detector's result can be compared with them; times
 * are fractions of the campaign's length.
 */
export const plan = {
  portScan: { at: 0.06, ports: 1000, lasts: 0.02 },
  bruteForce: { at: 0.22, attempts: 240, gapMs: 1500 },
  beacon: { at: 0.1, lasts: 0.85, checkIns: 240, jitter: 0.2, host: 'status.tidepool-metrics.example' },
  tunnel: { at: 0.45, queries: 600, lasts: 0.25, zone: 'cdn-sync.example' },
  /** Number of attempts or check-ins per alert. */
  alertEvery: { bruteForce: 30, beacon: 12, tunnel: 60 },
} as const;

/** Rules written by the site: identifiers 1,000,000 to 1,999,999 are reserved for them. */
export const signatures = {
  scan: rule(1000101, 2, 'LOCAL SCAN One source tries many ports of a host', 'Attempted Information Leak', 2),
  bruteForce: rule(
    1000214,
    5,
    'LOCAL SCAN Repeated SSH logins from one source',
    'Attempted Administrator Privilege Gain',
    2,
  ),
  beacon: rule(
    1000307,
    1,
    'LOCAL MALWARE Command-and-control check-in over HTTP',
    'Malware Command and Control Activity Detected',
    1,
    {
      signature_severity: ['Critical'],
      attack_target: ['Client_Endpoint'],
      mitre_tactic_id: ['TA0011'],
      mitre_technique_id: ['T1071'],
    },
  ),
  tunnel: rule(1000322, 3, 'LOCAL MALWARE Long labels in DNS TXT queries', 'A Network Trojan was detected', 1, {
    signature_severity: ['Major'],
    mitre_tactic_id: ['TA0011'],
    mitre_technique_id: ['T1071'],
  }),
  cleartext: rule(1000405, 1, 'LOCAL POLICY Password sent in clear text', 'Potential Corporate Privacy Violation', 2),
  agent: rule(1000411, 7, 'LOCAL POLICY Outdated browser in User-Agent', 'Not Suspicious Traffic', 3),
  probe: rule(1000420, 1, 'LOCAL WEB_SERVER Path traversal in request', 'Web Application Attack', 1),
  decode: rule(1000433, 1, 'LOCAL STREAM Packet out of window', 'Generic Protocol Command Decode', 4),
} as const satisfies Record<string, Signature>;

/** Returns the attacks of endless campaigns: one endless source per attack, in order of time. */
export function attacks(rng: Random, place: Office, from: number, campaignMs: number): Generator<Scheduled>[] {
  return [portScan, bruteForce, beacon, tunnel].map((attack) => repeated(rng.fork(), place, from, campaignMs, attack));
}

/** Yields false positives: alarms without an attack. Endless, in order of time. */
export function* alarms(rng: Random, place: Office, from: number, meanGapMs: number): Generator<Scheduled> {
  for (let time = from; ; ) {
    time += rng.exponential(meanGapMs);
    const kind = rng.next();
    if (kind < 0.35) yield alarm(rng, place, time, signatures.agent, 80);
    else if (kind < 0.55) yield alarm(rng, place, time, signatures.cleartext, 80);
    else if (kind < 0.8) yield alarm(rng, place, time, signatures.decode, 443);
    else if (kind < 0.87) yield inboundAlarm(rng, place, time);
    else yield certificateNotice(rng, place, time);
  }
}

type Attack = (rng: Random, place: Office, from: number, lengthMs: number) => Generator<Scheduled>;

function* repeated(rng: Random, place: Office, from: number, lengthMs: number, attack: Attack): Generator<Scheduled> {
  for (let start = from; ; start += lengthMs) yield* attack(rng, place, start, lengthMs);
}

/** Yields a port scan: a client scans the file server's ports, a few of which answer. */
function* portScan(rng: Random, place: Office, from: number, lengthMs: number): Generator<Scheduled> {
  const src = rng.pick(place.clients).ip;
  const dst = place.servers.file.ip;
  const start = from + plan.portScan.at * lengthMs;
  const gap = (plan.portScan.lasts * lengthMs) / plan.portScan.ports;
  const open = new Set([88, 139, 445]);
  for (let i = 0; i < plan.portScan.ports; i++) {
    const time = start + i * gap;
    const outcome = open.has(i + 1) ? 'reset' : rng.chance(0.8) ? 'refused' : 'silent';
    const shape = {
      start: time,
      durationMs: rng.logNormal(0.8, 0.4),
      src,
      dst,
      dstPort: i + 1,
      transport: 'tcp',
    } as const;
    yield put('port-scan', 'zeek-core', time, [flow(rng, { ...shape, srcBytes: 0, dstBytes: 0, outcome })]);
  }
  const end = start + plan.portScan.lasts * lengthMs;
  const last = {
    start: end,
    durationMs: 1,
    src,
    dst,
    dstPort: plan.portScan.ports,
    transport: 'tcp',
  } as const;
  const seen = flow(rng, { ...last, srcBytes: 0, dstBytes: 0, outcome: 'refused' });
  yield put('sensor-alert', 'suricata-dmz', end, [
    { kind: 'alert', time: end, signature: signatures.scan, flow: seen },
  ]);
  const message = `${src} scanned at least ${plan.portScan.ports - 10} unique ports of host ${dst}`;
  yield put('sensor-alert', 'zeek-core', end, [
    { kind: 'notice', time: end, note: 'Scan::Port_Scan', message, sub: 'local', src, dst },
  ]);
}

/** Yields a brute-force attack: an external host guesses passwords for the public server. */
function* bruteForce(rng: Random, place: Office, from: number, lengthMs: number): Generator<Scheduled> {
  const src = place.strangers[rng.int(0, 20)]!;
  const dst = place.servers.www.ip;
  let time = from + plan.bruteForce.at * lengthMs;
  for (let i = 0; i < plan.bruteForce.attempts; i++) {
    time += plan.bruteForce.gapMs * (0.7 + 0.6 * rng.next());
    const size = { srcBytes: rng.int(1700, 2300), dstBytes: rng.int(2200, 2700) };
    const shape = {
      start: time,
      durationMs: rng.logNormal(1900, 0.3),
      src,
      dst,
      dstPort: 22,
      transport: 'tcp',
      service: 'ssh',
    } as const;
    const attempt = flow(rng, { ...shape, ...size });
    yield put('ssh-brute-force', 'suricata-dmz', time, [attempt]);
    if ((i + 1) % plan.alertEvery.bruteForce === 0) {
      yield put('sensor-alert', 'suricata-dmz', time, [
        { kind: 'alert', time, signature: signatures.bruteForce, flow: attempt },
      ]);
    }
  }
  const message = `${src} appears to be guessing SSH passwords (seen in ${plan.bruteForce.attempts} connections).`;
  const note = {
    kind: 'notice',
    time,
    note: 'SSH::Password_Guessing',
    message,
    sub: `Sampled servers: ${dst}`,
    src,
  } as const;
  yield put('sensor-alert', 'zeek-core', time, [note]);
}

/** Yields a beacon: an infected client polls its C2 server for commands at regular intervals with some jitter. */
function* beacon(rng: Random, place: Office, from: number, lengthMs: number): Generator<Scheduled> {
  const src = rng.pick(place.clients).ip;
  const dst = place.strangers[1 + 2 * rng.int(0, 100)]!;
  const { checkIns: times, jitter, host } = plan.beacon;
  const start = from + plan.beacon.at * lengthMs;
  const period = (plan.beacon.lasts * lengthMs) / times;
  for (let i = 0; i < times; i++) {
    const time = start + period * (i + jitter * (rng.next() - 0.5));
    const activities: Activity[] = [];
    if (i % 20 === 0) {
      const answers: Answer[] = [{ type: 'A', ttl: 3600, data: dst }];
      const server = place.servers.dc1.ip;
      activities.push(
        lookup(rng, {
          start: time,
          client: src,
          server,
          query: host,
          qtype: 'A',
          answers,
          rttMs: rng.logNormal(30, 0.4),
        }),
      );
    }
    const orders = rng.chance(0.05) ? rng.int(2000, 60_000) : 0;
    const size = { srcBytes: 312 + rng.int(0, 9), dstBytes: 184 + orders };
    const shape = {
      start: time + 100,
      durationMs: rng.logNormal(180, 0.2),
      src,
      dst,
      dstPort: 80,
      transport: 'tcp',
    } as const;
    const checkIn = flow(rng, { ...shape, ...size, service: 'http' });
    yield put('beacon', 'zeek-core', time, [...activities, checkIn]);
    if ((i + 1) % plan.alertEvery.beacon === 0) {
      const alert = { kind: 'alert', time: time + 150, signature: signatures.beacon, flow: checkIn } as const;
      yield put('sensor-alert', 'suricata-dmz', time + 100, [alert]);
    }
  }
}

/** Yields a tunnel: data is exfiltrated in the labels of TXT queries, and the answers carry commands. */
function* tunnel(rng: Random, place: Office, from: number, lengthMs: number): Generator<Scheduled> {
  const client = rng.pick(place.clients).ip;
  const server = place.servers.dc2.ip;
  const start = from + plan.tunnel.at * lengthMs;
  const gap = (plan.tunnel.lasts * lengthMs) / plan.tunnel.queries;
  for (let i = 0; i < plan.tunnel.queries; i++) {
    const time = start + gap * (i + 0.5 * rng.next());
    const labels = [
      rng.text(60, base32),
      rng.text(60, base32),
      rng.text(rng.int(20, 48), base32),
      i.toString(16).padStart(4, '0'),
    ];
    const answers: Answer[] = [{ type: 'TXT', ttl: 1, data: rng.text(rng.int(40, 180), base32) }];
    const query = `${labels.join('.')}.${plan.tunnel.zone}`;
    const asked = lookup(rng, {
      start: time,
      client,
      server,
      query,
      qtype: 'TXT',
      answers,
      rttMs: rng.logNormal(45, 0.3),
    });
    yield put('dns-tunnel', 'zeek-core', time, [asked]);
    if ((i + 1) % plan.alertEvery.tunnel === 0) {
      const alert = {
        kind: 'alert',
        time: time + 1,
        signature: signatures.tunnel,
        flow: asked.flow,
      } as const;
      yield put('sensor-alert', 'suricata-dmz', time, [alert]);
    }
  }
}

function alarm(rng: Random, place: Office, time: number, signature: Signature, dstPort: number): Scheduled {
  // A few machines, each with a few destinations, cause most of these alarms, so that alarms recur.
  const who = rng.zipf(8);
  const src = place.clients[who * 5]!.ip;
  const site = place.sites[who + rng.zipf(3)]!;
  const size = { srcBytes: rng.int(400, 1600), dstBytes: rng.int(500, 20_000) };
  const shape = {
    start: time - 40,
    durationMs: 300,
    src,
    dst: site.addresses[0]!,
    dstPort,
    transport: 'tcp',
  } as const;
  const on = flow(rng, { ...shape, ...size, service: dstPort === 80 ? 'http' : 'ssl' });
  return put('sensor-alert', 'suricata-dmz', time, [{ kind: 'alert', time, signature, flow: on }]);
}

function inboundAlarm(rng: Random, place: Office, time: number): Scheduled {
  const src = place.strangers[rng.zipf(place.strangers.length)]!;
  const shape = {
    start: time - 60,
    durationMs: 250,
    src,
    dst: place.servers.www.ip,
    dstPort: 80,
    transport: 'tcp',
  } as const;
  const on = flow(rng, { ...shape, service: 'http', srcBytes: rng.int(300, 900), dstBytes: 512 });
  return put('sensor-alert', 'suricata-dmz', time, [{ kind: 'alert', time, signature: signatures.probe, flow: on }]);
}

function certificateNotice(rng: Random, place: Office, time: number): Scheduled {
  const site = place.sites[rng.zipf(place.sites.length)]!;
  const message = 'SSL certificate validation failed with (self signed certificate)';
  const ends = { src: rng.pick(place.clients).ip, dst: site.addresses[0]!, port: 443 };
  const note = {
    kind: 'notice',
    time,
    note: 'SSL::Invalid_Server_Cert',
    message,
    sub: `CN=${site.name}`,
    ...ends,
  } as const;
  return put('sensor-alert', 'zeek-core', time, [note]);
}

function put(truth: Truth, sensor: Sensor, time: number, activities: readonly Activity[]): Scheduled {
  return { truth, sensor, time, activities };
}

function rule(
  sid: number,
  rev: number,
  text: string,
  category: string,
  severity: Signature['severity'],
  metadata?: Signature['metadata'],
): Signature {
  return { sid, rev, text, category, severity, ...(metadata === undefined ? {} : { metadata }) };
}
