import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { assertServerMessage } from '../../../scripts/contract-assertions.ts';
import { channels } from '../../../src/contract/channels.ts';
import { ServiceError } from '../../../src/errors.ts';
import { Hub } from '../../../src/http/live/hub.ts';
import { Session, type SessionOptions, type SocketIdentity } from '../../../src/http/live/session.ts';
import { type LimitName, limits } from '../../../src/limits.ts';
import { MemoryChannel, MemoryWire } from './fakes.ts';

const hour = 3_600_000;

function setUp(
  options: {
    identity?: Partial<SocketIdentity>;
    preset?: SessionOptions['preset'];
    authenticate?: SessionOptions['authenticate'];
    credentials?: () => Promise<SocketIdentity>;
  } = {},
) {
  const reached: LimitName[] = [];
  const errors: unknown[] = [];
  const limitReached = (limit: LimitName) => void reached.push(limit);
  const channel = new MemoryChannel(10);
  const other = new MemoryChannel(10);
  const logError = (error: unknown) => void errors.push(error);
  const hub = new Hub(
    { 'events.network': channel, 'events.dns': other, alerts: other, topology: other, discovery: other },
    { live: () => {}, limitReached },
    logError,
  );
  const wire = new MemoryWire();
  const identityOf = (token: string): SocketIdentity => {
    if (token === 'bad') throw new ServiceError('UNAUTHENTICATED', 'bad credentials');
    return {
      principalId: `owner of ${token}`,
      jti: token,
      mayRead: () => token !== 'sensor',
      expiresAt: Date.now() + hour,
    };
  };
  const admitted = vi.fn();
  const session = new Session(
    wire,
    {
      hub,
      authenticate: options.authenticate ?? (async (token) => identityOf(token)),
      now: Date.now,
      limitReached,
      logError,
      onAdmitted: admitted,
      ...(options.preset ? { preset: options.preset } : {}),
    },
    options.credentials ?? (options.identity && (async () => ({ ...identityOf('viewer'), ...options.identity }))),
  );
  const say = async (...messages: unknown[]) => {
    for (const message of messages) session.receive(typeof message === 'string' ? message : JSON.stringify(message));
    await vi.advanceTimersByTimeAsync(0);
  };
  return { session, wire, hub, channel, reached, errors, say, admitted };
}

/** Checks the messages sent against the contract, and returns them without their times. */
function sent(wire: MemoryWire) {
  for (const message of wire.sent) assertServerMessage(message);
  return wire.sent.map(({ timestamp: _, ...message }) => message);
}

const subscribe = (id: string) => ({ type: 'subscribe', channel: 'events.network', id });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  const waiting = vi.getTimerCount();
  // Later files in this process need real timers, even if a test fails.
  vi.useRealTimers();
  expect(waiting).toBeLessThanOrEqual(1);
});

