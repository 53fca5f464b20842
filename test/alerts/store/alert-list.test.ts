import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import { severities } from '../../../src/contract/vocabulary.ts';
import type { FilterTerm } from '../../../src/events/query/filter.ts';
import type { ListQuery } from '../../../src/store/store.ts';
import { analyst, batchOf, everything, finding, opened, type Resource, resources, start } from '../../store/opened.ts';

const words = ['scan', 'Beacon', 'tünnel', 'brute force'];

/** Returns findings of many shapes, some without the optional attributes. */
function someFindings(count: number) {
  return Array.from({ length: count }, (_, i) => {
    const full = finding({
      rule_id: `rule ${i % 7}`,
      rule_name: words[i % 4]!,
      title: `${words[i % 4]} ${i % 5}`,
      rule_source: i % 2 === 0 ? 'zeek' : 'suricata',
      severity: severities[i % 3]!,
      timestamp: start + ((i * 7919) % 1000) * 60_000,
      src_ip: i % 3 === 0 ? `10.0.${i % 4}.${i}` : `2001:db8::${i.toString(16)}`,
      dst_ip: `192.0.2.${i % 20}`,
      dst_port: [22, 53, 443][i % 3]!,
      tags: i % 2 === 0 ? ['a', `t${i % 3}`] : [],
      ...(i % 4 === 0 ? { domain: `host${i}.example`, confidence: (i % 10) / 10 } : {}),
      ...(i % 6 === 0 ? { mitre: { tactics: ['discovery'], techniques: ['T1046'] } } : {}),
    });
    if (i % 5 !== 0) return full;
    const { src_port: _p, transport: _t, ...bare } = full;
    return bare;
  });
}

async function filled(count: number) {
  const open = opened();
  const { alerts } = await open.store.commit(batchOf(someFindings(count)));
  for (const [i, { alert }] of alerts.entries())
    if (i % 3 === 0)
      await open.store.changeAlert(alert.id, { status: 'in_progress', assignee: `ana${i % 2}` }, analyst);
  const all = resources<Alert>(open.reader.listAlerts(everything));
  expect(all).toHaveLength(alerts.length);
  return { ...open, all };
}

/** Returns the pages of a list by number and by cursor. */
function pages(
  list: (query: ListQuery) => ReturnType<Awaited<ReturnType<typeof filled>>['reader']['listAlerts']>,
  query: ListQuery,
) {
  const byCursor: Resource<Alert>[] = [];
  let cursor: string | undefined;
  let page = 0;
  do {
    const got = list(cursor === undefined ? query : { ...query, cursor });
    page++;
    expect(got.page).toBe(page);
    expect(resources(list({ ...query, page }))).toEqual(resources(got));
    byCursor.push(...resources<Alert>(got));
    cursor = got.next_cursor;
  } while (cursor !== undefined);
  return byCursor;
}

const rankOf = {
  severity: severities as readonly string[],
  status: ['new', 'in_progress'],
  priority: ['low', 'medium'],
};

/** Sorts naively: absent values last, scales by rank, equal ranks by time, ids in the same direction. */
function sorted(alerts: readonly Resource<Alert>[], sort: keyof Alert, order: 'asc' | 'desc') {
  const value = ({ attributes }: Resource<Alert>) => {
    const raw = attributes[sort] as string | number | undefined;
    const scale = (rankOf as Record<string, readonly string[]>)[sort];
    return scale === undefined || raw === undefined ? raw : scale.indexOf(String(raw));
  };
  const sign = order === 'asc' ? 1 : -1;
  return [...alerts].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x !== y && x === undefined) return 1;
    if (x !== y && y === undefined) return -1;
    if (x! < y!) return -sign;
    if (x! > y!) return sign;
    const [seen, other] = [a.attributes.last_seen, b.attributes.last_seen];
    if ((sort === 'severity' || sort === 'priority') && seen !== other) return seen < other ? -sign : sign;
    return a.id < b.id ? -sign : sign;
  });
}

