import { expect, test } from 'vitest';
import type { AlertRow } from '../../../src/console/pages/alerts/question.ts';
import { nameOf, targetOf } from '../../../src/console/pages/alerts/target.ts';
import { someAlert } from './some-alert.ts';

const rows: AlertRow[] = ['a', 'b'].map((id) => ({
  type: 'alert',
  id,
  attributes: someAlert({ title: `Scan ${id}` }),
}));
const everything = { filter: { severity: ['high'] }, total: 4321 };

test('the target is all matching alerts if all are selected, otherwise the selected rows', () => {
  expect(targetOf(rows, undefined)).toEqual({ rows });
  expect(targetOf(rows, everything)).toEqual(everything);
  expect(targetOf(rows.slice(0, 1), everything)).toEqual({ rows: rows.slice(0, 1) });
});

test('the name of a target is the title of its only alert, or the number of alerts', () => {
  expect(nameOf(targetOf(rows.slice(1), undefined))).toBe('“\u2068Scan b\u2069”');
  expect(nameOf(targetOf(rows, undefined))).toBe('2 alerts');
  expect(nameOf(everything)).toBe('4,321 alerts');
});
