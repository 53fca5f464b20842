import { describe, expect, it } from 'vitest';
import { defaults, inputOf, planOf, refusalOf, targetsOf } from '../../../src/console/pages/discovery/plan.ts';
import { ServiceError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits.ts';
import { parsePorts } from '../../../src/net/scan-ports.ts';
import { parseTargets } from '../../../src/net/scan-targets.ts';

describe('the plan of a scan', () => {
  const form = { ...defaults, targets: '127.0.0.1' };

  it('states the number of probes, the shortest duration, and the duration without answers', () => {
    const { plan, faults } = planOf({
      ...form,
      targets: '10.0.0.0/24\n10.0.0.7',
      ports: '22,80,8000-8099',
      rate: '1000',
    });
    expect(faults).toEqual({});
    expect(plan).toMatchObject({ hosts: 254, ports: 102, probes: 25_908, leastMs: 25_908 });
    expect(plan!.mostMs).toBeGreaterThan(100_000);
  });

  it('counts hosts as the scanner does', () => {
    expect(planOf({ ...form, targets: '10.0.0.0/24 10.0.0.77/30 10.0.1.0/31 fd00::/120' }).plan?.hosts).toBe(512);
    expect(planOf({ ...form, targets: '::ffff:10.0.0.0/120' }).plan?.hosts).toBe(254);
  });

  it('counts ports as the scanner does', () => {
    for (const ports of ['22', '22,22,80-90,85', 'top100', '1-65535', 'top100, 22,40000'])
      expect([ports, planOf({ ...form, ports }).plan?.ports]).toEqual([ports, parsePorts(ports).length]);
  });

  it.each([
    [{ targets: '10.0.0.300' }, 'targets'],
    [{ targets: '10.0.0.0/8' }, 'targets'],
    [{ targets: '224.0.0.1' }, 'targets'],
    [{ targets: Array.from({ length: limits.maxScanTargets + 1 }, (_, n) => `fd00::${n}`).join('\n') }, 'targets'],
    [{ ports: '80,,81' }, 'ports'],
    [{ ports: '80-22' }, 'ports'],
    [{ ports: '0' }, 'ports'],
    [{ ports: 'http' }, 'ports'],
    [{ rate: '0' }, 'rate'],
    [{ rate: 'much' }, 'rate'],
    [{ rate: String(limits.maxScanRate + 1) }, 'rate'],
    [{ targets: '10.0.0.0/16', ports: '1-1000' }, 'ports'],
  ])('reports the error in %o at the field %s', (wrong, field) => {
    expect(Object.keys(planOf({ ...form, ...wrong }).faults)).toEqual([field]);
  });

  it('is undefined without targets, and reports no error', () => {
    expect(planOf(defaults)).toEqual({ faults: {} });
  });

  it('is sent in the format of the API', () => {
    expect(targetsOf('10.0.0.1, 10.0.0.2\n10.0.0.1')).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(inputOf({ targets: '10.0.0.1', ports: '22, 80', rate: '50', engine: 'nmap' })).toEqual({
      targets: ['10.0.0.1'],
      ports: '22,80',
      rate: 50,
      engine: 'nmap',
    });
  });
});

describe('an error from the service', () => {
  const input = inputOf({ ...defaults, targets: '127.0.0.1 10.0.0.1' });

  it('names the target outside the allowed networks', () => {
    const allowed = ['127.0.0.0/8'];
    let refused: unknown;
    try {
      parseTargets(input.targets, allowed);
    } catch (error) {
      refused = error;
    }
    expect(refusalOf(refused, input)).toEqual({
      field: 'targets',
      text: '10.0.0.1 is outside the allowed networks',
      isOutside: true,
    });
  });

  it('is shown unchanged for other fields, or without a field', () => {
    const engine = new ServiceError('INVALID_REQUEST', 'engine cannot be nmap', {
      field: 'engine',
      reason: 'cannot be nmap',
    });
    expect(refusalOf(engine, input)).toEqual({ field: 'engine', text: 'cannot be nmap', isOutside: false });
    const busy = new ServiceError('RATE_LIMITED', '30 scans were begun within a minute');
    expect(refusalOf(busy, input)).toMatchObject({ field: undefined, text: busy.message });
  });
});
