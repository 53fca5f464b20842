import { expect, test } from 'vitest';
import { shortZone } from '../../../src/console/ui/words.ts';

test.each([
  ['UTC', 'UTC'],
  ['UTC−05:00', 'UTC−5'],
  ['UTC+05:30', 'UTC+5:30'],
  ['UTC+10:00', 'UTC+10'],
  ['UTC−00:30', 'UTC−0:30'],
])('the time zone %s is shortened to %s', (name, short) => expect(shortZone(name)).toBe(short));
