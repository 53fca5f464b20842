import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatNames, formatOf, linesOf, mixNames } from '../../bench/load/formats.ts';
import { adminOf, issue, openService, type Service } from '../http/service.ts';

const linesPerBody = 40;
const bodies = 3;
/** All bodies, followed by a repetition of two bodies. */
const sent = bodies + 2;

let service: Service;
let token: string;
beforeAll(async () => {
  service = await openService();
  token = await issue(service, await adminOf(service), ['sensor']);
});
afterAll(() => service.close());

const stored = async () => {
  const { events } = await service.store.status();
  return events.network + events.dns;
};

describe.each([...formatNames, ...mixNames])('%s', (name) => {
  const { path, contentType, scheme = 'Bearer', isTaken, bodies: bodiesOf } = formatOf(name);
  const all = () => bodiesOf(linesOf(name, bodies * linesPerBody), linesPerBody);

  test('every line of every body is stored as a separate event', async () => {
    const moving = all();
    const before = await stored();
    for (let n = 0; n < sent; n++) {
      const answer = await fetch(service.url + path, {
        method: 'POST',
        headers: { authorization: `${scheme} ${token}`, 'content-type': contentType },
        body: new Uint8Array(moving.next()),
      });
      const text = await answer.text();
      expect([answer.status, isTaken(text)], text.slice(0, 500)).toEqual([200, true]);
    }
    expect((await stored()) - before).toBe(sent * linesPerBody);
  });

  test('each round repeats the same lines with other times and new identifiers', () => {
    const startedS = Date.now() / 1000;
    const moving = all();
    const rounds = [1, 2, 3].map(() => Array.from({ length: bodies }, () => moving.next().toString('latin1')));
    const ids = rounds.flat().flatMap((text) => [...text.matchAll(identifiers)].map(([id]) => id));
    expect(ids.length).toBe(rounds.length * bodies * linesPerBody);
    expect(new Set(ids).size).toBe(ids.length);
    const times = rounds.map((texts) => texts.flatMap((text) => [...text.matchAll(moments)].map(inSeconds)));
    const spans = times.map((its) => its.map((time, n) => time - times[0]![n]!));
    if (name === 'a site, now') for (const time of times.flat()) expect(Math.abs(time - startedS)).toBeLessThan(60);
    else {
      expect(new Set(spans[1]).size).toBe(1);
      expect(spans[1]![0]).toBeGreaterThan(0);
      expect(spans[2]![0]).toBe(2 * spans[1]![0]!);
    }
    for (const [n, texts] of rounds.entries())
      expect(
        texts.map(({ length }) => length),
        `round ${n}`,
      ).toEqual(rounds[0]!.map(({ length }) => length));
  });
});

describe('mixes of traffic', () => {
  /** Returns the number of hosts and, by round, the share of lines whose hosts and port no earlier round has. */
  const shapeOf = (name: Parameters<typeof linesOf>[0], count: number, rounds: number) => {
    const moving = formatOf(name).bodies(linesOf(name, count), count);
    const [hosts, tuples] = [new Set<string>(), new Set<string>()];
    const newShares = Array.from({ length: rounds }, () => {
      const before = tuples.size;
      for (const line of moving.next().toString().trimEnd().split('\n')) {
        const conn = JSON.parse(line) as Conn;
        expect(conn['id.resp_p']).toBeLessThan(65_536);
        hosts.add(conn['id.orig_h']).add(conn['id.resp_h']);
        tuples.add(`${conn['id.orig_h']} ${conn['id.resp_h']} ${conn['id.resp_p']}`);
      }
      return (tuples.size - before) / count;
    });
    return { hosts: hosts.size, newShares };
  };

  test('a LAN has a few hundred hosts, which return to the same services', () => {
    const { hosts, newShares } = shapeOf('LAN', 20_000, 2);
    expect(hosts).toBeGreaterThan(200);
    expect(hosts).toBeLessThan(600);
    expect(newShares[0]).toBeLessThan(0.35);
    expect(newShares[1]).toBe(0);
  });

  test('a server on the Internet has nearly 40,000 peers, whose scans reach new ports in each round', () => {
    const { hosts, newShares } = shapeOf('internet host', 60_000, 2);
    expect(hosts).toBeGreaterThan(36_000);
    expect(hosts).toBeLessThanOrEqual(40_001);
    for (const share of newShares) expect(share).toBeGreaterThan(0.4);
  });

  test('nearly every line of a flood has a new source, destination and port, in each round', () => {
    const { hosts, newShares } = shapeOf('flood', 5_000, 2);
    expect(hosts).toBeGreaterThan(0.98 * 2 * 2 * 5_000);
    for (const share of newShares) expect(share).toBeGreaterThan(0.99);
  });

  test.each(mixNames)('the lines of %s are the same in every run', (name) => {
    expect(linesOf(name, 500)).toEqual(linesOf(name, 500));
  });
});

interface Conn {
  readonly 'id.orig_h': string;
  readonly 'id.resp_h': string;
  readonly 'id.resp_p': number;
}

/** Zeek's uid, at any position, and Suricata's flow_id. */
const identifiers = /\bC[0-9A-Za-z]{15,17}(?=\\?"|\t)|"flow_id":\d{15}/g;
/** Timestamps: seconds in Zeek and Splunk formats, and ISO 8601 in all other formats. */
const moments = /\d{10}(?=\.\d{1,6}[,\t])|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g;

function inSeconds([text]: RegExpMatchArray): number {
  return text.includes('T') ? Date.parse(`${text}Z`) / 1000 : Number(text);
}
