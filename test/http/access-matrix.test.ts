import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import { type OperationId, operationIds, routeOf } from '../../src/contract/routes.ts';
import { type Role, roles } from '../../src/contract/vocabulary.ts';
import { endpoints } from '../../src/http/routes/index.ts';
import { type AccessTokens, accessTokens, type TokenKeys } from '../../src/identities/access-token.ts';
import { newSecret, secretHash, writeSecret } from '../../src/identities/secrets.ts';
import type { Token } from '../../src/store/store.ts';
import { uuid7 } from '../../src/uuid.ts';
import { forRoles, withRules } from '../identities/policy-parts.ts';
import { openService, type Service } from './service.ts';

const system = { id: 'system', name: 'system' };
const hour = 3_600_000;
const kinds = [
  'valid',
  'none',
  'expired',
  'revoked',
  'wrong audience',
  'wrong key',
  'alg none',
  'suspended',
  'long-lived valid',
  'long-lived made up',
  'long-lived expired',
  'long-lived revoked',
  'long-lived suspended',
] as const;
/** Kinds of credentials that identify their holder. */
const good: ReadonlySet<Kind> = new Set<Kind>(['valid', 'long-lived valid']);
type Kind = (typeof kinds)[number];
type Holder = Role | 'no role';
const holders: readonly Holder[] = [...roles, 'no role'];
type Outcome = 401 | 403 | 'open';

let service: Service;
/** Tokens by holder and kind of credentials; undefined for requests without credentials. */
const tokens = new Map<string, string | undefined>();

beforeAll(async () => {
  service = await openService();
  const keys = await service.ledger.accessTokenKeys();
  const issuing = { issuer: 'candor', audience: 'candor' };
  const forged = accessTokens(otherKeys(keys), issuing);
  const right = accessTokens(keys, issuing);
  const elsewhere = accessTokens(keys, { ...issuing, audience: 'another service' });
  for (const holder of holders) {
    const session = await addSession(holder);
    const issue = (by: AccessTokens, of: Session, at = Date.now()) => by.issue(of, at);
    const set = (kind: Kind, token: string | undefined) => tokens.set(`${holder} ${kind}`, token);
    const valid = await issue(right, session);
    set('valid', valid);
    set('none', undefined);
    set('expired', await issue(right, session, Date.now() - hour));
    set('wrong audience', await issue(elsewhere, session));
    set('wrong key', await issue(forged, session));
    set('alg none', unsigned(valid));
    set('suspended', await issue(right, await addSession(holder, 'suspended')));
    const revoked = await addSession(holder);
    await service.store.revokeToken(revoked.jti, system);
    set('revoked', await issue(right, revoked));
    const longLived = await addLongLived(session.sub, holder);
    set('long-lived valid', longLived.token);
    set('long-lived made up', madeUp(longLived.token));
    set('long-lived expired', (await addLongLived(session.sub, holder, Date.now() - hour)).token);
    set('long-lived revoked', (await addLongLived(session.sub, holder, 'revoked')).token);
    const { sub } = await addSession(holder, 'suspended');
    set('long-lived suspended', (await addLongLived(sub, holder)).token);
  }
  // The head of a log without entries cannot be served.
  service.pump.wake();
  await service.pump.idle();
});
afterAll(() => service.close());

type Session = Parameters<AccessTokens['issue']>[0];

async function addSession(holder: Holder, status: 'active' | 'suspended' = 'active'): Promise<Session> {
  const [sub, jti] = [uuid7(Date.now()), uuid7(Date.now())];
  const given = holder === 'no role' ? [] : [holder];
  const created_at = new Date().toISOString();
  await service.store.createPrincipal({ id: sub, name: sub, kind: 'user', roles: given, status, created_at }, system);
  const session: Token = {
    jti,
    principal_id: sub,
    kind: 'session',
    roles: given,
    secret_hash: jti,
    family_hash: jti,
    issued_at: created_at,
    expires_at: new Date(Date.now() + hour).toISOString(),
  };
  await service.store.addToken(session, system);
  return { sub, jti, roles: given };
}

/** Stores a long-lived token for a machine, and returns the text of the token. */
async function addLongLived(principal_id: string, holder: Holder, end?: number | 'revoked') {
  const [jti, secret] = [uuid7(Date.now()), newSecret()];
  const record: Token = {
    ...{ jti, principal_id, kind: 'long_lived', name: 'of a machine' },
    roles: holder === 'no role' ? [] : [holder],
    secret_hash: secretHash(secret),
    issued_at: new Date().toISOString(),
    ...(typeof end === 'number' ? { expires_at: new Date(end).toISOString() } : {}),
  };
  await service.store.addToken(record, system);
  if (end === 'revoked') await service.store.revokeToken(jti, system);
  return { token: writeSecret('long_lived', { jti, secret }) };
}

