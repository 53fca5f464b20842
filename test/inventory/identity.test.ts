import { describe, expect, test } from 'vitest';
import { type Binding, beginning, decide, identifies, type Known } from '../../src/inventory/identity.ts';

const binding = (changes: Partial<Binding> = {}): Binding => ({
  asset_id: 'a',
  since: beginning,
  last: 100,
  ...changes,
});
const nothing: Known = { latest: undefined, inForce: undefined, mac: undefined, ownerHasNoMac: false };
/** The newest binding is in force. */
const owned = (changes: Partial<Binding> = {}, more: Partial<Known> = {}): Known => ({
  ...nothing,
  latest: binding(changes),
  inForce: binding(changes),
  ...more,
});
const of = (asset_id: string) => ({ asset_id });

/** What was known, when the host was seen, what follows. */
const cases: Record<string, [Known, { first: number; last: number }, ReturnType<typeof decide>]> = {
  'an address that nobody had: a new asset, as far back as there are events': [
    nothing,
    { first: 50, last: 60 },
    { kind: 'create', since: beginning },
  ],
  'the same with a MAC address': [
    { ...nothing, mac: 'nobody' },
    { first: 50, last: 60 },
    { kind: 'create', since: beginning },
  ],
  'without a MAC address it is the owner, in order': [
    owned(),
    { first: 150, last: 160 },
    { kind: 'seen', asset_id: 'a', extends: true },
  ],
  'and late': [owned(), { first: 5, last: 6 }, { kind: 'seen', asset_id: 'a', extends: true }],
  'its own MAC address': [
    owned({}, { mac: of('a') }),
    { first: 150, last: 160 },
    { kind: 'seen', asset_id: 'a', extends: true },
  ],
  'a MAC address for an owner that has none: MAC before IP': [
    owned({}, { mac: 'nobody', ownerHasNoMac: true }),
    { first: 150, last: 160 },
    { kind: 'adopt', asset_id: 'a' },
  ],
  'also when it is late: nothing speaks against it': [
    owned({}, { mac: 'nobody', ownerHasNoMac: true }),
    { first: 10, last: 20 },
    { kind: 'adopt', asset_id: 'a' },
  ],
  'a new MAC address at the address of an owner with another: a new machine': [
    owned({}, { mac: 'nobody' }),
    { first: 150, last: 160 },
    { kind: 'create', since: 150 },
  ],
  'that began before the owner was seen last': [
    owned({}, { mac: 'nobody' }),
    { first: 50, last: 160 },
    { kind: 'create', since: 101 },
  ],
  'late: a machine, and the address stays': [
    owned({}, { mac: 'nobody' }),
    { first: 50, last: 100 },
    { kind: 'create' },
  ],
  'the MAC address of another asset takes the address': [
    owned({}, { mac: of('b') }),
    { first: 150, last: 160 },
    { kind: 'bind', asset_id: 'b', since: 150 },
  ],
  'the same, overlapping': [
    owned({}, { mac: of('b') }),
    { first: 90, last: 160 },
    { kind: 'bind', asset_id: 'b', since: 101 },
  ],
  'the same, late': [
    owned({}, { mac: of('b') }),
    { first: 90, last: 100 },
    { kind: 'seen', asset_id: 'b', extends: false },
  ],
  'late, at a time at which the address was its own': [
    {
      ...nothing,
      latest: binding({ since: 80 }),
      inForce: binding({ asset_id: 'b', last: 20 }),
      mac: of('b'),
    },
    { first: 30, last: 40 },
    { kind: 'seen', asset_id: 'b', extends: true },
  ],
  'an address that nobody had comes to the owner of the MAC address': [
    { ...nothing, mac: of('b') },
    { first: 30, last: 40 },
    { kind: 'bind', asset_id: 'b', since: beginning },
  ],
  'an address that was taken away is free': [
    { ...nothing, latest: binding({ until: 120 }) },
    { first: 130, last: 140 },
    { kind: 'create', since: 130 },
  ],
  'and begins no earlier': [
    { ...nothing, latest: binding({ until: 120 }) },
    { first: 110, last: 140 },
    { kind: 'create', since: 120 },
  ],
  'and can come back by the MAC address': [
    { ...nothing, latest: binding({ until: 120 }), mac: of('a') },
    { first: 130, last: 140 },
    { kind: 'bind', asset_id: 'a', since: 130 },
  ],
  'old evidence of a time in which it was nobody’s': [
    { ...nothing, latest: binding({ since: 200, last: 210 }) },
    { first: 130, last: 140 },
    { kind: 'nobody' },
  ],
  'what a person entered and nobody has seen is overtaken by a MAC address that isn’t its own': [
    owned({ last: beginning }, { mac: 'nobody' }),
    { first: 150, last: 160 },
    { kind: 'create', since: 150 },
  ],
};

describe('whose an address is', () => {
  test.each(Object.entries(cases))('%s', (_, [known, seen, expected]) => {
    expect(decide(seen, known)).toEqual(expected);
  });
});

test.each([
  ['00:1b:63:84:45:e6', true],
  ['02:42:ac:11:00:02', true],
  ['ff:ff:ff:ff:ff:ff', false],
  ['00:00:00:00:00:00', false],
  ['01:00:5e:00:00:fb', false],
  ['33:33:00:00:00:01', false],
  ['00:00:5e:00:01:0a', false],
  ['00:00:5e:00:02:0a', false],
  ['00:00:5e:00:53:0a', true],
  ['00:00:0c:07:ac:01', false],
  ['00:00:0c:9f:f0:01', false],
  ['00:05:73:a0:00:01', false],
])('%s stands for one machine: %s', (mac, expected) => {
  expect(identifies(mac)).toBe(expected);
});
