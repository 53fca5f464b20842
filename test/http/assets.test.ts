import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Asset } from '../../src/contract/resources/asset.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let token: string;
const nobody = '018f0000-0000-7000-8000-000000000001';

beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const { body } = await service.call('login', 'POST /auth/login', { json });
  token = (body as { access_token: string }).access_token;
});
afterAll(() => service.close());

interface Item<A = Asset> {
  readonly id: string;
  readonly type: string;
  readonly attributes: A;
}
interface Failure {
  readonly error: { readonly code: string; readonly details?: Readonly<Record<string, unknown>> };
}
type Headers = Record<string, string>;

const call = (operation: OperationId, target: string, json?: unknown, headers: Headers = {}) =>
  service.call(operation, target, { token, headers, ...(json === undefined ? {} : { json }) });
const post = (json: unknown) => call('createAsset', 'POST /api/v1/assets', json);
const put = (id: string, json: unknown, headers?: Headers) =>
  call('updateAsset', `PUT /api/v1/assets/${id}`, json, headers);
const get = (id: string) => call('getAsset', `GET /api/v1/assets/${id}`);
const remove = (id: string, headers?: Headers) =>
  call('deleteAsset', `DELETE /api/v1/assets/${id}`, undefined, headers);
const merge = (id: string, json: unknown, headers?: Headers) =>
  call('mergeAsset', `POST /api/v1/assets/${id}/merge`, json, headers);
const split = (id: string, json: unknown, headers?: Headers) =>
  call('splitAsset', `POST /api/v1/assets/${id}/split`, json, headers);

const itemIn = ({ status, body }: { status: number; body: unknown }, wanted = 200): Item => {
  if (status !== wanted) throw new Error(`${status} ${JSON.stringify(body)}`);
  return (body as { data: Item }).data;
};
const create = async (json: unknown) => itemIn(await post(json), 201);
const read = async (id: string) => itemIn(await get(id)).attributes;
const failure = ({ status, body }: { status: number; body: unknown }) => {
  const { code, details } = (body as Failure).error;
  return [status, code, details?.field];
};

async function list<A>(operation: OperationId, target: string) {
  const { status, body } = await call(operation, `GET ${target}`);
  expect([status, target]).toEqual([200, target]);
  return body as { data: Item<A>[]; pagination: { total: number; next_cursor?: string } };
}
const idsOf = async (query: string) => (await list('listAssets', `/api/v1/assets?${query}`)).data.map(({ id }) => id);
interface Record_ {
  readonly action: string;
  readonly by: { readonly kind: string; readonly name?: string };
  readonly at: string;
}
const history = async (id: string) =>
  (await list<Record_>('listAssetHistory', `/api/v1/assets/${id}/history`)).data.map(({ attributes }) => attributes);

let next = 0;
/** Returns an address that no other asset in these tests has. */
const address = () => {
  next++;
  return `10.9.${next >> 8}.${next & 255}`;
};

