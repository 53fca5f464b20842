import { expect, test } from 'vitest';
import { readValues } from '../../src/console/state/filter-values.ts';

const field = {
  name: 'any',
  description: '',
  isNetwork: false,
  isNumber: false,
  isInteger: false,
  takesMany: true,
};
const port = { ...field, isNumber: true, isInteger: true, minimum: 0, maximum: 65535 };
const network = { ...field, isNetwork: true, format: 'network' };

test('numbers, addresses and enumerated values are separated by commas or spaces', () => {
  expect(readValues(port, ' 80, 443 443')).toEqual({ values: ['80', '443'] });
  expect(readValues(network, '10.0.0.0/8,fd00::/7')).toEqual({ values: ['10.0.0.0/8', 'fd00::/7'] });
  expect(readValues({ ...field, values: ['low', 'high'] }, 'low,high')).toEqual({ values: ['low', 'high'] });
});

test('a text is one value including its commas', () => {
  expect(readValues(field, ' a, b ')).toEqual({ values: ['a, b'] });
});

test.each([
  [port, '70000', 'must be at most 65535'],
  [port, '1.5', 'must be a whole number'],
  [port, '80,x', 'x: must be a whole number'],
  [{ ...field, isNumber: true }, 'much', 'must be a number'],
  [network, '10.0.0.0/33', 'must be an IPv4 or IPv6 address or a CIDR block'],
  [{ ...field, format: 'uuid' }, 'x', 'must be a valid UUID'],
  [{ ...field, values: ['low'] }, 'high', 'must be one of low'],
  [field, '  ', 'is required'],
])('the filter input rejects values that the service would reject: %#', (one, text, fault) => {
  expect(readValues(one, text)).toEqual({ fault });
});
