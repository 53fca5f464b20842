import { expect, test } from 'vitest';
import { kindOf, matching, type OpenApi } from '../../../src/console/pages/docs/open-api.ts';
import { openApiDocument } from '../../../src/contract/openapi.ts';
import { operationIds } from '../../../src/contract/routes.ts';

const api = openApiDocument('1.2.3') as unknown as OpenApi;

test('an empty search finds every operation once', () => {
  const found = matching(api, '').map(({ operation }) => operation.operationId);
  expect(new Set(found).size).toBe(found.length);
  expect(found.toSorted()).toEqual([...operationIds].toSorted());
});

test('every word must occur in method, path, id, summary or tag, ignoring case', () => {
  const ids = (text: string) => matching(api, text).map(({ operation }) => operation.operationId);
  expect(ids('GET alert_id')).toContain('getAlert');
  expect(ids('put ALERT_ID')).toEqual(['updateAlert']);
  expect(ids('rotate')).toContain('rotateKey');
  expect(ids('rotate nonsense')).toEqual([]);
});

test.each([
  [{ type: 'string', format: 'uuid' }, 'string (uuid)'],
  [{ type: 'string', minLength: 1, maxLength: 200 }, 'string, 1 to 200 long'],
  [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, 'integer'],
  [{ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }, 'integer, from 1'],
  [{ type: 'integer', minimum: 0, maximum: 65535 }, 'integer, 0 to 65535'],
  [{ type: 'array', items: { $ref: '#/components/schemas/Alert' } }, 'array of Alert'],
  [{ type: 'array', items: { type: 'string' }, maxItems: 3 }, 'array of string, at most 3'],
  [{ enum: ['low', 'high'] }, 'low | high'],
  [{ const: 'alert' }, '"alert"'],
  [{}, 'anything'],
])('the schema %o is described as %s', (schema, text) => {
  expect(kindOf(schema)).toBe(text);
});