describe('lists', () => {
  const sorts = [
    'severity',
    'status',
    'priority',
    'title',
    'rule_id',
    'rule_name',
    'risk_score',
    'confidence',
    'src_port',
    'dst_port',
    'domain',
    'count',
    'first_seen',
    'last_seen',
    'assignee',
    'note_count',
  ] as const;

  test('sort by any sortable attribute in both directions, with the same pages by number and by cursor', async () => {
    const { reader, all } = await filled(60);
    for (const sort of sorts)
      for (const order of ['asc', 'desc'] as const) {
        const query = { ...everything, sort, order, per_page: 17 };
        expect(
          pages(reader.listAlerts, query).map(({ id }) => id),
          `${sort} ${order}`,
        ).toEqual(sorted(all, sort, order).map(({ id }) => id));
      }
  });

  test('sort addresses by numeric value', async () => {
    const { store, reader } = opened();
    for (const src_ip of ['10.0.0.10', '2001:db8::1', '10.0.0.9', '9.255.0.1'])
      await store.commit(batchOf([finding({ src_ip })]));
    const page = reader.listAlerts({ ...everything, sort: 'src_ip' });
    expect(resources<Alert>(page).map(({ attributes }) => attributes.src_ip)).toEqual([
      '9.255.0.1',
      '10.0.0.9',
      '10.0.0.10',
      '2001:db8::1',
    ]);
  });

  test('stay stable while alerts arrive', async () => {
    const { store, reader } = opened();
    for (let i = 0; i < 6; i++)
      await store.commit(batchOf([finding({ src_ip: `10.0.0.${i}`, timestamp: start + i * 1000 })]));
    const query: ListQuery = { ...everything, sort: 'last_seen', order: 'desc', per_page: 2 };
    const first = reader.listAlerts(query);
    await store.commit(batchOf([finding({ src_ip: '10.0.0.99', timestamp: start + 99_000 })]));
    const second = reader.listAlerts({ ...query, cursor: first.next_cursor! });
    expect(resources<Alert>(second).map(({ attributes }) => attributes.src_ip)).toEqual(['10.0.0.3', '10.0.0.2']);
    expect(second).toMatchObject({ total: 7, page: 2 });
  });

  test.for([
    ['an unknown sort', { sort: 'nonsense' }, 'sort'],
    ['a sort by a property of every object', { sort: 'constructor' }, 'sort'],
    ['an unknown field', { terms: [{ field: 'toString', values: ['x'] }] }, 'toString'],
    ['an unknown status', { terms: [{ field: 'status', values: ['done'] }] }, 'status'],
    ['an invalid address', { terms: [{ field: 'src_ip', values: ['10.0.0'] }] }, 'src_ip'],
    ['an invalid port', { terms: [{ field: 'dst_port', values: ['ssh'] }] }, 'dst_port'],
    ['a made-up cursor', { cursor: 'AAAA' }, 'cursor'],
    ['a cursor of another list', { cursor: Buffer.from('["count","asc",1,"x",2]').toString('base64url') }, 'cursor'],
    [
      'a cursor with another kind of value',
      { sort: 'last_seen', cursor: Buffer.from('["last_seen","asc","x","x",2]').toString('base64url') },
      'cursor',
    ],
  ] as const)('reject %s', ([, changes, field]) => {
    const { reader } = opened();
    expect(() => reader.listAlerts({ ...everything, ...changes } as ListQuery)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', details: expect.objectContaining({ field }) }),
    );
  });
});

