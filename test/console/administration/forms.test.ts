import { describe, expect, test } from 'vitest';
import { sessionOf } from '../../../src/console/pages/administration/account/session-claims.ts';
import { restoreCommand } from '../../../src/console/pages/administration/backups/restore-command.ts';
import { formatOf, lookedAt } from '../../../src/console/pages/administration/intel/content.ts';
import { rangeOf, revocationOf } from '../../../src/console/pages/administration/keys/purposes.ts';
import {
  copyOf,
  firstRule,
  lineBounds,
  logsourceText,
  stateOf,
} from '../../../src/console/pages/administration/rules/rule-words.ts';
import {
  draftOf,
  isAboutSomething,
  matcherOf,
  matcherText,
} from '../../../src/console/pages/administration/silences/matcher.ts';
import { expiryOf, stateOfToken } from '../../../src/console/pages/administration/tokens/expiry.ts';
import { faultAt, faultElsewhere } from '../../../src/console/ui/faults.ts';
import { isolateText } from '../../../src/console/ui/words.ts';
import type { SilenceMatcher } from '../../../src/contract/resources/silence.ts';
import { invalidField, ServiceError } from '../../../src/errors.ts';

describe('faults', () => {
  const error = invalidField('matcher.src_ip.2', 'must be an address');

  test('are shown at their field, or at the field that contains their field', () => {
    expect(faultAt(error, 'matcher.src_ip.2')).toBe('Must be an address');
    expect(faultAt(error, 'matcher.src_ip')).toBe('Value 3: must be an address');
    expect(faultAt(error, 'matcher')).toBe('Src_ip.2: must be an address');
    expect(faultAt(error, 'matcher.src')).toBeUndefined();
    expect(faultAt(undefined, 'matcher')).toBeUndefined();
  });

  test('that no field shows are returned as the error of the form', () => {
    expect(faultElsewhere(error, ['reason', 'matcher.src_ip'])).toBeUndefined();
    expect(faultElsewhere(error, ['reason'])).toContain('must be an address');
    expect(faultElsewhere(undefined, [])).toBeUndefined();
    expect(faultElsewhere(new TypeError('it broke'), [])).toBe('It broke');
    expect(faultElsewhere(new ServiceError('VERSION_MISMATCH', 'has version 3'), [])).toContain(
      'Someone else changed this',
    );
  });
});

describe('rules', () => {
  test('get a new id when copied, and "(copy)" in the title unless the title is quoted', () => {
    const copy = copyOf(firstRule('11111111-1111-4111-8111-111111111111'), 'another');
    expect(copy).toMatch(/^id: another$/m);
    expect(copy).not.toContain('11111111');
    expect(copy).toMatch(/^title: .* \(copy\)$/m);
    expect(copyOf('title: "quoted"\nlevel: low', 'new')).toBe('id: new\ntitle: "quoted"\nlevel: low');
  });

  test('have a character range for each line number; numbers beyond the end select the last line', () => {
    const text = 'one\ntwo\n\nfour';
    expect([1, 2, 3, 4, 9].map((line) => text.slice(...lineBounds(text, line)))).toEqual([
      'one',
      'two',
      '',
      'four',
      'four',
    ]);
  });

  test('have the state broken if they have errors, else on or off; their log source is described in one line', () => {
    expect(stateOf({ enabled: true, errors: ['line 3: no'] })).toBe('broken');
    expect(stateOf({ enabled: true, errors: [] })).toBe('on');
    expect(stateOf({ enabled: false, errors: [] })).toBe('off');
    expect(logsourceText({ service: 'ssl', product: 'zeek', definition: {} })).toBe('zeek / ssl');
  });
});

describe('silences', () => {
  const matcher: SilenceMatcher = {
    rule_id: ['behaviour.port-scan'],
    ip: ['10.0.0.0/8', '::1', '10.1.1.1', '10.2.2.2'],
    rule_source: ['zeek'],
    max_severity: 'medium',
  };

  test('keep their matcher in the round trip through the form', () => {
    expect(matcherOf(draftOf(matcher))).toEqual(matcher);
    expect(matcherOf(draftOf())).toEqual({});
  });

  test('ignore blank lines and duplicates, and need a matcher besides the maximum severity', () => {
    const draft = draftOf({ max_severity: 'low' });
    expect(isAboutSomething(matcherOf(draft))).toBe(false);
    const lists = { ...draft.lists, domain: ' evil.example \n\nevil.example\n' };
    expect(matcherOf({ ...draft, lists })).toEqual({ domain: ['evil.example'], max_severity: 'low' });
  });

  test('are described in one line', () => {
    expect(matcherText(matcher)).toBe(
      `rule ${isolateText('behaviour.port-scan')}, from or to ${isolateText('10.0.0.0/8')} or ${isolateText('::1')} or 2 more, rules from zeek, up to medium`,
    );
  });
});

test('the list form detects STIX, ignores comments, and rejects content that is too large', () => {
  expect(formatOf(' {"type":"bundle"}')).toBe('stix');
  expect(formatOf('203.0.113.7')).toBe('lines');
  expect(lookedAt('# a list\n203.0.113.7\n\n; more\nevil.example # bad\n').says).toBe('2 lines, 48 B.');
  expect(lookedAt(' ').says).toBe('No content yet.');
  expect(lookedAt('x'.repeat(2 ** 25 + 1)).fault).toContain('maximum is 32 MiB');
});

test('the expiry time of a token follows its lifetime, and its state follows expiry and revocation', () => {
  const now = Date.parse('2026-11-22T08:00:00.000Z');
  expect(expiryOf('30', now)).toBe('2026-12-22T08:00:00.000Z');
  expect(expiryOf('never', now)).toBeUndefined();
  const expires_at = '2026-11-22T08:00:00.000Z';
  expect(stateOfToken({}, now)).toBe('active');
  expect(stateOfToken({ expires_at }, now)).toBe('expired');
  expect(stateOfToken({ expires_at }, now - 1)).toBe('active');
  expect(stateOfToken({ expires_at, revoked_at: expires_at }, now)).toBe('revoked');
});

test('the console describes the entries or sizes that a key signed, and the effect of revoking a key', () => {
  const key = {
    kid: 'k',
    state: 'retired',
    fingerprint: 'f',
    signer: 'file',
    created_at: '2026-11-22T08:00:00.000Z',
    from_size: 0,
    to_size: 1200,
  } as const;
  expect(rangeOf({ ...key, purpose: 'event-signing' })).toBe('entries 0 to 1,199');
  expect(rangeOf({ ...key, purpose: 'transparency-sth' })).toBe('sizes 0 to 1,200');
  const { from_size: _, to_size: __, ...without } = key;
  expect(rangeOf({ ...without, purpose: 'access-token' })).toBeUndefined();
  expect(revocationOf({ ...key, purpose: 'checkpoint', state: 'active' })).toMatch(
    /give each of them the new key.*will replace it immediately/,
  );
  expect(revocationOf({ ...key, purpose: 'transparency-sth' })).not.toContain('will replace it');
});

test('the console quotes shell characters in commands', () => {
  expect(restoreCommand('/data/backups/2026-11-22')).toBe('npx candor restore /data/backups/2026-11-22');
  expect(restoreCommand("/my data/$(x)'s")).toBe(`npx candor restore '/my data/$(x)'\\''s'`);
});

test('the console reads the session id from a token, but not from other text', () => {
  const claims = btoa(JSON.stringify({ jti: 'of-this-session' })).replaceAll('=', '');
  expect(sessionOf(`e30.${claims}.x`)).toEqual({ jti: 'of-this-session' });
  expect(sessionOf('no token')).toEqual({});
});