/** Returns the token with another secret. */
const madeUp = (token: string): string => token.slice(0, -newSecret().length) + newSecret();

/** Returns the keys with another private key under the service's key id. */
function otherKeys({ current }: TokenKeys): TokenKeys {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const own = { ...(jwk as Record<string, string>), kid: String(current.kid) };
  return { current: own, verifying: [] };
}

/** Returns the token with `alg: none` and without its signature (RFC 8725, section 2.1). */
function unsigned(token: string): string {
  const [head = '', payload = ''] = token.split('.');
  const header = JSON.parse(Buffer.from(head, 'base64url').toString());
  return `${Buffer.from(JSON.stringify({ ...header, alg: 'none' })).toString('base64url')}.${payload}.`;
}

const cases = holders.flatMap((holder) => kinds.map((kind) => ({ holder, kind })));

/** Returns the outcome that the policy requires, computed independently of the service's own check. */
function wanted(rules: readonly AccessRule[], operation: OperationId, holder: Holder, kind: Kind): Outcome {
  const rule = rules.find((one) => one.operation === operation);
  if (rule?.access === 'public') return 'open';
  if (!good.has(kind)) return 401;
  return rule?.roles.some((role) => role === holder) ? 'open' : 403;
}

const pathOf = (path: string) => path.replace(/:\w+\*/, '000').replace(/:\w+/, '018f0000-0000-7000-8000-000000000001');

