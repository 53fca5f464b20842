import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HeardName, standingName, unitedNames, withName } from '../../src/inventory/names.ts';
import { nameSources } from '../../src/inventory/sighting.ts';
import { limits } from '../../src/limits.ts';

describe('the name that stands for a host', () => {
  const at = { first: 1, last: 1 };
  test.each<[string, HeardName[], string | undefined]>([
    ['nothing was heard', [], undefined],
    ['it names itself', [{ name: 'www.example.com', from: 'dhcp', ...at }], 'www.example.com'],
    ['anybody can point his domain at it', [{ name: 'www.example.com', from: 'dns', ...at }], undefined],
    ['anybody can ask it for a name', [{ name: 'www.example.co.uk', from: 'tls', ...at }], undefined],
    ['a private domain', [{ name: 'files.corp', from: 'dns', ...at }], 'files.corp'],
    [
      'the first that may',
      [
        { name: 'www.example.com', from: 'dns', ...at },
        { name: 'files', from: 'tls', ...at },
      ],
      'files',
    ],
  ])('%s', (_, names, expected) => {
    expect(standingName(names)).toBe(expected);
  });
});

describe('the names of a host', () => {
  const heard = (names: readonly HeardName[]) => names.map(({ name, from }) => `${from} ${name}`);

  test('are in order of trust, newer ones first', () => {
    let names: readonly HeardName[] = [];
    names = withName(names, { name: 'shop.example', from: 'tls', at: 1 });
    names = withName(names, { name: 'old', from: 'dhcp', at: 2 });
    names = withName(names, { name: 'a.local', from: 'mdns', at: 3 });
    names = withName(names, { name: 'new', from: 'dhcp', at: 4 });
    expect(heard(names)).toEqual(['dhcp new', 'dhcp old', 'mdns a.local', 'tls shop.example']);
    expect(withName(names, { name: 'new', from: 'tls', at: 5 })).toBe(names);
    expect(heard(withName(names, { name: 'a.local', from: 'dhcp', at: 6 }))[1]).toBe('dhcp a.local');
  });

  test('are bounded, and those that are trusted and still heard stay', () => {
    let names: readonly HeardName[] = [];
    names = withName(names, { name: 'real', from: 'dhcp', at: 1 });
    for (let i = 0; i < 100; i++) {
      names = withName(names, { name: `tls${i}`, from: 'tls', at: 10 + i });
      names = withName(names, { name: 'real', from: 'dhcp', at: i * 3_600_000 });
      names = withName(names, { name: `spoofed${i}`, from: 'dhcp', at: i * 3_600_000 });
      expect(names.length).toBeLessThanOrEqual(limits.maxHeardNames);
    }
    expect(heard(names)).toContain('dhcp real');
    expect(heard(names).filter((name) => name.startsWith('tls'))).toEqual([]);
    expect(withName(names, { name: 'late.example', from: 'tls', at: 1 })).toBe(names);
  });

  test('of two hosts that are one are the same whichever is first', () => {
    const sets = fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b', 'c', 'd'),
        from: fc.constantFrom(...nameSources),
        at: fc.nat(9),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(sets, sets, (one, other) => {
        const all = (them: typeof one) =>
          them.reduce<readonly HeardName[]>((names, each) => withName(names, each), []);
        const [a, b] = [all(one), all(other)];
        const set = (names: readonly HeardName[]) => heard(names).toSorted();
        expect(set(unitedNames(a, b))).toEqual(set(unitedNames(b, a)));
      }),
    );
  });
});
