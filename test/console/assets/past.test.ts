import { describe, expect, it } from 'vitest';
import { addressSpans, type HistoryEntry } from '../../../src/console/pages/assets/address-spans.ts';
import { lineOf } from '../../../src/console/pages/assets/history-text.ts';

const entry = (at: string, action: HistoryEntry['action'], more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  asset_id: '01a20223-84f0-797a-b020-ed2b57cb7cf5',
  at: `2026-11-${at}T00:00:00.000Z`,
  action,
  by: { kind: 'network' },
  ...more,
});
const a = { ip_address: '10.0.0.1' };
const b = { ip_address: '10.0.0.2' };

describe('the addresses of an asset', () => {
  it('are listed with their periods, current addresses first', () => {
    const history = [entry('05', 'address_bound', b), entry('04', 'address_left', a), entry('01', 'address_bound', a)];
    expect(addressSpans(history, ['10.0.0.2'])).toEqual([
      { address: '10.0.0.2', from: '2026-11-05T00:00:00.000Z' },
      { address: '10.0.0.1', from: '2026-11-01T00:00:00.000Z', to: '2026-11-04T00:00:00.000Z' },
    ]);
  });

  it('have a separate period after they were lost and regained', () => {
    const mac = { mac_address: '00:1b:63:84:45:e6' };
    const history = [
      entry('01', 'mac_bound', mac),
      entry('02', 'mac_released', mac),
      entry('03', 'mac_bound', mac),
      entry('04', 'mac_bound', mac),
    ];
    expect(
      addressSpans(history, [mac.mac_address]).map(({ from, to }) => [from?.slice(8, 10), to?.slice(8, 10)]),
    ).toEqual([
      ['03', undefined],
      ['01', '02'],
    ]);
  });

  it('are listed even if the history is missing or has only the end of their period', () => {
    expect(addressSpans([entry('02', 'address_left', a)], ['10.0.0.2'])).toEqual([
      { address: '10.0.0.2' },
      { address: '10.0.0.1', to: '2026-11-02T00:00:00.000Z' },
    ]);
  });

  it('exclude addresses that moved to another asset in a split', () => {
    expect(addressSpans([entry('01', 'address_bound', a)], [])).toEqual([]);
  });
});

describe('a history line', () => {
  it('names the actor, the action and the value', () => {
    expect(lineOf(entry('01', 'address_bound', a))).toEqual({
      who: 'Network',
      what: 'added address',
      value: '10.0.0.1',
    });
    expect(lineOf(entry('01', 'edited', { by: { kind: 'principal', id: 'p', name: 'ana' }, fields: ['os'] }))).toEqual({
      who: 'ana',
      what: 'edited',
      value: 'os',
    });
    expect(lineOf(entry('01', 'created', { by: { kind: 'scan', id: 's1' } }))).toEqual({
      who: 'Scan',
      scan: 's1',
      what: 'discovered the asset',
    });
  });
});