describe('filters', () => {
  const oracle: Record<string, (alert: Alert, value: string) => boolean> = {
    severity: (alert, value) => alert.severity === value,
    status: (alert, value) => alert.status === value,
    rule_id: (alert, value) => alert.rule_id === value,
    rule_source: (alert, value) => alert.rule_source === value,
    dst_port: (alert, value) => alert.dst_port === Number(value),
    assignee: (alert, value) => alert.assignee === value,
    assigned: (alert, value) => (alert.assignee !== undefined) === (value === 'true'),
    domain: (alert, value) => alert.domain === value,
    tag: (alert, value) => alert.tags.includes(value),
    technique: (alert, value) => alert.mitre?.techniques.includes(value) ?? false,
    dst_ip: (alert, value) => alert.dst_ip === value,
    ip: (alert, value) => alert.src_ip === value || alert.dst_ip === value,
  };
  const values: Record<string, readonly string[]> = {
    severity: severities,
    status: ['new', 'in_progress', 'archived'],
    rule_id: ['rule 0', 'rule 3', 'none'],
    rule_source: ['zeek', 'suricata', 'sigma'],
    dst_port: ['22', '53', '443', '1'],
    assignee: ['ana0', 'ana1', 'bob'],
    assigned: ['true', 'false'],
    domain: ['host0.example', 'host8.example'],
    tag: ['a', 't0', 't1', 'x'],
    technique: ['T1046', 'T1'],
    dst_ip: ['192.0.2.1', '192.0.2.7'],
    ip: ['192.0.2.1', '10.0.0.0', '2001:db8::1'],
  };
  const term = fc
    .constantFrom(...Object.keys(values))
    .chain((field) =>
      fc
        .uniqueArray(fc.constantFrom(...values[field]!), { minLength: 1, maxLength: 3 })
        .map((wanted): FilterTerm & { values: string[] } => ({ field, values: wanted })),
    )
    .chain((one) => fc.constantFrom<FilterTerm>(one, { ...one, negated: true }));

  test('select the same alerts and totals as a naive implementation, alone and combined', async () => {
    const { reader, all } = await filled(120);
    fc.assert(
      fc.property(
        fc.array(term, { maxLength: 3 }),
        fc.option(fc.constantFrom(...severities), { nil: undefined }),
        fc.option(fc.constantFrom('SCAN', 'beacon', 'TÜNNEL', '192.0.2.1', 'host', 'nothing'), {
          nil: undefined,
        }),
        fc.option(fc.integer({ min: 0, max: 1000 }), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 1000 }), { nil: undefined }),
        (terms, min_severity, q, from, to) => {
          const query: ListQuery = {
            ...everything,
            sort: 'last_seen',
            terms,
            ...(min_severity === undefined ? {} : { min_severity }),
            ...(q === undefined ? {} : { q }),
            ...(from === undefined ? {} : { from: start + from * 60_000 }),
            ...(to === undefined ? {} : { to: start + to * 60_000 }),
          };
          const wanted = all.filter(({ attributes: alert }) => {
            const seen = (Date.parse(alert.last_seen) - start) / 60_000;
            const names = `${alert.title}\n${alert.rule_name}\n${alert.rule_id}\n${alert.domain}\n${alert.src_ip}\n${alert.dst_ip}\n${alert.assignee}\n${alert.tags.join('\n')}`;
            return (
              terms.every(
                ({ field, values, negated = false }) =>
                  values.some((value) => oracle[field]!(alert, String(value))) !== negated,
              ) &&
              (min_severity === undefined || severities.indexOf(alert.severity) >= severities.indexOf(min_severity)) &&
              (q === undefined || names.toLowerCase().includes(q.toLowerCase())) &&
              (from === undefined || seen >= from) &&
              (to === undefined || seen < to)
            );
          });
          const page = reader.listAlerts(query);
          expect(page.total).toBe(wanted.length);
          expect(new Set(resources(page).map(({ id }) => id))).toEqual(new Set(wanted.map(({ id }) => id)));
        },
      ),
      { numRuns: 50 },
    );
  });

  const blocks: [string, readonly string[]][] = [
    ['10.0.0.0/24', ['10.0.0.1', '10.0.0.200']],
    ['10.0.0.0/8', ['10.0.0.1', '10.0.0.200', '10.1.0.1']],
    ['0.0.0.0/0', ['10.0.0.1', '10.0.0.200', '10.1.0.1']],
    ['::/0', ['2001:db8::5']],
    ['2001:db8::/32', ['2001:db8::5']],
    ['::ffff:10.0.0.1', ['10.0.0.1']],
    ['10.0.0.1/32', ['10.0.0.1']],
    ['192.0.2.0/24', []],
  ];
  test.for(blocks)('accept addresses and blocks: %s', async ([block, sources]) => {
    const { store, reader } = opened();
    for (const src_ip of ['10.0.0.1', '10.0.0.200', '10.1.0.1', '2001:db8::5'])
      await store.commit(batchOf([finding({ src_ip, dst_ip: '203.0.113.1' })]));
    const page = reader.listAlerts({ ...everything, terms: [{ field: 'src_ip', values: [block] }] });
    expect(
      resources<Alert>(page)
        .map(({ attributes }) => attributes.src_ip)
        .sort(),
    ).toEqual([...sources].sort());
  });
});
