import { decodeHead, headBytes, signatureBytes, timestampStepNs } from '../../tlog/head.ts';
import { bytesToUuid } from '../../uuid.ts';
import { keyNumbers } from '../check/row-keys.ts';
import type { SignedHead } from './storage.ts';

export const headRowBytes = headBytes + signatureBytes + 16;

/** Returns the head in a row of the table `heads`; undefined if the value or the key is invalid. */
export function readHeadRow(key: Buffer, value: Buffer): SignedHead | undefined {
  const head = readHeadValue(value);
  const place = keyNumbers(key);
  if (head === undefined || place === undefined) return undefined;
  const isHere = place[0] === head.size && place[1] === Number(head.timestampNs / timestampStepNs);
  return isHere && head.timestampNs % timestampStepNs === 0n ? head : undefined;
}

/** Returns the head in the value alone, as a copy of its bytes; undefined if the value is invalid. */
export function readHeadValue(value: Buffer): SignedHead | undefined {
  if (value.length !== headRowBytes) return undefined;
  const bytes = new Uint8Array(value); // slices of a Buffer would be views of it
  try {
    return {
      ...decodeHead(bytes.subarray(0, headBytes)),
      signature: bytes.slice(headBytes, headBytes + signatureBytes),
      keyId: bytesToUuid(bytes.subarray(headBytes + signatureBytes)),
    };
  } catch {
    return undefined; // a size beyond 2^53
  }
}