/** Calls an operation. The request is invalid, so that it changes nothing even if the caller is authorized. */
async function ask(operation: OperationId, token: string | undefined): Promise<Outcome> {
  const { method, path, partlyPublic, body } = routeOf(operation);
  const type = body?.kind === 'ingest' ? body.mediaTypes[0] : 'application/json';
  const answer = await fetch(`${service.url}${pathOf(path)}${partlyPublic ? '' : '?nonsense=1'}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': type ?? '' }),
    },
    ...(body === undefined ? {} : { body: '{}' }),
  });
  await answer.arrayBuffer();
  if (answer.status >= 500) throw new Error(`${operation} answered ${answer.status}`);
  return answer.status === 401 || answer.status === 403 ? answer.status : 'open';
}

const closings: Readonly<Record<number, Outcome>> = { 4401: 401, 4403: 403 };

/** Sends credentials, if any, in the upgrade request, and waits for a pong. */
async function askSocket(path: string, token: string | undefined): Promise<Outcome> {
  const socket = openSocket(path, token);
  await once(socket, 'open');
  socket.send('{"type":"ping"}');
  return new Promise((resolve, reject) => {
    socket.on('message', (text) => {
      if (JSON.parse(String(text)).type !== 'pong') return;
      socket.terminate();
      resolve('open');
    });
    socket.on('close', (code) => {
      const outcome = closings[code];
      if (outcome !== undefined) resolve(outcome);
      else reject(new Error(`${path} was closed with ${code}`));
    });
  });
}

function openSocket(path: string, token: string | undefined): WebSocket {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new WebSocket(service.url.replace('http', 'ws') + path, { headers });
}

async function expectMatrix(rules: readonly AccessRule[], some = cases): Promise<void> {
  for (const operation of operationIds) {
    const { path, websocket } = routeOf(operation);
    const outcomes = await Promise.all(
      some.map(async ({ holder, kind }) => {
        const token = tokens.get(`${holder} ${kind}`);
        const outcome = await (websocket ? askSocket(path, token) : ask(operation, token));
        return `${operation}, ${holder}, ${kind}: ${outcome}`;
      }),
    );
    expect(outcomes).toEqual(
      some.map(({ holder, kind }) => `${operation}, ${holder}, ${kind}: ${wanted(rules, operation, holder, kind)}`),
    );
  }
}

describe('every operation responds to each role and each kind of credentials as the policy requires', () => {
  test('by default', async () => {
    const { rules } = service.services.policy.current;
    expect(rules.map(({ operation }) => operation).sort()).toEqual([...operationIds].sort());
    await expectMatrix(rules);
  });

  test('after a change of the policy', async () => {
    const { policy } = service.services;
    const edited = withRules(
      policy.current.rules,
      forRoles('listAlerts', 'auditor'),
      forRoles('ingest', 'viewer'),
      forRoles('getMetrics', 'admin'),
      forRoles('getOpenApi', 'sensor'),
      forRoles('getTreeHead'),
      forRoles('whoAmI', ...roles.filter((role) => role !== 'admin')),
      forRoles('streamAlerts', 'auditor'),
      forRoles('connect', 'auditor', 'viewer'),
      { operation: 'getLeaf', access: 'public', roles: [] },
      { operation: 'getEntryBundle', access: 'public', roles: [] },
    ).filter(({ operation }) => operation !== 'getStatus' && operation !== 'listDnsEvents');
    await policy.replace(edited, system);
    // Invalid credentials are rejected before the policy is consulted.
    const kinds: readonly Kind[] = ['valid', 'long-lived valid', 'none', 'revoked', 'long-lived revoked'];
    const some = cases.filter(({ kind }) => kinds.includes(kind));
    await expectMatrix(edited, some);
  });
});

describe('sockets', () => {
  const messages = (socket: WebSocket) => {
    const all: { type: string; channel?: string; error?: { code: string } }[] = [];
    socket.on('message', (text) => all.push(JSON.parse(String(text))));
    return all;
  };
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  test('a subscription needs the role of its stream, and ends when a change of the policy revokes access', async () => {
    const { policy } = service.services;
    const { rules } = policy.current;
    await policy.replace(withRules(rules, forRoles('connect', 'viewer'), forRoles('streamAlerts', 'auditor')), system);
    const [subscribed, idle] = [0, 1].map(() => openSocket('/ws', tokens.get('viewer valid')));
    const told = messages(subscribed!);
    await Promise.all([once(subscribed!, 'open'), once(idle!, 'open')]);
    for (const channel of ['alerts', 'events.network'])
      subscribed!.send(JSON.stringify({ type: 'subscribe', channel }));
    await until(() => told.length === 2);
    expect(told).toMatchObject([
      { type: 'error', error: { code: 'FORBIDDEN' } },
      { type: 'subscribed', channel: 'events.network' },
    ]);
    subscribed!.send(JSON.stringify({ type: 'subscribe', channel: 'events.dns' }));
    await until(() => told.length === 3);
    await policy.replace(withRules(policy.current.rules, forRoles('streamNetworkEvents', 'analyst')), system);
    await until(() => told.length === 5);
    expect(told.slice(3)).toMatchObject([
      { type: 'error', id: 'events.network', error: { code: 'FORBIDDEN' } },
      { type: 'unsubscribed', id: 'events.network', channel: 'events.network' },
    ]);
    const pong = messages(idle!);
    for (const socket of [subscribed!, idle!]) socket.send('{"type":"ping"}');
    await until(() => pong.length > 0 && told.length === 6);
    const gone = Promise.all([subscribed!, idle!].map((socket) => once(socket, 'close')));
    await policy.replace(withRules(policy.current.rules, forRoles('connect')), system);
    expect((await gone).map(([code]) => code)).toEqual([4403, 4403]);
  });
});

describe('the API', () => {
  const placesOf = (operation: OperationId) => {
    const { method, path, also = [] } = routeOf(operation);
    return [{ method, path }, ...also];
  };

  test('serves exactly the operations of the contract', () => {
    const served = endpoints(service.services);
    const shown = (one: { operation: string; method: string; path: string }) =>
      `${one.operation} ${one.method} ${one.path}`;
    const inTable = operationIds.flatMap((operation) =>
      placesOf(operation).map((place) => shown({ operation, ...place })),
    );
    expect(served.map(shown).sort()).toEqual(inTable.sort());
  });

  test('rejects other methods with 405 and Allow', async () => {
    const paths = new Map<string, Set<string>>();
    for (const { method, path } of operationIds.flatMap(placesOf)) {
      const alike = path.replaceAll(/:\w+/g, ':x');
      paths.set(alike, (paths.get(alike) ?? new Set()).add(method));
    }
    const authorization = `Bearer ${tokens.get('admin valid')}`;
    for (const [path, methods] of paths)
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((one) => !methods.has(one))) {
        const answer = await fetch(service.url + pathOf(path), { method, headers: { authorization } });
        await answer.arrayBuffer();
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        expect(new Set(answer.headers.get('allow')?.split(', '))).toEqual(
          new Set([...methods, 'OPTIONS', ...(methods.has('GET') ? ['HEAD'] : [])]),
        );
      }
  });

  test('rejects other paths with 404, for administrators too', async () => {
    const authorization = `Bearer ${tokens.get('admin valid')}`;
    const near = operationIds.flatMap((operation) => {
      const { path } = routeOf(operation);
      const plain = pathOf(path);
      return path.includes('*') || path === '/'
        ? []
        : [`${plain}/`, `/${plain}`, `${plain}/nothing/more`, plain.toUpperCase()];
    });
    for (const path of ['//', '/api', '/api/v1', '/admin', '/policy.json', '/api/v1/%61lerts', ...near]) {
      const answer = await fetch(service.url + path, { headers: { authorization } });
      await answer.arrayBuffer();
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });
});
