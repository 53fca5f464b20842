import { describe, expect, test } from 'vitest';
import { type Binding, beginning, decide, identifies, type Known } from '../../src/inventory/model/identity.ts';

const binding = (changes: Partial<Binding> = {}): Binding => ({
  asset_id: 'a',
  since: beginning,
  last: 100,
  ...changes,
});
const nothing: Known = { latest: undefined, inForce: undefined, mac: undefined, ownerHasNoMac: false };
/** Returns a known state whose newest binding is in force. */
const owned = (changes: Partial<Binding> = {}, more: Partial<Known> = {}): Known => ({
  ...nothing,
  latest: binding(changes),
  inForce: binding(changes),
  ...more,
});
const of = (asset_id: string) => ({ asset_id });

/** The known state, the times at which the host was seen, and the decision. */
const cases: Record<string, [Known, { first: number; last: number }, ReturnType<typeof decide>]> = {
  'a new address: a new asset, as far back as there are events': [
    nothing,
    { first: 50, last: 60 },
    { kind: 'create', since: beginning },
  ],
  'a new address with a MAC address: a new asset': [
    { ...nothing, mac: 'unowned' },
    { first: 50, last: 60 },
    { kind: 'create', since: beginning },
  ],
  'without a MAC address, in order: the owner': [
    owned(),
    { first: 150, last: 160 },
    { kind: 'seen', asset_id: 'a', extends: true },
  ],
  'without a MAC address, late: the owner': [
    owned(),
    { first: 5, last: 6 },
    { kind: 'seen', asset_id: 'a', extends: true },
  ],
  "the owner's MAC address: the owner": [
    owned({}, { mac: of('a') }),
    { first: 150, last: 160 },
    { kind: 'seen', asset_id: 'a', extends: true },
  ],
  'a MAC address for an owner without one: the owner gets the MAC address': [
    owned({}, { mac: 'unowned', ownerHasNoMac: true }),
    { first: 150, last: 160 },
    { kind: 'adopt', asset_id: 'a' },
  ],
  'a late MAC address for an owner without one: the owner gets the MAC address': [
    owned({}, { mac: 'unowned', ownerHasNoMac: true }),
    { first: 10, last: 20 },
    { kind: 'adopt', asset_id: 'a' },
  ],
  'a new MAC address at the address of an owner with another MAC address: a new machine': [
    owned({}, { mac: 'unowned' }),
    { first: 150, last: 160 },
    { kind: 'create', since: 150 },
  ],
  'a new MAC address seen before the owner was last seen: a new machine': [
    owned({}, { mac: 'unowned' }),
    { first: 50, last: 160 },
    { kind: 'create', since: 101 },
  ],
  'a late new MAC address: a separate machine, and the address stays': [
    owned({}, { mac: 'unowned' }),
    { first: 50, last: 100 },
    { kind: 'create' },
  ],
  'the MAC address of another asset takes the address': [
    owned({}, { mac: of('b') }),
    { first: 150, last: 160 },
    { kind: 'bind', asset_id: 'b', since: 150 },
  ],
  'the MAC address of another asset takes the address, with overlapping times': [
    owned({}, { mac: of('b') }),
    { first: 90, last: 160 },
    { kind: 'bind', asset_id: 'b', since: 101 },
  ],
  'the late MAC address of another asset does not take the address': [
    owned({}, { mac: of('b') }),
    { first: 90, last: 100 },
    { kind: 'seen', asset_id: 'b', extends: false },
  ],
  'the late MAC address of another asset at a time when that asset had the address: that asset': [
    {
      ...nothing,
      latest: binding({ since: 80 }),
      inForce: binding({ asset_id: 'b', last: 20 }),
      mac: of('b'),
    },
    { first: 30, last: 40 },
    { kind: 'seen', asset_id: 'b', extends: true },
  ],
  'a new address goes to the owner of the MAC address': [
    { ...nothing, mac: of('b') },
    { first: 30, last: 40 },
    { kind: 'bind', asset_id: 'b', since: beginning },
  ],
  'a released address is free': [
    { ...nothing, latest: binding({ until: 120 }) },
    { first: 130, last: 140 },
    { kind: 'create', since: 130 },
  ],
  'a released address is not free before its release': [
    { ...nothing, latest: binding({ until: 120 }) },
    { first: 110, last: 140 },
    { kind: 'create', since: 120 },
  ],
  'a released address can return by the MAC address': [
    { ...nothing, latest: binding({ until: 120 }), mac: of('a') },
    { first: 130, last: 140 },
    { kind: 'bind', asset_id: 'a', since: 130 },
  ],
  'old evidence of a time without an owner is ignored': [
    { ...nothing, latest: binding({ since: 200, last: 210 }) },
    { first: 130, last: 140 },
    { kind: 'ignore' },
  ],
  'an address that a user entered and no sensor saw goes to another MAC address': [
    owned({ last: beginning }, { mac: 'unowned' }),
    { first: 150, last: 160 },
    { kind: 'create', since: 150 },
  ],
};

describe('the owner of an address', () => {
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
])('%s identifies a single machine: %s', (mac, expected) => {
  expect(identifies(mac)).toBe(expected);
});