describe('a message', () => {
  const filters = { dst_port: [443, '80'], severity: 'high' };
  it.each([
    ['ping', [{ type: 'ping' }], [{ type: 'pong' }]],
    [
      'subscribe',
      [{ type: 'subscribe', channel: 'alerts' }],
      [{ type: 'subscribed', id: 'alerts', channel: 'alerts', filters: {}, seq: 0 }],
    ],
    [
      'subscribe with filters and an id',
      [{ ...subscribe('mine'), filters }],
      [{ type: 'subscribed', id: 'mine', channel: 'events.network', filters, seq: 0 }],
    ],
    [
      'subscribe twice to a channel by different ids',
      [subscribe('a'), subscribe('b')],
      [
        { type: 'subscribed', id: 'a', channel: 'events.network', filters: {}, seq: 0 },
        { type: 'subscribed', id: 'b', channel: 'events.network', filters: {}, seq: 0 },
      ],
    ],
    [
      'unsubscribe by id',
      [subscribe('a'), subscribe('b'), { type: 'unsubscribe', id: 'a' }],
      [{ type: 'unsubscribed', id: 'a', channel: 'events.network' }],
    ],
    [
      'unsubscribe by channel',
      [subscribe('a'), subscribe('b'), { type: 'unsubscribe', channel: 'events.network' }],
      [
        { type: 'unsubscribed', id: 'a', channel: 'events.network' },
        { type: 'unsubscribed', id: 'b', channel: 'events.network' },
      ],
    ],
    [
      'unsubscribe by id and channel',
      [subscribe('a'), { type: 'unsubscribe', id: 'a', channel: 'events.network' }],
      [{ type: 'unsubscribed', id: 'a', channel: 'events.network' }],
    ],
    ['auth with another token and a ping', [{ type: 'auth', token: 'another' }, { type: 'ping' }], [{ type: 'pong' }]],
  ])('%s gets a response', async (_, messages, answers) => {
    const { wire, say } = setUp({ identity: {} });
    await say(...messages);
    expect(sent(wire).slice(-answers.length)).toEqual(answers);
    expect(wire.closed).toBeUndefined();
  });

  it.each([
    ['an id that is taken', [subscribe('a'), subscribe('a')], 'CONFLICT', 'a', 'id'],
    [
      'an unknown filter',
      [{ ...subscribe('a'), filters: { colour: 'red' } }],
      'INVALID_REQUEST',
      'a',
      'filters.colour',
    ],
    [
      'a malformed filter',
      [{ ...subscribe('a'), filters: { dst_port: 'https' } }],
      'INVALID_REQUEST',
      'a',
      'filters.dst_port',
    ],
    [
      'a filter with an invalid value',
      [{ ...subscribe('a'), filters: { dst_port: { gt: 1 } } }],
      'INVALID_REQUEST',
      'a',
      'filters.dst_port',
    ],
    ['since beyond the head', [{ ...subscribe('a'), since: 1 }], 'INVALID_REQUEST', 'a', 'since'],
    ['unsubscribe of an unknown id', [{ type: 'unsubscribe', id: 'a' }], 'NOT_FOUND', 'a', 'id'],
    [
      'unsubscribe of a channel without subscriptions',
      [{ type: 'unsubscribe', channel: 'alerts' }],
      'NOT_FOUND',
      undefined,
      'channel',
    ],
    [
      'unsubscribe of an id of another channel',
      [subscribe('a'), { type: 'unsubscribe', id: 'a', channel: 'alerts' }],
      'NOT_FOUND',
      'a',
      'id',
    ],
  ])('is rejected and the socket stays open: %s', async (_, messages, code, id, field) => {
    const { wire, say } = setUp({ identity: {} });
    await say(...messages, { type: 'ping' });
    const [error, pong] = sent(wire).slice(-2);
    expect(error).toMatchObject({ type: 'error', error: { code } });
    expect(error?.id).toBe(id);
    expect((error as { error: { details?: { field?: string } } }).error.details?.field).toBe(field);
    expect(pong).toEqual({ type: 'pong' });
    expect(wire.closed).toBeUndefined();
  });

  it.each([
    ['invalid JSON', '{"type":', 'message'],
    ['a JSON value that is not an object', '[]', 'message'],
    ['null', 'null', 'message'],
    ['a missing type', '{}', 'type'],
    ['an unknown type', '{"type":"shout"}', 'type'],
    ['a type that is a member of Object.prototype', '{"type":"constructor"}', 'type'],
    ['an unknown field', '{"type":"ping","loud":true}', 'loud'],
    ['an unknown channel', '{"type":"subscribe","channel":"gossip"}', 'channel'],
    ['a missing channel', '{"type":"subscribe"}', 'channel'],
    ['a since that is not a sequence', '{"type":"subscribe","channel":"alerts","since":-1}', 'since'],
    ['an id that is too long', JSON.stringify(subscribe('x'.repeat(101))), 'id'],
    ['a missing id and channel', '{"type":"unsubscribe"}', 'channel'],
    ['an empty token', '{"type":"auth","token":""}', 'token'],
    ['too many bytes', JSON.stringify({ type: 'auth', token: 'x'.repeat(limits.maxSocketMessageBytes) }), 'message'],
    ['too many bytes in UTF-8', `"${'ä'.repeat(limits.maxSocketMessageBytes / 2)}"`, 'message'],
  ])('closes with 4400: %s', async (_, text, field) => {
    const { wire, say, hub } = setUp({ identity: {} });
    await say(subscribe('before'), text, { type: 'ping' });
    expect(sent(wire).at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'INVALID_REQUEST', details: { field } },
    });
    expect(wire.closed?.code).toBe(4400);
    expect(hub.subscriptions).toBe(0);
  });

  it('closes with 4400 if it is not text', async () => {
    const { session, wire } = setUp({ identity: {} });
    session.receive(undefined);
    await vi.advanceTimersByTimeAsync(0);
    expect(wire.closed?.code).toBe(4400);
  });

  it('closes the socket with 1011 if it causes an unexpected error, which is logged but not disclosed', async () => {
    const { wire, hub, errors, say } = setUp({ identity: {} });
    vi.spyOn(hub, 'subscribe').mockImplementation(() => {
      throw new TypeError('/secret/path');
    });
    await say(subscribe('a'), { type: 'ping' });
    expect(sent(wire).at(-1)).toMatchObject({ type: 'error', error: { code: 'INTERNAL' } });
    expect(JSON.stringify(wire.sent)).not.toContain('secret');
    expect(wire.closed?.code).toBe(1011);
    expect(errors).toHaveLength(1);
  });
});

