import { type AddressRange, addressRanges, compareAddress, parseAddress } from '../../events/ip.ts';
import { refuse, shown } from './fault.ts';

/**
 * Whether an address is of the block, whatever way it is written; `::ffff:10.0.0.1` is 10.0.0.1.
 *
 * @throws SigmaFault for what is neither an address nor a block
 */
export function cidrMatcher(block: string): (text: string) => boolean {
  const ranges = addressRanges(block.trim()) ?? refuse(`has ${shown(block)}, which is no block of addresses`);
  return (text) => {
    if (text !== parsed) {
      parsed = text;
      isAddress = parseAddress(text, address);
    }
    return isAddress && ranges.some(includesAddress);
  };
}

/** The text that was parsed last: rules with blocks ask about the same address one after the other. */
let parsed = '';
let isAddress = false;
const address = new Uint8Array(16);

function includesAddress({ first, last }: AddressRange): boolean {
  return compareAddress(first, 0, address, 0) <= 0 && compareAddress(address, 0, last, 0) <= 0;
}
