import { describe, expect, it } from 'vitest';
import { assertResponse, assertServerMessage } from '../../scripts/contract-assertions.ts';
import { type ClientMessage, clientMessages } from '../../src/contract/channels.ts';
import { routeOf, routes } from '../../src/contract/routes.ts';
import { reasons, validateBody, validateClientMessage } from '../../src/contract/validate.ts';
import { ServiceError } from '../../src/errors.ts';

function refusal(attempt: () => unknown): [unknown, unknown] {
  try {
    attempt();
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'INVALID_REQUEST')
      return [error.details?.field, error.details?.reason];
    throw error;
  }
  throw new Error('it was accepted');
}

const update = (value: unknown) => validateBody(routes.updateAlert, value);

describe('a JSON body', () => {
  it('passes unchanged if it matches the schema', () => {
    const body = { status: 'in_progress', tags: ['a'], ai_override: { verdict: 'benign', reason: 'a test' } };
    expect(update(body)).toBe(body);
    expect(update({})).toEqual({});
  });

  it.each([
    [null, 'body', 'must be a JSON object'],
    [[], 'body', 'must be a JSON object'],
    ['text', 'body', 'must be a JSON object'],
    [{ nonsense: 1 }, 'nonsense', 'is not a known field'],
    [{ level: 'high' }, 'level', 'is not a known field; did you mean `severity`?'],
    [{ asignee: 'a' }, 'asignee', 'is not a known field; did you mean `assignee`?'],
    [{ version: 7 }, 'version', 'is read-only'],
    [{ title: 'x' }, 'title', 'is read-only'],
    [{ status: 'closed' }, 'status', 'must be one of new, in_progress, resolved, suppressed, archived'],
    [{ status: null }, 'status', 'must be a string'],
    [{ assignee: 7 }, 'assignee', 'must be a string or null'],
    [{ note: '' }, 'note', 'must not be empty'],
    [{ note: 'x'.repeat(10_001) }, 'note', 'must have at most 10000 characters'],
    [{ tags: 'a' }, 'tags', 'must be an array'],
    [{ tags: ['a', 7] }, 'tags.1', 'must be a string'],
    [{ tags: Array(101).fill('a') }, 'tags', 'must have at most 100 items'],
    [{ ai_override: { verdict: 'benign' } }, 'ai_override.reason', 'is required'],
    [{ ai_override: { verdict: 'benign', reason: 'x', at: 'now' } }, 'ai_override.at', 'is not a known field'],
    [JSON.parse('{"__proto__": {"status": "new"}}'), '__proto__', 'is not a known field'],
    [JSON.parse('{"constructor": {"prototype": {}}}'), 'constructor', 'is not a known field'],
    [JSON.parse('{"a/b~c": 1}'), 'a/b~c', 'is not a known field'],
  ])('is rejected: %j', (value, field, reason) => {
    expect(refusal(() => update(value))).toEqual([field, reason]);
  });

  it('is rejected if a required field is an inherited property', () => {
    const inherited = Object.create({ username: 'admin', password: 'secret' });
    expect(refusal(() => validateBody(routes.login, inherited))).toEqual(['username', 'is required']);
    expect(refusal(() => validateBody(routes.login, { username: 'admin' }))).toEqual(['password', 'is required']);
  });

  it('is checked for valid identifiers and times', () => {
    const token = { name: 'a', scopes: ['sensor'] };
    expect(validateBody(routes.issueToken, { ...token, expires_at: '2026-11-20T23:15:00.123Z' })).toBeTruthy();
    expect(refusal(() => validateBody(routes.issueToken, { ...token, principal_id: '7' }))).toEqual([
      'principal_id',
      'must be a valid UUID',
    ]);
    for (const expires_at of ['2026-11-20', '2026-11-20T23:15:00', '2026-02-30T00:00:00Z', 'never'])
      expect(refusal(() => validateBody(routes.issueToken, { ...token, expires_at }))[0]).toBe('expires_at');
    expect(refusal(() => validateBody(routes.issueToken, { ...token, scopes: [] }))).toEqual([
      'scopes',
      'must have at least 1 item',
    ]);
    expect(refusal(() => validateBody(routes.issueToken, { ...token, scopes: ['viewer', 'root'] }))[0]).toBe(
      'scopes.1',
    );
  });

  it('is rejected with a duplicate item, and the error names the earlier item', () => {
    const principal = { name: 'a', kind: 'user', roles: ['viewer', 'admin', 'sensor', 'admin'] };
    expect(refusal(() => validateBody(routes.createPrincipal, principal))).toEqual([
      'roles.3',
      'is the same as roles.1',
    ]);
  });

  it('reports an unknown field of any name in a short, well-formed error', () => {
    const [field] = refusal(() => update({ [`${'x'.repeat(99)}\u{1f600}${'y'.repeat(100_000)}`]: 1 }));
    expect(String(field).length).toBeLessThan(200);
    expect(String(field).isWellFormed()).toBe(true);
  });

  it('with the field __proto__ is rejected and does not change Object.prototype', () => {
    expect(() => update(JSON.parse('{"__proto__": {"polluted": true}}'))).toThrow();
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

it('every JSON body in the route table compiles and requires an object', () => {
  for (const operation of Object.keys(routes) as (keyof typeof routes)[]) {
    const route = routeOf(operation);
    if (route.body?.kind === 'json') expect(refusal(() => validateBody(route, 7))[0]).toBe('body');
  }
});

it('every keyword that a body or a message can violate has an error message', () => {
  const words = new Set(['required', 'additionalProperties', 'uniqueItems', ...Object.keys(reasons)]);
  const silent = new Set(['title', 'description', 'default', 'examples', 'readOnly', 'properties', 'items']);
  const unexplained = new Set<string>();
  const look = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties') for (const property of Object.values(value)) look(property);
      else if (keyword === 'items') look(value);
      if (!words.has(keyword) && !silent.has(keyword)) unexplained.add(keyword);
    }
  };
  for (const operation of Object.keys(routes) as (keyof typeof routes)[]) {
    const { body } = routeOf(operation);
    if (body?.kind === 'json') look(body.schema);
  }
  for (const message of Object.values(clientMessages)) look(message);
  expect([...unexplained]).toEqual([]);
});

describe('a message from a WebSocket client', () => {
  it.each([
    { type: 'ping' },
    { type: 'auth', token: 't' },
    { type: 'subscribe', channel: 'alerts' },
    { type: 'subscribe', channel: 'events.dns', filters: { severity: 'high' }, since: 0, id: 'mine' },
    { type: 'unsubscribe', id: 'mine' },
    { type: 'unsubscribe', channel: 'alerts' },
  ] satisfies ClientMessage[])('passes: %j', (message) => {
    expect(validateClientMessage(message)).toBe(message);
  });

  it.each([
    [null, 'message'],
    [[], 'message'],
    ['ping', 'message'],
    [{}, 'type'],
    [{ type: 'toString' }, 'type'],
    [{ type: 'subscribe' }, 'channel'],
    [{ type: 'subscribe', channel: 'gossip' }, 'channel'],
    [{ type: 'subscribe', channel: 'alerts', since: -1 }, 'since'],
    [{ type: 'subscribe', channel: 'alerts', since: 1.5 }, 'since'],
    [{ type: 'subscribe', channel: 'alerts', id: '' }, 'id'],
    [{ type: 'subscribe', channel: 'alerts', filters: [] }, 'filters'],
    [{ type: 'subscribe', channel: 'alerts', nonsense: 1 }, 'nonsense'],
    [{ type: 'unsubscribe' }, 'channel'],
    [{ type: 'ping', at: 1 }, 'at'],
  ])('is rejected: %j', (message, field) => {
    expect(refusal(() => validateClientMessage(message))[0]).toBe(field);
  });

  it('has one of four types', () => {
    expect(Object.keys(clientMessages)).toEqual(['auth', 'subscribe', 'unsubscribe', 'ping']);
  });
});

describe('a response', () => {
  const timestamp = '2026-11-20T23:15:00.123Z';
  const failure = (code: string) => ({
    error: { code, message: 'm', details: { field: 'x', reason: 'r' } },
    timestamp,
  });
  const meta = { timestamp, query_time_ms: 1 };
  const note = {
    id: '0199b1c2-0000-7000-8000-000000000000',
    type: 'alert_note',
    attributes: {
      alert_id: '0199b1c2-0000-7000-8000-000000000001',
      text: 't',
      author: 'a',
      created_at: timestamp,
    },
  };

  it('is validated against the schema of its operation and status', () => {
    assertResponse('addAlertNote', 201, { data: note, meta });
    assertResponse('logout', 204, undefined);
    assertResponse('getMetrics', 200, '# HELP');
    const pagination = { page: 1, per_page: 50, total: 1, total_pages: 1, has_next: false, has_prev: false };
    assertResponse('listAlertNotes', 200, { data: [note], pagination, meta });
    for (const wrong of [
      { data: note },
      { data: note, meta, extra: 1 },
      { data: { ...note, type: 'alert' }, meta },
      { data: { ...note, attributes: { ...note.attributes, mood: 'good' } }, meta },
      { data: { ...note, attributes: { ...note.attributes, author: undefined } }, meta },
    ])
      expect(() => assertResponse('addAlertNote', 201, wrong)).toThrow(/addAlertNote answered 201/);
    expect(() => assertResponse('addAlertNote', 200, { data: note, meta })).toThrow();
  });

  it('that is an error has a code that its status and operation allow', () => {
    assertResponse('getAlert', 404, failure('NOT_FOUND'));
    assertResponse('getTreeHead', 503, failure('LOG_EMPTY'));
    expect(() => assertResponse('getAlert', 400, failure('NOT_FOUND'))).toThrow(/needs status 404/);
    expect(() => assertResponse('getAlert', 503, failure('LOG_EMPTY'))).toThrow(/not an error of this operation/);
    expect(() => assertResponse('getAlert', 404, { error: 'nope' })).toThrow();
    expect(() => assertResponse('getAlert', 404, failure('TEAPOT'))).toThrow();
  });

  it('of the health check with status 503 is a health body without an envelope, or an error', () => {
    const not_stored = { rejected: 0, ignored: 0, refused: 0, credentials: 0 };
    const health = { status: 'unavailable', version: '1', ledger: 'ok', not_stored, timestamp };
    assertResponse('getHealth', 503, health);
    assertResponse('getHealth', 503, failure('UNAVAILABLE'));
  });

  it('is one of the server messages on a WebSocket', () => {
    assertServerMessage({ type: 'pong' });
    assertServerMessage({ type: 'lagged', channel: 'alerts', id: 'a', dropped: 3 });
    expect(() => assertServerMessage({ type: 'pong', at: 1 })).toThrow();
    expect(() => assertServerMessage({ type: 'hello' })).toThrow();
  });
});