describe('a manual asset', () => {
  test('is created, read, changed and deleted', async () => {
    const made = await post({
      name: 'Core switch',
      kind: 'network',
      ip_addresses: ['10.1.0.1', '2001:DB8:0::1', '::ffff:10.1.0.2'],
      mac_addresses: ['00-1B-63-84-45-E6', '001b.6384.45e7'],
      hostnames: ['Core-1.Example.org.'],
      os: 'NX-OS 10.4',
      vendor: 'Cisco',
      criticality: 'critical',
      owner: 'network team',
      tags: ['rack 4'],
      notes: 'Spare in the cellar.',
    });
    const { id, type, attributes } = itemIn(made, 201);
    expect([type, made.headers.get('location'), made.headers.get('etag')]).toEqual([
      'asset',
      `/api/v1/assets/${id}`,
      '"1"',
    ]);
    expect(attributes).toEqual({
      name: 'Core switch',
      kind: 'network',
      ip_addresses: ['10.1.0.1', '2001:db8::1', '10.1.0.2'],
      mac_addresses: ['00:1b:63:84:45:e6', '00:1b:63:84:45:e7'],
      hostnames: ['core-1.example.org'],
      os: 'NX-OS 10.4',
      vendor: 'Cisco',
      criticality: 'critical',
      owner: 'network team',
      tags: ['rack 4'],
      notes: 'Spare in the cellar.',
      state: 'managed',
      source: 'manual',
      risk_score: 0,
      risk_level: 'low',
      open_alerts: 0,
      service_count: 0,
      version: 1,
    });
    expect(await read(id)).toEqual(attributes);

    const changed = await put(id, { owner: '', tags: [], criticality: 'high' }, { 'if-match': '"1"' });
    const { owner: _, ...rest } = attributes;
    expect(itemIn(changed).attributes).toEqual({ ...rest, tags: [], criticality: 'high', version: 2 });
    expect(itemIn(await put(id, {})).attributes.version).toBe(2);
    expect(itemIn(await put(id, { criticality: 'high' })).attributes.version).toBe(2);

    expect((await remove(id)).status).toBe(204);
    expect(failure(await get(id))).toEqual([404, 'NOT_FOUND', 'asset_id']);
    expect(failure(await remove(id))).toEqual([404, 'NOT_FOUND', 'asset_id']);
    expect(failure(await put(id, {}))).toEqual([404, 'NOT_FOUND', 'asset_id']);
    // The addresses of the deleted asset are free again.
    await create({ ip_addresses: ['10.1.0.1'] });
  });

  test.each([
    [{ name: 'only a name' }, 'only a name'],
    [{ ip_addresses: ['10.1.1.1'] }, '10.1.1.1'],
    [{ mac_addresses: ['00:1b:63:84:46:00'] }, '00:1b:63:84:46:00'],
    [{ hostnames: ['printer.example.org'], ip_addresses: ['10.1.1.2'] }, 'printer.example.org'],
  ])('needs only %j', async (json, name) => {
    const { attributes } = await create(json);
    expect(attributes).toMatchObject({ name, kind: 'unknown', criticality: 'medium', state: 'managed' });
  });

  test('rejects a change based on an older version', async () => {
    const { id } = await create({ name: 'versioned', ip_addresses: ['10.9.9.1', '10.9.9.2'] });
    const { id: other } = await create({ name: 'another' });
    await put(id, { notes: 'a' });
    const outdated = { 'if-match': '"1"' };
    const identifiers = ['10.9.9.1'];
    for (const change of [
      put(id, { notes: 'b' }, outdated),
      remove(id, outdated),
      merge(id, { into: other }, outdated),
      split(id, { identifiers }, outdated),
    ])
      expect(failure(await change).slice(0, 2)).toEqual([412, 'VERSION_MISMATCH']);
    expect((await merge(other, { into: id }, outdated)).status).toBe(200);
    expect((await split(id, { identifiers }, { 'if-match': '"3"' })).status).toBe(201);
    expect(failure(await put(id, {}, { 'if-match': '1' }))).toEqual([400, 'INVALID_REQUEST', 'if-match']);
    expect((await read(id)).notes).toBe('a');
    expect((await remove(id, { 'if-match': '"4"' })).status).toBe(204);
  });

  test('is retired and reactivated', async () => {
    const { id } = await create({ name: 'old' });
    expect(itemIn(await put(id, { state: 'retired' })).attributes.state).toBe('retired');
    expect(itemIn(await put(id, { state: 'managed' })).attributes.state).toBe('managed');
    const refused = await put(id, { state: 'staged' });
    expect(failure(refused).slice(0, 2)).toEqual([409, 'INVALID_TRANSITION']);
    expect((refused.body as Failure).error.details).toMatchObject({ from: 'managed', to: 'staged' });
    const states = (await history(id)).filter(({ action }) => action === 'state_changed');
    expect(states).toMatchObject([{ state: 'managed' }, { state: 'retired' }]);
  });
});

const text = (most: number) => [7, null, true, {}, [], 'x'.repeat(most + 1)];
const listed = (good: string) => [good, null, {}, Array(257).fill(good)];
const badAddresses = [
  '',
  'ten',
  '10.0.0',
  '10.0.0.256',
  '010.0.0.1',
  '10.0.0.0/24',
  'fe80::1%eth0',
  '2001:db8::g',
  ' 10.0.0.1',
  '0.0.0.0',
  '::',
  '0.1.2.3',
  '224.0.0.251',
  '239.255.255.250',
  '255.255.255.255',
  'ff02::fb',
  '::ffff:224.0.0.1',
  '::ffff:e000:1',
  7,
  null,
];
const badMacs = ['', '00:1b:63', 'ff:ff:ff:ff:ff:ff', '01:00:5e:00:00:fb', '00:00:00:00:00:00', 'eth0', 7];
const badNames = ['', 'a b', '-a', 'a..b', '10.0.0.1', 'http://a', 'x'.repeat(254), 7];

