import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { parsePorts, printPorts } from '../../src/net/scan-ports.ts';

test('lists and ranges are parsed to distinct ports in order', () => {
  expect(parsePorts('22,80,8000-8003')).toEqual([22, 80, 8000, 8001, 8002, 8003]);
  expect(parsePorts(' 80, 22 ,80,79-81')).toEqual([22, 79, 80, 81]);
  expect(parsePorts('1-65535')).toHaveLength(65_535);
  expect(parsePorts('65535')).toEqual([65_535]);
});

test('top100 is a hundred ports and can be combined with other ports', () => {
  const ports = parsePorts('top100');
  expect(ports).toHaveLength(100);
  for (const usual of [21, 22, 23, 25, 53, 80, 110, 139, 143, 443, 445, 993, 3306, 3389, 5900, 8080])
    expect(ports).toContain(usual);
  expect(parsePorts('top100,12345')).toHaveLength(101);
});

test('other texts are rejected, and the error names the field', () => {
  for (const bad of [
    '',
    ',',
    '22,',
    '0',
    '0-5',
    '65536',
    '70000',
    '80-22',
    '-22',
    '22-',
    'ssh',
    '22;23',
    '1e3',
    'TOP100',
    'top',
    '٢٢',
    '123456',
    '22 23',
    '__proto__',
    'constructor',
  ]) {
    expect(() => parsePorts(bad), bad).toThrow(ServiceError);
    try {
      parsePorts(bad);
    } catch (error) {
      expect((error as ServiceError).details?.field).toBe('ports');
    }
  }
});

test('printed ports parse to the same ports', () => {
  expect(printPorts([22, 80, 81, 82, 443])).toBe('22,80-82,443');
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 65_535 }), { minLength: 1, maxLength: 50 }), (ports) => {
      const sorted = ports.sort((a, b) => a - b);
      expect(parsePorts(printPorts(sorted))).toEqual(sorted);
    }),
  );
});
