import { expect, test } from 'vitest';
import { packDerived, unpackDerived } from '../../src/events/derived-data.ts';
import { finding } from '../store/opened.ts';

test('a batch without derived data carries no buffer', () => {
  const nothing = { findings: [], facts: [], sightings: [], namedHosts: [] };
  expect(packDerived({})).toEqual({});
  expect(packDerived(nothing)).toEqual({});
  expect(unpackDerived({})).toEqual(nothing);
});

test('derived data of each kind is equal after unpacking, in the same order', () => {
  const ends = { src_ip: '10.0.0.1', dst_ip: '192.0.2.1' };
  const derived = {
    findings: [finding({ timestamp: Number.NaN }), finding({ evidence: { a: ['b', 1] }, event: { block: 0, row: 7 } })],
    facts: [
      { correlation: 'c', rule: 'r', timestamp: 1, group: [null, 'g'], value: null, carried: [], ends },
      { correlation: 'c', rule: 'r', timestamp: 0, group: [], value: '', carried: ['x'], ends, sensor_id: 's' },
    ],
    sightings: [{ kind: 'name', name: 'host', from: 'dhcp', clients: ['10.0.0.2'], at: 1 }],
    namedHosts: [
      {
        part: 'http_host',
        value: 'x.example',
        timestamp: 1,
        ...ends,
        transport: 'tcp',
        direction: 'outbound',
        answered: true,
      },
    ],
  } as const;
  expect(unpackDerived(packDerived(derived))).toStrictEqual(derived);
  expect(unpackDerived(packDerived({ sightings: derived.sightings })).sightings).toStrictEqual(derived.sightings);
});