/** Control characters and line separators. */
const controls = ['a\u0000b', 'a\nb', 'a\tb', 'a\u0085b', 'a\u2028b'];

/** Invalid values of each field, and the field that the error names. */
const wrong: readonly (readonly [field: string, named: string, values: readonly unknown[]])[] = [
  ['name', 'name', [...text(255), '', ' \t']],
  ['kind', 'kind', ['Server', '', 7, null]],
  ['ip_addresses', 'ip_addresses', listed('10.0.0.1')],
  ['ip_addresses', 'ip_addresses.0', badAddresses.map((bad) => [bad])],
  ['ip_addresses', 'ip_addresses.1', badAddresses.map((bad) => ['10.0.0.1', bad])],
  ['ip_addresses', 'ip_addresses.2', [['10.0.0.1', '10.0.0.2', '::ffff:10.0.0.1']]],
  ['mac_addresses', 'mac_addresses', listed('00:1b:63:84:45:e6')],
  ['mac_addresses', 'mac_addresses.0', badMacs.map((bad) => [bad])],
  ['mac_addresses', 'mac_addresses.1', [['00:1b:63:84:45:e6', '00-1B-63-84-45-E6']]],
  ['hostnames', 'hostnames', listed('a.example')],
  ['hostnames', 'hostnames.0', badNames.map((bad) => [bad])],
  ['hostnames', 'hostnames.1', [['a.example', 'A.example.']]],
  ['os', 'os', text(255)],
  ['vendor', 'vendor', text(255)],
  ['criticality', 'criticality', ['extreme', '', 1, null]],
  ['owner', 'owner', text(255)],
  ['tags', 'tags', ['a', null, {}, Array(101).fill('a')]],
  [
    'tags',
    'tags.1',
    [
      ['a', ''],
      ['a', 7],
      ['a', 'x'.repeat(101)],
      ['a', 'a'],
    ],
  ],
  ['name', 'name', controls],
  ['os', 'os', controls],
  ['vendor', 'vendor', controls],
  ['owner', 'owner', controls],
  ['tags', 'tags.0', controls.map((bad) => [bad])],
  ['notes', 'notes', ['a\u0000b', 'a\u001bb']],
  ['notes', 'notes', text(10_000)],
  ['state', 'state', ['new', '', 1, null]],
  ['source', 'source', ['manual']],
  ['first_seen', 'first_seen', ['2026-01-01T00:00:00.000Z']],
  ['last_seen', 'last_seen', ['2026-01-01T00:00:00.000Z']],
  ['risk_score', 'risk_score', [1]],
  ['risk_level', 'risk_level', ['low']],
  ['open_alerts', 'open_alerts', [0]],
  ['service_count', 'service_count', [0]],
  ['version', 'version', [1]],
  ['id', 'id', [nobody]],
  ['ip', 'ip', ['10.0.0.1']],
  ['hostname', 'hostname', ['a']],
];