describe('credentials', () => {
  it('may be the first message; later messages wait for the check', async () => {
    let admit: (identity: SocketIdentity) => void = () => {};
    const { wire, say, admitted } = setUp({
      authenticate: () =>
        new Promise((resolve) => {
          admit = resolve;
        }),
    });
    await say({ type: 'auth', token: 'viewer' }, subscribe('a'), { type: 'ping' });
    expect(wire.sent).toEqual([]);
    expect(admitted).not.toHaveBeenCalled();
    admit({ principalId: 'p', jti: 'viewer', mayRead: () => true, expiresAt: Date.now() + hour });
    await vi.advanceTimersByTimeAsync(0);
    expect(sent(wire).map(({ type }) => type)).toEqual(['subscribed', 'pong']);
    expect(admitted).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(limits.socketAuthTimeoutMs);
    expect(wire.closed).toBeUndefined();
  });

  it.each([
    ['another message before credentials', [{ type: 'ping' }], 4401, 'UNAUTHENTICATED'],
    ['subscribe before credentials', [subscribe('a')], 4401, 'UNAUTHENTICATED'],
    ['bad credentials', [{ type: 'auth', token: 'bad' }], 4401, 'UNAUTHENTICATED'],
    ['credentials of a role without read access', [{ type: 'auth', token: 'sensor' }], 4403, 'FORBIDDEN'],
  ])('that are missing, bad or do not permit reading close the socket: %s', async (_, messages, code, error) => {
    const { wire, say, hub } = setUp();
    await say(...messages, subscribe('b'));
    expect(sent(wire)).toMatchObject([{ type: 'error', error: { code: error } }]);
    expect(wire.closed?.code).toBe(code);
    expect(hub.subscriptions).toBe(0);
  });

  it('close the socket with 4408 if they do not arrive in time', async () => {
    const { wire, reached } = setUp();
    await vi.advanceTimersByTimeAsync(limits.socketAuthTimeoutMs - 1);
    expect(wire.closed).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(wire.closed?.code).toBe(4408);
    expect(sent(wire)).toMatchObject([{ type: 'error', error: { code: 'UNAUTHENTICATED' } }]);
    expect(reached).toEqual(['socketAuthTimeoutMs']);
  });

  it('close the socket with 4401 when they expire, and no more messages are sent', async () => {
    const { wire, channel, hub, say } = setUp({ identity: { expiresAt: Date.now() + hour } });
    await say(subscribe('a'));
    await vi.advanceTimersByTimeAsync(hour - 1);
    expect(wire.closed).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(wire.closed?.code).toBe(4401);
    const before = wire.sent.length;
    hub.publish('events.network', channel.commit([1]));
    expect(wire.sent).toHaveLength(before);
  });

  it('expire on time, even beyond the longest delay of a timer', async () => {
    const { wire } = setUp({ identity: { expiresAt: Date.now() + 2 ** 31 + hour } });
    await vi.advanceTimersByTimeAsync(2 ** 31 + hour - 1);
    expect(wire.closed).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(wire.closed?.code).toBe(4401);
  });

  it.each([365 * 24 * hour, -365 * 24 * hour])('expire on time although the clock jumps by %d ms', async (leap) => {
    const { wire } = setUp({ identity: { expiresAt: Date.now() + hour } });
    await vi.advanceTimersByTimeAsync(1);
    vi.setSystemTime(Date.now() + leap);
    await vi.advanceTimersByTimeAsync(hour);
    expect(wire.closed?.code).toBe(4401);
  });

  it('need no timer if they never expire', async () => {
    const { say } = setUp({ identity: { expiresAt: Number.POSITIVE_INFINITY } });
    await say();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are renewed in place: subscriptions continue beyond the first expiry', async () => {
    const { session, wire, hub, channel, say } = setUp({ identity: { expiresAt: Date.now() + hour } });
    await say(subscribe('a'));
    await vi.advanceTimersByTimeAsync(hour / 2);
    await say({ type: 'auth', token: 'renewed' });
    expect(session.jti).toBe('renewed');
    await vi.advanceTimersByTimeAsync(hour - 1);
    hub.publish('events.network', channel.commit([1]));
    expect(wire.sent.at(-1)).toMatchObject({ type: 'event', seq: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect(wire.closed?.code).toBe(4401);
  });

  it.each([
    ['bad', 4401],
    ['sensor', 4403],
  ])('close the socket when replaced by %s credentials: code %i', async (token, code) => {
    const { wire, say } = setUp({ identity: {} });
    await say({ type: 'auth', token });
    expect(wire.closed?.code).toBe(code);
  });

  it('close the socket with 4401 when they are revoked', async () => {
    const { session, wire, say } = setUp({ identity: {} });
    await say();
    session.revoke();
    session.revoke();
    expect(wire.closed?.code).toBe(4401);
    expect(wire.sent).toHaveLength(1);
  });

  it('are ignored if they arrive after the socket closed', async () => {
    let admit: (identity: SocketIdentity) => void = () => {};
    const { session, wire, say, admitted } = setUp({
      authenticate: () =>
        new Promise((resolve) => {
          admit = resolve;
        }),
    });
    await say({ type: 'auth', token: 'viewer' }, { type: 'ping' });
    session.closed();
    admit({ principalId: 'p', jti: 'viewer', mayRead: () => true, expiresAt: Date.now() + hour });
    await vi.advanceTimersByTimeAsync(0);
    expect(wire.sent).toEqual([]);
    expect(admitted).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('rechecking credentials', () => {
  const viewer = {
    principalId: 'p',
    jti: 'viewer',
    mayRead: () => true,
    expiresAt: Number.POSITIVE_INFINITY,
  };
  const judged = (second: () => Promise<SocketIdentity>) => {
    const checks = [async () => viewer, second];
    return setUp({ credentials: () => checks.shift()!() });
  };

  it.each([
    [
      '4401 if the credentials are no longer valid',
      async () => Promise.reject(new ServiceError('UNAUTHENTICATED', 'suspended')),
      4401,
    ],
    ['4403 if the user may no longer read', async () => ({ ...viewer, mayRead: () => false }), 4403],
  ])('closes the socket with %s', async (_, second, code) => {
    const { session, wire, say, hub } = judged(second);
    await say(subscribe('a'));
    session.recheckCredentials();
    await vi.advanceTimersByTimeAsync(0);
    expect(wire.closed?.code).toBe(code);
    expect(hub.subscriptions).toBe(0);
  });

  it('ends each subscription to a channel that the user may no longer read, with an error, and keeps the others', async () => {
    const mayRead = (name?: string) => name !== 'events.network';
    const { session, wire, say, hub } = judged(async () => ({ ...viewer, mayRead }));
    await say(subscribe('a'), subscribe('b'), { type: 'subscribe', channel: 'alerts' });
    session.recheckCredentials();
    await say({ type: 'ping' }, subscribe('c'));
    const ended = (id: string) => [
      {
        type: 'error',
        id,
        error: { code: 'FORBIDDEN', message: 'this role cannot read events.network' },
      },
      { type: 'unsubscribed', id, channel: 'events.network' },
    ];
    expect(sent(wire).slice(3)).toEqual([...ended('a'), ...ended('b'), { type: 'pong' }, { ...ended('c')[0] }]);
    expect([hub.subscriptions, wire.closed]).toEqual([1, undefined]);
  });

  it.each([
    ['the channel of the stream path', { channel: 'alerts', filter: [], filters: {} } as never, ['alerts']],
    ['all channels', undefined, Object.keys(channels)],
  ])('closes the socket with 4403 if the user may no longer read %s', async (_, preset, lost) => {
    const mayRead = (name?: string) => name === undefined || !lost.includes(name);
    const checks = [async () => viewer, async () => ({ ...viewer, mayRead })];
    const { session, wire, say, hub } = setUp({ credentials: () => checks.shift()!(), preset });
    await say(subscribe('a'));
    session.recheckCredentials();
    await vi.advanceTimersByTimeAsync(0);
    expect(wire.closed?.code).toBe(4403);
    expect(hub.subscriptions).toBe(0);
  });

  it('keeps the subscriptions if the credentials are still valid', async () => {
    const { session, wire, say, hub } = judged(async () => viewer);
    await say(subscribe('a'));
    session.recheckCredentials();
    await say({ type: 'ping' });
    expect(sent(wire).map(({ type }) => type)).toEqual(['subscribed', 'pong']);
    expect([hub.subscriptions, wire.closed]).toEqual([1, undefined]);
  });

  it('checks only the credentials that were sent last', async () => {
    const { session, wire, say } = judged(async () => Promise.reject(new Error('asked again')));
    await say({ type: 'auth', token: 'other' });
    session.recheckCredentials();
    await say({ type: 'ping' });
    expect(session.principalId).toBe('owner of other');
    expect(wire.closed).toBeUndefined();
  });

  it('does nothing before credentials were sent, and after the socket closed', async () => {
    const { session, wire, say } = setUp();
    session.recheckCredentials();
    await say({ type: 'auth', token: 'viewer' }, { type: 'ping' });
    expect(sent(wire)).toEqual([{ type: 'pong' }]);
    session.closed();
    session.recheckCredentials();
  });
});

describe('credentials of the upgrade', () => {
  it.each([
    ['with 4401 if they are bad', async () => Promise.reject(new ServiceError('UNAUTHENTICATED', 'bad')), 4401],
    [
      'with 4403 if they have a role without read access',
      async () => ({
        principalId: 'p',
        jti: 'sensor',
        mayRead: () => false,
        expiresAt: Number.POSITIVE_INFINITY,
      }),
      4403,
    ],
    ['with 1011 if an unexpected error prevents their check', async () => Promise.reject(new Error('bug')), 1011],
  ])('close the socket %s', async (_, identity, code) => {
    const { wire, say } = setUp({ credentials: identity });
    await say({ type: 'ping' });
    expect(sent(wire)).toHaveLength(1);
    expect(wire.closed?.code).toBe(code);
  });
});

describe('a stream path', () => {
  const preset = {
    channel: 'events.network',
    filter: { terms: [] },
    filters: { dst_port: ['443'] },
  } as const;

  it('is subscribed to as soon as the credentials are verified', async () => {
    const { wire, say, hub, channel } = setUp({ preset });
    expect(wire.sent).toEqual([]);
    await say({ type: 'auth', token: 'viewer' });
    expect(sent(wire)).toEqual([
      {
        type: 'subscribed',
        id: 'events.network',
        channel: 'events.network',
        filters: { dst_port: ['443'] },
        seq: 0,
      },
    ]);
    hub.publish('events.network', channel.commit([7]));
    expect(wire.sent.at(-1)).toMatchObject({ type: 'event', seq: 1 });
    await say({ type: 'auth', token: 'renewed' });
    expect(hub.subscriptions).toBe(1);
  });

  it('accepts other subscriptions as well', async () => {
    const { say, hub } = setUp({ preset, identity: {} });
    await say(subscribe('more'));
    expect(hub.subscriptions).toBe(2);
  });

  it('closes with 4400 if `since` is beyond the head', async () => {
    const { wire, say } = setUp({ preset: { ...preset, since: 5 }, identity: {} });
    await say();
    expect(sent(wire)).toMatchObject([{ type: 'error', error: { details: { field: 'since' } } }]);
    expect(wire.closed?.code).toBe(4400);
  });
});

describe('a client that exceeds its limits', () => {
  it('is closed with 4429 for too many subscriptions', async () => {
    const { wire, say, hub, reached } = setUp({ identity: {} });
    for (let n = 0; n < limits.maxSubscriptionsPerSocket; n++) await say(subscribe(`s${n}`));
    expect(hub.subscriptions).toBe(limits.maxSubscriptionsPerSocket);
    await say(subscribe('one more'));
    expect(wire.closed?.code).toBe(4429);
    expect(sent(wire).at(-1)).toMatchObject({ type: 'error', error: { code: 'RATE_LIMITED' } });
    expect(reached).toEqual(['maxSubscriptionsPerSocket']);
    expect(hub.subscriptions).toBe(0);
  });

  it('is refused a subscription when all clients together have too many, and its socket stays open', async () => {
    const { wire, say, hub, reached } = setUp({ identity: {} });
    vi.spyOn(hub, 'subscriptions', 'get').mockReturnValue(limits.maxSubscriptions);
    await say(subscribe('a'));
    expect(sent(wire)).toMatchObject([{ type: 'error', id: 'a', error: { code: 'OVERLOADED' } }]);
    expect(wire.closed).toBeUndefined();
    expect(reached).toEqual(['maxSubscriptions']);
  });

  it('is closed with 4429 for a burst of too many messages', async () => {
    const { wire, say, reached } = setUp({ identity: {} });
    for (let n = 0; n < limits.maxSocketMessageBurst; n++) await say({ type: 'ping' });
    expect(wire.sent).toHaveLength(limits.maxSocketMessageBurst);
    await vi.advanceTimersByTimeAsync(1000);
    for (let n = 0; n < limits.maxSocketMessagesPerS; n++) await say({ type: 'ping' });
    expect(wire.closed).toBeUndefined();
    await say({ type: 'ping' });
    expect(wire.closed?.code).toBe(4429);
    expect(reached).toEqual(['maxSocketMessagesPerS']);
  });

  it('is closed with 4429 for too many messages while its token is checked', async () => {
    const { wire, say, reached } = setUp({ authenticate: () => new Promise(() => {}) });
    await say({ type: 'auth', token: 'slow' });
    for (let n = 0; n < limits.maxSocketMessageBurst; n++) {
      await vi.advanceTimersByTimeAsync(10);
      await say({ type: 'ping' });
    }
    await say(...Array.from({ length: 100 }, () => ({ type: 'ping' })));
    expect(wire.closed?.code).toBe(4429);
    expect(reached).toEqual(['maxWaitingSocketMessages']);
  });

  it('is closed with 4429 for too many unread messages', async () => {
    const { wire, say, reached } = setUp({ identity: {} });
    wire.unread = 2 * limits.maxSocketBacklogBytes + 1;
    await say({ type: 'ping' });
    expect(wire.closed?.code).toBe(4429);
    expect(reached).toEqual(['maxSocketBacklogBytes']);
  });
});

it('a closed socket leaves no subscription and no timer', async () => {
  const { session, hub, say } = setUp({ identity: {} });
  await say(subscribe('a'));
  session.closed();
  expect(hub.subscriptions).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('a service that stops closes the socket with 1001, and leaves no subscription and no timer', async () => {
  const { session, wire, hub, say } = setUp({ identity: {} });
  await say(subscribe('a'));
  session.stop();
  expect(wire.closed?.code).toBe(1001);
  expect(hub.subscriptions).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});
