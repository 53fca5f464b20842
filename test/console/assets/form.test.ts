import { describe, expect, it } from 'vitest';
import { changesOf, emptyForm, faultOf, formOf, itemsOf, rebased } from '../../../src/console/pages/assets/form.ts';
import type { Asset } from '../../../src/console/pages/assets/question.ts';
import { describeChange, differencesOf, mayBecome } from '../../../src/console/pages/assets/states.ts';
import { isolateText } from '../../../src/console/ui/words.ts';
import { ServiceError } from '../../../src/errors.ts';

const asset: Asset = {
  name: 'printer',
  kind: 'printer',
  ip_addresses: ['10.0.0.9', '10.0.0.10'],
  mac_addresses: ['00:1b:63:84:45:e6'],
  hostnames: [],
  owner: 'Ana',
  criticality: 'low',
  tags: ['floor 2'],
  state: 'managed',
  source: 'passive',
  risk_score: 0,
  risk_level: 'low',
  open_alerts: 0,
  service_count: 1,
  version: 3,
};

describe('the form', () => {
  it('has no changes without input, or if only spaces were added around a value', () => {
    expect(changesOf(formOf(asset), formOf(asset))).toEqual({});
    expect(changesOf(formOf(asset), { ...formOf(asset), name: ' printer ' })).toEqual({});
  });

  it('sends changed fields only, and an empty text for a removed value', () => {
    const form = { ...formOf(asset), owner: '', criticality: 'high', ip_addresses: '10.0.0.10, 10.0.0.9' };
    expect(changesOf(formOf(asset), form)).toEqual({
      owner: '',
      criticality: 'high',
      ip_addresses: ['10.0.0.10', '10.0.0.9'],
    });
    expect(changesOf(emptyForm, { ...emptyForm, name: 'new' })).toEqual({ name: 'new' });
  });

  it('splits lists at newlines, commas and spaces, but tags only at newlines and commas', () => {
    expect(itemsOf('ip_addresses', ' 10.0.0.1 10.0.0.2,\n10.0.0.1 ')).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(itemsOf('tags', 'floor 2\n\nfloor 3, lab')).toEqual(['floor 2', 'floor 3', 'lab']);
  });

  it('keeps the input and the changes that another user saved', () => {
    const initial = formOf(asset);
    const typed = { ...initial, owner: 'Ben', notes: 'mine' };
    const saved = formOf({ ...asset, owner: 'Cleo', kind: 'server' });
    const form = rebased(initial, typed, saved);
    expect(form).toMatchObject({ owner: 'Ben', notes: 'mine', kind: 'server' });
    expect(changesOf(saved, form)).toEqual({ owner: 'Ben', notes: 'mine' });
  });

  it('shows an error at its field, and names the rejected item and the asset that has this item', () => {
    const error = new ServiceError('CONFLICT', 'taken', {
      field: 'ip_addresses.1',
      reason: 'is an IP address of another asset',
      asset_id: 'other',
    });
    expect(faultOf(error, { ip_addresses: ['10.0.0.1', '10.0.0.2'] })).toEqual({
      field: 'ip_addresses',
      text: '10.0.0.2 is an IP address of another asset',
      holder: 'other',
    });
    expect(faultOf(new ServiceError('UNAVAILABLE', 'gone'), {})).toEqual({ field: undefined, text: 'gone' });
  });
});

describe('states', () => {
  it('may change from staged or retired to managed, but not back to staged', () => {
    expect(mayBecome('staged', 'managed')).toBe(true);
    expect(mayBecome('retired', 'managed')).toBe(true);
    expect(mayBecome('managed', 'staged')).toBe(false);
    expect(mayBecome('managed', 'managed')).toBe(true);
  });

  it('and other attributes are named in the description of a change', () => {
    expect(describeChange({ state: 'managed' })).toBe('managed');
    expect(describeChange({ owner: 'Ana', os: '' })).toBe('owner, os changed');
    const after: Asset = { ...asset, owner: 'Ben', notes: 'x', hostnames: ['p.example'] };
    expect(differencesOf(asset, after)).toEqual([
      `owner changed to ${isolateText('Ben')}`,
      `hostnames changed to ${isolateText('p.example')}`,
      'notes changed',
    ]);
    expect(differencesOf(asset, { ...asset, version: 9 })).toEqual([]);
  });
});
