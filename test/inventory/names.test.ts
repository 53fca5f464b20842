import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HeardName, standingName, unitedNames, withName } from '../../src/inventory/model/names.ts';
import { nameSources } from '../../src/inventory/model/sighting.ts';
import { limits } from '../../src/limits.ts';

describe('the display name of a host', () => {
  const at = { first: 1, last: 1 };
  test.each<[string, HeardName[], string | undefined]>([
    ['no name without names', [], undefined],
    ['a name that the host announced', [{ name: 'www.example.com', from: 'dhcp', ...at }], 'www.example.com'],
    ['no public name from DNS', [{ name: 'www.example.com', from: 'dns', ...at }], undefined],
    ['no public name from TLS', [{ name: 'www.example.co.uk', from: 'tls', ...at }], undefined],
    ['a name of a private domain', [{ name: 'files.corp', from: 'dns', ...at }], 'files.corp'],
    [
      'the first eligible name',
      [
        { name: 'www.example.com', from: 'dns', ...at },
        { name: 'files', from: 'tls', ...at },
      ],
      'files',
    ],
  ])('is chosen by trust: %s', (_, names, expected) => {
    expect(standingName(names)).toBe(expected);
  });
});

describe('the names of a host', () => {
  const heard = (names: readonly HeardName[]) => names.map(({ name, from }) => `${from} ${name}`);

  test('are in order of trust, and self-announced names are ordered newest first', () => {
    let names: readonly HeardName[] = [];
    names = withName(names, { name: 'shop.example', from: 'tls', at: 1 });
    names = withName(names, { name: 'old', from: 'dhcp', at: 2 });
    names = withName(names, { name: 'a.local', from: 'mdns', at: 3 });
    names = withName(names, { name: 'new', from: 'dhcp', at: 4 });
    expect(heard(names)).toEqual(['dhcp new', 'dhcp old', 'mdns a.local', 'tls shop.example']);
    expect(withName(names, { name: 'new', from: 'tls', at: 5 })).toBe(names);
    expect(heard(withName(names, { name: 'a.local', from: 'dhcp', at: 6 }))[1]).toBe('dhcp a.local');
  });

  test('are limited by source, and a host that invents names does not evict names that other hosts use', () => {
    let names: readonly HeardName[] = [];
    const true_ = Array.from({ length: limits.maxHeardNames - 1 }, (_, i) => `true${i}`);
    names = withName(names, { name: 'real', from: 'dhcp', at: 1 });
    for (const [i, name] of true_.entries())
      names = withName(names, { name, from: 'dns', at: 2 + i, clients: ['10.0.0.1', '10.0.0.2'] });
    for (let i = 0; i < 100; i++) {
      names = withName(names, { name: `forged${i}`, from: 'dns', at: 100 + i, clients: ['10.0.0.66'] });
      names = withName(names, { name: `spoofed${i}`, from: 'dhcp', at: 100 + i });
    }
    expect(heard(names)).toEqual(expect.arrayContaining(['dhcp real', ...true_.map((name) => `dns ${name}`)]));
    for (const from of ['dhcp', 'dns'])
      expect(names.filter((each) => each.from === from)).toHaveLength(limits.maxHeardNames);
    // A correct name that is reported late stays once two hosts use it.
    names = withName(names, { name: 'late', from: 'dns', at: 300, clients: ['10.0.0.1', '10.0.0.2'] });
    names = withName(names, { name: 'forged', from: 'dns', at: 301, clients: ['10.0.0.66'] });
    expect(heard(names)).toContain('dns late');
    expect(heard(names)).not.toContain('dns forged');
  });

  test('are evicted after a long time without use', () => {
    let names: readonly HeardName[] = [];
    const clients = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
    for (let i = 0; i < limits.maxHeardNames; i++)
      names = withName(names, { name: `old${i}`, from: 'dns', at: i, clients });
    const at = 40 * 86_400_000;
    for (const name of ['old0', 'new']) names = withName(names, { name, from: 'dns', at, clients: ['10.0.0.1'] });
    expect(heard(names)).toContain('dns new');
    expect(heard(names)).toContain('dns old0');
  });

  test('do not depend on the order in which two hosts are merged', () => {
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
        const all = (them: typeof one) => them.reduce<readonly HeardName[]>((names, each) => withName(names, each), []);
        const [a, b] = [all(one), all(other)];
        const set = (names: readonly HeardName[]) => heard(names).toSorted();
        expect(set(unitedNames(a, b))).toEqual(set(unitedNames(b, a)));
      }),
    );
  });
});
