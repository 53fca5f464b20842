import { expect, test } from 'vitest';
import { isShort } from '../../src/analytics/short-queries.ts';

const events = (filter: object) => ({ table: 'network', filter: { terms: [], ...filter } });
const list = (sort: string, filter: object = {}) => ({ terms: [], sort, order: 'desc', ...filter });
const term = { terms: [{ field: 'dst_port', values: [22] }] };

test.each([
  ['listEvents', events({}), true],
  ['listEvents', events({ from: 1, to: 2 }), true],
  ['listEvents', events(term), false],
  ['listEvents', events({ q: 'a' }), false],
  ['listEvents', events({ min_severity: 'high' }), false],
  ['exportEvents', events({}), false],
  ['listAlerts', list('last_seen', { from: 1 }), true],
  ['listAlerts', list('risk_score'), false],
  ['listAlerts', list('last_seen', { q: 'a' }), false],
  ['listAudit', list('time'), true],
  ['listAssets', list('last_seen'), true],
  ['listServices', list('last_seen'), false],
  ['listServices', list('last_seen', { terms: [{ field: 'asset_id', values: ['x'] }] }), true],
  ['listTokens', list('issued_at'), true],
  ['listTokens', list('name'), false],
  ['dashboard', { window: '1h' }, true],
  ['topology', {}, false],
  ['replayEvents', {}, false],
  ['testRules', {}, false],
  ['constructor', {}, false],
])('isShort(%s, %o) is %s', (task, input, expected) => {
  expect(isShort(task, input)).toBe(expected);
});
