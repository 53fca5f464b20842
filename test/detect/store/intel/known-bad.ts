import { parseIntel } from '../../../../src/detect/intel/parse-intel.ts';
import type { IntelContent, IntelSettings } from '../../../../src/detect/store/intel/intel-row.ts';
import type { Store } from '../../../../src/store/store.ts';
import { system } from '../../../identities/store/identity-records.ts';

export const terms: IntelSettings = { name: 'bad ones', severity: 'high', enabled: true };

/** Parses plain lines as content for the store. */
export function contentOf(text: string): IntelContent {
  const parsed = parseIntel(text, 'lines', { home: [], seed: 1 });
  if ('fault' in parsed) throw new Error(parsed.fault);
  return { ...parsed, format: 'lines', sha256: text.length.toString(16).padStart(64, '0') };
}

/** Creates a list in a store and returns its id. */
export async function listIn(store: Store, text: string, more: Partial<IntelSettings> = {}): Promise<string> {
  return (await store.createIntel({ ...terms, ...more }, contentOf(text), system)).id;
}
