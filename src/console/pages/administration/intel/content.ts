import type { intelFormats } from '../../../../contract/vocabulary.ts';
import { limits } from '../../../../limits.ts';
import { bytes, counted } from '../../../ui/numbers.ts';

/** Checks the content of a list before the upload. */

type Format = (typeof intelFormats)[number];

/** Returns the format of the content. STIX bundles are JSON; indicator lines never begin with a brace. */
export const formatOf = (content: string): Format => (/^\s*\{/.test(content) ? 'stix' : 'lines');

/** Describes the content; `fault` is the reason why it cannot be uploaded. */
export function lookedAt(content: string): { readonly says: string; readonly fault?: string } {
  const size = new TextEncoder().encode(content).length;
  if (content.trim() === '') return { says: 'No content yet.' };
  if (size > limits.maxIntelBodyBytes)
    return {
      says: '',
      fault: `Content is ${bytes(size)}; the maximum is ${bytes(limits.maxIntelBodyBytes)}.`,
    };
  if (formatOf(content) === 'stix') return { says: `STIX bundle, ${bytes(size)}.` };
  const lines = content.split('\n').filter((line) => !/^\s*([#;].*)?$/.test(line)).length;
  return { says: `${counted(lines, 'line')}, ${bytes(size)}.` };
}