describe('the asset API', () => {
  let id: string;
  beforeAll(async () => {
    ({ id } = await create({ name: 'good' }));
  });

  test.each(wrong)('rejects an invalid %s, and the error names %s', async (field, named, values) => {
    for (const value of values) {
      const shown = JSON.stringify(value).slice(0, 80);
      const refusal = [400, 'INVALID_REQUEST', named];
      expect([shown, ...failure(await post({ name: 'a', [field]: value }))]).toEqual([shown, ...refusal]);
      expect([shown, ...failure(await put(id, { [field]: value }))]).toEqual([shown, ...refusal]);
    }
  });

  test('rejects a read-only field and an unknown field with different reasons', async () => {
    const reasonOf = async (json: unknown) => ((await post(json)).body as Failure).error.details?.reason;
    expect(await reasonOf({ name: 'a', risk_score: 1 })).toBe('is read-only');
    expect(await reasonOf({ name: 'a', colour: 'red' })).toBe('is not a known field');
  });

  test.each([{}, { ip_addresses: [] }, { tags: ['a'], kind: 'server', hostnames: [], mac_addresses: [] }])(
    'rejects an asset without any identifier: %j',
    async (json) => {
      expect(failure(await post(json))).toEqual([400, 'INVALID_REQUEST', 'name']);
    },
  );

  test.each([[null], [[]], ['asset'], [7]])('rejects a body that is %j', async (json) => {
    expect(failure(await post(json))).toEqual([400, 'INVALID_REQUEST', 'body']);
    expect(failure(await put(id, json))).toEqual([400, 'INVALID_REQUEST', 'body']);
  });

  test.each(['7', 'all', '018f0000-0000-7000-8000-00000000000', '%20'])('rejects an id that is %s', async (bad) => {
    const refusal = [400, 'INVALID_REQUEST', 'asset_id'];
    expect(failure(await get(bad))).toEqual(refusal);
    expect(failure(await put(bad, {}))).toEqual(refusal);
    expect(failure(await remove(bad))).toEqual(refusal);
    expect(failure(await merge(bad, { into: id }))).toEqual(refusal);
    expect(failure(await split(bad, { identifiers: ['10.0.0.1'] }))).toEqual(refusal);
    expect(failure(await call('listAssetHistory', `GET /api/v1/assets/${bad}/history`))).toEqual(refusal);
    expect(failure(await call('listAssetServices', `GET /api/v1/services/asset/${bad}`))).toEqual(refusal);
    const body = (await get(bad)).body as Failure;
    expect(body.error.details?.reason).toBe('must be a valid UUID');
  });

  test('responds 404 for an asset that does not exist', async () => {
    const answers = [
      get(nobody),
      put(nobody, {}),
      remove(nobody),
      merge(nobody, { into: id }),
      merge(id, { into: nobody }),
      split(nobody, { identifiers: ['10.0.0.1'] }),
      call('listAssetHistory', `GET /api/v1/assets/${nobody}/history`),
      call('listAssetServices', `GET /api/v1/services/asset/${nobody}`),
    ];
    for (const answer of answers) expect(failure(await answer).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
  });

  test.each([
    ['state=new', 'state'],
    ['kind=', 'kind'],
    ['ip=10.0.0.0/33', 'ip'],
    ['mac=eth0', 'mac'],
    ['risk_level=5', 'risk_level'],
    ['risk_score=101', 'risk_score'],
    ['sort=notes', 'sort'],
    ['min_severity=high', 'min_severity'],
    ['per_page=1001', 'per_page'],
    ['page=0', 'page'],
    ['colour=red', 'colour'],
    ['from=2026-01-02&to=2026-01-01', 'from'],
    ['cursor=x', 'cursor'],
  ])('rejects invalid list parameters: %s', async (query, field) => {
    const answer = await call('listAssets', `GET /api/v1/assets?${query}`);
    expect(failure(answer)).toEqual([400, 'INVALID_REQUEST', field]);
  });
});

describe('an address that belongs to another asset', () => {
  test.each([
    ['ip_addresses', () => address()],
    ['mac_addresses', () => `00:1b:63:00:01:${(++next & 255).toString(16).padStart(2, '0')}`],
  ] as const)('is a CONFLICT that names the other asset: %s', async (field, identifier) => {
    const [taken, own] = [identifier(), identifier()];
    const first = await create({ [field]: [taken] });
    const other = await create({ [field]: [own] });
    const refused = await post({ [field]: [identifier(), taken] });
    expect(failure(refused).slice(0, 2)).toEqual([409, 'CONFLICT']);
    expect((refused.body as Failure).error.details).toMatchObject({
      field: `${field}.1`,
      asset_id: first.id,
    });
    const changed = await put(other.id, { [field]: [taken, own] });
    expect(failure(changed)).toEqual([409, 'CONFLICT', `${field}.0`]);
    expect((await read(other.id))[field]).toEqual([own]);
    // The asset's own identifiers do not conflict, and identifiers that it gives up are free for other assets.
    expect(itemIn(await put(first.id, { [field]: [taken, identifier()] })).attributes[field][0]).toBe(taken);
    expect(itemIn(await put(first.id, { [field]: [identifier()] })).attributes[field]).toHaveLength(1);
    expect(itemIn(await put(other.id, { [field]: [own, taken] })).attributes[field]).toEqual([own, taken]);
  });
});

describe('a merge', () => {
  test('makes one asset of two, and the history names the user', async () => {
    const [a, b] = [address(), address()];
    const one = await create({ name: 'one', ip_addresses: [a], hostnames: ['one.example'] });
    const other = await create({ name: 'other', ip_addresses: [b], mac_addresses: ['00:1b:63:00:02:01'] });
    const answer = itemIn(await merge(one.id, { into: other.id.toUpperCase() }));
    expect(answer.id).toBe(other.id);
    expect(answer.attributes).toMatchObject({ name: 'other', mac_addresses: ['00:1b:63:00:02:01'] });
    expect(answer.attributes.ip_addresses.toSorted()).toEqual([a, b].toSorted());
    expect(await read(other.id)).toEqual(answer.attributes);

    const gone = await get(one.id);
    expect(failure(gone).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
    expect((gone.body as Failure).error.details).toMatchObject({ merged_into: other.id });
    expect(await history(other.id)).toContainEqual(
      expect.objectContaining({
        action: 'merged',
        other_asset_id: one.id,
        by: expect.objectContaining({ kind: 'principal', name: 'admin' }),
      }),
    );
    expect(await idsOf(`ip=${a}`)).toEqual([other.id]);
    const again = await merge(one.id, { into: other.id });
    expect([...failure(again), (again.body as Failure).error.details?.merged_into]).toEqual([
      ...[404, 'NOT_FOUND', 'asset_id', other.id],
    ]);
    expect(failure(await merge(other.id, { into: one.id }))).toEqual([404, 'NOT_FOUND', 'into']);
  });

  test('of an asset with itself is rejected', async () => {
    const { id } = await create({ name: 'self' });
    expect(failure(await merge(id, { into: id.toUpperCase() }))).toEqual([409, 'CONFLICT', 'into']);
  });

  test.each([
    [{}, 'into'],
    [{ into: 'x' }, 'into'],
    [{ into: null }, 'into'],
    [{ into: nobody, why: 'x' }, 'why'],
  ])('is rejected with the body %j', async (json, field) => {
    const { id } = await create({ name: 'wrongly merged' });
    expect(failure(await merge(id, json))).toEqual([400, 'INVALID_REQUEST', field]);
  });
});

describe('a split', () => {
  test('gives addresses to a new asset, and both histories record the split', async () => {
    const [a, b] = [address(), address()];
    const mac = '00:1b:63:00:03:01';
    const { id } = await create({ name: 'two in one', ip_addresses: [a, b], mac_addresses: [mac] });
    const answer = await split(id, { identifiers: [`::ffff:${b}`, '00-1B-63-00-03-01'] });
    const made = itemIn(answer, 201);
    expect(answer.headers.get('location')).toBe(`/api/v1/assets/${made.id}`);
    expect(made.attributes).toMatchObject({ ip_addresses: [b], mac_addresses: [mac] });
    expect(await read(id)).toMatchObject({ name: 'two in one', ip_addresses: [a], mac_addresses: [] });
    const by = expect.objectContaining({ kind: 'principal', name: 'admin' });
    const record = (other_asset_id: string) => expect.objectContaining({ action: 'split', other_asset_id, by });
    expect(await history(id)).toContainEqual(record(made.id));
    expect(await history(made.id)).toContainEqual(record(id));
    expect(await idsOf(`ip=${b}`)).toEqual([made.id]);
  });

  test.each([
    [{}, 'identifiers'],
    [{ identifiers: [] }, 'identifiers'],
    [{ identifiers: '10.0.0.1' }, 'identifiers'],
    [{ identifiers: ['printer'] }, 'identifiers.0'],
    [{ identifiers: ['10.0.0.1', '::ffff:10.0.0.1'] }, 'identifiers.1'],
    [{ identifiers: ['10.0.0.0/24'] }, 'identifiers.0'],
    [{ identifiers: ['203.0.113.77'] }, 'identifiers.0'],
  ])('is rejected with the body %j', async (json, field) => {
    const { id } = await create({ ip_addresses: [address(), address()] });
    expect(failure(await split(id, json))).toEqual([400, 'INVALID_REQUEST', field]);
  });
});

describe('lists', () => {
  test('return assets for every filter and in every order', async () => {
    const server = await create({
      name: 'list: alpha',
      kind: 'server',
      ip_addresses: ['10.77.0.9'],
      mac_addresses: ['00:1b:63:00:04:01'],
      hostnames: ['alpha.list.example'],
      os: 'Debian 13',
      vendor: 'Dell',
      criticality: 'high',
      owner: 'list owner',
      tags: ['list', 'alpha'],
    });
    const printer = await create({
      name: 'list: beta',
      kind: 'printer',
      ip_addresses: ['10.77.0.10', '2001:db8:77::1'],
      criticality: 'low',
      owner: 'list owner',
      tags: ['list'],
      state: 'retired',
    });
    const both = [server.id, printer.id];
    const only = async (query: string, wanted: readonly string[]) =>
      expect([query, (await idsOf(`tag=list&${query}`)).toSorted()]).toEqual([query, wanted.toSorted()]);
    await only('', both);
    await only('ip=10.77.0.9', [server.id]);
    await only('ip=10.77.0.0/24', both);
    await only('ip=2001:db8:77::/48', [printer.id]);
    await only('mac=00-1B-63-00-04-01', [server.id]);
    await only('hostname=Alpha.list.example.', [server.id]);
    await only('kind=server', [server.id]);
    await only('kind=server&kind=printer', both);
    await only('criticality=high', [server.id]);
    await only('state=retired', [printer.id]);
    await only('owner=list+owner', both);
    await only('os=Debian+13', [server.id]);
    await only('vendor=Dell', [server.id]);
    await only('tags=alpha', [server.id]);
    await only('name=list:+beta', [printer.id]);
    await only('source=manual', both);
    await only('source=passive', []);
    await only('risk_level=low', both);
    await only('open_alerts=0&service_count=0&risk_score=0', both);
    await only('q=ALPHA.list', [server.id]);
    await only('q=10.77.0.1', [printer.id]);
    for (const sort of ['name', 'criticality', 'ip', 'kind', 'os'])
      expect((await idsOf(`tag=list&sort=${sort}`)).toSorted()).toEqual(both.toSorted());
    expect(await idsOf('tag=list&sort=name')).toEqual(both);
    expect(await idsOf('tag=list&sort=-name')).toEqual(both.toReversed());
    expect(await idsOf('tag=list&sort=-criticality')).toEqual(both);
    expect(await idsOf('tag=list&sort=ip')).toEqual(both);

    const first = await list('listAssets', '/api/v1/assets?tag=list&sort=name&per_page=1');
    expect([first.data[0]?.id, first.pagination.total]).toEqual([server.id, 2]);
    const rest = await list(
      'listAssets',
      `/api/v1/assets?tag=list&sort=name&per_page=1&cursor=${first.pagination.next_cursor}`,
    );
    expect([rest.data.map(({ id }) => id), rest.pagination.next_cursor]).toEqual([[printer.id], undefined]);
  });
});

test('the history of an asset records changes by users, newest first, in pages', async () => {
  const [a, b] = [address(), address()];
  const { id } = await create({ name: 'told', ip_addresses: [a] });
  await put(id, { ip_addresses: [b], owner: 'ann' });
  await put(id, { state: 'retired' });
  const records = await history(id);
  expect(records.at(-1)).toMatchObject({ action: 'created', asset_id: id });
  expect(records.map(({ at }) => at)).toEqual(
    records
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  );
  expect(records).toContainEqual(expect.objectContaining({ action: 'address_left', ip_address: a }));
  expect(records).toContainEqual(expect.objectContaining({ action: 'address_bound', ip_address: b }));
  expect(records).toContainEqual(
    expect.objectContaining({ action: 'edited', fields: expect.arrayContaining(['owner']) }),
  );
  expect(new Set(records.map(({ by }) => `${by.kind} ${by.name}`))).toEqual(new Set(['principal admin']));
  const target = `/api/v1/assets/${id}/history`;
  const { pagination } = await list('listAssetHistory', `${target}?per_page=1`);
  expect(pagination.total).toBe(records.length);
  const edits = await list<Record_>('listAssetHistory', `${target}?action=edited`);
  expect(edits.data.map(({ attributes }) => attributes.action)).toEqual(['edited']);
});
