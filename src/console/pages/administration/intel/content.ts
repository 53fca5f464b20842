import type { intelFormats } from '../../../../contract/vocabulary.ts';
import { limits } from '../../../../limits.ts';
import { bytes, number } from '../../../ui/numbers.ts';

/** What lists are made of, before they are sent; pure. */
type Format = (typeof intelFormats)[number];

/** A bundle of STIX is JSON; lines never begin like that. */
export const formatOf = (content: string): Format => (/^\s*\{/.test(content) ? 'stix' : 'lines');

/** What it seems to be, and why it cannot be sent. */
export function lookedAt(content: string): { readonly says: string; readonly fault?: string } {
  const size = new TextEncoder().encode(content).length;
  if (content.trim() === '') return { says: 'Nothing yet.' };
  if (size > limits.maxIntelBodyBytes)
    return {
      says: '',
      fault: `It has ${bytes(size)}; at most ${bytes(limits.maxIntelBodyBytes)} are taken.`,
    };
  if (formatOf(content) === 'stix') return { says: `A bundle of STIX, ${bytes(size)}.` };
  const lines = content.split('\n').filter((line) => !/^\s*([#;].*)?$/.test(line)).length;
  return { says: `${number(lines)} ${lines === 1 ? 'line' : 'lines'}, ${bytes(size)}.` };
}
