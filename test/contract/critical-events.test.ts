import { describe, expect, it } from 'vitest';
import { criticalEvent, detectionReloaded, entryOf, keyRotated } from '../../src/contract/critical-events.ts';
import { entryData } from '../../src/contract/resources/log-entry-data.ts';
import { LogEntry } from '../../src/contract/resources/transparency.ts';
import { validate } from '../../src/contract/validate.ts';
import { entryKinds, entrySubjects, maxEntryItems, maxEntryText } from '../../src/contract/vocabulary.ts';
import { detectionRules, examples, hostileTexts, uuid } from './every-kind.ts';

const texts = { 'an ordinary text': 'ana', ...hostileTexts };

describe.each(entryKinds)('%s', (kind) => {
  it.each(Object.entries(texts))('matches its schema with %s', (_, text) => {
    const event = examples[kind](text);
    expect(event.kind).toBe(kind);
    expect(event.subject.type).toBe(entrySubjects[kind]);
    expect(validate(entryData[kind], event.data)).toBe(event.data);
    const delayed = { delayed_from: '2025-11-20T00:00:00.000Z', ...event.data };
    expect(validate(entryData[kind], delayed)).toBe(delayed);
    for (const name of [event.actor, event.subject.id]) {
      expect(name.length).toBeGreaterThan(0);
      expect(name.length).toBeLessThanOrEqual(maxEntryText);
    }
    expect(JSON.stringify(event).isWellFormed()).toBe(true);
    expect(JSON.parse(JSON.stringify(event))).toEqual(event);
  });

  it('is a log entry once it has an id, a time and a signature', () => {
    const unsigned = entryOf(examples[kind]('ana'), uuid(9), Date.UTC(2025, 10, 21));
    const entry = { ...unsigned, key_id: uuid(1), signature: 'ab'.repeat(64) };
    expect(entry.occurred_at).toBe('2025-11-21T00:00:00.000Z');
    expect(validate(LogEntry, entry)).toBe(entry);
    const strange = { ...entry, data: { ...entry.data, strange: 1 } };
    expect(() => validate(LogEntry, strange)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
    const long = { data_bytes: 70_000, data_sha256: 'ab'.repeat(32), summary: { version: 2 } };
    expect(validate(LogEntry, { ...entry, data: long })).toBeDefined();
  });
});

it('an entry of an unknown kind may have any data', () => {
  const entry = {
    ...entryOf(criticalEvent('token.issued', 'jti', {}, 'system'), uuid(9), 0),
    kind: 'moon.landed',
    data: { anything: [1] },
    key_id: uuid(1),
    signature: 'ab'.repeat(64),
  };
  expect(validate(LogEntry, entry)).toBe(entry);
});

it('an event about a token has only its identifier', () => {
  expect(criticalEvent('token.issued', 'jti', {}, 'ana')).toEqual({
    kind: 'token.issued',
    actor: 'ana',
    subject: { type: 'token', id: 'jti' },
    data: {},
  });
});

it('a rotation names two keys, and the new key is its subject', () => {
  const keys = { old_kid: uuid(1), new_kid: uuid(2), new_fingerprint: 'ab'.repeat(32) };
  expect(keyRotated({ purpose: 'event-signing', ...keys }, 'system')).toMatchObject({
    subject: { type: 'key', id: uuid(2) },
    data: { purpose: 'event-signing', ...keys },
  });
});

it('the time of a tree head is logged with exact digits', () => {
  const { data } = examples['backup.created']('b');
  expect(data.sth).toMatchObject({ timestamp_ns: '1763700000123456512' });
});

it('a diff with more rules than a list may have still states the total number of rules', () => {
  const { data } = detectionReloaded(detectionRules('r', maxEntryItems + 1), 'system');
  expect(data).toMatchObject({ added_count: maxEntryItems + 1, removed_count: 1, changed_count: 1 });
  expect(data.added).toHaveLength(maxEntryItems);
  expect(validate(entryData['detection.reloaded'], data)).toBe(data);
});
