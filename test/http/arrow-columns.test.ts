import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { oneOf } from '../../src/contract/resources/common.ts';
import {
  address,
  anyObject,
  between,
  count,
  flag,
  list,
  optional,
  ordinal,
  part,
  real,
  text,
  timestamp,
  uuid,
} from '../../src/contract/resources/fields.ts';
import { arrowColumns } from '../../src/http/arrow-columns.ts';

const item = (attributes: Record<string, object>) =>
  part('i', { id: uuid('i'), type: Type.Literal('t'), attributes: part('a', attributes as never) });

test.each([
  ['text', text('t')],
  ['text', uuid('t')],
  ['word', address('t')],
  ['word', oneOf(['a', 'b'])],
  ['time', timestamp('t')],
  ['flag', flag('t')],
  ['real', real('t')],
  ['uint8', between(0, 255, 't')],
  ['uint16', between(1, 256, 't')],
  ['uint16', between(0, 65_535, 't')],
  ['uint32', between(0, 2 ** 32 - 1, 't')],
  ['int64', between(0, 2 ** 32, 't')],
  ['int64', between(-1, 5, 't')],
  ['int64', count('t')],
  ['int64', ordinal('t')],
  ['int64', Type.Integer()],
  ['texts', list(text('t'), 't')],
  ['json', list(count('t'), 't')],
  ['json', list(part('t', { a: flag('t') }), 't')],
  ['json', anyObject('t')],
  ['json', Type.Union([text('t'), count('t')])],
])('%s is the column type of %j', (kind, schema) => {
  expect(arrowColumns(item({ one: schema, other: optional(schema) }))).toEqual([
    { name: 'id', kind: 'text', nullable: false },
    { name: 'one', kind, nullable: false },
    { name: 'other', kind, nullable: true },
  ]);
});
